/* GPU work in a perf.data file of cairn: operations below the calls that launched them.
 *
 *     cn_perf_gpu_init(&gpu, import, &threads, context_of, arg);
 *     cn_perf_gpu_take(&gpu, &record, err)      in the order of time
 *     cn_perf_gpu_finish(&gpu, err)             adds all to the import
 *     cn_perf_gpu_done(&gpu);
 *
 * Borrows the import and the threads. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_GPU_H
#define CN_FORMATS_EXCHANGE_PERF_GPU_H

#include "formats/exchange/perf/threads.h"

struct cn_import;

/* The context of a stack of return addresses below `base`; CN_NONE: below the start of its thread, and
 * ranges of `node` there. CN_NONE: the stack is empty. */
typedef uint32_t (*cn_perf_context_fn)(void *arg, uint32_t pid, struct cn_bytes addresses,
                                       uint32_t base, uint32_t node);

struct cn_perf_gpu_work {
    struct cn_import *import;
    struct cn_perf_threads *threads;
    cn_perf_context_fn context_of;
    void *arg;
    bool finds_names;               /* contexts of stacks are wanted, and nothing else */
    struct cn_gpu_records *records; /* NULL: there are none */
    /* What paths begin with, read before the samples; NULL: not. */
    struct cn_gpu_records *range_records;
    struct cn_gpu_ranges *ranges;
    struct cn_map context_of_node;  /* by parent and node: contexts of ranges */
    struct cn_map context_of_stack; /* by stack and node */
    struct cn_map writer_of;        /* by number of a thread: of `writers` */
    struct cn_perf_gpu_writer *writers;
    size_t writer_count, writer_capacity;
    struct cn_perf_gpu_stack *stacks;
    size_t stack_count, stack_capacity;
    struct cn_arena arena;
    uint64_t time_ns;       /* of the record that is taken */
    uint64_t bad_count;     /* records that cannot be read */
    struct cn_error damage; /* of the first of them */
};

void cn_perf_gpu_init(struct cn_perf_gpu_work *gpu, struct cn_import *import,
                      struct cn_perf_threads *threads, cn_perf_context_fn context_of,
                      void *arg);

/* A record of CN_PERF_HEADER_EVENT_TYPE. Damage is counted. */
CN_CHECK bool cn_perf_gpu_take(struct cn_perf_gpu_work *gpu,
                               const struct cn_perf_record *record, struct cn_error *err);
/* True if paths begin with ranges, which were not yet given: cn_perf_gpu_ranges_take() takes the
 * records of the rest of the file, and cn_perf_gpu_ranges_end() ends that. */
bool cn_perf_gpu_wants_ranges(const struct cn_perf_gpu_work *gpu);
CN_CHECK bool cn_perf_gpu_ranges_take(struct cn_perf_gpu_work *gpu,
                                      const struct cn_perf_record *record,
                                      struct cn_error *err);
void cn_perf_gpu_ranges_end(struct cn_perf_gpu_work *gpu);

/* The ranges that are open in a thread, for cn_perf_gpu_range_context(); 0: none. */
uint32_t cn_perf_gpu_ranges_at(const struct cn_perf_gpu_work *gpu, uint32_t pid,
                               uint32_t tid, uint64_t time_ns);

/* The context of these ranges below `parent`. */
uint32_t cn_perf_gpu_range_context(struct cn_perf_gpu_work *gpu, uint32_t parent,
                                   uint32_t node);

CN_CHECK bool cn_perf_gpu_finish(struct cn_perf_gpu_work *gpu, struct cn_error *err);
void cn_perf_gpu_done(struct cn_perf_gpu_work *gpu);

#endif
