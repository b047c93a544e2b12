#include <inttypes.h>

#include "formats/hpctoolkit/v4/verify/verify_parts.h"

struct parts {
    struct cn_hpc_table traces;
    struct cn_hpc_extents lines;
    struct cn_hpc_set profiles; /* that have a trace */
    uint64_t line_budget;       /* bytes of samples that may still be checked */
    uint64_t begin_ns, end_ns;  /* of the samples seen */
    bool has_samples;
};

struct line {
    uint32_t number;
    struct cn_bytes samples;
    struct cn_hpc_trace record;
};

static void check_profile(struct cn_verify *v, struct parts *p, const struct line *line,
                          uint64_t off)
{
    uint32_t profile = line->record.profile;

    if (v->has_profiles && profile >= v->profile_count) {
        cn_findings_error(&v->f, "trace-profile", off,
                          "profile %" PRIu32 " does not exist, there are %" PRIu32,
                          profile, v->profile_count);
        return;
    }
    if (v->has_profiles && cn_hpc_set_has(&v->summaries, profile))
        cn_findings_error(&v->f, "trace-profile", off,
                          "profile %" PRIu32 " is a summary, not a thread", profile);
    if (v->has_profiles && !cn_hpc_set_add(&p->profiles, profile))
        cn_findings_error(&v->f, "trace-unique", off,
                          "profile %" PRIu32 " has another trace already", profile);
    if (profile != (uint64_t)line->number + 1)
        cn_findings_warn(&v->f, "trace-order", off,
                         "trace %" PRIu32 " belongs to profile %" PRIu32
                         ": older hpcviewers expect %" PRIu64,
                         line->number, profile, (uint64_t)line->number + 1);
}

static void note_time(struct parts *p, uint64_t time_ns)
{
    if (!p->has_samples || time_ns < p->begin_ns)
        p->begin_ns = time_ns;
    if (!p->has_samples || time_ns > p->end_ns)
        p->end_ns = time_ns;
    p->has_samples = true;
}

static void check_pair(struct cn_verify *v, const struct line *line,
                       const struct cn_hpc_sample *before,
                       const struct cn_hpc_sample *sample, uint64_t off)
{
    if (sample->time_ns < before->time_ns)
        cn_findings_error(&v->f, "trace-time", off,
                          "trace %" PRIu32 ": time runs backwards: %" PRIu64
                          " after %" PRIu64,
                          line->number, sample->time_ns, before->time_ns);
    else if (sample->time_ns == before->time_ns)
        cn_findings_warn(&v->f, "trace-time-equal", off,
                         "trace %" PRIu32 ": two samples at %" PRIu64, line->number,
                         sample->time_ns);
    if (sample->context == 0 && before->context == 0)
        cn_findings_error(&v->f, "trace-idle", off,
                          "trace %" PRIu32 ": two samples in a row say not running",
                          line->number);
}

static void check_samples(struct cn_verify *v, struct parts *p, const struct line *line)
{
    uint64_t count = line->samples.len / cn_hpc_sample_size;
    struct cn_hpc_sample sample, before = {0};

    for (uint64_t i = 0; i < count; i++) {
        uint64_t off = line->record.begin_off + i * cn_hpc_sample_size;

        if (!cn_hpc_sample_decode(cn_bytes_element(line->samples, i, cn_hpc_sample_size),
                                  &sample))
            continue;
        if (i > 0)
            check_pair(v, line, &before, &sample, off);
        if (v->has_contexts && sample.context != 0 &&
            !cn_hpc_set_has(&v->contexts, sample.context))
            cn_findings_error(&v->f, "trace-context", off,
                              "trace %" PRIu32 ": context %" PRIu32
                              " is not listed in meta.db",
                              line->number, sample.context);
        note_time(p, sample.time_ns);
        before = sample;
    }
}

static void check_line(struct cn_verify *v, struct parts *p, struct line *line,
                       uint64_t off)
{
    uint64_t begin = line->record.begin_off, end = line->record.end_off;
    struct cn_hpc_span section = v->trace.sections.list[CN_HPC_TRACES];

    if (begin == end)
        return;
    if (end < begin || (end - begin) % cn_hpc_sample_size != 0) {
        cn_findings_error(&v->f, "trace-size", off,
                          "trace %" PRIu32 " from 0x%" PRIx64 " to 0x%" PRIx64
                          " is no number of samples of %d bytes",
                          line->number, begin, end, cn_hpc_sample_size);
        return;
    }
    if (!cn_bytes_slice(v->trace.sections.file.bytes, begin, end - begin,
                        &line->samples)) {
        cn_findings_error(&v->f, "trace-bounds", off,
                          "trace %" PRIu32 " from 0x%" PRIx64 " to 0x%" PRIx64
                          " does not fit the file of %zu",
                          line->number, begin, end, v->trace.bytes.len);
        return;
    }
    cn_verify_aligned(v, begin, 4, "trace");
    if (begin % 4 == 0 && begin % 8 != 0)
        cn_findings_warn(&v->f, "trace-alignment", off,
                         "trace %" PRIu32 " at 0x%" PRIx64 " is not 8-byte aligned",
                         line->number, begin);
    if (begin < section.off + section.bytes.len && section.off < end)
        cn_findings_error(&v->f, "block-in-section", begin,
                          "samples of trace %" PRIu32 " lie in section CtxTraces",
                          line->number);
    cn_hpc_extents_add(&p->lines, begin, end);
    if (line->samples.len > p->line_budget)
        return;
    p->line_budget -= line->samples.len;
    check_samples(v, p, line);
}

static void check_range(struct cn_verify *v, const struct parts *p,
                        const struct cn_hpc_traces_header *head, uint64_t off)
{
    if (!p->has_samples)
        return;
    if (p->begin_ns < head->begin_ns || p->end_ns > head->end_ns)
        cn_findings_error(&v->f, "trace-range", off,
                          "samples from %" PRIu64 " to %" PRIu64
                          " exceed the declared %" PRIu64 " to %" PRIu64,
                          p->begin_ns, p->end_ns, head->begin_ns, head->end_ns);
    else if (p->begin_ns != head->begin_ns || p->end_ns != head->end_ns)
        cn_findings_warn(&v->f, "trace-range-wide", off,
                         "samples from %" PRIu64 " to %" PRIu64 ", declared are %" PRIu64
                         " to %" PRIu64,
                         p->begin_ns, p->end_ns, head->begin_ns, head->end_ns);
}

static bool check_lines(struct cn_verify *v, struct parts *p, struct cn_error *err)
{
    for (uint32_t i = 0; i < p->traces.count; i++) {
        struct line line = {.number = i};
        uint64_t off = cn_hpc_table_off(&p->traces, i);

        if (!cn_hpc_trace_decode(cn_hpc_table_at(&p->traces, i), &line.record))
            continue;
        check_profile(v, p, &line, off);
        check_line(v, p, &line, off);
        cn_verify_forget(v, &v->trace, line.samples.len);
        if (!cn_progress_report(v->progress, "verifying trace.db", i, p->traces.count,
                                "traces", err))
            return false;
    }
    return true;
}

bool cn_verify_trace(struct cn_verify *v, struct cn_error *err)
{
    struct cn_hpc_span section = v->trace.sections.list[CN_HPC_TRACES];
    struct parts p = {.line_budget = v->trace.bytes.len, .lines.padding_max = 7};
    struct cn_hpc_traces_header head;
    bool ok;

    if (!cn_hpc_traces_header_decode(section.bytes, &head)) {
        cn_findings_error(&v->f, "section-header", section.off,
                          "section CtxTraces of %zu bytes is too short for its header",
                          section.bytes.len);
        return true;
    }
    if (!cn_verify_table(v, section,
                         &(struct cn_hpc_array){"traces", head.traces_off,
                                                head.trace_count, head.trace_len,
                                                cn_hpc_trace_size},
                         &p.traces))
        return true;
    if (v->has_profiles && (uint64_t)p.traces.count + 1 != v->profile_count)
        cn_findings_warn(&v->f, "trace-count", section.off,
                         "%" PRIu32 " traces, but %" PRIu32
                         " profiles: older hpcviewers expect one for each thread",
                         p.traces.count, v->profile_count);
    cn_hpc_set_init(&p.profiles, v->profile_count);
    ok = check_lines(v, &p, err);
    if (ok)
        check_range(v, &p, &head, section.off);
    cn_hpc_extents_check(&v->f, &p.lines, "a trace", "traces-overlap", false);
    cn_hpc_set_done(&p.profiles);
    return ok;
}
