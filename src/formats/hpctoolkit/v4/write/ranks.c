#include "formats/hpctoolkit/v4/write/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/outdir.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/run/ranks.h"
#include "base/text.h"
#include "formats/hpctoolkit/rooted.h"
#include "formats/hpctoolkit/sources.h"
#include "formats/hpctoolkit/v4/write/companions.h"
#include "formats/hpctoolkit/v4/write/latency_writer.h"
#include "formats/hpctoolkit/v4/write/meta_writer.h"
#include "formats/hpctoolkit/v4/write/states_writer.h"
#include "formats/hpctoolkit/v4/write/value_writer.h"

static bool make_folder(const char *dir, const char *name, struct cn_error *err)
{
    struct cn_text path = {0};
    bool ok;

    cn_text_printf(&path, "%s/%s", dir, name);
    ok = mkdir(path.chars, 0777) == 0 || cn_fail_errno(err, "%s", path.chars);
    cn_text_done(&path);
    return ok;
}

/* Send the contexts that rank 0 has listed to the other ranks. */
static bool share_contexts(struct cn_hpc_writing *w, struct cn_error *err)
{
    size_t len = (size_t)w->db->context_limit / 8 + 1;
    struct cn_text message = {0};
    struct cn_bytes bytes;
    bool ok;

    cn_wire_u32(&message, w->context_count);
    cn_text_add(&message, (const char *)w->listed, len);
    ok = cn_ranks_broadcast(w->ranks, &message, err);
    bytes = cn_wire_view(&message);
    if (ok && (!cn_wire_u32_take(&bytes, &w->context_count) || bytes.len != len))
        ok = cn_fail(err, CN_ERR_FORMAT, "rank 0 has other contexts");
    if (ok)
        memcpy(w->listed, bytes.ptr, len);
    cn_text_done(&message);
    return ok;
}

static bool write_texts(struct cn_hpc_writing *w, struct cn_error *err)
{
    return !cn_ranks_is_first(w->ranks) ||
           (cn_hpc_states_write(w, err) && make_folder(w->dir, "metrics", err) &&
            cn_hpc_taxonomy_write(w, err) && cn_hpc_documents_write(w, err) &&
            cn_hpc_sources_copy(w->db, w->dir, w->options, err));
}

enum { PROFILES, CONTEXTS, TRACES, LATENCY, FILE_COUNT };

/* `all` has the metrics that only latency.db contains. */
static bool write_file(struct cn_hpc_writing *w, struct cn_database *all, size_t number,
                       struct cn_error *err)
{
    switch (number) {
    case PROFILES:
        return cn_hpc_profiles_write(w, err);
    case CONTEXTS:
        return cn_hpc_cct_write(w, err);
    case TRACES:
        return w->options->without_timelines || cn_hpc_traces_write(w, err);
    default:
        return cn_hpc_latency_write(w, all, err);
    }
}

/* One of the large files. They are written at the same time: the kernel takes one write at a
 * time to a file, and a rank that waits for others continues with another file. */
struct file {
    struct cn_hpc_writing w;
    struct cn_ranks ranks; /* a channel for each file */
    struct cn_database *all;
    struct cn_write_options options;
    struct cn_progress_part progress;
    struct cn_error err;
    bool ok;
};

static void file_run(void *arg, size_t number, unsigned worker)
{
    struct file *file = (struct file *)arg + number;

    (void)worker;
    file->ok = cn_ranks_agree(
        &file->ranks, write_file(&file->w, file->all, number, &file->err), &file->err);
    cn_progress_part_end(&file->progress);
}

static bool write_at_once(struct cn_hpc_writing *w, struct cn_database *all,
                          struct cn_error *err)
{
    struct file files[FILE_COUNT] = {0};

    for (size_t i = 0; i < FILE_COUNT; i++) {
        struct file *file = &files[i];

        file->ranks = cn_ranks_channel(w->ranks, (unsigned)i + 1);
        file->w = *w;
        file->w.ranks = &file->ranks;
        file->all = all;
        file->w.options = &file->options;
        file->options = *w->options;
        file->options.progress = cn_progress_part_begin(
            &file->progress, w->options->progress, i > 0 ? &files[i - 1].progress : NULL);
    }
    cn_pool_run(&(struct cn_jobs){.count = FILE_COUNT, .arg = files, .run = file_run},
                w->ranks->size > 1 ? FILE_COUNT : w->workers);
    w->resolution_ns = files[TRACES].w.resolution_ns;
    for (size_t i = 0; i < FILE_COUNT; i++)
        if (!files[i].ok) {
            *err = files[i].err;
            return false;
        }
    return true;
}

static bool write_files(struct cn_hpc_writing *w, struct cn_database *all,
                        struct cn_error *err)
{
    if (w->ranks->size > 1 || w->workers > 1)
        return write_at_once(w, all, err);
    for (size_t i = 0; i < FILE_COUNT; i++)
        if (!write_file(w, all, i, err))
            return false;
    return true;
}

static bool write_into(struct cn_hpc_writing *w, struct cn_database *all,
                       struct cn_error *err)
{
    struct cn_ranks *ranks = w->ranks;
    bool ok = !cn_ranks_is_first(ranks) || cn_hpc_meta_write(w, err);

    return cn_ranks_agree(ranks, ok, err) && share_contexts(w, err) &&
           write_files(w, all, err) && cn_ranks_agree(ranks, write_texts(w, err), err);
}

/* Rank 0 makes the folder and sends its name to the others. */
static bool begin_folder(struct cn_hpc_writing *w, struct cn_outdir *dir,
                         const char *path, struct cn_text *name, struct cn_error *err)
{
    bool ok = true;

    if (cn_ranks_is_first(w->ranks)) {
        ok = cn_outdir_begin(dir, path, w->options->replace, err);
        cn_text_str_add(name, ok ? dir->path : "");
    }
    return cn_ranks_agree(w->ranks, ok, err) && cn_ranks_broadcast(w->ranks, name, err);
}

bool cn_hpc_v4_write(struct cn_database *db, const char *path,
                     const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_hpc_rooted rooted;
    struct cn_hpc_shown shown = {.prop_ids = NULL};
    struct cn_outdir dir = {0};
    struct cn_text name = {0};
    struct cn_hpc_writing w = {
        .db = db,
        .ranks = cn_database_ranks(db),
        .options = options,
        .workers = options->workers ? options->workers : cn_pool_default_workers(),
    };
    /* A database of several ranks comes from an analysis, which makes entry points. */
    bool ok = (w.ranks->size > 1 || cn_hpc_rooted_init(&rooted, db, &w.db, err)) &&
              begin_folder(&w, &dir, path, &name, err);

    if (ok) {
        struct cn_database *all = w.db;

        w.dir = cn_text_str(&name);
        w.listed = cn_alloc((size_t)w.db->context_limit / 8 + 1, 1);
        ok = cn_hpc_shown_init(&shown, all, w.ranks, &w.db, err) &&
             write_into(&w, all, err);
        if (ok && cn_ranks_is_first(w.ranks))
            ok = cn_outdir_commit(&dir, err);
        ok = cn_ranks_agree(w.ranks, ok, err);
        free(w.listed);
    }
    cn_hpc_shown_done(&shown);
    cn_outdir_abandon(&dir);
    cn_text_done(&name);
    return ok;
}
