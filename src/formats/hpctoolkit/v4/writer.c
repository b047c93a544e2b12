#include "formats/hpctoolkit/v4/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/outdir.h"
#include "base/pool.h"
#include "base/text.h"
#include "formats/hpctoolkit/rooted.h"
#include "formats/hpctoolkit/sources.h"
#include "formats/hpctoolkit/v4/companions.h"
#include "formats/hpctoolkit/v4/meta_writer.h"
#include "formats/hpctoolkit/v4/value_writer.h"

static bool make_folder(const char *dir, const char *name, struct cn_error *err)
{
    struct cn_text path = {0};
    bool ok;

    cn_text_printf(&path, "%s/%s", dir, name);
    ok = mkdir(path.chars, 0777) == 0 || cn_fail_errno(err, "%s", path.chars);
    cn_text_done(&path);
    return ok;
}

static bool write_into(struct cn_hpc_writing *w, struct cn_error *err)
{
    return cn_hpc_meta_write(w, err) && cn_hpc_profiles_write(w, err) &&
           cn_hpc_cct_write(w, err) &&
           (w->options->without_timelines || cn_hpc_traces_write(w, err)) &&
           make_folder(w->dir, "metrics", err) && cn_hpc_taxonomy_write(w, err) &&
           cn_hpc_documents_write(w, err) &&
           cn_hpc_sources_copy(w->db, w->dir, w->options, err);
}

bool cn_hpc_v4_write(struct cn_database *db, const char *path,
                     const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_hpc_rooted rooted;
    struct cn_outdir dir = {0};
    struct cn_hpc_writing w = {
        .options = options,
        .workers = options->workers ? options->workers : cn_pool_default_workers(),
    };
    bool ok = cn_hpc_rooted_init(&rooted, db, &w.db, err) &&
              cn_outdir_begin(&dir, path, options->replace, err);

    w.dir = dir.path;
    if (ok) {
        w.listed = cn_alloc((size_t)w.db->context_limit / 8 + 1, 1);
        ok = write_into(&w, err) && cn_outdir_commit(&dir, err);
        free(w.listed);
    }
    cn_outdir_abandon(&dir);
    return ok;
}
