#include <inttypes.h>
#include <math.h>

#include "base/bytes/digits.h"
#include "base/run/progress.h"
#include "formats/hpctoolkit/values/checks.h"
#include "formats/hpctoolkit/values/planes_fill.h"

enum { PADDING_MAX = 7, PROFILES_PER_REPORT = 64, CONTEXTS_PER_REPORT = 65536 };

static bool is_of_profiles(const struct cn_hpc_plane_check *p)
{
    return p->planes.encoding->tuple != NULL;
}

/* The same tuple twice: a process that forked. */
static void check_tuple_unique(struct cn_hpc_plane_check *p, struct cn_bytes ids,
                               uint64_t off)
{
    enum { ID_LEN_MAX = 32 };
    char key[2 * CN_IDENTITY_MAX * ID_LEN_MAX + 1];
    size_t known = p->tuples.count;

    cn_hex_put(key, ids.ptr, ids.len);
    if (cn_names_add(&p->tuples, key) < known)
        cn_findings_warn(&p->c->f, "tuple-unique", off,
                         "another profile has the same identity");
}

static void check_tuple(struct cn_hpc_plane_check *p, uint32_t number, uint64_t off)
{
    const struct cn_hpc_plane_encoding *e = p->planes.encoding;
    struct cn_error err;
    struct cn_bytes ids;
    uint16_t count;

    cn_hpc_check_aligned(p->c, off, p->tuple_align, "identity tuple");
    if (!cn_hpc_planes_tuple(&p->planes, off, &count, &ids, &err)) {
        cn_findings_error(&p->c->f, "tuple-bounds", off, "%s", err.text);
        return;
    }
    if (count > CN_IDENTITY_MAX || count < p->id_min) {
        cn_findings_error(&p->c->f, "tuple-length", off, "%u ids in a tuple, %u to %d",
                          count, p->id_min, CN_IDENTITY_MAX);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        p->check_identity(p, number, cn_bytes_element(ids, i, e->identity->size),
                          off + e->tuple->size + i * e->identity->size);
    check_tuple_unique(p, ids, off);
}

static void claim(struct cn_hpc_plane_check *p, uint32_t number, uint64_t begin,
                  uint64_t len)
{
    for (size_t i = 0; i < p->taken.count; i++) {
        struct cn_hpc_span section = p->taken.sections[i];

        if (begin < section.off + section.bytes.len && section.off < begin + len)
            cn_findings_error(&p->c->f, "block-in-section", begin,
                              "values of %s %" PRIu32 " lie in section %s",
                              p->planes.encoding->owner, number, p->taken.names[i]);
    }
    cn_hpc_extents_add(&p->extents, begin, begin + len);
}

/* Find the block of the record at `off`. False if there is nothing to check in it. */
static bool open_block(struct cn_hpc_plane_check *p, uint32_t number,
                       const struct cn_hpc_plane_record *record, uint64_t off,
                       struct cn_hpc_block *b)
{
    const struct cn_hpc_plane_encoding *e = p->planes.encoding;
    struct cn_findings *f = &p->c->f;

    *b = (struct cn_hpc_block){.encoding = e,
                               .value_count = record->value_count,
                               .values_off = record->values_off,
                               .index_off = record->index_off,
                               .key_count = record->key_count};
    if (b->value_count == 0 && b->key_count == 0)
        return false;
    if (!cn_content_array(p->planes.file, b->values_off, b->value_count, e->value->size,
                          &b->values)) {
        cn_findings_error(f, "values-bounds", off,
                          "%" PRIu64 " values at 0x%" PRIx64
                          " do not fit the file of %" PRIu64,
                          b->value_count, b->values_off, p->planes.file_len);
        return false;
    }
    if (!cn_content_array(p->planes.file, b->index_off,
                          (uint64_t)b->key_count + e->has_end, e->index->size,
                          &b->index)) {
        cn_findings_error(f, "index-bounds", off,
                          "index of %" PRIu32 " %ss at 0x%" PRIx64
                          " does not fit the file of %" PRIu64,
                          b->key_count, e->key, b->index_off, p->planes.file_len);
        return false;
    }
    uint64_t values_end = b->values_off + b->values.len;
    cn_hpc_check_aligned(p->c, b->values_off, p->value_align, "values");
    cn_hpc_check_aligned(p->c, b->index_off, p->index_align,
                         is_of_profiles(p) ? "index of contexts" : "index of metrics");
    if (values_end > b->index_off)
        cn_findings_error(f, "values-before-index", off,
                          "values end at 0x%" PRIx64
                          ", after the index begins at 0x%" PRIx64,
                          values_end, b->index_off);
    else if (b->index_off - values_end > PADDING_MAX)
        cn_findings_error(f, "values-before-index", off,
                          "%" PRIu64
                          " bytes between values and index, padding is at most %d",
                          b->index_off - values_end, PADDING_MAX);
    claim(p, number, b->values_off, b->values.len);
    claim(p, number, b->index_off, b->index.len);
    if (b->key_count == 0)
        cn_findings_error(f, "index-start", off,
                          "%s %" PRIu32 ": %" PRIu64 " values, but no %ss", e->owner,
                          number, b->value_count, e->key);
    /* Blocks that do not overlap fit the file; others are reported as such. */
    if (b->values.len + b->index.len > p->budget)
        return false;
    p->budget -= b->values.len + b->index.len;
    return true;
}

static void check_end(struct cn_hpc_plane_check *p, uint32_t number,
                      const struct cn_hpc_block *b)
{
    const struct cn_hpc_plane_encoding *e = b->encoding;
    uint64_t off = b->index_off + b->key_count * e->index->size;
    uint32_t key = (uint32_t)cn_hpc_field_at(e->index, 0, b->index, b->key_count);
    uint64_t start = cn_hpc_field_at(e->index, 1, b->index, b->key_count);

    if (key != e->end_key)
        cn_findings_error(&p->c->f, "end-marker", off,
                          "%s %" PRIu32 ": index ends with 0x%" PRIx32
                          " instead of 0x%" PRIx32,
                          e->owner, number, key, e->end_key);
    if (start != b->value_count)
        cn_findings_error(&p->c->f, "end-marker", off,
                          "%s %" PRIu32 ": index ends at value %" PRIu64 " of %" PRIu64,
                          e->owner, number, start, b->value_count);
}

static void check_number(struct cn_hpc_check *c, bool is_summary, uint32_t metric,
                         double value, uint64_t off)
{
    if (value == 0 && !(c->zero_ids && metric <= UINT16_MAX &&
                        cn_zero_ids_has(&c->zero_ids[is_summary], (uint16_t)metric)))
        cn_findings_warn(&c->f, "zero-value", off, "a value of 0 is written out");
    if (!isfinite(value))
        cn_findings_warn(&c->f, "value-finite", off, "value %g is not finite", value);
}

static void check_metric_id(struct cn_hpc_check *c, const struct cn_hpc_set *ids,
                            uint32_t id, uint64_t off)
{
    if (ids && !cn_hpc_set_has(ids, id))
        cn_findings_error(&c->f, "metric-id", off,
                          "metric id %" PRIu32 " is not listed in %s", id, c->tree);
}

/* A key of the index and its values. */
struct planes_run {
    const struct cn_hpc_block *block;
    uint32_t number, key;
    uint64_t off; /* of the entry */
    uint64_t start, end;
};

/* Values of a context in a profile. Before v4, metrics were in no order; twice is an
 * error. */
static void check_metrics(struct cn_hpc_plane_check *p, const struct planes_run *run)
{
    struct cn_hpc_check *c = p->c;
    bool is_summary = cn_hpc_set_has(&c->summaries, run->number);
    const struct cn_hpc_set *ids = is_summary ? c->summary_ids : c->thread_ids;
    int64_t last = -1;

    if (run->key > c->value_context_last)
        c->value_context_last = run->key;
    if (c->contexts && run->key != 0 && !cn_hpc_set_has(c->contexts, run->key))
        cn_findings_warn(&c->f, "context-unlisted", run->off,
                         "context %" PRIu32
                         " is not listed in %s: an instruction that was left out",
                         run->key, c->tree);
    for (uint64_t i = run->start; i < run->end; i++) {
        struct cn_hpc_plane_value value =
            cn_hpc_value_at(run->block->encoding, run->block, i);
        uint64_t off = run->block->values_off + i * run->block->encoding->value->size;

        if (!p->is_strict && !cn_hpc_set_add(&p->metrics, value.id))
            cn_findings_error(&c->f, "metric-unique", off,
                              "profile %" PRIu32 ", context %" PRIu32 ": metric %" PRIu32
                              " has another value already",
                              run->number, run->key, value.id);
        else if (value.id <= last)
            cn_findings_add(&c->f, p->is_strict, "metrics-sorted", off,
                            "profile %" PRIu32 ", context %" PRIu32 ": metric %" PRIu32
                            " after %" PRId64 ", not ascending",
                            run->number, run->key, value.id, last);
        last = value.id;
        check_metric_id(c, ids, value.id, off);
        check_number(c, is_summary, value.id, value.value, off);
    }
    /* Emptied one by one: the set is large, contexts are many and small. */
    for (uint64_t i = run->start; !p->is_strict && i < run->end; i++)
        p->metrics.bits[cn_hpc_value_at(run->block->encoding, run->block, i).id / 64] = 0;
}

/* Values of a metric in a context. */
static void check_profiles(struct cn_hpc_plane_check *p, const struct planes_run *run)
{
    int64_t last = -1;

    for (uint64_t i = run->start; i < run->end; i++) {
        struct cn_hpc_plane_value value =
            cn_hpc_value_at(run->block->encoding, run->block, i);
        uint64_t off = run->block->values_off + i * run->block->encoding->value->size;

        if (value.id <= last)
            cn_findings_error(&p->c->f, "profiles-sorted", off,
                              "context %" PRIu32 ", metric %" PRIu32 ": profile %" PRIu32
                              " after %" PRId64 ", not ascending",
                              run->number, run->key, value.id, last);
        last = value.id;
        (void)cn_hpc_check_thread(p->c, "profile-index", value.id, off);
        check_number(p->c, false, run->key, value.value, off);
    }
}

static void check_entry(struct cn_hpc_plane_check *p, uint32_t number,
                        const struct cn_hpc_block *b, uint32_t i)
{
    const struct cn_hpc_plane_encoding *e = b->encoding;
    struct cn_hpc_plane_entry entry = cn_hpc_block_entry(b, i);
    struct planes_run run = {
        .block = b,
        .number = number,
        .key = entry.key,
        .off = b->index_off + (uint64_t)i * e->index->size,
        .start = entry.start,
        .end = cn_hpc_block_entry(b, (uint64_t)i + 1).start,
    };
    bool is_profile = is_of_profiles(p);

    if (i > 0 && run.key <= cn_hpc_block_entry(b, i - 1).key)
        cn_findings_error(
            &p->c->f, is_profile ? "contexts-sorted" : "metrics-sorted", run.off,
            "%s %" PRIu32 ": %s %" PRIu32 " after %" PRIu32 ", not ascending", e->owner,
            number, e->key, run.key, cn_hpc_block_entry(b, i - 1).key);
    if (!is_profile)
        check_metric_id(p->c, p->c->thread_ids, run.key, run.off);
    if ((i == 0 && run.start != 0) || run.start > run.end || run.end > b->value_count) {
        cn_findings_error(&p->c->f, "index-start", run.off,
                          "%s %" PRIu32 ", %s %" PRIu32 ": values %" PRIu64 " to %" PRIu64
                          " of %" PRIu64,
                          e->owner, number, e->key, run.key, run.start, run.end,
                          b->value_count);
        return;
    }
    if (run.start == run.end)
        cn_findings_warn(&p->c->f, is_profile ? "empty-context" : "empty-metric", run.off,
                         "%s %" PRIu32 " has no values", e->key, run.key);
    if (is_profile)
        check_metrics(p, &run);
    else
        check_profiles(p, &run);
}

static void check_record(struct cn_hpc_plane_check *p, uint32_t number)
{
    struct cn_hpc_plane_record record = cn_hpc_planes_record(&p->planes, number);
    uint64_t off = cn_hpc_table_off(&p->planes.records, number);
    struct cn_hpc_block block;

    if (is_of_profiles(p) && record.is_summary)
        (void)cn_hpc_set_add(&p->c->summaries, number);
    if (p->check_record)
        p->check_record(p, number, off);
    if (is_of_profiles(p) && (record.tuple_off != 0 || p->id_min > 0))
        check_tuple(p, number, record.tuple_off);
    if (open_block(p, number, &record, off, &block)) {
        if (block.encoding->has_end)
            check_end(p, number, &block);
        for (uint32_t i = 0; i < block.key_count; i++)
            check_entry(p, number, &block, i);
    }
    cn_hpc_check_forget(p->c, cn_content_bytes(p->planes.file),
                        block.values.len + block.index.len);
}

bool cn_hpc_check_planes(struct cn_hpc_plane_check *p, struct cn_error *err)
{
    bool is_profile = is_of_profiles(p), ok = true;
    uint32_t count = p->planes.records.count;
    uint32_t step = is_profile ? PROFILES_PER_REPORT : CONTEXTS_PER_REPORT;

    p->budget = p->planes.file_len;
    p->extents.padding_max = p->is_strict ? PADDING_MAX : 0;
    if (is_profile) {
        p->c->profile_count = count;
        cn_hpc_set_init(&p->c->summaries, count);
        cn_hpc_set_init(&p->metrics, UINT16_MAX + 1);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        check_record(p, i);
        if (i % step == 0)
            ok = cn_progress_report(
                p->c->progress, is_profile ? "verifying profile.db" : "verifying cct.db",
                i, count, is_profile ? "profiles" : "contexts", err);
    }
    cn_hpc_extents_check(&p->c->f, &p->extents, "a block of values", "blocks-overlap",
                         !p->is_strict);
    cn_hpc_set_done(&p->metrics);
    cn_names_done(&p->tuples);
    return ok;
}

void cn_hpc_check_context_count(struct cn_hpc_check *c, uint32_t count, uint64_t off)
{
    if (c->contexts && c->context_last >= count)
        cn_findings_error(&c->f, "context-count", off,
                          "%" PRIu32 " contexts, but %s lists context %" PRIu32, count,
                          c->tree, c->context_last);
    if (c->profile_count > 0 && c->value_context_last >= count)
        cn_findings_error(&c->f, "context-count", off,
                          "%" PRIu32
                          " contexts, but profile.db has values of context %" PRIu32,
                          count, c->value_context_last);
}
