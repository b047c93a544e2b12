#include "formats/hpctoolkit/v4/read/database.h"

#include "formats/hpctoolkit/v4/read/context_reader.h"

static bool module(struct cn_database *db, uint32_t index, struct cn_module *out,
                   struct cn_error *err)
{
    return cn_hpc_meta_module(&cn_hpc_v4_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                 struct cn_error *err)
{
    return cn_hpc_meta_file(&cn_hpc_v4_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool function(struct cn_database *db, uint32_t index, struct cn_function *out,
                     struct cn_error *err)
{
    return cn_hpc_meta_function(&cn_hpc_v4_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    return cn_hpc_contexts_begin(&cn_hpc_v4_of(db)->meta, parent, out, err) ||
           cn_fail_in(err, "meta.db");
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    enum cn_step step = cn_hpc_contexts_next(&cn_hpc_v4_of(db)->meta, cursor, out, err);

    if (step == CN_FAIL)
        (void)cn_fail_in(err, "meta.db");
    return step;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    return cn_hpc_context_at(&cn_hpc_v4_of(db)->meta, at, out, err) ||
           cn_fail_in(err, "meta.db");
}

const struct cn_database_ops cn_hpc_v4_ops = {
    .profile = cn_hpc_database_profile,
    .module = module,
    .file = file,
    .function = function,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = cn_hpc_database_values_begin,
    .values_next = cn_hpc_database_values_next,
    .timeline = cn_hpc_database_timeline,
    .samples = cn_hpc_database_samples,
    .forget = cn_hpc_database_forget,
    .close = cn_hpc_database_close,
};
