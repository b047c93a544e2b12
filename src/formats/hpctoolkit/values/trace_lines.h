/* The samples of a trace.db, of any generation of the format: those of every profile but
 * the first, one timeline behind the other. What the bytes look like is an encoding's to
 * say.
 *
 * Every timeline gets the room its length asks for before any is written; one that
 * shrinks because pauses were merged leaves zeros behind, where the format allows it. Of
 * several processes, each writes the timelines of its own profiles.
 * Threads: works on the job's threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_LINES_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_LINES_H

#include <inttypes.h>
#include <stddef.h>

#include "base/error.h"
#include "formats/hpctoolkit/values/value_job.h"
#include "model/contexts/database.h"

struct cn_out;

/* What readers can show of a sample; zeroed: everything. */
struct cn_hpc_trace_contexts {
    const uint8_t *listed; /* a bit for each context below the limit: the others become
                              "not running". NULL: keep all */
    uint32_t limit;
    uint32_t idle; /* what the file says for "not running" */
};

/* A timeline being encoded. */
struct cn_hpc_trace_run {
    struct cn_hpc_trace_contexts contexts;
    struct cn_sample last;
    bool has_last;
    bool keeps_all; /* each sample has its place: nothing is merged */
    bool has_span;
    uint64_t begin_ns, end_ns; /* of all samples encoded */
    uint64_t merged_count, unlisted_count;
};

struct cn_hpc_trace_encoding {
    size_t sample_len;
    size_t align;       /* of timelines */
    bool merges_pauses; /* "not running" twice in a row is once */

    /* Encode samples at `at` and tell the length: cn_hpc_trace_run_encode() with this
     * encoding's samples. */
    bool (*encode)(struct cn_hpc_trace_run *run, const struct cn_sample *samples,
                   size_t count, uint8_t *at, size_t *len, struct cn_error *err);
};

static inline bool cn_hpc_trace_lists(const struct cn_hpc_trace_contexts *contexts,
                                      uint32_t context)
{
    return !contexts->listed || context >= contexts->limit ||
           (contexts->listed[context / 8] >> context % 8 & 1) != 0;
}

/* What was encoded is in the order of time. */
static inline void cn_hpc_trace_run_extend(struct cn_hpc_trace_run *run,
                                           uint64_t begin_ns, uint64_t end_ns)
{
    if (!run->has_span || begin_ns < run->begin_ns)
        run->begin_ns = begin_ns;
    if (!run->has_span || end_ns > run->end_ns)
        run->end_ns = end_ns;
    run->has_span = true;
}

/* The loop of `encode`, here so that the compiler sees through put_sample(). Readers
 * cannot show a context that is not listed: what the thread did there is unknown. */
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
        /* "Not running" twice in a row is once: the pause began with the first. */
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

/* Where the samples of a profile are. */
struct cn_hpc_trace_line {
    uint64_t begin_off, end_off;
};

struct cn_hpc_trace_lines {
    uint32_t count;
    struct cn_timeline *timelines; /* of profile i + 1 */
    struct cn_hpc_trace_line *lines;
    bool has_samples;          /* any of them */
    uint64_t begin_ns, end_ns; /* of all samples written; 0 and 0 without */
};

/* Look at all timelines; when none has_samples there is nothing to write. */
CN_CHECK bool cn_hpc_trace_lines_open(struct cn_hpc_trace_lines *lines,
                                      struct cn_database *db, struct cn_error *err);
void cn_hpc_trace_lines_done(struct cn_hpc_trace_lines *lines);

/* Append all samples to `out`; the lines tell where they are. Refuses time that runs
 * backwards. */
CN_CHECK bool cn_hpc_trace_lines_write(struct cn_hpc_trace_lines *lines,
                                       const struct cn_hpc_value_job *job,
                                       const struct cn_hpc_trace_encoding *encoding,
                                       const struct cn_hpc_trace_contexts *contexts,
                                       struct cn_out *out, struct cn_error *err);

#endif
