#include <inttypes.h>

#include "formats/hpctoolkit/v4/verify/verify_parts.h"

enum { PROGRESS_EVERY = 65536 };

static const struct cn_verify_shape shape = {
    .owner = "context",
    .key = "metric",
    .keys = "metrics",
    .index_name = "index of metrics",
    .empty_rule = "empty-metric",
    .value_len = cn_hpc_context_value_size,
    .value_align = 4,
    .index_len = cn_hpc_context_index_size,
    .index_align = 2,
};

static struct cn_hpc_context_index index_at(const struct cn_verify_block *b, uint64_t i)
{
    struct cn_hpc_context_index entry = {.start = b->value_count};

    if (i < b->index_count)
        (void)cn_hpc_context_index_decode(
            cn_bytes_element(b->index, i, cn_hpc_context_index_size), &entry);
    return entry;
}

static void check_value(struct cn_verify *v, const struct cn_verify_block *b, uint64_t i,
                        uint16_t metric, int64_t *last_profile)
{
    uint64_t off = b->values_off + i * cn_hpc_context_value_size;
    struct cn_hpc_context_value value;

    if (!cn_hpc_context_value_decode(
            cn_bytes_element(b->values, i, cn_hpc_context_value_size), &value))
        return;
    if (value.profile <= *last_profile)
        cn_findings_error(&v->f, "profiles-sorted", off,
                          "context %" PRIu32 ", metric %u: profile %" PRIu32
                          " after %" PRId64 ", not ascending",
                          b->owner, metric, value.profile, *last_profile);
    *last_profile = value.profile;
    if (v->has_profiles && value.profile >= v->profile_count)
        cn_findings_error(&v->f, "profile-index", off,
                          "profile %" PRIu32 " does not exist, there are %" PRIu32,
                          value.profile, v->profile_count);
    else if (v->has_profiles && cn_hpc_set_has(&v->summaries, value.profile))
        cn_findings_error(&v->f, "profile-index", off,
                          "profile %" PRIu32 " is a summary, not a thread",
                          value.profile);
    cn_verify_number(v, value.value, off);
}

static void check_entry(struct cn_verify *v, const struct cn_verify_block *b, uint32_t i)
{
    uint64_t off = b->index_off + (uint64_t)i * cn_hpc_context_index_size;
    struct cn_hpc_context_index entry = index_at(b, i);
    uint64_t end = index_at(b, (uint64_t)i + 1).start;
    int64_t last_profile = -1;

    if (i > 0 && entry.metric <= index_at(b, i - 1).metric)
        cn_findings_error(&v->f, "metrics-sorted", off,
                          "context %" PRIu32 ": metric %u after %u, not ascending",
                          b->owner, entry.metric, index_at(b, i - 1).metric);
    if (v->has_metrics && !cn_hpc_set_has(&v->prop_ids, entry.metric))
        cn_findings_error(&v->f, "metric-id", off,
                          "metric id %u is not listed in meta.db", entry.metric);
    if (!cn_verify_block_range(v, b, i, entry.metric, entry.start, end))
        return;
    for (uint64_t k = entry.start; k < end; k++)
        check_value(v, b, k, entry.metric, &last_profile);
}

static void check_context(struct cn_verify *v, const struct cn_hpc_table *contexts,
                          uint32_t i, struct cn_verify_blocks *blocks)
{
    struct cn_hpc_context_info record;
    struct cn_verify_block b = {.shape = &shape, .owner = i};

    if (!cn_hpc_context_info_decode(cn_hpc_table_at(contexts, i), &record))
        return;
    b.values_off = record.values_off;
    b.value_count = record.value_count;
    b.index_off = record.index_off;
    b.index_count = record.metric_count;
    if (cn_verify_block_open(v, &v->cct, blocks, &b, cn_hpc_table_off(contexts, i)))
        for (uint32_t k = 0; k < b.index_count; k++)
            check_entry(v, &b, k);
    cn_verify_forget(v, &v->cct, b.values.len + b.index.len);
}

static bool open_contexts(struct cn_verify *v, struct cn_hpc_table *out)
{
    struct cn_hpc_span section = v->cct.sections.list[CN_HPC_CONTEXT_INFOS];
    struct cn_hpc_context_infos_header head;

    if (!cn_hpc_context_infos_header_decode(section.bytes, &head)) {
        cn_findings_error(&v->f, "section-header", section.off,
                          "section CtxInfos of %zu bytes is too short for its header",
                          section.bytes.len);
        return false;
    }
    if (v->has_contexts && v->context_last >= head.context_count)
        cn_findings_error(&v->f, "context-count", section.off,
                          "%" PRIu32 " contexts, but meta.db lists context %" PRIu32,
                          head.context_count, v->context_last);
    if (v->has_profiles && v->value_context_last >= head.context_count)
        cn_findings_error(&v->f, "context-count", section.off,
                          "%" PRIu32
                          " contexts, but profile.db has values of context %" PRIu32,
                          head.context_count, v->value_context_last);
    return cn_verify_table(v, section,
                           &(struct cn_hpc_array){"contexts", head.infos_off,
                                                  head.context_count, head.info_len,
                                                  cn_hpc_context_info_size},
                           out);
}

bool cn_verify_cct(struct cn_verify *v, struct cn_error *err)
{
    struct cn_verify_blocks blocks = {.budget = v->cct.bytes.len, .spans.padding_max = 7};
    struct cn_hpc_table contexts;
    bool ok = true;

    if (!open_contexts(v, &contexts))
        return true;
    for (uint32_t i = 0; ok && i < contexts.count; i++) {
        check_context(v, &contexts, i, &blocks);
        if (i % PROGRESS_EVERY == 0)
            ok = cn_progress_report(v->progress, "verifying cct.db", i, contexts.count,
                                    "contexts", err);
    }
    cn_hpc_extents_check(&v->f, &blocks.spans, "a block of values", "blocks-overlap",
                         false);
    return ok;
}
