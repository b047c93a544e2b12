/* Removes and joins the sealed segments of a store in a directory, also while lanes write to it.
 *
 * What is removed or replaced is marked as gone first: readers that have it open can read it for a
 * while. All steps may be interrupted by a crash: a segment is there with all of its traces, or what
 * replaces it is. The functions of store/maintenance/maintenance.h and a running collector
 * (store/pipeline/keeper.h) both call these.
 * Threads: one thread at a time for each store.
 */
#ifndef CN_STORE_MAINTENANCE_CARE_H
#define CN_STORE_MAINTENANCE_CARE_H

#include <stddef.h>
#include <stdint.h>

#include "store/maintenance/maintenance.h"

struct cn_disk;
struct cn_segment_numbers;
struct cn_store_row;
struct cn_store_sampled;

/* Who takes care. */
struct cn_store_care {
    const char *base;
    struct cn_segment_numbers
        *numbers;      /* of lanes that write; NULL: the caller has the lock */
    uint64_t grace_ns; /* readers can read removed segments for so long; 0: not at all */
    /* Called before segments that were written until now are removed or joined; or NULL. */
    void (*settle)(void *arg);
    void *settle_arg;
};

/* Remove segments until the limits are met, except their pinned traces, for which new segments are
 * made. A segment that cannot be read is left, and the first such failure returned after the others
 * were removed. `out` receives what was done, also on failure. */
CN_CHECK bool cn_care_expire(const struct cn_store_care *care,
                             const struct cn_store_limits *limits,
                             struct cn_store_expiry *out, struct cn_error *err);

/* Which runs of segments are joined. */
struct cn_care_runs {
    size_t len_min;       /* segments in a run */
    size_t count_max;     /* runs */
    uint64_t span_max_ns; /* time of the spans of a run, so that it can expire; 0: any */
    bool is_even; /* no segment is longer than the others together, so that each is copied
                             seldom */
    bool only_sampled; /* others are about to be sampled */
    bool
        rewrites; /* segments whose chunks have another form than the store's, also alone */
};

/* Join consecutive sealed segments that together are not longer than one of full size. `counts` is
 * added to. */
CN_CHECK bool cn_care_compact(const struct cn_store_care *care,
                              const struct cn_care_runs *runs,
                              struct cn_store_compaction *counts, struct cn_error *err);

/* Remove what is gone for longer than the grace. */
CN_CHECK bool cn_care_clean(const struct cn_store_care *care, struct cn_error *err);

/* Which traces stay when segments are replaced. */
struct cn_care_choice {
    /* The rate at which the trace of a row stays, in millionths; 0: it goes. */
    uint32_t (*rate)(void *arg, const struct cn_store_row *row);
    void *arg;
    /* What sampling drops now, of segments that were not sampled so far; NULL: they are not. */
    const struct cn_store_sampled *sampled;
};

/* Write a new, sealed segment that replaces these consecutive ones, with the traces that are chosen;
 * NULL: all. Traces of the same rate are next to each other. `row_count` receives the number of
 * traces. */
CN_CHECK bool cn_care_replace(const struct cn_store_care *care, const uint32_t *numbers,
                              size_t count, const struct cn_care_choice *choice,
                              uint64_t *row_count, struct cn_error *err);

/* False while a segment below the highest number may still appear: between two joined ones, it would
 * be replaced with them. */
bool cn_care_may_join(const struct cn_store_care *care);

#endif
