/* What was allocated, by context: the allocations of all threads of a process, in the order of time. */

#include "analyze/cct/analysis.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/progress.h"
#include "base/sort.h"
#include "model/heap_history.h"
#include "model/memory/merge.h"
#include "model/memory/use.h"

enum {
    NODE_COUNT = 512,
    AHEAD = 32, /* events that are expected; a power of two */
    CHECK_EVERY = 1 << 18,
};

/* The events of a member, and the nodes that its allocations have. */
struct heap_input {
    struct cn_cct_member *member;
    const struct cn_call_query *query;
    struct cn_heap_log log;
    struct cn_sample nodes[NODE_COUNT];
    uint64_t node_first, node_next;
    uint64_t last_address; /* of its last allocation */
    struct cn_error ignored;
};

struct heap_merge {
    struct cn_cct_analysis *a;
    struct cn_heap_use *use;
    struct heap_input *inputs;
    size_t input_count;
    bool has_checked; /* leaks were looked for */
};

/* The damage that ends a file was noted when it was read first. */
static bool read_event(void *arg, uint32_t number, struct cn_heap_event *out)
{
    const struct heap_merge *m = arg;
    struct heap_input *input = &m->inputs[number];
    const struct cn_time_range *range = &input->query->range;

    do {
        if (input->query->rec->ops->heap_next(&input->log, out, &input->ignored) !=
            CN_ITEM)
            return false;
    } while (out->time_ns < range->first_ns);
    return out->time_ns <= range->last_ns;
}

/* A number of the process among those of all recordings. */
static uint64_t process_of(const struct heap_input *input,
                           const struct cn_heap_event *event)
{
    return event->process + input->member->source * UINT64_C(0x9e3779b97f4a7c15);
}

/* The node of the next allocation. */
static bool next_node(struct heap_input *input, cn_cct_id *out, struct cn_error *err)
{
    const struct cn_cct_samples *nodes = &input->member->heap_nodes;
    uint64_t at = input->node_next % NODE_COUNT, left = nodes->count - input->node_next;

    if (input->node_next >= nodes->count)
        return cn_fail(err, CN_ERR_FORMAT, "the recording changed while it was read");
    if (at == 0 && !cn_cct_samples_read(nodes, input->node_next,
                                        left < NODE_COUNT ? (size_t)left : NODE_COUNT,
                                        input->nodes, err))
        return false;
    input->node_next++;
    *out = input->nodes[at].context;
    return true;
}

static bool allocate(struct heap_merge *m, struct heap_input *input,
                     const struct cn_heap_event *event, struct cn_error *err)
{
    cn_cct_id node;

    if (!next_node(input, &node, err))
        return false;
    input->last_address = event->address;
    if (node != CN_NONE)
        cn_heap_use_alloc(m->use, &(struct cn_heap_block){
                                      .process = process_of(input, event),
                                      .address = event->address,
                                      .time_ns = event->time_ns,
                                      .size = event->size,
                                      .usable_size = event->usable_size,
                                      .old_size = event->old_size,
                                      .calls = 1,
                                      .thread = (uint32_t)(input - m->inputs),
                                      .context = node,
                                  });
    return true;
}

static bool take(struct heap_merge *m, struct heap_input *input,
                 const struct cn_heap_event *event, struct cn_error *err)
{
    bool is_unmap = event->kind == CN_HEAP_EVENT_UNMAP;

    if (event->kind == CN_HEAP_EVENT_ALLOC)
        return allocate(m, input, event, err);
    if (event->kind == CN_HEAP_EVENT_CHECKED)
        m->has_checked = true;
    if (event->kind == CN_HEAP_EVENT_LEAKED)
        cn_heap_use_leak(m->use, process_of(input, event), event->address);
    if (event->kind == CN_HEAP_EVENT_RELEASE || is_unmap)
        (void)cn_heap_use_release(
            m->use,
            &(struct cn_heap_release){.process = process_of(input, event),
                                      .address = event->address,
                                      .time_ns = event->time_ns,
                                      .size = is_unmap ? event->size : 0,
                                      .thread = (uint32_t)(input - m->inputs),
                                      .is_next = event->address == input->last_address,
                                      .has_root = true});
    return true;
}

static bool add_values(void *arg, uint32_t thread, uint32_t context,
                       const double values[CN_HEAP_METRIC_COUNT], struct cn_error *err)
{
    struct heap_merge *m = arg;

    (void)err;
    for (unsigned i = 0; i < CN_HEAP_SAMPLES; i++)
        if (m->has_checked || (i != CN_HEAP_LEAKED && i != CN_HEAP_LEAKED_CALLS))
            cn_cct_readings_add_heap(&m->inputs[thread].member->task.readings,
                                     (enum cn_heap_metric)i, values[i], context);
    return true;
}

static uint32_t profile_of(const struct heap_merge *m, uint32_t input)
{
    return (uint32_t)(m->inputs[input].member - m->a->self->members.list) + 1;
}

static void list_inputs(struct heap_merge *m)
{
    struct cn_cct_analysis *a = m->a;

    m->inputs = cn_alloc(a->own_end - a->own_first, sizeof(*m->inputs));
    for (size_t i = a->own_first; i < a->own_end; i++) {
        struct cn_cct_member *member = &a->self->members.list[i];
        const struct cn_call_query *query = &a->queries[member->source];
        struct heap_input *input = &m->inputs[m->input_count];

        if (!cn_cct_task_has_heap(&member->task.options))
            continue;
        *input = (struct heap_input){.member = member, .query = query};
        query->rec->ops->heap_begin(query->rec, member->task.options.task, &input->log);
        m->input_count++;
    }
}

/* Events of a merge that were read and not taken yet: what is known of their blocks is fetched
 * meanwhile. */
struct heap_ahead {
    struct cn_heap_merge merge;
    struct heap_next {
        struct cn_heap_event event;
        uint64_t process;
        uint32_t input;
    } list[AHEAD];
    uint64_t read_count, taken_count;
};

static void read_ahead(struct heap_merge *m, struct heap_ahead *ahead)
{
    const struct cn_heap_event *event;
    uint32_t input;

    while (ahead->read_count - ahead->taken_count < AHEAD &&
           (event = cn_heap_merge_next(&ahead->merge, &input))) {
        uint64_t process = process_of(&m->inputs[input], event);

        ahead->list[ahead->read_count++ % AHEAD] =
            (struct heap_next){*event, process, input};
        cn_heap_use_expect(m->use, process, event->address);
    }
}

static bool merge(struct heap_merge *m, struct cn_error *err)
{
    struct heap_ahead ahead = {0};
    bool ok = true;

    cn_heap_merge_begin(&ahead.merge, m->input_count, read_event, m);
    while (read_ahead(m, &ahead), ok && ahead.taken_count < ahead.read_count) {
        const struct heap_next *next = &ahead.list[ahead.taken_count++ % AHEAD];

        ok = take(m, &m->inputs[next->input], &next->event, err) &&
             (ahead.taken_count % CHECK_EVERY != 0 ||
              cn_progress_check(m->a->options->progress, "reading allocations", err));
    }
    cn_heap_merge_done(&ahead.merge);
    return ok;
}

/* Its profiles are members: of nodes of different members only these know the contexts. */
static void take_history(const struct heap_merge *m)
{
    struct cn_cct_database *self = m->a->self;
    struct cn_heap_history *heap = cn_heap_use_history(m->use, &self->db.arena);

    for (size_t i = 0; i < heap->change_count; i++)
        heap->changes[i].profile = profile_of(m, heap->changes[i].profile);
    for (size_t i = 0; i < heap->process_count; i++)
        heap->processes[i].profile = profile_of(m, heap->processes[i].profile);
    self->heap = heap;
}

bool cn_cct_analysis_heap(struct cn_cct_analysis *a, struct cn_error *err)
{
    struct heap_merge m = {.a = a, .use = cn_heap_use_new()};

    list_inputs(&m);
    cn_heap_use_keep_history(m.use);
    bool ok = merge(&m, err) && cn_heap_use_visit(m.use, add_values, &m, err);
    if (ok && m.input_count > 0)
        take_history(&m);
    for (size_t i = 0; i < m.input_count; i++)
        cn_cct_samples_done(&m.inputs[i].member->heap_nodes);
    cn_heap_use_free(m.use);
    free(m.inputs);
    return ok;
}

void cn_cct_analysis_show_heap(struct cn_cct_analysis *a)
{
    struct cn_cct_database *self = a->self;
    struct cn_heap_history *heap = self->heap;

    for (size_t i = 0; heap && i < heap->change_count; i++) {
        struct cn_heap_change *change = &heap->changes[i];
        const struct cn_cct_member *member = &self->members.list[change->profile - 1];

        change->time_ns += (uint64_t)self->offsets_ns[member->source];
        change->context = member->nodes[change->context];
    }
    for (size_t i = 0; heap && i < heap->process_count; i++) {
        const struct cn_cct_member *member =
            &self->members.list[heap->processes[i].profile - 1];

        heap->processes[i].peak_ns += (uint64_t)self->offsets_ns[member->source];
    }
    /* Clocks of recordings differ. */
    if (heap)
        CN_SORT(heap->changes, heap->change_count, CN_UP(struct cn_heap_change, time_ns),
                CN_UP(struct cn_heap_change, process),
                CN_UP(struct cn_heap_change, profile),
                CN_UP(struct cn_heap_change, context));
    self->db.heap = heap;
}
