#include "formats/hpctoolkit/values/reader.h"

#include <inttypes.h>

bool cn_hpc_values_limit(struct cn_hpc_values *values, uint64_t listed_count,
                         struct cn_error *err)
{
    struct cn_hpc_block block;
    uint32_t last = 0;

    if (!cn_hpc_planes_block(&values->profiles, 0, &block, err))
        return cn_fail_in(err, "profile.db");
    if (block.key_count > 0)
        last = cn_hpc_block_entry(&block, block.key_count - 1).key;
    uint64_t limit = (listed_count + block.key_count + 1) * CN_HPC_ID_SPREAD_MAX;
    if (last >= limit || last == UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "profile.db: context %" PRIu32
                       " of the summary is out of proportion, can read up to %" PRIu64,
                       last, limit - 1);
    values->context_limit = last + 1;
    return true;
}

void cn_hpc_values_add_traces(struct cn_hpc_values *values, struct cn_database *db,
                              bool ok)
{
    db->has_timelines = true;
    if (!ok) {
        (void)cn_fail_in(&values->trace_damage, "trace.db");
        cn_database_warn(db, true, "%s; no timelines", values->trace_damage.text);
        return;
    }
    cn_hpc_traces_sort(&values->traces, &db->arena);
    db->begin_ns = values->traces.begin_ns;
    db->end_ns = values->traces.end_ns;
}

bool cn_hpc_values_profile(const struct cn_hpc_values *values, uint32_t index,
                           struct cn_profile *out, struct cn_error *err)
{
    return cn_hpc_planes_profile(&values->profiles, index, out, err) ||
           cn_fail_in(err, "profile.db");
}

bool cn_hpc_values_begin(const struct cn_hpc_values *values,
                         struct cn_value_cursor *cursor, struct cn_error *err)
{
    if (cursor->plane == CN_PLANE_OF_PROFILE)
        return cn_hpc_planes_begin(&values->profiles, cursor, err) ||
               cn_fail_in(err, "profile.db");
    if (values->has_cct)
        return cn_hpc_planes_begin(&values->cct, cursor, err) ||
               cn_fail_in(err, "cct.db");
    cn_hpc_lookup_begin(cursor);
    return true;
}

enum cn_step cn_hpc_values_next(const struct cn_hpc_values *values,
                                struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    bool is_profile = cursor->plane == CN_PLANE_OF_PROFILE;
    enum cn_step step;

    if (is_profile)
        step = cn_hpc_planes_next(
            &values->profiles, cursor->owner == 0 ? &values->summaries : &values->threads,
            values->context_limit, cursor, out, err);
    else if (values->has_cct)
        step = cn_hpc_planes_next(&values->cct, &values->threads,
                                  values->profiles.records.count, cursor, out, err);
    else
        step = cn_hpc_lookup_next(&values->profiles, &values->threads, cursor, out, err);
    if (step == CN_FAIL)
        (void)cn_fail_in(err, is_profile || !values->has_cct ? "profile.db" : "cct.db");
    return step;
}

bool cn_hpc_values_timeline(const struct cn_hpc_values *values, uint32_t profile,
                            struct cn_timeline *out, struct cn_error *err)
{
    if (values->trace_damage.kind != CN_ERR_NONE) {
        *err = values->trace_damage;
        return false;
    }
    return cn_hpc_traces_find(&values->traces, profile, out, err) ||
           cn_fail_in(err, "trace.db");
}

bool cn_hpc_values_samples(const struct cn_hpc_values *values,
                           const struct cn_timeline *timeline, uint64_t first,
                           size_t count, struct cn_sample *out, struct cn_error *err)
{
    uint32_t idle = values->idle_context;

    if (!cn_hpc_traces_samples(&values->traces, timeline, first, count, out, err))
        return cn_fail_in(err, "trace.db");
    for (size_t i = 0; idle != 0 && i < count; i++)
        if (out[i].context == idle)
            out[i].context = 0;
    return true;
}
