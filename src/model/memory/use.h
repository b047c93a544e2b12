/* What a program allocates, from the stream of its allocations and frees: by thread and context.
 *
 *     use = cn_heap_use_new();
 *     cn_heap_use_alloc(use, &block);            in the order of time
 *     cn_heap_use_release(use, &release);
 *     cn_heap_use_visit(use, visit, arg, err);   once, at the end
 *     cn_heap_use_free(use);
 *
 * A block stands for `calls` allocations of its size: 1 where each is recorded, more where they are
 * sampled. A block at the address of one that is live takes its place: the release of that one is
 * missing. Memory grows with contexts, and with blocks that are live.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_MEMORY_USE_H
#define CN_MODEL_MEMORY_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/memory/metrics.h"

struct cn_arena;
struct cn_heap_history;
struct cn_heap_use;

/* Freed within this time, a block is temporary. */
enum { CN_HEAP_TEMPORARY_NS = 1000000 };

struct cn_heap_block {
    uint64_t process; /* any number of one run of a program in a process */
    uint64_t address, time_ns;
    uint64_t size, usable_size; /* requested, and what the allocator gave */
    uint64_t old_size;          /* of the block that it replaces; 0: it replaces none */
    double calls;
    uint32_t thread, context;
    bool is_sampled; /* others were not recorded */
};

struct cn_heap_release {
    uint64_t process, address, time_ns;
    uint64_t size; /* a larger block stays; 0: any */
    uint32_t thread;
    bool is_next; /* the thread has allocated nothing since the block */
    bool
        has_root; /* `root` is the context of the whole thread, which must be known then */
    uint32_t root;
};

struct cn_heap_use *cn_heap_use_new(void);

/* Before the first block: what is live over time will be asked for. */
void cn_heap_use_keep_history(struct cn_heap_use *use);

void cn_heap_use_free(struct cn_heap_use *use); /* NULL is fine */

void cn_heap_use_alloc(struct cn_heap_use *use, const struct cn_heap_block *block);

/* An event of a block follows soon: fetch what is known of it. */
void cn_heap_use_expect(const struct cn_heap_use *use, uint64_t process,
                        uint64_t address);

/* False if no block is known at the address that is released. */
bool cn_heap_use_release(struct cn_heap_use *use, const struct cn_heap_release *release);

/* A block that is live is known to be reached by no pointer: it is leaked, unless it is released
 * later. */
void cn_heap_use_leak(struct cn_heap_use *use, uint64_t process, uint64_t address);

/* The blocks of a process that are live, in no order; `bytes` are requested. */
typedef void (*cn_heap_live_fn)(void *arg, uint64_t address, double bytes);
void cn_heap_use_live(const struct cn_heap_use *use, uint64_t process,
                      cn_heap_live_fn take, void *arg);

/* An allocation whose address is unknown (`address` of `block` counts for nothing), and the free of one
 * of the same size and context, whose lifetime is unknown. */
void cn_heap_use_gain(struct cn_heap_use *use, const struct cn_heap_block *block);
void cn_heap_use_lose(struct cn_heap_use *use, const struct cn_heap_block *block,
                      bool is_temporary);

/* The most bytes that a process had allocated at once, and when. */
struct cn_heap_peak {
    uint64_t process, time_ns;
    uint64_t process_count;  /* processes that allocated */
    double sum;              /* of the peaks of all, each at its own time */
    double bytes, end_bytes; /* then, and at the end */
    double error;            /* standard error of `bytes`; 0 if all were recorded */
};

/* Of the process with the highest one. False if nothing was allocated. */
bool cn_heap_use_peak(const struct cn_heap_use *use, struct cn_heap_peak *out);

/* What was live over time, in an arena; `profile` of changes and processes is the thread of their blocks.
 * Once, at the end. */
struct cn_heap_history *cn_heap_use_history(struct cn_heap_use *use,
                                            struct cn_arena *arena);

/* See the values of each thread and context, by metric, in the order in which they were met. */
typedef bool (*cn_heap_visit)(void *arg, uint32_t thread, uint32_t context,
                              const double values[CN_HEAP_METRIC_COUNT],
                              struct cn_error *err);
CN_CHECK bool cn_heap_use_visit(const struct cn_heap_use *use, cn_heap_visit visit,
                                void *arg, struct cn_error *err);

#endif
