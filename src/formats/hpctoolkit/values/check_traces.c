#include <inttypes.h>

#include "base/run/progress.h"
#include "formats/hpctoolkit/values/checks.h"

enum { TRACES_PER_REPORT = 64, SAMPLES_PER_BATCH = 1024, PADDING_MAX = 7 };

/* A trace and its samples. */
struct checked_line {
    uint32_t number;
    uint64_t off; /* of the record */
    struct cn_hpc_trace_record record;
    struct cn_bytes samples;
};

static void check_profile(struct cn_hpc_trace_check *t, const struct checked_line *line)
{
    uint32_t profile = line->record.profile;

    if (!cn_hpc_check_thread(t->c, "trace-profile", profile, line->off))
        return;
    if (t->c->profile_count > 0 && line->record.is_of_contexts &&
        !cn_hpc_set_add(&t->traced, profile))
        cn_findings_error(&t->c->f, "trace-unique", line->off,
                          "profile %" PRIu32 " has another trace already", profile);
    if (profile != (uint64_t)line->number + 1)
        cn_findings_warn(&t->c->f, "trace-order", line->off,
                         "trace %" PRIu32 " belongs to profile %" PRIu32
                         ": older hpcviewers expect %" PRIu64,
                         line->number, profile, (uint64_t)line->number + 1);
}

static void check_sample(struct cn_hpc_trace_check *t, const struct checked_line *line,
                         const struct cn_sample *before, const struct cn_sample *sample,
                         uint64_t off)
{
    struct cn_findings *f = &t->c->f;

    if (before && sample->time_ns < before->time_ns)
        cn_findings_error(f, "trace-time", off,
                          "trace %" PRIu32 ": time runs backwards: %" PRIu64
                          " after %" PRIu64,
                          line->number, sample->time_ns, before->time_ns);
    else if (before && t->is_strict && sample->time_ns == before->time_ns)
        cn_findings_warn(f, "trace-time-equal", off,
                         "trace %" PRIu32 ": two samples at %" PRIu64, line->number,
                         sample->time_ns);
    if (before && t->is_strict && sample->context == 0 && before->context == 0)
        cn_findings_error(f, "trace-idle", off,
                          "trace %" PRIu32 ": two samples in a row say not running",
                          line->number);
    if (line->record.is_of_contexts && t->c->contexts && sample->context != 0 &&
        !cn_hpc_set_has(t->c->contexts, sample->context))
        cn_findings_add(f, t->is_strict, "trace-context", off,
                        "trace %" PRIu32 ": context %" PRIu32 " is not listed in %s",
                        line->number, sample->context, t->c->tree);
    if (!t->has_samples || sample->time_ns < t->begin_ns)
        t->begin_ns = sample->time_ns;
    if (!t->has_samples || sample->time_ns > t->end_ns)
        t->end_ns = sample->time_ns;
    t->has_samples = true;
}

static void check_samples(struct cn_hpc_trace_check *t, const struct checked_line *line)
{
    size_t sample_len = t->traces.encoding->sample->size;
    uint64_t count = line->samples.len / sample_len;
    struct cn_sample batch[SAMPLES_PER_BATCH], last;

    for (uint64_t i = 0; i < count; i++) {
        size_t k = i % SAMPLES_PER_BATCH;
        struct cn_bytes rest;

        if (k == 0 && cn_bytes_from(line->samples, i * sample_len, &rest))
            t->traces.encoding->decode_samples(
                rest,
                count - i < SAMPLES_PER_BATCH ? (size_t)(count - i) : SAMPLES_PER_BATCH,
                batch);
        check_sample(t, line, i == 0 ? NULL : &last, &batch[k],
                     line->record.begin_off + i * sample_len);
        last = batch[k];
    }
}

static void check_line(struct cn_hpc_trace_check *t, struct checked_line *line)
{
    uint64_t begin = line->record.begin_off, end = line->record.end_off;
    struct cn_findings *f = &t->c->f;

    if (begin == end) {
        /* The offset of an empty trace does not matter: writers leave it after the end. */
        if (!t->is_strict && begin > t->traces.file.len)
            cn_findings_warn(f, "empty-trace", line->off,
                             "empty trace %" PRIu32 " at 0x%" PRIx64
                             " lies after the end of the file of %" PRIu64,
                             line->number, begin, t->traces.file_len);
        return;
    }
    if (end < begin || (end - begin) % t->traces.encoding->sample->size != 0) {
        cn_findings_error(f, "trace-size", line->off,
                          "trace %" PRIu32 " from 0x%" PRIx64 " to 0x%" PRIx64
                          " is no number of samples of %zu bytes",
                          line->number, begin, end, t->traces.encoding->sample->size);
        return;
    }
    if (!cn_content_slice(t->traces.file, begin, end - begin, &line->samples)) {
        cn_findings_error(f, "trace-bounds", line->off,
                          "trace %" PRIu32 " from 0x%" PRIx64 " to 0x%" PRIx64
                          " does not fit the file of %" PRIu64,
                          line->number, begin, end, t->traces.file_len);
        return;
    }
    if (t->is_strict) {
        cn_hpc_check_aligned(t->c, begin, 4, "trace");
        if (begin % 4 == 0 && begin % 8 != 0)
            cn_findings_warn(f, "trace-alignment", line->off,
                             "trace %" PRIu32 " at 0x%" PRIx64 " is not 8-byte aligned",
                             line->number, begin);
    }
    for (size_t i = 0; i < t->taken.count; i++) {
        struct cn_hpc_span section = t->taken.sections[i];

        if (begin < section.off + section.bytes.len && section.off < end)
            cn_findings_error(f, "block-in-section", begin,
                              "samples of trace %" PRIu32 " lie in section %s",
                              line->number, t->taken.names[i]);
    }
    cn_hpc_extents_add(&t->extents, begin, end);
    if (line->samples.len > t->budget)
        return;
    t->budget -= line->samples.len;
    check_samples(t, line);
}

static void check_range(struct cn_hpc_trace_check *t)
{
    uint64_t begin_ns = t->traces.begin_ns, end_ns = t->traces.end_ns;

    if (!t->has_samples || !t->has_range)
        return;
    if (t->begin_ns < begin_ns || t->end_ns > end_ns)
        cn_findings_error(&t->c->f, "trace-range", t->range_off,
                          "samples from %" PRIu64 " to %" PRIu64
                          " exceed the declared %" PRIu64 " to %" PRIu64,
                          t->begin_ns, t->end_ns, begin_ns, end_ns);
    else if (t->begin_ns != begin_ns || t->end_ns != end_ns)
        cn_findings_warn(&t->c->f, "trace-range-wide", t->range_off,
                         "samples from %" PRIu64 " to %" PRIu64 ", declared are %" PRIu64
                         " to %" PRIu64,
                         t->begin_ns, t->end_ns, begin_ns, end_ns);
}

bool cn_hpc_check_traces(struct cn_hpc_trace_check *t, struct cn_error *err)
{
    uint32_t count = t->traces.records.count;
    bool ok = true;

    t->budget = t->traces.file_len;
    t->extents.padding_max = t->is_strict ? PADDING_MAX : 0;
    cn_hpc_set_init(&t->traced, t->c->profile_count);
    for (uint32_t i = 0; ok && i < count; i++) {
        struct checked_line line = {.number = i,
                                    .off = cn_hpc_table_off(&t->traces.records, i),
                                    .record = cn_hpc_traces_record(&t->traces, i)};

        check_profile(t, &line);
        check_line(t, &line);
        cn_hpc_check_forget(t->c, cn_content_bytes(t->traces.file), line.samples.len);
        if (i % TRACES_PER_REPORT == 0)
            ok = cn_progress_report(t->c->progress, "verifying trace.db", i, count,
                                    "traces", err);
    }
    check_range(t);
    cn_hpc_extents_check(&t->c->f, &t->extents, "a trace",
                         t->is_strict ? "traces-overlap" : "blocks-overlap",
                         !t->is_strict);
    cn_hpc_set_done(&t->traced);
    return ok;
}
