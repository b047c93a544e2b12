/* Ranges and marks that a program named (NVTX), as tracks: which of them are open, over time.
 *
 *     ranges = cn_gpu_ranges_new(events, count);
 *     node = cn_gpu_ranges_at(ranges, pid, tid, time_ns);
 *
 * A thread has a track of the ranges that it pushes and pops, in any domain, and its marks; a process
 * one of those that any thread may end. What is open is a node of a tree, below the ranges that began
 * before. Ranges below the first CN_GPU_RANGE_DEPTH_MAX are left out.
 * Threads: immutable once made.
 */
#ifndef CN_FORMATS_GPU_RANGES_H
#define CN_FORMATS_GPU_RANGES_H

#include <stddef.h>
#include <stdint.h>

enum {
    CN_GPU_RANGE_DEPTH_MAX = 256,
    CN_GPU_MARK_NS = 1, /* the time that a mark is open */
};

struct cn_gpu_range_event {
    uint64_t time_ns;
    uint64_t id; /* of a range that any thread may end */
    uint32_t pid, tid;
    uint32_t name;
    uint32_t order; /* set here */
    uint16_t domain;
    uint8_t kind; /* enum cn_gpu_range_kind of format.h */
};

struct cn_gpu_range_node {
    uint32_t parent; /* before it; 0: none */
    uint32_t name;
};

/* What is open from a time on; 0: nothing. */
struct cn_gpu_range_state {
    uint64_t time_ns;
    uint32_t node;
};

struct cn_gpu_range_track {
    uint32_t pid;
    uint32_t tid;        /* 0: that of the process */
    size_t first, count; /* of the states, by time; after the last one nothing is open */
};

struct cn_gpu_ranges {
    struct cn_gpu_range_node *nodes; /* parents first; the first is none */
    struct cn_gpu_range_state *states;
    struct cn_gpu_range_track *tracks; /* by process and thread */
    size_t node_count, state_count, track_count;
    uint64_t unended_count; /* ranges that were open at the end */
};

/* NULL if there are none. Sorts the events. */
struct cn_gpu_ranges *cn_gpu_ranges_new(struct cn_gpu_range_event *events, size_t count);
void cn_gpu_ranges_free(struct cn_gpu_ranges *ranges); /* NULL is fine */

/* The node that is open in a thread; 0: none. */
uint32_t cn_gpu_ranges_at(const struct cn_gpu_ranges *ranges, uint32_t pid, uint32_t tid,
                          uint64_t time_ns);

#endif
