#include "formats/hpctoolkit/proto/database.h"

#include <stdlib.h>

#include "formats/hpctoolkit/proto/context_reader.h"

static bool profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                    struct cn_error *err)
{
    return cn_hpc_sparse_profile_at(&cn_hpc_proto_of(db)->sparse, index, out, err);
}

static bool module(struct cn_database *db, uint32_t index, struct cn_module *out,
                   struct cn_error *err)
{
    return cn_hpc_proto_module_at(&cn_hpc_proto_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                 struct cn_error *err)
{
    return cn_hpc_proto_file_at(&cn_hpc_proto_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool function(struct cn_database *db, uint32_t index, struct cn_function *out,
                     struct cn_error *err)
{
    return cn_hpc_proto_function_at(&cn_hpc_proto_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    return cn_hpc_proto_contexts_begin(&cn_hpc_proto_of(db)->meta, parent, out, err) ||
           cn_fail_in(err, "meta.db");
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    enum cn_step step =
        cn_hpc_proto_contexts_next(&cn_hpc_proto_of(db)->meta, cursor, out, err);

    if (step == CN_FAIL)
        (void)cn_fail_in(err, "meta.db");
    return step;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    return cn_hpc_proto_context_at(&cn_hpc_proto_of(db)->meta, at, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    return cn_hpc_sparse_values_begin(&cn_hpc_proto_of(db)->sparse, cursor, err);
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    return cn_hpc_sparse_values_next(&cn_hpc_proto_of(cursor->db)->sparse, cursor, out,
                                     err);
}

static bool timeline(struct cn_database *db, uint32_t index, struct cn_timeline *out,
                     struct cn_error *err)
{
    return cn_hpc_sparse_timeline(&cn_hpc_proto_of(db)->sparse, index, out, err);
}

static bool samples(struct cn_database *db, const struct cn_timeline *line,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    return cn_hpc_sparse_samples(&cn_hpc_proto_of(db)->sparse, line, first, count, out,
                                 err);
}

static void forget(struct cn_database *db)
{
    cn_hpc_maps_forget(&cn_hpc_proto_of(db)->maps);
}

static void close_database(struct cn_database *db)
{
    struct cn_hpc_proto *proto = cn_hpc_proto_of(db);

    cn_hpc_maps_close(&proto->maps);
    cn_arena_done(&db->arena);
    free(proto);
}

const struct cn_database_ops cn_hpc_proto_ops = {
    .profile = profile,
    .module = module,
    .file = file,
    .function = function,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = values_begin,
    .values_next = values_next,
    .timeline = timeline,
    .samples = samples,
    .forget = forget,
    .close = close_database,
};
