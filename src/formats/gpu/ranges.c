#include "formats/gpu/ranges.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"
#include "formats/gpu/format.h"

struct open_range {
    uint64_t id;
    uint32_t name;
    uint16_t domain;
};

/* The track that is being made. */
struct track_making {
    struct cn_gpu_ranges *ranges;
    size_t node_capacity, state_capacity, track_capacity;
    struct cn_map node_of; /* by parent and name */
    struct open_range open[CN_GPU_RANGE_DEPTH_MAX];
    size_t open_count, excess_count; /* open ranges that are left out */
};

static bool is_of_process(const struct cn_gpu_range_event *event)
{
    return event->kind == CN_GPU_RANGE_START || event->kind == CN_GPU_RANGE_END;
}

static uint32_t tid_of(const struct cn_gpu_range_event *event)
{
    return is_of_process(event) ? 0 : event->tid;
}

/* By track and time, and then as they were recorded. */
static int compare_events(const void *left, const void *right)
{
    const struct cn_gpu_range_event *a = left, *b = right;
    uint64_t keys[][2] = {{a->pid, b->pid},
                          {tid_of(a), tid_of(b)},
                          {a->time_ns, b->time_ns},
                          {a->order, b->order}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static uint32_t node_below(struct track_making *m, uint32_t parent, uint32_t name)
{
    struct cn_gpu_ranges *r = m->ranges;
    uint32_t node =
        *cn_map_at(&m->node_of, (uint64_t)parent << 32 | name, (uint32_t)r->node_count);

    if (node == r->node_count) {
        CN_PUSH(r->nodes, r->node_count, m->node_capacity,
                (struct cn_gpu_range_node){parent, name});
    }
    return node;
}

static uint32_t open_node(struct track_making *m)
{
    uint32_t node = 0;

    for (size_t i = 0; i < m->open_count; i++)
        node = node_below(m, node, m->open[i].name);
    return node;
}

static void add_state(struct track_making *m, uint64_t time_ns, uint32_t node)
{
    struct cn_gpu_ranges *r = m->ranges;
    struct cn_gpu_range_track *track = &r->tracks[r->track_count - 1];

    /* A mark lasts longer than nothing. */
    if (track->count > 0 && r->states[r->state_count - 1].time_ns > time_ns)
        time_ns = r->states[r->state_count - 1].time_ns;
    CN_PUSH(r->states, r->state_count, m->state_capacity,
            (struct cn_gpu_range_state){time_ns, node});
    track->count++;
}

static void open_range(struct track_making *m, const struct cn_gpu_range_event *event)
{
    if (m->open_count == CN_GPU_RANGE_DEPTH_MAX) {
        m->excess_count++;
        return;
    }
    m->open[m->open_count++] = (struct open_range){event->id, event->name, event->domain};
}

/* Close the range that ends: the last one of its domain, or that with its id. */
static void close_range(struct track_making *m, const struct cn_gpu_range_event *event)
{
    bool has_id = event->kind == CN_GPU_RANGE_END;
    size_t at = m->open_count;

    if (m->excess_count > 0) {
        m->excess_count--;
        return;
    }
    while (at > 0 && (has_id ? m->open[at - 1].id != event->id
                             : m->open[at - 1].domain != event->domain))
        at--;
    if (at == 0)
        return;
    for (; at < m->open_count; at++)
        m->open[at - 1] = m->open[at];
    m->open_count--;
}

static void take_event(struct track_making *m, const struct cn_gpu_range_event *event)
{
    switch (event->kind) {
    case CN_GPU_RANGE_PUSH:
    case CN_GPU_RANGE_START:
        open_range(m, event);
        break;
    case CN_GPU_RANGE_MARK:
        add_state(m, event->time_ns, node_below(m, open_node(m), event->name));
        add_state(m, event->time_ns + CN_GPU_MARK_NS, open_node(m));
        return;
    default:
        close_range(m, event);
    }
    add_state(m, event->time_ns, open_node(m));
}

static void begin_track(struct track_making *m, const struct cn_gpu_range_event *event)
{
    struct cn_gpu_ranges *r = m->ranges;

    m->open_count = m->excess_count = 0;
    CN_PUSH(r->tracks, r->track_count, m->track_capacity,
            (struct cn_gpu_range_track){
                .pid = event->pid, .tid = tid_of(event), .first = r->state_count});
}

static void end_track(struct track_making *m, uint64_t last_ns)
{
    m->ranges->unended_count += m->open_count;
    if (m->open_count > 0)
        add_state(m, last_ns, 0);
}

struct cn_gpu_ranges *cn_gpu_ranges_new(struct cn_gpu_range_event *events, size_t count)
{
    struct track_making *m;
    uint64_t last_ns = 0;

    if (count == 0)
        return NULL;
    m = cn_alloc(1, sizeof(*m));
    m->ranges = cn_alloc(1, sizeof(*m->ranges));
    CN_PUSH(m->ranges->nodes, m->ranges->node_count, m->node_capacity,
            (struct cn_gpu_range_node){0});
    for (size_t i = 0; i < count; i++) {
        events[i].order = (uint32_t)i;
        last_ns = events[i].time_ns > last_ns ? events[i].time_ns : last_ns;
    }
    qsort(events, count, sizeof(*events), compare_events);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || events[i].pid != events[i - 1].pid ||
            tid_of(&events[i]) != tid_of(&events[i - 1]))
            begin_track(m, &events[i]);
        take_event(m, &events[i]);
        if (i + 1 == count || events[i].pid != events[i + 1].pid ||
            tid_of(&events[i]) != tid_of(&events[i + 1]))
            end_track(m, last_ns);
    }
    struct cn_gpu_ranges *ranges = m->ranges;
    cn_map_done(&m->node_of);
    free(m);
    return ranges;
}

void cn_gpu_ranges_free(struct cn_gpu_ranges *ranges)
{
    if (!ranges)
        return;
    free(ranges->nodes);
    free(ranges->states);
    free(ranges->tracks);
    free(ranges);
}

static const struct cn_gpu_range_track *find_track(const struct cn_gpu_ranges *ranges,
                                                   uint32_t pid, uint32_t tid)
{
    uint64_t key = (uint64_t)pid << 32 | tid;
    size_t first = 0, end = ranges->track_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct cn_gpu_range_track *track = &ranges->tracks[middle];

        if (((uint64_t)track->pid << 32 | track->tid) < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first < ranges->track_count && ranges->tracks[first].pid == pid &&
                   ranges->tracks[first].tid == tid
               ? &ranges->tracks[first]
               : NULL;
}

uint32_t cn_gpu_ranges_at(const struct cn_gpu_ranges *ranges, uint32_t pid, uint32_t tid,
                          uint64_t time_ns)
{
    const struct cn_gpu_range_track *track = find_track(ranges, pid, tid);

    if (!track || track->count == 0)
        return 0;
    const struct cn_gpu_range_state *states = &ranges->states[track->first];
    size_t i = cn_search_u64(&states->time_ns, track->count, sizeof(*states), time_ns);
    return i > 0 ? states[i - 1].node : 0;
}
