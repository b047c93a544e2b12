/* Keeps the store of a collector within limits while it collects: removes old segments, samples
 * settled ones, and joins small ones.
 *
 * A thread looks every few seconds (store/maintenance/care.h). Readers that have a segment open can
 * read it for 30 seconds after it was removed. A store in object storage has no lock: the
 * functions of store/maintenance/maintenance.h are called for it, less often.
 * Threads: any thread may ask; started and stopped by one.
 */
#ifndef CN_STORE_PIPELINE_KEEPER_H
#define CN_STORE_PIPELINE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/sampling/sampling.h"

struct cn_keeper;
struct cn_segment_numbers;

/* All zero: nothing is done. */
struct cn_keeper_limits {
    uint64_t age_ns;                      /* remove older traces */
    uint64_t len_max;                     /* bytes of the store */
    uint64_t count_max;                   /* traces */
    double disk_max;                      /* used share of the file system, to 1 */
    bool joins;                           /* small segments */
    const struct cn_sample_rules *sample; /* of settled traces; borrowed; NULL: none */
    uint64_t
        settle_ns;     /* nothing was written to a settled segment for so long; 0: 60 s */
    uint64_t every_ns; /* from one look to the next; 0: 10 s */
};

static inline bool cn_keeper_has_limits(const struct cn_keeper_limits *limits)
{
    return limits->age_ns > 0 || limits->len_max > 0 || limits->count_max > 0 ||
           limits->disk_max > 0;
}

static inline bool cn_keeper_has_work(const struct cn_keeper_limits *limits)
{
    return cn_keeper_has_limits(limits) || limits->joins || limits->sample;
}

static inline uint64_t cn_keeper_settle_ns(const struct cn_keeper_limits *limits)
{
    return limits->settle_ns > 0 ? limits->settle_ns : UINT64_C(60000000000);
}

struct cn_keeper_options {
    const char *path;
    const char *address; /* the same in object storage; NULL: keep the folder */
    struct cn_keeper_limits limits;
    struct cn_segment_numbers *numbers; /* of the lanes; borrowed */
    /* Begin new segments where all of the current one was written before this time. */
    void (*retire)(void *arg, uint64_t before_ns);
    void *retire_arg;
    void (*settle)(void *arg); /* called before segments go; may be NULL */
    void *settle_arg;
    void (*log)(void *arg, const char *text); /* what was done; may be NULL */
    void *log_arg;
};

struct cn_keeper_counts {
    uint64_t segments, rows, len,
        pinned;      /* removed; and traces that stay as they are pinned */
    uint64_t joined; /* segments that were joined into others */
    struct cn_sampling_counts sampled;
    uint64_t failures; /* looks that failed */
};

CN_CHECK bool cn_keeper_start(struct cn_keeper **out,
                              const struct cn_keeper_options *options,
                              struct cn_error *err);

/* Waits for the step that is running. NULL is fine. */
void cn_keeper_stop(struct cn_keeper *keeper);

struct cn_keeper_counts cn_keeper_counts(struct cn_keeper *keeper);

#endif
