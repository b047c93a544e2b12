#include "model/gpu/memory.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/sort.h"
#include "model/contexts/context.h"
#include "model/heap_history.h"
#include "model/memory/use.h"

/* An allocation begins or ends to be live. */
struct memory_edge {
    uint64_t time_ns;
    uint32_t group, op; /* `group`: the device, where edges are by device */
    bool is_end;
};

static uint64_t key_of(const struct cn_gpu_memory_event *event)
{
    uint64_t key[] = {event->pid, event->address};

    return XXH3_64bits(key, sizeof(key));
}

/* The end of an allocation is after its begin. */
static void free_at(struct cn_gpu_op *op, uint64_t time_ns)
{
    op->freed_ns = time_ns > op->begin_ns ? time_ns : op->begin_ns + 1;
}

void cn_gpu_memory_join(struct cn_gpu_work *work, struct cn_gpu_memory_event *events,
                        size_t count)
{
    struct cn_map live = {0}; /* by process and address: operations */

    for (size_t i = 0; i < count; i++)
        events[i].time_ns = work->ops[events[i].op].begin_ns;
    CN_SORT(events, count, CN_UP(struct cn_gpu_memory_event, pid),
            CN_UP(struct cn_gpu_memory_event, time_ns),
            CN_UP(struct cn_gpu_memory_event, op));
    for (size_t i = 0; i < count; i++) {
        struct cn_gpu_op *op = &work->ops[events[i].op];
        uint32_t *at = cn_map_at(&live, key_of(&events[i]), CN_NONE);

        if (*at != CN_NONE)
            free_at(&work->ops[*at], events[i].time_ns);
        op->is_followed = cn_gpu_op_takes_memory(op);
        *at = op->is_followed ? events[i].op : CN_NONE;
    }
    cn_map_done(&live);
}

/* The begins and ends of allocations whose device is known, by time; the caller frees them. */
static struct memory_edge *list_edges(const struct cn_gpu_work *work, bool by_device,
                                      size_t *count)
{
    size_t most = 0;

    for (uint32_t i = 0; i < work->op_count; i++)
        most += 2 * (size_t)work->ops[i].is_followed;
    struct memory_edge *edges = cn_alloc(most, sizeof(*edges));
    *count = 0;
    for (uint32_t i = 0; i < work->op_count; i++) {
        const struct cn_gpu_op *op = &work->ops[i];
        uint32_t group = by_device ? op->device : 0;

        if (!op->is_followed || op->device == CN_NONE)
            continue;
        edges[(*count)++] = (struct memory_edge){op->begin_ns, group, i, false};
        if (op->freed_ns > 0)
            edges[(*count)++] = (struct memory_edge){op->freed_ns, group, i, true};
    }
    CN_SORT(edges, *count, CN_UP(struct memory_edge, group),
            CN_UP(struct memory_edge, time_ns), CN_DOWN(struct memory_edge, is_end),
            CN_UP(struct memory_edge, op));
    return edges;
}

/* Find the peak of the device of the edges from `first` on; returns the end of its edges. */
static size_t find_peak(struct cn_gpu_work *work, const struct memory_edge *edges,
                        size_t first, size_t count)
{
    uint64_t live = 0, most = 0;
    size_t peak = first, end = first;

    for (; end < count && edges[end].group == edges[first].group; end++) {
        uint64_t bytes = work->ops[edges[end].op].bytes;

        live = edges[end].is_end ? live - bytes : live + bytes;
        if (!edges[end].is_end && live > most) {
            most = live;
            peak = end;
        }
    }
    for (size_t i = first; i <= peak; i++)
        work->ops[edges[i].op].is_at_peak = !edges[i].is_end;
    return end;
}

void cn_gpu_memory_peaks(struct cn_gpu_work *work)
{
    size_t count;
    struct memory_edge *edges = list_edges(work, true, &count);

    for (size_t at = 0; at < count;)
        at = find_peak(work, edges, at, count);
    free(edges);
}

/* Add or free what an edge is of, in the place where it is shown. */
static void take_edge(struct cn_heap_use *use, const struct cn_gpu_op *op,
                      const struct memory_edge *edge)
{
    if (edge->is_end)
        (void)cn_heap_use_release(use, &(struct cn_heap_release){.process = op->device,
                                                                 .address = edge->op,
                                                                 .time_ns = edge->time_ns,
                                                                 .thread = op->thread});
    else
        cn_heap_use_alloc(use, &(struct cn_heap_block){.process = op->device,
                                                       .address = edge->op,
                                                       .time_ns = edge->time_ns,
                                                       .size = op->bytes,
                                                       .usable_size = op->bytes,
                                                       .calls = 1,
                                                       .thread = op->thread,
                                                       .context = op->place});
}

struct cn_heap_history *cn_gpu_memory_history(const struct cn_gpu_work *work,
                                              struct cn_arena *arena)
{
    size_t count, known = 0;
    struct memory_edge *edges = list_edges(work, false, &count);
    struct cn_heap_use *use = cn_heap_use_new();
    uint32_t *devices = cn_alloc(work->device_count, sizeof(*devices));
    bool *is_known = cn_alloc(work->device_count, sizeof(*is_known));
    struct cn_heap_history *history = NULL;

    cn_heap_use_keep_history(use);
    for (size_t i = 0; i < count; i++) {
        const struct cn_gpu_op *op = &work->ops[edges[i].op];

        if (op->thread == CN_NONE)
            continue;
        if (!is_known[op->device])
            devices[known++] = work->devices[op->device].number;
        is_known[op->device] = true;
        take_edge(use, op, &edges[i]);
    }
    if (known > 0)
        history = cn_heap_use_history(use, arena);
    if (history)
        history->is_of_gpus = true;
    for (size_t i = 0; i < known; i++)
        history->processes[i].device = devices[i];
    cn_heap_use_free(use);
    free(edges);
    free(devices);
    free(is_known);
    return history;
}
