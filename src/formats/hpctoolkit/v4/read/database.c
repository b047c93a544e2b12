#include "formats/hpctoolkit/v4/read/database.h"

#include <stdlib.h>

#include "formats/hpctoolkit/v4/read/context_reader.h"

static bool profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                    struct cn_error *err)
{
    return cn_hpc_profiles_at(&cn_hpc_v4_of(db)->profiles, index, out, err) ||
           cn_fail_in(err, "profile.db");
}

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

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    struct cn_hpc_v4 *v4 = cn_hpc_v4_of(db);

    if (cursor->plane == CN_PLANE_OF_PROFILE)
        return cn_hpc_profile_values_begin(&v4->profiles, cursor, err) ||
               cn_fail_in(err, "profile.db");
    return cn_hpc_cct_values_begin(&v4->cct, cursor, err) || cn_fail_in(err, "cct.db");
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_hpc_v4 *v4 = cn_hpc_v4_of(cursor->db);
    bool is_profile = cursor->plane == CN_PLANE_OF_PROFILE;
    enum cn_step step =
        is_profile
            ? cn_hpc_profile_values_next(&v4->profiles, cursor, v4->base.context_limit,
                                         out, err)
            : cn_hpc_cct_values_next(&v4->cct, cursor, v4->base.profile_count, out, err);

    if (step == CN_FAIL)
        (void)cn_fail_in(err, is_profile ? "profile.db" : "cct.db");
    return step;
}

static bool timeline(struct cn_database *db, uint32_t index, struct cn_timeline *out,
                     struct cn_error *err)
{
    struct cn_hpc_v4 *v4 = cn_hpc_v4_of(db);

    if (v4->trace_damage.kind != CN_ERR_NONE) {
        *err = v4->trace_damage;
        return false;
    }
    return cn_hpc_traces_find(&v4->traces, index, out, err) ||
           cn_fail_in(err, "trace.db");
}

static bool samples(struct cn_database *db, const struct cn_timeline *line,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    return cn_hpc_traces_samples(&cn_hpc_v4_of(db)->traces, line, first, count, out,
                                 err) ||
           cn_fail_in(err, "trace.db");
}

static void forget(struct cn_database *db)
{
    cn_hpc_maps_forget(&cn_hpc_v4_of(db)->maps);
}

static void close_database(struct cn_database *db)
{
    struct cn_hpc_v4 *v4 = cn_hpc_v4_of(db);

    cn_hpc_maps_close(&v4->maps);
    cn_arena_done(&db->arena);
    free(v4);
}

const struct cn_database_ops cn_hpc_v4_ops = {
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
