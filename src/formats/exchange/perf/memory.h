/* Allocated memory in a perf.data file of cairn: by thread and path, from samples of allocations.
 *
 *     cn_perf_memory_init(&memory, import, &threads, context_of, arg);
 *     cn_perf_memory_take(&memory, &record, err)      in the order of time
 *     cn_perf_memory_finish(&memory, err)             adds all to the import
 *     cn_perf_memory_done(&memory);
 *
 * Borrows the import and the threads. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_MEMORY_H
#define CN_FORMATS_EXCHANGE_PERF_MEMORY_H

#include "formats/exchange/perf/gpu.h"

struct cn_heap_use;
struct cn_import;

struct cn_perf_heap {
    struct cn_import *import;
    struct cn_perf_threads *threads;
    cn_perf_context_fn context_of;
    void *arg;
    struct cn_heap_use *use; /* NULL: there are no such records */
    uint64_t time_ns;        /* of the record that is taken */
    uint64_t first_ns;       /* of the first of them */
    uint64_t interval;
    uint64_t sample_count, lost_count, bad_count;
    bool is_cut;
    bool has_checked; /* leaks were looked for */
};

void cn_perf_memory_init(struct cn_perf_heap *heap, struct cn_import *import,
                         struct cn_perf_threads *threads, cn_perf_context_fn context_of,
                         void *arg);

/* True if a record of CN_PERF_HEADER_EVENT_TYPE is of memory. */
bool cn_perf_memory_is(const struct cn_perf_record *record);

/* Take such a record. Damage is counted. */
CN_CHECK bool cn_perf_memory_take(struct cn_perf_heap *heap,
                                  const struct cn_perf_record *record,
                                  struct cn_error *err);
CN_CHECK bool cn_perf_memory_finish(struct cn_perf_heap *heap, struct cn_error *err);
void cn_perf_memory_done(struct cn_perf_heap *heap);

#endif
