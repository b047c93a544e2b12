#include <inttypes.h>

#include "base/map.h"
#include "formats/hpctoolkit/sparse/verify_block.h"

enum {
    PROGRESS_EVERY = 64,
    VALUE_LEN = cn_hpc_sparse_profile_value_size,
};

struct parts {
    struct cn_hpc_sparse_check *c;
    struct cn_hpc_sparse_frame frame;
    struct cn_bytes tuples;
    uint64_t tuples_off;
    struct cn_hpc_sparse_blocks blocks;
    struct cn_names known_tuples;
    struct cn_hpc_set metrics; /* of the context being checked */
};

static void check_identity(struct parts *p, uint32_t profile, struct cn_bytes bytes,
                           uint64_t off)
{
    struct cn_hpc_sparse_identity id;
    unsigned kind;

    if (!cn_hpc_sparse_identity_decode(bytes, &id))
        return;
    kind = id.kind & CN_HPC_SPARSE_KIND_MASK;
    if (profile == 0 && kind != CN_HPC_SPARSE_KIND_SUMMARY)
        cn_findings_error(p->c->f, "summary-first", off,
                          "profile 0 is of kind %u, not the summary", kind);
    if (profile > 0 && kind >= p->c->known->kind_count)
        cn_findings_error(p->c->f, "identity-kind", off,
                          "kind %u has no name, there are %" PRIu32, kind,
                          p->c->known->kind_count);
    if (id.logical > UINT32_MAX)
        cn_findings_error(p->c->f, "identity-logical", off,
                          "logical id %" PRIu64 " has more than 32 bits", id.logical);
}

/* The same tuple twice: a process that forked. */
static void check_tuple_unique(struct parts *p, struct cn_bytes ids, uint64_t off)
{
    static const char digits[] = "0123456789abcdef";
    char key[2 * CN_IDENTITY_MAX * cn_hpc_sparse_identity_size + 1];
    size_t known = p->known_tuples.count;

    for (size_t i = 0; i < ids.len; i++) {
        key[2 * i] = digits[ids.ptr[i] >> 4];
        key[2 * i + 1] = digits[ids.ptr[i] & 15];
    }
    key[2 * ids.len] = '\0';
    if (cn_names_add(&p->known_tuples, key) < known)
        cn_findings_warn(p->c->f, "tuple-unique", off,
                         "another profile has the same identity");
}

static void check_tuple(struct parts *p, uint32_t profile, uint64_t off)
{
    struct cn_hpc_sparse_tuple tuple;
    struct cn_bytes rest, ids;

    if (off < p->tuples_off || !cn_bytes_from(p->tuples, off - p->tuples_off, &rest) ||
        !cn_hpc_sparse_tuple_decode(rest, &tuple) ||
        !cn_bytes_array(rest, cn_hpc_sparse_tuple_size, tuple.id_count,
                        cn_hpc_sparse_identity_size, &ids)) {
        cn_findings_error(p->c->f, "tuple-bounds", off,
                          "identity tuple of profile %" PRIu32
                          " does not fit its section, 0x%" PRIx64 " to 0x%" PRIx64,
                          profile, p->tuples_off, p->tuples_off + p->tuples.len);
        return;
    }
    if (tuple.id_count > CN_IDENTITY_MAX || tuple.id_count == 0) {
        cn_findings_error(p->c->f, "tuple-length", off, "%u ids in a tuple, 1 to %d",
                          tuple.id_count, CN_IDENTITY_MAX);
        return;
    }
    for (uint32_t i = 0; i < tuple.id_count; i++)
        check_identity(p, profile, cn_bytes_element(ids, i, cn_hpc_sparse_identity_size),
                       off + cn_hpc_sparse_tuple_size +
                           (uint64_t)i * cn_hpc_sparse_identity_size);
    check_tuple_unique(p, ids, off);
}

static struct cn_hpc_sparse_entry decode_entry(struct cn_bytes bytes)
{
    struct cn_hpc_sparse_profile_index entry = {0};

    (void)cn_hpc_sparse_profile_index_decode(bytes, &entry);
    return (struct cn_hpc_sparse_entry){entry.context, entry.start};
}

/* Metrics of one context in no order: a known habit; twice is an error. */
static void check_value(struct parts *p, const struct cn_hpc_sparse_block *b, uint64_t i,
                        uint32_t context, int *last_metric)
{
    const struct cn_hpc_sparse_known *known = p->c->known;
    const struct cn_hpc_set *ids = b->owner == 0 ? known->summary_ids : known->thread_ids;
    uint64_t off = b->off + i * VALUE_LEN;
    struct cn_hpc_sparse_profile_value value;

    if (!cn_hpc_sparse_profile_value_decode(cn_bytes_element(b->values, i, VALUE_LEN),
                                            &value))
        return;
    if (!cn_hpc_set_add(&p->metrics, value.metric))
        cn_findings_error(p->c->f, "metric-unique", off,
                          "profile %" PRIu32 ", context %" PRIu32
                          ": metric %u has another value already",
                          b->owner, context, value.metric);
    else if (value.metric <= *last_metric)
        cn_findings_warn(p->c->f, "metrics-sorted", off,
                         "profile %" PRIu32 ", context %" PRIu32
                         ": metric %u after %d, not ascending",
                         b->owner, context, value.metric, *last_metric);
    *last_metric = value.metric;
    if (ids && !cn_hpc_set_has(ids, value.metric))
        cn_findings_error(p->c->f, "metric-id", off, "metric id %u is not listed",
                          value.metric);
    cn_hpc_sparse_check_value(p->c, off, value.value);
}

static void check_values(void *arg, const struct cn_hpc_sparse_block *b, uint32_t context,
                         uint64_t off, uint64_t start, uint64_t end)
{
    struct parts *p = arg;
    const struct cn_hpc_set *contexts = p->c->known->contexts;
    struct cn_hpc_sparse_profile_value value = {0};
    int last_metric = -1;

    if (context > p->c->value_context_last)
        p->c->value_context_last = context;
    if (contexts && context != 0 && !cn_hpc_set_has(contexts, context))
        cn_findings_warn(p->c->f, "context-unlisted", off,
                         "context %" PRIu32 " is not listed in the tree", context);
    for (uint64_t i = start; i < end; i++)
        check_value(p, b, i, context, &last_metric);
    /* Emptied one by one: the set is large, the contexts are many and small. */
    for (uint64_t i = start; i < end; i++) {
        (void)cn_hpc_sparse_profile_value_decode(
            cn_bytes_element(b->values, i, VALUE_LEN), &value);
        p->metrics.words[value.metric / 64] = 0;
    }
}

static const struct cn_hpc_sparse_block_kind block_kind = {
    .owner = "profile",
    .key = "context",
    .sorted_rule = "contexts-sorted",
    .empty_rule = "empty-context",
    .value_len = VALUE_LEN,
    .index_len = cn_hpc_sparse_profile_index_size,
    .end = CN_HPC_SPARSE_PROFILE_END,
    .entry = decode_entry,
    .check_values = check_values,
};

static void check_record(struct parts *p, uint32_t i)
{
    uint64_t off = p->frame.head.infos_off + (uint64_t)i * cn_hpc_sparse_profile_size;
    struct cn_hpc_sparse_profile record = {0};
    struct cn_hpc_sparse_block block;

    (void)cn_hpc_sparse_profile_decode(
        cn_bytes_element(p->frame.records, i, cn_hpc_sparse_profile_size), &record);
    if (record.metadata_off || record.spare_one_off || record.spare_two_off)
        cn_findings_warn(p->c->f, "reserved", off,
                         "profile %" PRIu32 ": a reserved pointer is set", i);
    check_tuple(p, i, record.tuple_off);
    block = (struct cn_hpc_sparse_block){
        .owner = i,
        .off = record.block_off,
        .value_count = record.value_count,
        .key_count = record.context_count,
    };
    cn_hpc_sparse_check_block(&p->blocks, &block, off);
}

static bool open_tuples(struct parts *p, struct cn_bytes file)
{
    struct cn_hpc_sparse_profile_header head;

    if (!cn_hpc_sparse_profile_header_decode(file, &head))
        return false;
    p->tuples_off = head.tuples_off;
    if (cn_bytes_slice(p->frame.file, head.tuples_off, head.tuples_len, &p->tuples))
        return true;
    cn_findings_error(p->c->f, "section-bounds", 0x30,
                      "identity tuples of %" PRIu64 " bytes at 0x%" PRIx64
                      " do not fit the file of %zu",
                      head.tuples_len, head.tuples_off, file.len);
    return false;
}

bool cn_hpc_sparse_check_profiles(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                                  struct cn_error *err)
{
    struct parts p = {.c = c};
    uint32_t count;
    bool ok = true;

    if (!cn_hpc_sparse_check_frame(c, file, &cn_hpc_sparse_profile_kind, &p.frame) ||
        !open_tuples(&p, file))
        return true;
    p.blocks = (struct cn_hpc_sparse_blocks){
        .c = c,
        .kind = &block_kind,
        .arg = &p,
        .file = p.frame.file,
        .budget = file.len,
    };
    count = p.frame.head.count;
    if (count == 0)
        cn_findings_error(c->f, "summary-first", 0x12, "no profile, not even a summary");
    c->profile_count = count;
    cn_hpc_set_init(&p.metrics, UINT16_MAX + 1);
    for (uint32_t i = 0; ok && i < count; i++) {
        check_record(&p, i);
        if (i % PROGRESS_EVERY == 0)
            ok = cn_progress_report(c->progress, "verifying profile.db", i, count,
                                    "profiles", err);
    }
    cn_hpc_extents_check(c->f, &p.blocks.extents, "a block of values", "blocks-overlap",
                         true);
    cn_hpc_set_done(&p.metrics);
    cn_names_done(&p.known_tuples);
    return ok;
}
