#include <inttypes.h>

#include "formats/hpctoolkit/sparse/verify_block.h"

enum {
    PROGRESS_EVERY = 65536,
    VALUE_LEN = cn_hpc_sparse_context_value_size,
};

struct parts {
    struct cn_hpc_sparse_check *c;
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_sparse_blocks blocks;
};

static struct cn_hpc_sparse_entry decode_entry(struct cn_bytes bytes)
{
    struct cn_hpc_sparse_context_index entry = {0};

    (void)cn_hpc_sparse_context_index_decode(bytes, &entry);
    return (struct cn_hpc_sparse_entry){entry.metric, entry.start};
}

static void check_metric(void *arg, uint32_t metric, uint64_t off)
{
    struct parts *p = arg;
    const struct cn_hpc_set *ids = p->c->known->thread_ids;

    if (ids && !cn_hpc_set_has(ids, metric))
        cn_findings_error(p->c->f, "metric-id", off,
                          "metric id %" PRIu32 " is not listed", metric);
}

static void check_value(struct parts *p, const struct cn_hpc_sparse_block *b, uint64_t i,
                        uint32_t metric, int64_t *last_profile)
{
    uint64_t off = b->off + i * VALUE_LEN;
    struct cn_hpc_sparse_context_value value;

    if (!cn_hpc_sparse_context_value_decode(cn_bytes_element(b->values, i, VALUE_LEN),
                                            &value))
        return;
    if (value.profile <= *last_profile)
        cn_findings_error(p->c->f, "profiles-sorted", off,
                          "context %" PRIu32 ", metric %" PRIu32 ": profile %" PRIu32
                          " after %" PRId64 ", not ascending",
                          b->owner, metric, value.profile, *last_profile);
    *last_profile = value.profile;
    if (value.profile == 0)
        cn_findings_error(p->c->f, "profile-index", off,
                          "profile 0 is the summary, not a thread");
    else if (p->c->profile_count > 0 && value.profile >= p->c->profile_count)
        cn_findings_error(p->c->f, "profile-index", off,
                          "profile %" PRIu32 " does not exist, there are %" PRIu32,
                          value.profile, p->c->profile_count);
    cn_hpc_sparse_check_value(p->c, off, value.value);
}

static void check_values(void *arg, const struct cn_hpc_sparse_block *b, uint32_t metric,
                         uint64_t off, uint64_t start, uint64_t end)
{
    int64_t last_profile = -1;

    (void)off;
    for (uint64_t i = start; i < end; i++)
        check_value(arg, b, i, metric, &last_profile);
}

static const struct cn_hpc_sparse_block_kind block_kind = {
    .owner = "context",
    .key = "metric",
    .sorted_rule = "metrics-sorted",
    .empty_rule = "empty-metric",
    .value_len = VALUE_LEN,
    .index_len = cn_hpc_sparse_context_index_size,
    .end = CN_HPC_SPARSE_CONTEXT_END,
    .entry = decode_entry,
    .check_key = check_metric,
    .check_values = check_values,
};

static void check_record(struct parts *p, uint32_t i)
{
    uint64_t off = p->frame.head.infos_off + (uint64_t)i * cn_hpc_sparse_context_size;
    struct cn_hpc_sparse_context record = {0};
    struct cn_hpc_sparse_block block;

    (void)cn_hpc_sparse_context_decode(
        cn_bytes_element(p->frame.records, i, cn_hpc_sparse_context_size), &record);
    if (record.context != i)
        cn_findings_error(p->c->f, "context-ids", off,
                          "record %" PRIu32 " is of context %" PRIu32
                          ", ids must be dense and ascending",
                          i, record.context);
    block = (struct cn_hpc_sparse_block){
        .owner = record.context,
        .off = record.block_off,
        .value_count = record.value_count,
        .key_count = record.metric_count,
    };
    cn_hpc_sparse_check_block(&p->blocks, &block, off);
}

static void check_count(struct parts *p)
{
    const struct cn_hpc_sparse_known *known = p->c->known;
    uint32_t count = p->frame.head.count;

    if (known->contexts && known->context_last >= count)
        cn_findings_error(p->c->f, "context-count", 0x12,
                          "%" PRIu32 " contexts, but the tree lists context %" PRIu32,
                          count, known->context_last);
    if (p->c->profile_count > 0 && p->c->value_context_last >= count)
        cn_findings_error(p->c->f, "context-count", 0x12,
                          "%" PRIu32
                          " contexts, but profile.db has values of context %" PRIu32,
                          count, p->c->value_context_last);
}

bool cn_hpc_sparse_check_cct(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                             struct cn_error *err)
{
    struct parts p = {.c = c};
    struct cn_hpc_sparse_cct cct;
    struct cn_error ignored;
    bool ok = true;

    if (!cn_hpc_sparse_check_frame(c, file, &cn_hpc_sparse_cct_kind, &p.frame))
        return true;
    p.blocks = (struct cn_hpc_sparse_blocks){
        .c = c,
        .kind = &block_kind,
        .arg = &p,
        .file = p.frame.file,
        .budget = file.len,
    };
    check_count(&p);
    if (cn_hpc_sparse_cct_open(file, &cct, &ignored) && cct.is_zeroed) {
        cn_findings_warn(c->f, "cct-zeroed", p.frame.head.infos_off,
                         "blocks of values are zero: they were never written");
        return true;
    }
    for (uint32_t i = 0; ok && i < p.frame.head.count; i++) {
        check_record(&p, i);
        if (i % PROGRESS_EVERY == 0)
            ok = cn_progress_report(c->progress, "verifying cct.db", i,
                                    p.frame.head.count, "contexts", err);
    }
    cn_hpc_extents_check(c->f, &p.blocks.extents, "a block of values", "blocks-overlap",
                         true);
    return ok;
}
