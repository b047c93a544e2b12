/* How many threads run at each time. While n of them run, the latency of each grows by 1/n of the
 * time that passes, so that latencies add up to the time in which at least one thread runs.
 *
 *     cn_concurrency_add(&concurrency, thread, begin_ns, end_ns);
 *     cn_concurrency_build(&concurrency);
 *     ns = cn_concurrency_latency(&concurrency, begin_ns, end_ns, &cursor);
 *     cn_concurrency_done(&concurrency);
 *
 * A zeroed one is empty.
 * Threads: one thread builds it; immutable afterwards.
 */
#ifndef CN_ANALYZE_CONCURRENCY_H
#define CN_ANALYZE_CONCURRENCY_H

#include <stddef.h>
#include <stdint.h>

/* The metric of latencies. */
#define CN_LATENCY_NAME "latency (sec)"

/* When a thread begins and ends to run, in turn. */
struct cn_concurrency_thread {
    uint64_t *times;
    size_t count, capacity;
    double latency_ns; /* of all its runs */
};

/* From here to the next one, the same number of threads runs. */
struct cn_concurrency_step {
    uint64_t time_ns;
    double latency_ns; /* until here, of a thread that always runs: the integral of 1/n */
    uint32_t running;
};

struct cn_concurrency {
    struct cn_concurrency_thread *threads;
    size_t thread_count, thread_capacity;
    struct cn_concurrency_step *steps; /* the last one has no threads */
    size_t step_count;
    uint64_t elapsed_ns; /* in which at least one thread runs */
};

/* Add a run; those of a thread are added in the order of time, and what it has already is left out.
 * Returns the nanoseconds that are added. */
uint64_t cn_concurrency_add(struct cn_concurrency *concurrency, uint32_t thread,
                            uint64_t begin_ns, uint64_t end_ns);

/* When the last run of a thread ends; 0: it has none. */
uint64_t cn_concurrency_last_ns(const struct cn_concurrency *concurrency,
                                uint32_t thread);

/* Count the threads that run. Nothing is added afterwards. */
void cn_concurrency_build(struct cn_concurrency *concurrency);

/* The latency of a thread that runs all the time between these two. `cursor` makes searches near
 * the one before faster; it is 0 at first. */
double cn_concurrency_latency(const struct cn_concurrency *concurrency, uint64_t begin_ns,
                              uint64_t end_ns, size_t *cursor);

void cn_concurrency_done(struct cn_concurrency *concurrency);

#endif
