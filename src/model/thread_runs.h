/* On which processor a thread ran, over time.
 *
 * A zeroed list is empty. cn_thread_runs_done() releases it.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_MODEL_THREAD_RUNS_H
#define CN_MODEL_THREAD_RUNS_H

#include <stddef.h>
#include <stdint.h>

enum { CN_PROCESSOR_MAX = 8192 }; /* numbers from here on are damaged data */

struct cn_thread_run {
    uint64_t begin_ns, end_ns;
    uint32_t processor;
};

/* In the order of time; between them, the thread did not run, or it is not known where. */
struct cn_thread_runs {
    struct cn_thread_run *list;
    size_t count, capacity;
};

/* Append a run. What the list has already is left out; on the same processor, a run that begins
 * where the last one ends continues it. A number from CN_PROCESSOR_MAX on is no processor. */
void cn_thread_runs_add(struct cn_thread_runs *runs, uint64_t begin_ns, uint64_t end_ns,
                        uint32_t processor);
void cn_thread_runs_done(struct cn_thread_runs *runs);

#endif
