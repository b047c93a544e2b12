/* The time of each context in a time range, from all samples.
 *
 * Long timelines are read in parts on all processors. Times are whole nanoseconds, so sums
 * do not depend on the order of addition. An estimate reads samples here and there, each of which
 * stands for the ones around it.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_TIMELINE_RANGE_SUMS_H
#define CN_ANALYZE_TIMELINE_RANGE_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/run/progress.h"

struct cn_database;

struct cn_range_request {
    const uint32_t *profiles;
    size_t profile_count;
    uint64_t begin_ns, end_ns;
    size_t id_limit;     /* contexts from here on do not count */
    uint64_t sample_max; /* read about so many of more samples; 0: read all */
};

struct cn_range_sums {
    uint64_t *ns;          /* by context id, below id_limit; 0: the thread waited */
    uint64_t sample_count; /* of those that did not wait */
    bool is_estimate;      /* not all samples were read */
};

/* Fails with CN_ERR_FORMAT where the samples of a thread go back in time. On failure nothing is
 * left to release. */
CN_CHECK bool cn_range_sums_build(struct cn_range_sums *out, struct cn_database *db,
                                  const struct cn_range_request *request,
                                  const struct cn_progress *progress,
                                  struct cn_error *err);
void cn_range_sums_done(struct cn_range_sums *sums);

#endif
