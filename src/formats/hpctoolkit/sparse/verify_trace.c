#include <inttypes.h>

#include "formats/hpctoolkit/sparse/verify_parts.h"

enum { PROGRESS_EVERY = 64 };

struct parts {
    struct cn_hpc_sparse_check *c;
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_extents lines;
    struct cn_hpc_set profiles; /* that have a trace */
    uint64_t line_budget;       /* bytes of samples that may still be checked */
    uint64_t begin_ns, end_ns;  /* of the samples seen */
    bool has_samples;
};

struct line {
    uint32_t number;
    struct cn_bytes samples;
    struct cn_hpc_sparse_trace record;
};

static void check_profile(struct parts *p, const struct line *line, uint64_t off)
{
    struct cn_findings *f = p->c->f;
    uint32_t profile = line->record.profile, count = p->c->profile_count;

    if (profile == 0 || (count > 0 && profile >= count)) {
        cn_findings_error(f, "trace-profile", off,
                          "trace %" PRIu32 ": profile %" PRIu32
                          " is no thread: there are 1 to %" PRIu32,
                          line->number, profile, count - (count > 0));
        return;
    }
    if (count > 0 && line->record.type == CN_HPC_SPARSE_TRACE_OF_CONTEXTS &&
        !cn_hpc_set_add(&p->profiles, profile))
        cn_findings_error(f, "trace-unique", off,
                          "profile %" PRIu32 " has another trace already", profile);
    if (profile != (uint64_t)line->number + 1)
        cn_findings_warn(f, "trace-order", off,
                         "trace %" PRIu32 " belongs to profile %" PRIu32
                         ": readers expect %" PRIu64,
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

static void check_samples(struct parts *p, const struct line *line)
{
    const struct cn_hpc_set *contexts = p->c->known->contexts;
    uint64_t count = line->samples.len / cn_hpc_sparse_sample_size;
    struct cn_hpc_sparse_sample sample = {0};
    uint64_t last_ns = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t off = line->record.begin_off + i * cn_hpc_sparse_sample_size;

        (void)cn_hpc_sparse_sample_decode(
            cn_bytes_element(line->samples, i, cn_hpc_sparse_sample_size), &sample);
        if (sample.time_ns < last_ns)
            cn_findings_error(p->c->f, "trace-time", off,
                              "trace %" PRIu32 ": time runs backwards: %" PRIu64
                              " after %" PRIu64,
                              line->number, sample.time_ns, last_ns);
        if (line->record.type == CN_HPC_SPARSE_TRACE_OF_CONTEXTS && contexts &&
            sample.context != 0 && !cn_hpc_set_has(contexts, sample.context))
            cn_findings_warn(p->c->f, "trace-context", off,
                             "trace %" PRIu32 ": context %" PRIu32
                             " is not listed in the tree",
                             line->number, sample.context);
        note_time(p, sample.time_ns);
        last_ns = sample.time_ns;
    }
}

/* The place of an empty trace does not matter: writers leave it behind the end. */
static void check_empty(struct parts *p, const struct line *line, uint64_t off)
{
    if (line->record.begin_off > p->frame.file.len)
        cn_findings_warn(p->c->f, "empty-trace", off,
                         "empty trace %" PRIu32 " at 0x%" PRIx64
                         " lies behind the end of the file of %zu",
                         line->number, line->record.begin_off, p->frame.file.len);
}

static void check_line(struct parts *p, struct line *line, uint64_t off)
{
    uint64_t begin = line->record.begin_off, end = line->record.end_off;

    if (begin == end) {
        check_empty(p, line, off);
        return;
    }
    if (end < begin || (end - begin) % cn_hpc_sparse_sample_size != 0) {
        cn_findings_error(p->c->f, "trace-size", off,
                          "trace %" PRIu32 " from 0x%" PRIx64 " to 0x%" PRIx64
                          " is no number of samples of %d bytes",
                          line->number, begin, end, cn_hpc_sparse_sample_size);
        return;
    }
    if (!cn_bytes_slice(p->frame.file, begin, end - begin, &line->samples)) {
        cn_findings_error(p->c->f, "trace-bounds", off,
                          "trace %" PRIu32 " from 0x%" PRIx64 " to 0x%" PRIx64
                          " does not fit the file of %zu",
                          line->number, begin, end, p->frame.file.len);
        return;
    }
    cn_hpc_extents_add(&p->lines, begin, end);
    if (line->samples.len > p->line_budget)
        return;
    p->line_budget -= line->samples.len;
    check_samples(p, line);
}

static void check_range(struct parts *p, struct cn_bytes file)
{
    struct cn_hpc_sparse_trace_header head;

    if (!p->has_samples || !p->c->known->has_time_range ||
        !cn_hpc_sparse_trace_header_decode(file, &head))
        return;
    if (p->begin_ns < head.begin_ns || p->end_ns > head.end_ns)
        cn_findings_error(p->c->f, "trace-range", 0x28,
                          "samples from %" PRIu64 " to %" PRIu64
                          ", the header says %" PRIu64 " to %" PRIu64,
                          p->begin_ns, p->end_ns, head.begin_ns, head.end_ns);
    else if (p->begin_ns != head.begin_ns || p->end_ns != head.end_ns)
        cn_findings_warn(p->c->f, "trace-range-wide", 0x28,
                         "samples from %" PRIu64 " to %" PRIu64
                         ", the header says %" PRIu64 " to %" PRIu64,
                         p->begin_ns, p->end_ns, head.begin_ns, head.end_ns);
}

bool cn_hpc_sparse_check_traces(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                                struct cn_error *err)
{
    struct parts p = {.c = c, .line_budget = file.len};
    bool ok = true;

    if (!cn_hpc_sparse_check_frame(c, file, &cn_hpc_sparse_trace_kind, &p.frame))
        return true;
    cn_hpc_set_init(&p.profiles, c->profile_count);
    for (uint32_t i = 0; ok && i < p.frame.head.count; i++) {
        uint64_t off = p.frame.head.infos_off + (uint64_t)i * cn_hpc_sparse_trace_size;
        struct line line = {.number = i};

        (void)cn_hpc_sparse_trace_decode(
            cn_bytes_element(p.frame.records, i, cn_hpc_sparse_trace_size), &line.record);
        check_profile(&p, &line, off);
        check_line(&p, &line, off);
        cn_hpc_sparse_check_forget(c, file, line.samples.len);
        if (i % PROGRESS_EVERY == 0)
            ok = cn_progress_report(c->progress, "verifying trace.db", i,
                                    p.frame.head.count, "traces", err);
    }
    check_range(&p, file);
    cn_hpc_extents_check(c->f, &p.lines, "a trace", "blocks-overlap", true);
    cn_hpc_set_done(&p.profiles);
    return ok;
}
