/* Recordings of calls to a database of calling contexts.
 *
 * Tasks are read in parallel, one tree per task; trees are merged in the order of tasks, so
 * the result does not depend on the number of workers. Memory grows with the number of
 * contexts, not with that of records: the values of threads are in an unnamed file, timelines
 * too if they have a limit of samples; other timelines are read from the recordings on demand.
 *
 * Several processes may work together: each reads some of the tasks, and they agree on the
 * contexts (ranks.c). All call with the same queries and get the same database; the bytes
 * written from it are those that one process would write.
 *
 * The database borrows the queries, their recordings and filters until it is closed.
 * Threads: one thread at a time; starts `workers` threads of its own.
 */
#ifndef CN_ANALYZE_CCT_CALLS_TO_DATABASE_H
#define CN_ANALYZE_CCT_CALLS_TO_DATABASE_H

#include "analyze/calls/merge.h"

struct cn_database;
struct cn_cct_locations;
struct cn_ranks;

struct cn_calls_options {
    unsigned workers;       /* at least 1 */
    struct cn_ranks *ranks; /* processes that work together; NULL: this one alone */
    const char *folder;     /* of the unnamed file */
    const char *title;      /* NULL: the name of the program */
    uint64_t
        min_time_ns;   /* leave out contexts with less total time over all threads; their
                             time counts for the caller */
    bool is_collapsed; /* recursive calls are one context */
    bool has_all_statistics; /* over threads; else sums */
    bool without_timelines;
    uint64_t timeline_resolution_ns,
        timeline_sample_max;                  /* as for writers; 0: all samples */
    const struct cn_cct_locations *locations; /* NULL: recorded locations only */
    const struct cn_progress *progress;       /* may be NULL */
};

/* A task that could not be read to its end. */
struct cn_calls_damage {
    size_t query;
    uint32_t task;
    struct cn_error err;
};

/* Of all processes together. */
struct cn_calls_result {
    uint64_t record_count;
    uint64_t lost_count; /* records that the recorder lost */
    uint32_t context_count;
    struct cn_calls_damage *damages;
    size_t damage_count;
};

/* The caller closes the database and releases `result`. On failure nothing is left to
 * release. */
CN_CHECK bool cn_calls_to_database(struct cn_database **out,
                                   const struct cn_call_query *queries,
                                   size_t query_count,
                                   const struct cn_calls_options *options,
                                   struct cn_calls_result *result, struct cn_error *err);
void cn_calls_result_done(struct cn_calls_result *result);

#endif
