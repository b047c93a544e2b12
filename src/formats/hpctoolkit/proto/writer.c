#include "formats/hpctoolkit/proto/proto.h"

#include "base/files/outdir.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "formats/hpctoolkit/proto/meta_writer.h"
#include "formats/hpctoolkit/sources.h"
#include "formats/hpctoolkit/sparse/writer.h"

/* Readers make columns from the metrics: other columns are lost. */
static uint64_t count_lost_columns(const struct cn_database *db)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy usual;
    struct cn_text theirs = {0}, ours = {0};

    cn_taxonomy_build(&usual, &db->metrics, &arena);
    cn_hpc_metrics_yaml_write(&usual, &theirs);
    cn_hpc_metrics_yaml_write(&db->taxonomy, &ours);
    bool is_same = strcmp(cn_text_str(&theirs), cn_text_str(&ours)) == 0;
    cn_text_done(&theirs);
    cn_text_done(&ours);
    cn_arena_done(&arena);
    return is_same ? 0 : db->taxonomy.root_count;
}

static bool write_into(struct cn_database *db, const char *dir,
                       const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_hpc_proto_writing w = {.db = db, .options = options, .dir = dir};
    struct cn_hpc_sparse_writing values = {
        .db = db,
        .options = options,
        .dir = dir,
        .workers = options->workers ? options->workers : cn_pool_default_workers(),
        .has_time_range = true,
    };

    if (!cn_hpc_proto_meta_write(&w, err))
        return false;
    values.listed_count = w.context_count;
    values.largest_listed = w.largest_id;
    cn_write_lose(w.options,
                  "presented metrics: columns are made from the metrics instead",
                  count_lost_columns(db));
    return cn_hpc_sparse_write(&values, err) &&
           cn_hpc_sources_copy(db, dir, options, err);
}

bool cn_hpc_proto_write(struct cn_database *db, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_outdir dir = {0};
    bool ok = cn_outdir_begin(&dir, path, options->replace, err) &&
              write_into(db, dir.path, options, err) && cn_outdir_commit(&dir, err);

    cn_outdir_abandon(&dir);
    return ok;
}
