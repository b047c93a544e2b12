/* What ran on each processor over time: the thread that ran longest in each column.
 *
 * Runs are those of threads whose scheduler events or samples name their processor: what other
 * programs did there is a gap.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TIMELINE_PROCESSOR_TRACKS_H
#define CN_ANALYZE_TIMELINE_PROCESSOR_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_thread_runs;

struct cn_processor_cell {
    uint64_t busy_ns; /* of all threads; at most the length of the column */
    uint64_t most_ns; /* of one thread */
    uint32_t thread;  /* that one */
};

struct cn_processor_track {
    uint32_t number;
    uint64_t busy_ns;                /* in the range */
    struct cn_processor_cell *cells; /* by column */
};

struct cn_processor_tracks {
    struct cn_processor_track *list; /* by number; also without a run in the range */
    size_t count;
    struct cn_processor_cell *cells; /* of all */
};

/* The runs of a thread; NULL: none are known. */
typedef const struct cn_thread_runs *cn_runs_of(void *arg, uint32_t thread);

struct cn_processor_question {
    cn_runs_of *runs_of;
    void *arg;
    uint32_t first_thread, thread_end; /* their numbers */
    uint64_t begin_ns, end_ns;
    uint32_t column_count; /* as of cn_occupancy_column_ns(); at least 1 */
    size_t processor_max;  /* of more, the first ones */
};

void cn_processor_tracks_build(struct cn_processor_tracks *out,
                               const struct cn_processor_question *question);
void cn_processor_tracks_done(struct cn_processor_tracks *tracks);

#endif
