/* Which memory of GPUs is allocated over time: releases find their allocations.
 *
 *     cn_gpu_memory_join(work, events, count);     the builder, before operations are sorted
 *     cn_gpu_memory_peaks(work);                   afterwards
 *     history = cn_gpu_memory_history(work, arena);
 *
 * Threads: one thread at a time; of finished work, any thread.
 */
#ifndef CN_MODEL_GPU_MEMORY_H
#define CN_MODEL_GPU_MEMORY_H

#include "model/gpu/work.h"

struct cn_arena;
struct cn_heap_history;

/* An allocation or release whose address is known. */
struct cn_gpu_memory_event {
    uint64_t address;
    uint32_t pid, op;
    uint64_t time_ns; /* set here */
};

/* Give allocations the times of their releases, which get the device and size of the allocation where they
 * lack them. Sorts the events. An allocation at the address of one that is live frees that: its release is
 * missing. */
void cn_gpu_memory_join(struct cn_gpu_work *work, struct cn_gpu_memory_event *events,
                        size_t count);

/* When each device had most memory allocated, and what was allocated then. */
void cn_gpu_memory_peaks(struct cn_gpu_work *work);

/* What was live over time: its processes are devices, its profiles and contexts the threads and places of the
 * allocations, those of a database; NULL: nothing is known. */
struct cn_heap_history *cn_gpu_memory_history(const struct cn_gpu_work *work,
                                              struct cn_arena *arena);

#endif
