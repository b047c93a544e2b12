#include <inttypes.h>

#include "base/map.h"
#include "formats/hpctoolkit/v4/verify/verify_parts.h"
#include "model/contexts/identity.h"

enum { PROGRESS_EVERY = 64 };

static const struct cn_verify_shape shape = {
    .owner = "profile",
    .key = "context",
    .keys = "contexts",
    .index_name = "index of contexts",
    .empty_rule = "empty-context",
    .value_len = cn_hpc_profile_value_size,
    .value_align = 2,
    .index_len = cn_hpc_profile_index_size,
    .index_align = 4,
};

struct parts {
    struct cn_hpc_table profiles;
    struct cn_verify_blocks blocks;
    struct cn_names tuples;
};

static bool decode_profile(const struct parts *p, uint32_t i, struct cn_hpc_profile *out)
{
    struct cn_hpc_draft_profile draft;
    struct cn_bytes bytes = cn_hpc_table_at(&p->profiles, i);

    if (cn_hpc_profile_decode(bytes, out))
        return true;
    if (!cn_hpc_draft_profile_decode(bytes, &draft))
        return false;
    *out = (struct cn_hpc_profile){
        .value_count = draft.value_count,
        .values_off = draft.values_off,
        .context_count = draft.context_count,
        .index_off = draft.index_off,
        .tuple_off = draft.tuple_off,
        .flags = i == 0 ? CN_HPC_IS_SUMMARY : 0,
    };
    return true;
}

static void check_identity(struct cn_verify *v, struct cn_bytes bytes, uint64_t off)
{
    struct cn_hpc_identity id;

    if (!cn_hpc_identity_decode(bytes, &id))
        return;
    if (id.kind >= v->kind_count)
        cn_findings_error(&v->f, "identity-kind", off,
                          "kind %u has no name, there are %" PRIu32, id.kind,
                          v->kind_count);
    if (!(id.flags & CN_HPC_IS_PHYSICAL) && id.physical != id.logical)
        cn_findings_warn(&v->f, "identity-physical", off,
                         "logical id %" PRIu32 ", but physical id %" PRIu64, id.logical,
                         id.physical);
    if (id.flags & ~CN_HPC_IS_PHYSICAL)
        cn_findings_warn(&v->f, "reserved-bits", off,
                         "identity: reserved bits of flags 0x%x are set", id.flags);
}

/* The same tuple twice: a process that forked. */
static void check_tuple_unique(struct cn_verify *v, struct parts *p, struct cn_bytes ids,
                               uint64_t off)
{
    static const char digits[] = "0123456789abcdef";
    char key[2 * CN_IDENTITY_MAX * cn_hpc_identity_size + 1];
    size_t known = p->tuples.count;

    for (size_t i = 0; i < ids.len; i++) {
        key[2 * i] = digits[ids.ptr[i] >> 4];
        key[2 * i + 1] = digits[ids.ptr[i] & 15];
    }
    key[2 * ids.len] = '\0';
    if (cn_names_add(&p->tuples, key) < known)
        cn_findings_warn(&v->f, "tuple-unique", off,
                         "another profile has the same identity");
}

static void check_tuple(struct cn_verify *v, struct parts *p, uint64_t off)
{
    struct cn_hpc_span section = v->profile.sections.list[CN_HPC_ID_TUPLES];
    struct cn_hpc_tuple tuple;
    struct cn_bytes bytes;
    uint64_t ids_off = off + cn_hpc_tuple_size;

    cn_verify_aligned(v, off, 8, "identity tuple");
    if (!cn_hpc_span_slice(section, off, cn_hpc_tuple_size, &bytes) ||
        !cn_hpc_tuple_decode(bytes, &tuple) ||
        !cn_hpc_span_slice(section, ids_off,
                           (uint64_t)tuple.id_count * cn_hpc_identity_size, &bytes)) {
        cn_findings_error(&v->f, "tuple-bounds", off,
                          "identity tuple at 0x%" PRIx64
                          " does not fit section IdTuples, 0x%" PRIx64 " to 0x%" PRIx64,
                          off, section.off, section.off + section.bytes.len);
        return;
    }
    if (tuple.id_count > CN_IDENTITY_MAX) {
        cn_findings_error(&v->f, "tuple-length", off, "%u ids in a tuple, limit %d",
                          tuple.id_count, CN_IDENTITY_MAX);
        return;
    }
    for (uint32_t i = 0; i < tuple.id_count; i++)
        check_identity(v, cn_bytes_element(bytes, i, cn_hpc_identity_size),
                       ids_off + (uint64_t)i * cn_hpc_identity_size);
    check_tuple_unique(v, p, bytes, off);
}

static void check_role(struct cn_verify *v, struct parts *p, uint32_t i,
                       const struct cn_hpc_profile *record)
{
    uint64_t off = cn_hpc_table_off(&p->profiles, i);
    bool is_summary = record->flags & CN_HPC_IS_SUMMARY;

    if (is_summary)
        (void)cn_hpc_set_add(&v->summaries, i);
    if (i == 0 && !is_summary)
        cn_findings_error(&v->f, "summary-first", off, "profile 0 is not a summary");
    if (i == 0 && record->tuple_off != 0)
        cn_findings_warn(&v->f, "summary-tuple", off,
                         "the summary has an identity tuple at 0x%" PRIx64,
                         record->tuple_off);
    if (i > 0 && is_summary)
        cn_findings_warn(&v->f, "summary-extra", off,
                         "profile %" PRIu32 " is a summary too: hpcviewer takes it for a "
                         "thread",
                         i);
    if (i > 0 && record->tuple_off == 0)
        cn_findings_error(&v->f, "tuple-missing", off,
                          "profile %" PRIu32 " has no identity tuple", i);
    if (record->flags & ~(uint32_t)CN_HPC_IS_SUMMARY)
        cn_findings_warn(&v->f, "reserved-bits", off,
                         "profile %" PRIu32 ": reserved bits of flags 0x%x are set", i,
                         record->flags);
    if (record->tuple_off != 0)
        check_tuple(v, p, record->tuple_off);
}

static struct cn_hpc_profile_index index_at(const struct cn_verify_block *b, uint64_t i)
{
    struct cn_hpc_profile_index entry = {.start = b->value_count};

    if (i < b->index_count)
        (void)cn_hpc_profile_index_decode(
            cn_bytes_element(b->index, i, cn_hpc_profile_index_size), &entry);
    return entry;
}

/* Values of one context: which ids they may have, and which came last. */
struct run {
    const struct cn_hpc_set *ids;
    uint32_t context;
    int last_metric;
};

static void check_value(struct cn_verify *v, const struct cn_verify_block *b, uint64_t i,
                        struct run *run)
{
    uint64_t off = b->values_off + i * cn_hpc_profile_value_size;
    struct cn_hpc_profile_value value;

    if (!cn_hpc_profile_value_decode(
            cn_bytes_element(b->values, i, cn_hpc_profile_value_size), &value))
        return;
    if (value.metric <= run->last_metric)
        cn_findings_error(&v->f, "metrics-sorted", off,
                          "profile %" PRIu32 ", context %" PRIu32
                          ": metric %u after %d, not ascending",
                          b->owner, run->context, value.metric, run->last_metric);
    run->last_metric = value.metric;
    if (v->has_metrics && !cn_hpc_set_has(run->ids, value.metric))
        cn_findings_error(&v->f, "metric-id", off,
                          "metric id %u is not listed in meta.db", value.metric);
    cn_verify_number(v, value.value, off);
}

static void check_entry(struct cn_verify *v, const struct cn_verify_block *b, uint32_t i,
                        const struct cn_hpc_set *ids)
{
    uint64_t off = b->index_off + (uint64_t)i * cn_hpc_profile_index_size;
    struct cn_hpc_profile_index entry = index_at(b, i);
    uint64_t end = index_at(b, (uint64_t)i + 1).start;
    struct run run = {ids, entry.context, -1};

    if (i > 0 && entry.context <= index_at(b, i - 1).context)
        cn_findings_error(&v->f, "contexts-sorted", off,
                          "profile %" PRIu32 ": context %" PRIu32 " after %" PRIu32
                          ", not ascending",
                          b->owner, entry.context, index_at(b, i - 1).context);
    if (!cn_verify_block_range(v, b, i, entry.context, entry.start, end))
        return;
    if (entry.context > v->value_context_last)
        v->value_context_last = entry.context;
    if (v->has_contexts && entry.context != 0 &&
        !cn_hpc_set_has(&v->contexts, entry.context))
        cn_findings_warn(&v->f, "context-unlisted", off,
                         "context %" PRIu32 " is not listed in meta.db: an instruction "
                         "that was left out",
                         entry.context);
    for (uint64_t k = entry.start; k < end; k++)
        check_value(v, b, k, &run);
}

static void check_values(struct cn_verify *v, struct parts *p, uint32_t i,
                         const struct cn_hpc_profile *record)
{
    const struct cn_hpc_set *ids =
        record->flags & CN_HPC_IS_SUMMARY ? &v->stat_ids : &v->prop_ids;
    struct cn_verify_block b = {
        .shape = &shape,
        .owner = i,
        .values_off = record->values_off,
        .value_count = record->value_count,
        .index_off = record->index_off,
        .index_count = record->context_count,
    };

    if (cn_verify_block_open(v, &v->profile, &p->blocks, &b,
                             cn_hpc_table_off(&p->profiles, i)))
        for (uint32_t k = 0; k < b.index_count; k++)
            check_entry(v, &b, k, ids);
    cn_verify_forget(v, &v->profile, b.values.len + b.index.len);
}

static bool open_profiles(struct cn_verify *v, struct parts *p)
{
    struct cn_hpc_span section = v->profile.sections.list[CN_HPC_PROFILE_INFOS];
    struct cn_hpc_profiles_header head;

    if (!cn_hpc_profiles_header_decode(section.bytes, &head)) {
        cn_findings_error(&v->f, "section-header", section.off,
                          "section ProfileInfos of %zu bytes is too short for its header",
                          section.bytes.len);
        return false;
    }
    if (head.profile_count == 0) {
        cn_findings_error(&v->f, "summary-first", section.off,
                          "no profile, not even a summary");
        return false;
    }
    if (head.profile_len >= cn_hpc_draft_profile_size &&
        head.profile_len < cn_hpc_profile_size)
        cn_findings_warn(&v->f, "draft-layout", section.off,
                         "profiles of %u bytes without flags: the layout of a draft",
                         head.profile_len);
    return cn_verify_table(v, section,
                           &(struct cn_hpc_array){"profiles", head.profiles_off,
                                                  head.profile_count, head.profile_len,
                                                  cn_hpc_draft_profile_size},
                           &p->profiles);
}

static bool check_profiles(struct cn_verify *v, struct parts *p, struct cn_error *err)
{
    for (uint32_t i = 0; i < p->profiles.count; i++) {
        struct cn_hpc_profile record;

        if (!decode_profile(p, i, &record))
            continue;
        check_role(v, p, i, &record);
        check_values(v, p, i, &record);
        if (i % PROGRESS_EVERY == 0 &&
            !cn_progress_report(v->progress, "verifying profile.db", i, p->profiles.count,
                                "profiles", err))
            return false;
    }
    return true;
}

bool cn_verify_profile(struct cn_verify *v, struct cn_error *err)
{
    struct parts p = {.blocks = {.budget = v->profile.bytes.len, .spans.padding_max = 7}};
    bool ok;

    if (!open_profiles(v, &p))
        return true;
    v->has_profiles = true;
    v->profile_count = p.profiles.count;
    cn_hpc_set_init(&v->summaries, p.profiles.count);
    ok = check_profiles(v, &p, err);
    cn_hpc_extents_check(&v->f, &p.blocks.spans, "a block of values", "blocks-overlap",
                         false);
    cn_names_done(&p.tuples);
    return ok;
}
