/* Write the samples of a trace.db of any generation: the timelines of all profiles except
 * the first. An encoding describes the bytes.
 *
 * Room for every timeline is reserved before any is written; one that shrinks because
 * pauses are merged is followed by zeros. Where processes work together, each writes the
 * timelines of its own profiles.
 * Threads: works on the job's threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_LINES_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_LINES_H

#include <inttypes.h>
#include <stddef.h>

#include "base/error.h"
#include "base/files/spool.h"
#include "formats/hpctoolkit/values/job.h"
#include "model/contexts/database.h"

struct cn_out;

/* Contexts that readers can show; zeroed: all. */
struct cn_hpc_trace_contexts {
    const uint8_t
        *listed; /* a bit for each context below the limit; samples of others say
                              "not running". NULL: all are listed */
    uint32_t limit;
    uint32_t
        count; /* all contexts are below this; those from the limit on have no values */
    uint32_t idle; /* the context that means "not running" in the file */
};

/* A timeline being encoded. */
struct cn_hpc_trace_run {
    struct cn_hpc_trace_contexts contexts;
    struct cn_sample last;
    bool has_last;
    bool keeps_all; /* no samples are merged */
    bool has_span;
    uint64_t begin_ns, end_ns; /* of all samples encoded */
    uint64_t merged_count, unlisted_count;
};

struct cn_hpc_trace_encoding {
    size_t sample_len;
    size_t align;       /* of timelines */
    bool merges_pauses; /* of several "not running" in a row, the first is written */

    /* Encode samples at `at` and set the length: cn_hpc_trace_run_encode() with this
     * encoding's function. */
    bool (*encode)(struct cn_hpc_trace_run *run, const struct cn_sample *samples,
                   size_t count, uint8_t *at, size_t *len, struct cn_error *err);
};

static inline bool cn_hpc_trace_lists(const struct cn_hpc_trace_contexts *contexts,
                                      uint32_t context)
{
    if (!contexts->listed)
        return true;
    if (context >= contexts->limit)
        return context < contexts->count;
    return (contexts->listed[context / 8] >> context % 8 & 1) != 0;
}

static inline void cn_hpc_trace_run_extend(struct cn_hpc_trace_run *run,
                                           uint64_t begin_ns, uint64_t end_ns)
{
    if (!run->has_span || begin_ns < run->begin_ns)
        run->begin_ns = begin_ns;
    if (!run->has_span || end_ns > run->end_ns)
        run->end_ns = end_ns;
    run->has_span = true;
}

/* The loop of `encode`, inline so that put_sample() is as well. */
static inline bool
cn_hpc_trace_run_encode(struct cn_hpc_trace_run *run, const struct cn_sample *samples,
                        size_t count, size_t sample_len,
                        void (*put_sample)(struct cn_sample sample, uint8_t *at),
                        uint8_t *at, size_t *len, struct cn_error *err)
{
    const struct cn_hpc_trace_contexts contexts = run->contexts;
    struct cn_sample last = run->has_last ? run->last : (struct cn_sample){0, CN_NONE};
    uint64_t end_ns = 0;
    size_t first = 0, kept_count = 0;

    for (size_t i = 0; i < count; i++) {
        struct cn_sample sample = samples[i];

        if (sample.context != 0 && !cn_hpc_trace_lists(&contexts, sample.context)) {
            sample.context = 0;
            run->unlisted_count++;
        }
        if (sample.time_ns < last.time_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64,
                           sample.time_ns, last.time_ns);
        /* The first of several "not running" in a row is the start of the pause. */
        if ((sample.context | last.context) == 0 && !run->keeps_all) {
            last.time_ns = sample.time_ns;
            run->merged_count++;
            first += kept_count == 0;
            continue;
        }
        last = sample;
        end_ns = sample.time_ns;
        if (sample.context == 0)
            sample.context = contexts.idle;
        put_sample(sample, at + kept_count++ * sample_len);
    }
    run->last = last;
    run->has_last = true;
    *len = kept_count * sample_len;
    if (kept_count > 0)
        cn_hpc_trace_run_extend(run, samples[first].time_ns, end_ns);
    return true;
}

/* The samples of a profile in the file. */
struct cn_hpc_trace_line {
    uint64_t begin_off, end_off;
};

/* Numbers of the lines of one process; those of several are combined. */
struct cn_hpc_trace_totals {
    uint64_t merged_count, unlisted_count; /* added up */
    uint64_t begin_ns, end_ns;             /* of all samples; begin after end: none */
    uint64_t resolution_ns; /* that they are exact to; 0: as the source has them */
};

struct cn_hpc_trace_lines {
    uint32_t count;
    struct cn_timeline *timelines; /* of profile i + 1 */
    struct cn_hpc_trace_line *lines;
    struct cn_hpc_trace_totals totals;
    uint64_t *lens;        /* of the encoded lines of this process */
    struct cn_spool spool; /* those of which samples are left out, one after the other */
};

/* Open all timelines. */
CN_CHECK bool cn_hpc_trace_lines_open(struct cn_hpc_trace_lines *lines,
                                      struct cn_database *db, struct cn_error *err);
void cn_hpc_trace_lines_done(struct cn_hpc_trace_lines *lines);

/* Append the samples of this process to `out`; with a resolution in the job's options, fewer
 * (trace_thin.c), which are only encoded. Fails if time runs backwards. */
CN_CHECK bool cn_hpc_trace_lines_encode(struct cn_hpc_trace_lines *lines,
                                        const struct cn_hpc_value_job *job,
                                        const struct cn_hpc_trace_encoding *encoding,
                                        const struct cn_hpc_trace_contexts *contexts,
                                        struct cn_out *out, struct cn_error *err);

/* When the totals and lengths are those of all processes: set the offsets of lines, append
 * those that were only encoded, and report what is lost. */
CN_CHECK bool cn_hpc_trace_lines_place(struct cn_hpc_trace_lines *lines,
                                       const struct cn_hpc_value_job *job,
                                       const struct cn_hpc_trace_encoding *encoding,
                                       struct cn_out *out, struct cn_error *err);

/* Timelines with fewer samples (model/contexts/thinner.h). */

/* Steps of cn_hpc_trace_lines_encode() and of cn_hpc_trace_lines_place(), with the resolution
 * and the limit of the job's options. */
CN_CHECK bool cn_hpc_trace_thin_encode(struct cn_hpc_trace_lines *lines,
                                       const struct cn_hpc_value_job *job,
                                       const struct cn_hpc_trace_encoding *encoding,
                                       const struct cn_hpc_trace_contexts *contexts,
                                       struct cn_error *err);
CN_CHECK bool cn_hpc_trace_thin_place(struct cn_hpc_trace_lines *lines,
                                      const struct cn_hpc_value_job *job,
                                      const struct cn_hpc_trace_encoding *encoding,
                                      struct cn_out *out, struct cn_error *err);

#endif
