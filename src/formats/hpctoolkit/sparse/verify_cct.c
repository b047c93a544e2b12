#include <inttypes.h>

#include "formats/hpctoolkit/sparse/verify_parts.h"

enum {
    PROGRESS_EVERY = 65536,
    VALUE_LEN = cn_hpc_sparse_context_value_size,
    INDEX_LEN = cn_hpc_sparse_context_index_size,
};

struct parts {
    struct cn_hpc_sparse_check *c;
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_extents blocks;
    uint64_t block_budget; /* bytes of values that may still be checked */
};

/* One context's values, in the file. */
struct block {
    struct cn_hpc_sparse_context record;
    struct cn_bytes values, index; /* the index with its end marker */
    uint64_t index_off;
};

static struct cn_hpc_sparse_context_index index_at(const struct block *b, uint64_t i)
{
    struct cn_hpc_sparse_context_index entry = {0};

    (void)cn_hpc_sparse_context_index_decode(cn_bytes_element(b->index, i, INDEX_LEN),
                                             &entry);
    return entry;
}

static bool open_block(struct parts *p, struct block *b, uint64_t off)
{
    struct cn_bytes file = p->frame.file;
    const struct cn_hpc_sparse_context *record = &b->record;

    if (!cn_bytes_array(file, record->block_off, record->value_count, VALUE_LEN,
                        &b->values)) {
        cn_hpc_findings_error(p->c->f, "values-bounds", off,
                              "%" PRIu64 " values at 0x%" PRIx64
                              " do not fit the file of %zu",
                              record->value_count, record->block_off, file.len);
        return false;
    }
    b->index_off = record->block_off + b->values.len;
    if (!cn_bytes_array(file, b->index_off, (uint64_t)record->metric_count + 1, INDEX_LEN,
                        &b->index)) {
        cn_hpc_findings_error(p->c->f, "index-bounds", off,
                              "index of %u metrics and its end at 0x%" PRIx64
                              " does not fit the file of %zu",
                              record->metric_count, b->index_off, file.len);
        return false;
    }
    cn_hpc_extents_add(&p->blocks, record->block_off, b->index_off + b->index.len);
    return true;
}

static void check_value(struct parts *p, const struct block *b, uint64_t i,
                        uint16_t metric, int64_t *last_profile)
{
    uint64_t off = b->record.block_off + i * VALUE_LEN;
    struct cn_hpc_sparse_context_value value;

    if (!cn_hpc_sparse_context_value_decode(cn_bytes_element(b->values, i, VALUE_LEN),
                                            &value))
        return;
    if (value.profile <= *last_profile)
        cn_hpc_findings_error(p->c->f, "profiles-sorted", off,
                              "context %" PRIu32 ", metric %u: profile %" PRIu32
                              " after %" PRId64 ", not ascending",
                              b->record.context, metric, value.profile, *last_profile);
    *last_profile = value.profile;
    if (value.profile == 0)
        cn_hpc_findings_error(p->c->f, "profile-index", off,
                              "profile 0 is the summary, not a thread");
    else if (p->c->profile_count > 0 && value.profile >= p->c->profile_count)
        cn_hpc_findings_error(p->c->f, "profile-index", off,
                              "profile %" PRIu32 " does not exist, there are %" PRIu32,
                              value.profile, p->c->profile_count);
    cn_hpc_sparse_check_value(p->c, off, value.value);
}

static void check_entry(struct parts *p, const struct block *b, uint64_t i)
{
    struct cn_hpc_findings *f = p->c->f;
    const struct cn_hpc_set *ids = p->c->known->thread_ids;
    uint64_t off = b->index_off + i * INDEX_LEN;
    struct cn_hpc_sparse_context_index entry = index_at(b, i);
    uint64_t end = index_at(b, i + 1).start;
    int64_t last_profile = -1;

    if (i > 0 && entry.metric <= index_at(b, i - 1).metric)
        cn_hpc_findings_error(f, "metrics-sorted", off,
                              "context %" PRIu32 ": metric %u after %u, not ascending",
                              b->record.context, entry.metric, index_at(b, i - 1).metric);
    if (ids && !cn_hpc_set_has(ids, entry.metric))
        cn_hpc_findings_error(f, "metric-id", off, "metric id %u is not listed",
                              entry.metric);
    if ((i == 0 && entry.start != 0) || entry.start > end ||
        end > b->record.value_count) {
        cn_hpc_findings_error(f, "index-start", off,
                              "context %" PRIu32 ", metric %u: values %" PRIu64
                              " to %" PRIu64 " of %" PRIu64,
                              b->record.context, entry.metric, entry.start, end,
                              b->record.value_count);
        return;
    }
    if (entry.start == end)
        cn_hpc_findings_warn(f, "empty-metric", off, "metric %u has no values",
                             entry.metric);
    for (uint64_t k = entry.start; k < end; k++)
        check_value(p, b, k, entry.metric, &last_profile);
}

static void check_end(struct parts *p, const struct block *b)
{
    uint64_t off = b->index_off + (uint64_t)b->record.metric_count * INDEX_LEN;
    struct cn_hpc_sparse_context_index end = index_at(b, b->record.metric_count);

    if (end.metric != CN_HPC_SPARSE_CONTEXT_END)
        cn_hpc_findings_error(p->c->f, "end-marker", off,
                              "context %" PRIu32 ": index ends with 0x%x instead of 0x%x",
                              b->record.context, end.metric, CN_HPC_SPARSE_CONTEXT_END);
    if (end.start != b->record.value_count)
        cn_hpc_findings_error(p->c->f, "end-marker", off,
                              "context %" PRIu32 ": index ends at value %" PRIu64
                              " of %" PRIu64,
                              b->record.context, end.start, b->record.value_count);
}

static void check_block(struct parts *p, struct block *b, uint64_t off)
{
    uint64_t len;

    if (!open_block(p, b, off))
        return;
    if (b->record.metric_count == 0)
        cn_hpc_findings_error(p->c->f, "index-start", off,
                              "context %" PRIu32 ": %" PRIu64 " values, but no metrics",
                              b->record.context, b->record.value_count);
    /* Blocks that do not overlap fit the file; others are reported as such. */
    len = b->values.len + b->index.len;
    if (len > p->block_budget)
        return;
    p->block_budget -= len;
    check_end(p, b);
    for (uint64_t i = 0; i < b->record.metric_count; i++)
        check_entry(p, b, i);
}

static void check_record(struct parts *p, uint32_t i)
{
    uint64_t off = p->frame.head.infos_off + (uint64_t)i * cn_hpc_sparse_context_size;
    struct block block = {0};

    (void)cn_hpc_sparse_context_decode(
        cn_bytes_element(p->frame.records, i, cn_hpc_sparse_context_size), &block.record);
    if (block.record.context != i)
        cn_hpc_findings_error(p->c->f, "context-ids", off,
                              "record %" PRIu32 " is of context %" PRIu32
                              ", ids must be dense and ascending",
                              i, block.record.context);
    if (block.record.value_count > 0 || block.record.metric_count > 0)
        check_block(p, &block, off);
    cn_hpc_sparse_check_forget(p->c, p->frame.file, block.values.len + block.index.len);
}

static void check_count(struct parts *p)
{
    const struct cn_hpc_sparse_known *known = p->c->known;
    uint32_t count = p->frame.head.count;

    if (known->contexts && known->context_last >= count)
        cn_hpc_findings_error(p->c->f, "context-count", 0x12,
                              "%" PRIu32 " contexts, but the tree lists context %" PRIu32,
                              count, known->context_last);
    if (p->c->profile_count > 0 && p->c->value_context_last >= count)
        cn_hpc_findings_error(p->c->f, "context-count", 0x12,
                              "%" PRIu32
                              " contexts, but profile.db has values of context %" PRIu32,
                              count, p->c->value_context_last);
}

bool cn_hpc_sparse_check_cct(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                             struct cn_error *err)
{
    struct parts p = {.c = c, .block_budget = file.len};
    struct cn_hpc_sparse_cct cct;
    struct cn_error ignored;
    bool ok = true;

    if (!cn_hpc_sparse_check_frame(c, file, &cn_hpc_sparse_cct_kind, &p.frame))
        return true;
    check_count(&p);
    if (cn_hpc_sparse_cct_open(file, &cct, &ignored) && cct.is_zeroed) {
        cn_hpc_findings_warn(c->f, "cct-zeroed", p.frame.head.infos_off,
                             "blocks of values are zero: they were never written");
        return true;
    }
    for (uint32_t i = 0; ok && i < p.frame.head.count; i++) {
        check_record(&p, i);
        if (i % PROGRESS_EVERY == 0)
            ok = cn_progress_report(c->progress, "verifying cct.db", i,
                                    p.frame.head.count, "contexts", err);
    }
    cn_hpc_extents_check(c->f, &p.blocks, "a block of values");
    return ok;
}
