/* The events of several logs of memory, in the order of time; at the same time, in that of the logs.
 *
 *     cn_heap_merge_begin(&merge, log_count, read, arg);
 *     while ((event = cn_heap_merge_next(&merge, &log))) ...
 *     cn_heap_merge_done(&merge);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_MEMORY_MERGE_H
#define CN_MODEL_MEMORY_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "model/memory/log.h"

/* The next event of a log; false at its end. */
typedef bool (*cn_heap_read_fn)(void *arg, uint32_t log, struct cn_heap_event *out);

struct cn_heap_merge {
    cn_heap_read_fn read;
    void *arg;
    struct cn_heap_event *events; /* the next one of each log */
    struct cn_heap_event event;   /* that was returned last */
    uint32_t *order;
    size_t count; /* logs that have not ended */
};

void cn_heap_merge_begin(struct cn_heap_merge *merge, size_t log_count,
                         cn_heap_read_fn read, void *arg);

/* Valid until the next call; NULL at the end. */
const struct cn_heap_event *cn_heap_merge_next(struct cn_heap_merge *merge,
                                               uint32_t *log);
void cn_heap_merge_done(struct cn_heap_merge *merge);

#endif
