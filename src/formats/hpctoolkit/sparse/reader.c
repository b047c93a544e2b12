#include "formats/hpctoolkit/sparse/reader.h"

#include <assert.h>
#include <inttypes.h>

#include "formats/hpctoolkit/sparse/lookup.h"

struct cn_hpc_sparse_files cn_hpc_sparse_mapped(const struct cn_hpc_maps *maps)
{
    const struct cn_file *file = maps->file;

    return (struct cn_hpc_sparse_files){
        .profile = file[CN_HPC_PROFILE_FILE].bytes,
        .cct = file[CN_HPC_CCT_FILE].bytes,
        .trace = file[CN_HPC_TRACE_FILE].bytes,
        .has_cct = file[CN_HPC_CCT_FILE].bytes.ptr != NULL,
        .has_trace = file[CN_HPC_TRACE_FILE].bytes.ptr != NULL,
    };
}

/* Without cct.db, the summary knows which contexts have values. */
static bool limit_by_summary(struct cn_hpc_sparse *s, struct cn_error *err)
{
    struct cn_hpc_sparse_profile_block block;
    uint64_t limit;
    uint32_t last;

    if (!cn_hpc_sparse_profiles_block(&s->profiles, 0, &block, err))
        return false;
    if (block.context_count == 0) {
        s->context_limit = 1;
        return true;
    }
    last = cn_hpc_sparse_profile_block_entry(&block, block.context_count - 1).context;
    limit =
        (s->options.listed_count + block.context_count + 1) * CN_HPC_SPARSE_SPREAD_MAX;
    if (last >= limit || last == UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "context %" PRIu32
                       " of the summary is out of proportion, can read up to %" PRIu64,
                       last, limit - 1);
    s->context_limit = last + 1;
    return true;
}

/* Why cct.db cannot serve; "" when it can. */
static bool find_fault(struct cn_hpc_sparse *s, const struct cn_hpc_sparse_files *files,
                       struct cn_error *fault)
{
    if (!files->has_cct)
        return cn_fail(fault, CN_ERR_NOT_FOUND, "is not there");
    if (s->options.distrust_cct)
        return cn_fail(fault, CN_ERR_FORMAT, "%s", s->options.distrust_cct);
    if (!cn_hpc_sparse_cct_open(files->cct, &s->cct, fault))
        return cn_fail_in(fault, "is damaged");
    if (s->cct.is_zeroed)
        return cn_fail(fault, CN_ERR_FORMAT, "is zeroed");
    return true;
}

static bool open_cct(struct cn_hpc_sparse *s, struct cn_database *db,
                     const struct cn_hpc_sparse_files *files, struct cn_error *err)
{
    struct cn_error fault;

    s->has_cct = find_fault(s, files, &fault);
    if (s->has_cct) {
        s->context_limit = s->cct.frame.head.count;
        return true;
    }
    cn_database_warn(db, "cct.db %s; rebuilt from profile.db", fault.text);
    return limit_by_summary(s, err) || cn_fail_in(err, "profile.db");
}

static void open_traces(struct cn_hpc_sparse *s, struct cn_database *db,
                        const struct cn_hpc_sparse_files *files)
{
    if (!files->has_trace)
        return;
    db->has_timelines = true;
    if (!cn_hpc_sparse_traces_open(files->trace, &s->traces, &s->trace_damage)) {
        (void)cn_fail_in(&s->trace_damage, "trace.db");
        cn_database_warn(db, "%s; no timelines", s->trace_damage.text);
        return;
    }
    db->begin_ns = s->traces.begin_ns;
    db->end_ns = s->traces.end_ns;
}

bool cn_hpc_sparse_open(struct cn_hpc_sparse *out, struct cn_database *db,
                        const struct cn_hpc_sparse_files *files,
                        const struct cn_hpc_sparse_options *options, struct cn_error *err)
{
    struct cn_hpc_sparse s = {.options = *options};

    assert(cn_hpc_sparse_ids_are_ordered(&options->threads) &&
           cn_hpc_sparse_ids_are_ordered(&options->summaries));
    if (!cn_hpc_sparse_profiles_open(files->profile, &s.profiles, err))
        return cn_fail_in(err, "profile.db");
    if (!open_cct(&s, db, files, err))
        return false;
    open_traces(&s, db, files);
    db->profile_count = s.profiles.frame.head.count;
    db->context_limit = s.context_limit;
    db->has_context_values = true;
    *out = s;
    return true;
}

bool cn_hpc_sparse_profile_at(const struct cn_hpc_sparse *sparse, uint32_t index,
                              struct cn_profile *out, struct cn_error *err)
{
    return cn_hpc_sparse_profiles_at(&sparse->profiles, index, out, err) ||
           cn_fail_in(err, "profile.db");
}

bool cn_hpc_sparse_values_begin(const struct cn_hpc_sparse *sparse,
                                struct cn_value_cursor *cursor, struct cn_error *err)
{
    if (cursor->plane == CN_PLANE_OF_PROFILE)
        return cn_hpc_sparse_profile_values_begin(&sparse->profiles, cursor, err) ||
               cn_fail_in(err, "profile.db");
    if (sparse->has_cct)
        return cn_hpc_sparse_cct_values_begin(&sparse->cct, cursor, err) ||
               cn_fail_in(err, "cct.db");
    cn_hpc_sparse_lookup_begin(cursor);
    return true;
}

enum cn_step cn_hpc_sparse_values_next(const struct cn_hpc_sparse *sparse,
                                       struct cn_value_cursor *cursor,
                                       struct cn_value_batch *out, struct cn_error *err)
{
    const struct cn_hpc_sparse_options *options = &sparse->options;
    bool is_profile = cursor->plane == CN_PLANE_OF_PROFILE;
    enum cn_step step;

    if (is_profile)
        step = cn_hpc_sparse_profile_values_next(&sparse->profiles,
                                                 cursor->owner == 0 ? &options->summaries
                                                                    : &options->threads,
                                                 sparse->context_limit, cursor, out, err);
    else if (sparse->has_cct)
        step = cn_hpc_sparse_cct_values_next(&sparse->cct, &options->threads,
                                             sparse->profiles.frame.head.count, cursor,
                                             out, err);
    else
        step = cn_hpc_sparse_lookup_next(&sparse->profiles, &options->threads, cursor,
                                         out, err);
    if (step == CN_FAIL)
        (void)cn_fail_in(err, is_profile || !sparse->has_cct ? "profile.db" : "cct.db");
    return step;
}

bool cn_hpc_sparse_timeline(const struct cn_hpc_sparse *sparse, uint32_t profile,
                            struct cn_timeline *out, struct cn_error *err)
{
    if (sparse->trace_damage.kind != CN_ERR_NONE) {
        *err = sparse->trace_damage;
        return false;
    }
    return cn_hpc_sparse_traces_find(&sparse->traces, profile, out, err) ||
           cn_fail_in(err, "trace.db");
}

bool cn_hpc_sparse_samples(const struct cn_hpc_sparse *sparse,
                           const struct cn_timeline *timeline, uint64_t first,
                           size_t count, struct cn_sample *out, struct cn_error *err)
{
    uint32_t idle = sparse->options.idle_context;

    if (!cn_hpc_sparse_traces_samples(&sparse->traces, timeline, first, count, out, err))
        return cn_fail_in(err, "trace.db");
    for (size_t i = 0; idle != 0 && i < count; i++)
        if (out[i].context == idle)
            out[i].context = 0;
    return true;
}
