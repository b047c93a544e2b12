#include "model/memory/merge.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/heap.h"

static bool is_before(const void *data, uint32_t a, uint32_t b)
{
    const struct cn_heap_event *events = data;

    return events[a].time_ns < events[b].time_ns ||
           (events[a].time_ns == events[b].time_ns && a < b);
}

void cn_heap_merge_begin(struct cn_heap_merge *merge, size_t log_count,
                         cn_heap_read_fn read, void *arg)
{
    *merge = (struct cn_heap_merge){
        .read = read,
        .arg = arg,
        .events = cn_alloc(log_count, sizeof(*merge->events)),
        .order = cn_alloc(log_count, sizeof(*merge->order)),
    };
    for (uint32_t i = 0; i < log_count; i++)
        if (read(arg, i, &merge->events[i]))
            merge->order[merge->count++] = i;
    cn_heap_build(merge->order, merge->count, is_before, merge->events);
}

const struct cn_heap_event *cn_heap_merge_next(struct cn_heap_merge *merge, uint32_t *log)
{
    if (merge->count == 0)
        return NULL;
    *log = merge->order[0];
    merge->event = merge->events[*log];
    if (!merge->read(merge->arg, *log, &merge->events[*log]))
        merge->order[0] = merge->order[--merge->count];
    cn_heap_sink(merge->order, merge->count, 0, is_before, merge->events);
    return &merge->event;
}

void cn_heap_merge_done(struct cn_heap_merge *merge)
{
    free(merge->events);
    free(merge->order);
    *merge = (struct cn_heap_merge){0};
}
