/* How many bytes each call path had allocated over time: changes of what is live.
 *
 * The lists are in the arena of the database.
 * Threads: immutable.
 */
#ifndef CN_MODEL_HEAP_HISTORY_H
#define CN_MODEL_HEAP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_arena;

struct cn_heap_change {
    uint64_t time_ns; /* not less than before */
    double bytes;     /* whole; below 0: that were freed */
    uint32_t process; /* of the list */
    uint32_t profile, context;
};

/* One run of a program in a process, or one GPU. */
struct cn_heap_process {
    uint64_t peak_ns; /* when it had the most bytes */
    double peak_bytes;
    uint32_t profile; /* of its first thread that allocated */
    uint32_t device;  /* of memory of GPUs: whose memory it is, its number; else 0 */
};

struct cn_heap_history {
    struct cn_heap_change *changes;
    struct cn_heap_process *processes;
    size_t change_count, process_count;
    /* Changes of a context within this time are one, at the end of it; 1: each is there. */
    uint64_t resolution_ns;
    bool is_of_gpus; /* processes are GPUs */
};

/* A copy in `arena`; NULL for NULL. */
struct cn_heap_history *cn_heap_history_copy(const struct cn_heap_history *history,
                                             struct cn_arena *arena);

#endif
