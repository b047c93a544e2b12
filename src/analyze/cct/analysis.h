/* The steps of an analysis of calls, which the driver (ranks.c) puts together.
 *
 * A process counts some of the units, and learns from the driver what others have found. A
 * single process has all units.
 * Threads: one thread at a time; counting starts threads of its own.
 */
#ifndef CN_ANALYZE_CCT_ANALYSIS_H
#define CN_ANALYZE_CCT_ANALYSIS_H

#include "analyze/cct/calls_to_database.h"
#include "analyze/cct/database.h"
#include "analyze/cct/members.h"
#include "analyze/cct/metrics.h"
#include "base/run/failures.h"
#include "model/contexts/transpose.h"

/* Work of one worker: a task, or all tasks of a recording whose triggers work across tasks; where
 * several processes analyse, also those of a process whose memory was recorded. */
struct cn_cct_unit {
    size_t first, count; /* members */
    bool is_on;          /* the switch that its tasks share */
};

struct cn_cct_analysis {
    const struct cn_call_query *queries;
    const struct cn_calls_options *options;
    struct cn_cct_database *self;       /* to be closed by the driver */
    struct cn_cct_functions *functions; /* by query */
    uint32_t **op_nodes; /* by query: by operation of its GPU work; NULL: none */
    struct cn_cct_io_nodes **io_nodes; /* the same, by system call */
    struct cn_cct_unit *units;
    size_t unit_count;
    bool is_first;               /* of the processes; set by the driver, like */
    size_t unit_first, unit_end; /* units of this process */
    size_t own_first, own_end;   /* its members */
    uint64_t trees_len;          /* of trees in memory */
    uint64_t *spill_at; /* by member: 1 + the offset of its tree; 0: it is in memory */
    struct cn_thinner *spares; /* by worker: the memory of samples */
    struct cn_failures failures;
};

void cn_cct_analysis_init(struct cn_cct_analysis *a, const struct cn_call_query *queries,
                          size_t query_count, const struct cn_calls_options *options);
void cn_cct_analysis_done(struct cn_cct_analysis *a);

/* The sizes of units, released with free(). */
uint64_t *cn_cct_analysis_weigh(const struct cn_cct_analysis *a);

/* Count the units of this process, and merge their trees. The spool of the database is open. */
CN_CHECK bool cn_cct_analysis_count(struct cn_cct_analysis *a, struct cn_error *err);

/* Add what the threads of this process allocated to their readings. Threads of a process that was
 * recorded are in one unit. */
CN_CHECK bool cn_cct_analysis_heap(struct cn_cct_analysis *a, struct cn_error *err);

/* When the contexts of nodes are known: show what was live over time. One process analyses all. */
void cn_cct_analysis_show_heap(struct cn_cct_analysis *a);

/* The same of system calls. */
void cn_cct_analysis_show_io(struct cn_cct_analysis *a);

/* By query: the time of the last record of this process, released with free(). */
uint64_t *cn_cct_analysis_last_ns(const struct cn_cct_analysis *a);

/* End the tasks of this process; the last records are those of all. */
void cn_cct_analysis_end(struct cn_cct_analysis *a, const uint64_t *last_ns);

/* When contexts are numbered: fill in the tables of the database. */
void cn_cct_analysis_fill_in(struct cn_cct_analysis *a);

/* By operation of the GPU work of all recordings, the context that the threads of this process have of
 * it, or 0; the caller frees the list. NULL and 0: there is no such work. */
uint64_t *cn_cct_analysis_gpu_contexts(struct cn_cct_analysis *a, size_t *count);

/* When the values of threads are written: store the timelines of the streams of this process, with the
 * contexts that all processes know. */
CN_CHECK bool cn_cct_analysis_draw_streams(struct cn_cct_analysis *a,
                                           const uint64_t *contexts,
                                           struct cn_error *err);

/* What the result says of the tasks of this process, and adding it to a result that has room
 * for the damage of all tasks. */
void cn_cct_analysis_encode(const struct cn_cct_analysis *a, struct cn_text *message);
CN_CHECK bool cn_cct_analysis_add(const struct cn_cct_analysis *a,
                                  struct cn_bytes message, struct cn_calls_result *result,
                                  struct cn_error *err);

/* Title and description of a database made from recordings, and the offset of their clocks. */

/* Set title and description: the program, and the task of each profile. `title` may be
 * NULL. */
void cn_cct_describe(struct cn_database *db, const struct cn_call_query *queries,
                     const struct cn_cct_members *members, const char *title);

/* Nanoseconds to add to the times of a recording for the time since the epoch; 0 when
 * unknown. The last record is at `last_ns`. */
int64_t cn_cct_clock_offset(const struct cn_recording *rec, uint64_t last_ns);

/* The values of all profiles of an analysis: those of threads, and the summary.
 * Threads: one thread at a time; starts threads of its own.
 */

/* The metrics that are used. */
struct cn_cct_used {
    bool has_bucket[CN_BUCKET_COUNT];
    bool has_counter[CN_CCT_COUNTERS];
};

/* Write the planes of the threads of this process to the spool of the database. */
CN_CHECK bool cn_cct_threads_write(struct cn_cct_database *self,
                                   const struct cn_calls_options *options,
                                   struct cn_cct_used *used, struct cn_error *err);

/* What others need of the threads of this process, and taking it: messages in their order.
 * `*next` is the first thread that is still unknown. */
void cn_cct_threads_encode(const struct cn_cct_database *self,
                           const struct cn_cct_used *used, struct cn_text *message);
CN_CHECK bool cn_cct_threads_take(struct cn_cct_database *self, struct cn_cct_used *used,
                                  size_t *next, struct cn_bytes message,
                                  struct cn_error *err);

/* When all used metrics are known: build those of the database, and write the summary, or
 * the ranges of a process, at `off`. Sets the length of what was written, its values and
 * contexts. */
struct cn_cct_summary {
    uint64_t off, len, value_count, context_count;
};
CN_CHECK bool cn_cct_summary_write(struct cn_cct_database *self,
                                   const struct cn_calls_options *options,
                                   const struct cn_cct_used *used,
                                   const struct cn_transpose_rank *rank,
                                   struct cn_cct_summary *summary, struct cn_error *err);

#endif
