#include <inttypes.h>
#include <math.h>

#include "formats/hpctoolkit/v4/verify_parts.h"

enum { PADDING_MAX = 7, PROGRESS_EVERY = 65536 };

struct parts {
    struct cn_hpc_table contexts;
    struct cn_verify_spans blocks;
    uint64_t block_budget; /* bytes of values that may still be checked */
};

/* One context's values, in the file. */
struct block {
    uint32_t context;
    struct cn_bytes values, index;
    struct cn_hpc_context_info record;
};

static void check_order(struct cn_verify *v, const struct block *b, uint64_t off)
{
    const struct cn_hpc_context_info *record = &b->record;
    struct cn_hpc_span section = v->cct.sections.list[CN_HPC_CONTEXT_INFOS];
    uint64_t values_end = record->values_off + b->values.len;
    uint64_t index_end = record->index_off + b->index.len;

    cn_verify_aligned(v, record->values_off, 4, "values");
    cn_verify_aligned(v, record->index_off, 2, "index of metrics");
    if (values_end > record->index_off)
        cn_verify_error(v, "values-before-index", off,
                        "values end at 0x%" PRIx64
                        ", after the index begins at 0x%" PRIx64,
                        values_end, record->index_off);
    else if (record->index_off - values_end > PADDING_MAX)
        cn_verify_error(v, "values-before-index", off,
                        "%" PRIu64
                        " bytes between values and index, padding is at most %d",
                        record->index_off - values_end, PADDING_MAX);
    if (record->values_off < section.off + section.bytes.len && section.off < index_end)
        cn_verify_error(v, "block-in-section", record->values_off,
                        "values of context %" PRIu32 " lie in section CtxInfos",
                        b->context);
}

static bool open_block(struct cn_verify *v, struct parts *p, struct block *b,
                       uint64_t off)
{
    struct cn_bytes file = v->cct.sections.file.bytes;
    const struct cn_hpc_context_info *record = &b->record;

    if (!cn_bytes_array(file, record->values_off, record->value_count,
                        cn_hpc_context_value_size, &b->values)) {
        cn_verify_error(v, "values-bounds", off,
                        "%" PRIu64 " values at 0x%" PRIx64 " do not fit the file of %zu",
                        record->value_count, record->values_off, v->cct.bytes.len);
        return false;
    }
    if (!cn_bytes_array(file, record->index_off, record->metric_count,
                        cn_hpc_context_index_size, &b->index)) {
        cn_verify_error(v, "index-bounds", off,
                        "index of %u metrics at 0x%" PRIx64
                        " does not fit the file of %zu",
                        record->metric_count, record->index_off, v->cct.bytes.len);
        return false;
    }
    check_order(v, b, off);
    cn_verify_spans_add(&p->blocks, record->values_off,
                        record->values_off + b->values.len);
    cn_verify_spans_add(&p->blocks, record->index_off, record->index_off + b->index.len);
    return true;
}

static struct cn_hpc_context_index index_at(const struct block *b, uint64_t i)
{
    struct cn_hpc_context_index entry = {.start = b->record.value_count};

    if (i < b->record.metric_count)
        (void)cn_hpc_context_index_decode(
            cn_bytes_element(b->index, i, cn_hpc_context_index_size), &entry);
    return entry;
}

static void check_value(struct cn_verify *v, const struct block *b, uint64_t i,
                        uint16_t metric, int64_t *last_profile)
{
    uint64_t off = b->record.values_off + i * cn_hpc_context_value_size;
    struct cn_hpc_context_value value;

    if (!cn_hpc_context_value_decode(
            cn_bytes_element(b->values, i, cn_hpc_context_value_size), &value))
        return;
    if (value.profile <= *last_profile)
        cn_verify_error(v, "profiles-sorted", off,
                        "context %" PRIu32 ", metric %u: profile %" PRIu32
                        " after %" PRId64 ", not ascending",
                        b->context, metric, value.profile, *last_profile);
    *last_profile = value.profile;
    if (v->has_profiles && value.profile >= v->profile_count)
        cn_verify_error(v, "profile-index", off,
                        "profile %" PRIu32 " does not exist, there are %" PRIu32,
                        value.profile, v->profile_count);
    else if (v->has_profiles && cn_verify_set_has(&v->summaries, value.profile))
        cn_verify_error(v, "profile-index", off,
                        "profile %" PRIu32 " is a summary, not a thread", value.profile);
    if (value.value == 0)
        cn_verify_warn(v, "zero-value", off, "a value of 0 is written out");
    if (!isfinite(value.value))
        cn_verify_warn(v, "value-finite", off, "value %g is not finite", value.value);
}

static void check_entry(struct cn_verify *v, const struct block *b, uint64_t i,
                        uint64_t off)
{
    struct cn_hpc_context_index entry = index_at(b, i);
    uint64_t end = index_at(b, i + 1).start;
    int64_t last_profile = -1;

    if (i > 0 && entry.metric <= index_at(b, i - 1).metric)
        cn_verify_error(v, "metrics-sorted", off,
                        "context %" PRIu32 ": metric %u after %u, not ascending",
                        b->context, entry.metric, index_at(b, i - 1).metric);
    if (v->has_metrics && !cn_verify_set_has(&v->prop_ids, entry.metric))
        cn_verify_error(v, "metric-id", off, "metric id %u is not listed in meta.db",
                        entry.metric);
    if ((i == 0 && entry.start != 0) || entry.start > end ||
        end > b->record.value_count) {
        cn_verify_error(v, "index-start", off,
                        "context %" PRIu32 ", metric %u: values %" PRIu64 " to %" PRIu64
                        " of %" PRIu64,
                        b->context, entry.metric, entry.start, end,
                        b->record.value_count);
        return;
    }
    if (entry.start == end)
        cn_verify_warn(v, "empty-metric", off, "metric %u has no values", entry.metric);
    for (uint64_t k = entry.start; k < end; k++)
        check_value(v, b, k, entry.metric, &last_profile);
}

static void check_block(struct cn_verify *v, struct parts *p, struct block *b,
                        uint64_t off)
{
    uint64_t len;

    if (b->record.value_count == 0 && b->record.metric_count == 0)
        return;
    if (!open_block(v, p, b, off))
        return;
    if (b->record.metric_count == 0)
        cn_verify_error(v, "index-start", off,
                        "context %" PRIu32 ": %" PRIu64 " values, but no metrics",
                        b->context, b->record.value_count);
    /* Blocks that do not overlap fit the file; others are reported as such. */
    len = b->values.len + b->index.len;
    if (len > p->block_budget)
        return;
    p->block_budget -= len;
    for (uint64_t i = 0; i < b->record.metric_count; i++)
        check_entry(v, b, i, b->record.index_off + i * cn_hpc_context_index_size);
}

static bool open_contexts(struct cn_verify *v, struct parts *p)
{
    struct cn_hpc_span section = v->cct.sections.list[CN_HPC_CONTEXT_INFOS];
    struct cn_hpc_context_infos_header head;

    if (!cn_hpc_context_infos_header_decode(section.bytes, &head)) {
        cn_verify_error(v, "section-header", section.off,
                        "section CtxInfos of %zu bytes is too short for its header",
                        section.bytes.len);
        return false;
    }
    if (v->has_contexts && v->context_last >= head.context_count)
        cn_verify_error(v, "context-count", section.off,
                        "%" PRIu32 " contexts, but meta.db lists context %" PRIu32,
                        head.context_count, v->context_last);
    if (v->has_profiles && v->value_context_last >= head.context_count)
        cn_verify_error(v, "context-count", section.off,
                        "%" PRIu32
                        " contexts, but profile.db has values of context %" PRIu32,
                        head.context_count, v->value_context_last);
    return cn_verify_table(v, section,
                           &(struct cn_hpc_array){"contexts", head.infos_off,
                                                  head.context_count, head.info_len,
                                                  cn_hpc_context_info_size},
                           &p->contexts);
}

bool cn_verify_cct(struct cn_verify *v, struct cn_error *err)
{
    struct parts p = {.block_budget = v->cct.bytes.len};
    bool ok = true;

    if (!open_contexts(v, &p))
        return true;
    for (uint32_t i = 0; ok && i < p.contexts.count; i++) {
        struct block block = {.context = i};

        if (cn_hpc_context_info_decode(cn_hpc_table_at(&p.contexts, i), &block.record))
            check_block(v, &p, &block, cn_hpc_table_off(&p.contexts, i));
        cn_verify_forget(v, &v->cct, block.values.len + block.index.len);
        if (i % PROGRESS_EVERY == 0)
            ok = cn_progress_report(v->progress, "verifying cct.db", i, p.contexts.count,
                                    "contexts", err);
    }
    cn_verify_spans_check(v, &p.blocks, "blocks-overlap", "a block of values");
    return ok;
}
