/* Threads of a perf.data file, their names, and their time by state (analyze/waits.h).
 *
 * The state of a thread is known from records of switches: from the first to the last record
 * about it, it runs, is blocked or is pre-empted. Running time is distributed over contexts
 * like the samples of the clock; without such samples, over the contexts in which the thread
 * stopped running. Waiting time belongs to the context of the sample that the switch took.
 *
 * Where a thread ran is known from the processor of these records; without them, from samples of a
 * clock: a thread ran on the processor of its sample for one tick before it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_THREADS_H
#define CN_FORMATS_EXCHANGE_PERF_THREADS_H

#include "analyze/waits.h"
#include "base/map.h"
#include "formats/exchange/perf/file.h"
#include "formats/exchange/perf/latency.h"
#include "formats/exchange/perf/sched.h"

struct cn_import;

#define CN_PERF_NO_RANK UINT64_MAX

struct cn_perf_threads {
    struct cn_import *import;
    struct cn_perf_latency *latency;
    uint64_t rank;     /* or CN_PERF_NO_RANK */
    uint64_t epoch_ns; /* of the clock of the records: add it to their times */
    bool has_states;
    uint32_t time_metric;    /* the four of analyze/waits.h in order, if has_states */
    struct cn_map thread_of; /* by pid and tid, or processor: in `list` */
    struct cn_map last_of;   /* by tid: the last one in `list` */
    struct cn_map share_of;  /* by thread and spot: in `shares` */
    struct cn_perf_thread *list;
    struct cn_perf_share *shares;
    struct cn_wakeup *wakeups; /* of threads in `list`; from CN_NONE: none of them */
    struct cn_lock_wait *lock_waits; /* likewise */
    size_t lock_wait_count, lock_wait_capacity;
    size_t count, capacity, share_count, share_capacity, wakeup_count, wakeup_capacity;
    uint64_t last_ns;
    struct cn_arena arena;
};

/* `has_states`: the file has records of switches. */
CN_CHECK bool cn_perf_threads_init(struct cn_perf_threads *threads,
                                   struct cn_import *import,
                                   struct cn_perf_latency *latency, bool has_states,
                                   uint64_t rank, uint64_t epoch_ns,
                                   struct cn_error *err);

/* Apply a record of a name, a fork, an exit or a switch; others are ignored. */
void cn_perf_threads_take(struct cn_perf_threads *threads,
                          const struct cn_perf_file *file,
                          const struct cn_perf_record *record);

/* A thread that has ended is nameless in the sample of its last switch: name it. */
void cn_perf_threads_identify(const struct cn_perf_threads *threads,
                              struct cn_perf_sample *sample,
                              enum cn_perf_sched_kind kind);

/* The thread of a sample, and its number in the import. */
CN_CHECK bool cn_perf_threads_of(struct cn_perf_threads *threads,
                                 const struct cn_perf_sample *sample, uint32_t *out,
                                 struct cn_error *err);

uint32_t cn_perf_threads_number(const struct cn_perf_threads *threads, uint32_t thread);

/* A sample of that thread: of a clock whose period is known, of another event that shows where it
 * spends its time, of a switch, or of any other event. `tick_ns` is the time between two samples of a
 * thread that runs; 0: unknown. */
enum cn_perf_sample_kind {
    CN_PERF_OF_CLOCK,
    CN_PERF_OF_WORK,
    CN_PERF_OF_SWITCH,
    CN_PERF_OF_OTHER
};
void cn_perf_threads_sample(struct cn_perf_threads *threads, uint32_t thread,
                            const struct cn_perf_sample *sample,
                            enum cn_perf_sample_kind kind, uint64_t tick_ns,
                            struct cn_perf_spot spot);

/* If the thread stops with its last sample, it waits for this lock of the import. */
void cn_perf_threads_lock(struct cn_perf_threads *threads, uint32_t thread,
                          uint32_t lock);

/* True if a thread of this number was seen. */
bool cn_perf_threads_knows(const struct cn_perf_threads *threads, uint32_t tid);

/* A tracepoint of the scheduler, after the sample that has it, in `context`; 0: unknown. */
void cn_perf_threads_schedule(struct cn_perf_threads *threads,
                              const struct cn_perf_sample *sample,
                              enum cn_perf_sched_kind kind, uint32_t context);

/* Add times to the import, except for the latency, which other files have a part in. */
CN_CHECK bool cn_perf_threads_finish(struct cn_perf_threads *threads,
                                     struct cn_error *err);
void cn_perf_threads_done(struct cn_perf_threads *threads);

#endif
