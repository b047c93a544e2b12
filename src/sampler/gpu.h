/* GPU work of sampled programs, from libcairn-gpu.so inside them (gpu/shared.h) to perf.data.
 *
 * The library writes to memory that is read here, about as often as rings are; memory that was read
 * is given back. Stacks get the names of Python functions, and become addresses.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_GPU_H
#define CN_SAMPLER_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct cn_frame_table;
struct cn_sample_collector;

struct cn_sample_gpu {
    int fd; /* -1: not open */
    struct cn_gpu_head *head;
    char path[64]; /* of the memory, for the program */
    char *library;
    struct cn_gpu_open_block *blocks; /* that threads may still write to */
    size_t count, capacity;
    uint64_t known_off;    /* blocks before this one were met */
    struct cn_text bytes;  /* of a block, as they are read */
    struct cn_text record; /* of perf.data, as it is made */
    uint64_t op_count;     /* operations that were read */
    uint64_t range_count;  /* ranges and marks */
    uint64_t looked_ns;    /* when mappings were last looked up */
    uint32_t look_count;
    struct cn_text notes; /* what is missing, one line each */
    bool has_started;     /* a program started to use a GPU */
};

/* Find the library and create the memory. `flags` are those of gpu/shared.h. */
CN_CHECK bool cn_sample_gpu_open(struct cn_sample_gpu *gpu, uint32_t flags,
                                 struct cn_error *err);
void cn_sample_gpu_close(struct cn_sample_gpu *gpu);

/* Before the first sample: call paths begin with ranges. */
CN_CHECK bool cn_sample_gpu_ask_ranges(struct cn_sample_gpu *gpu,
                                       struct cn_sample_collector *collector,
                                       struct cn_error *err);

/* Write what programs left to the file of the collector. */
CN_CHECK bool cn_sample_gpu_read(struct cn_sample_gpu *gpu,
                                 struct cn_sample_collector *collector,
                                 struct cn_error *err);

/* Records that had no room. */
uint64_t cn_sample_gpu_lost(const struct cn_sample_gpu *gpu);

/* Let a process read its frames of an interpreter; `table` NULL: no more. */
void cn_sample_gpu_put_table(struct cn_sample_gpu *gpu, uint32_t pid,
                             const struct cn_frame_table *table);

#endif
