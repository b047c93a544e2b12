#include "analyze/cct/plane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Divided, not multiplied by 1e-9: the quotient is correctly rounded. */
static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void extend(struct cn_cct_total *total, uint64_t min_ns, uint64_t max_ns)
{
    if (min_ns < total->min_ns)
        total->min_ns = min_ns;
    if (max_ns > total->max_ns)
        total->max_ns = max_ns;
}

static void add(struct cn_cct_total *total, const struct cn_cct_total *more)
{
    total->calls += more->calls;
    total->time_ns += more->time_ns;
    for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
        total->wait_ns[i] += more->wait_ns[i];
    extend(total, more->min_ns, more->max_ns);
}

static void sum_up(struct cn_cct_plane *plane)
{
    const struct cn_cct_task *task = plane->task;

    for (size_t i = 0; i < task->tree.count; i++)
        plane->totals[i].min_ns = UINT64_MAX;
    for (size_t i = task->tree.count; i-- > 0;) {
        const struct cn_tree_link *link = &task->tree.links[i];
        struct cn_cct_cost cost = cn_cct_costs_at(&task->costs, (cn_cct_id)i);
        struct cn_cct_total *own = &plane->totals[i];
        enum cn_wait kind;

        own->time_ns += cost.self_ns;
        if (cn_cct_task_is_wait(task, link->key, &kind)) {
            own->wait_ns[kind] = cost.self_ns;
        } else {
            own->calls += cn_cct_costs_calls(&task->costs, (cn_cct_id)i);
            if (i < task->costs.count)
                extend(own, cost.min_ns, cost.max_ns);
        }
        if (i > 0)
            add(&plane->totals[link->parent], own);
    }
}

/* Children have higher numbers than their parents. */
static void sum_up_counters(struct cn_cct_plane *plane)
{
    const struct cn_cct_task *task = plane->task;
    struct cn_cct_plane_counters *c = &plane->counters;

    c->count = cn_cct_readings_used(&task->readings, c->used);
    if (c->count == 0)
        return;
    c->totals = cn_alloc(task->tree.count, c->count * sizeof(*c->totals));
    for (size_t node = task->tree.count; node-- > 0;) {
        const uint64_t *own = cn_cct_readings_find(&task->readings, (cn_cct_id)node);
        uint64_t *total = c->totals + node * c->count;
        uint64_t *above = c->totals + (size_t)task->tree.links[node].parent * c->count;

        for (unsigned i = 0; i < c->count; i++) {
            total[i] += own ? own[c->used[i]] : 0;
            if (node > 0)
                above[i] += total[i];
        }
    }
}

/* One pass of a radix sort by the context, 11 bits at `shift`. */
static void sort_pass(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
    enum { DIGITS = 1 << 11 };
    size_t starts[DIGITS + 1] = {0};

    for (size_t i = 0; i < count; i++)
        starts[(from[i] >> shift) % DIGITS + 1]++;
    for (size_t i = 1; i < DIGITS; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[(from[i] >> shift) % DIGITS]++] = from[i];
}

/* List the contexts between a call site and its caller. */
static void list_passes(struct cn_cct_plane *plane, cn_cct_id node, size_t *capacity)
{
    const struct cn_cct_merged *merged = plane->merged;
    const struct cn_tree_link *links = merged->tree.links;
    uint32_t own = plane->nodes[node];
    uint32_t caller = plane->nodes[plane->task->tree.links[node].parent];

    if (own == caller)
        return;
    for (uint32_t at = links[own].parent; at != caller; at = links[at].parent) {
        if (!cn_cct_merged_is_context(merged, at))
            continue;
        CN_PUSH(plane->passes, plane->pass_count, *capacity,
                (struct cn_cct_pass){merged->ids[at], node});
    }
}

static size_t order_count(const struct cn_cct_plane *plane)
{
    return plane->task->tree.count + plane->pass_count;
}

static void sort_by_context(struct cn_cct_plane *plane)
{
    const struct cn_tree *tree = &plane->task->tree;
    size_t count, capacity = 0;

    for (size_t i = 1; i < tree->count; i++)
        if (tree->links[i].key & CN_CCT_SITE)
            list_passes(plane, (cn_cct_id)i, &capacity);
    count = order_count(plane);
    assert(count <= UINT32_MAX);
    plane->order = cn_realloc(NULL, count, sizeof(*plane->order));
    uint64_t *other = cn_realloc(NULL, count, sizeof(*other));
    for (size_t i = 0; i < tree->count; i++)
        plane->order[i] = (uint64_t)plane->merged->ids[plane->nodes[i]] << 32 | i;
    for (size_t i = 0; i < plane->pass_count; i++)
        plane->order[tree->count + i] =
            (uint64_t)plane->passes[i].context << 32 | (tree->count + i);
    sort_pass(plane->order, other, count, 32);
    sort_pass(other, plane->order, count, 43);
    sort_pass(plane->order, other, count, 54);
    free(plane->order);
    plane->order = other;
}

void cn_cct_plane_init(struct cn_cct_plane *plane, const struct cn_cct_merged *merged,
                       const struct cn_cct_task *task, const uint32_t *nodes)
{
    *plane = (struct cn_cct_plane){
        .merged = merged,
        .task = task,
        .nodes = nodes,
        .totals = cn_alloc(task->tree.count, sizeof(*plane->totals)),
    };
    sum_up(plane);
    sum_up_counters(plane);
    sort_by_context(plane);
}

void cn_cct_plane_done(struct cn_cct_plane *plane)
{
    free(plane->totals);
    free(plane->order);
    free(plane->passes);
    free(plane->counters.totals);
    plane->passes = NULL;
    plane->counters.totals = NULL;
    plane->totals = NULL;
    plane->order = NULL;
}

/* The costs of one context in this task. */
struct plane_row {
    uint64_t calls, time_ns, min_ns, max_ns;
    uint64_t wait_ns[CN_WAIT_KINDS]; /* part of the time */
    bool has_duration;
    struct cn_cct_total total;
};

static void add_counters(struct cn_cct_plane *plane, cn_cct_id node)
{
    struct cn_cct_plane_counters *c = &plane->counters;
    const uint64_t *own =
        c->count > 0 ? cn_cct_readings_find(&plane->task->readings, node) : NULL;

    for (unsigned i = 0; own && i < c->count; i++)
        c->own[i] += own[c->used[i]];
}

static void add_total(struct cn_cct_plane *plane, cn_cct_id node, struct plane_row *row)
{
    struct cn_cct_plane_counters *c = &plane->counters;

    add(&row->total, &plane->totals[node]);
    for (unsigned i = 0; i < c->count; i++)
        c->total[i] += c->totals[(size_t)node * c->count + i];
}

static void add_node(struct cn_cct_plane *plane, cn_cct_id node, struct plane_row *row)
{
    const struct cn_cct_task *task = plane->task;
    const struct cn_cct_merged *merged = plane->merged;
    const struct cn_tree_link *link = &task->tree.links[node];
    struct cn_cct_cost cost = cn_cct_costs_at(&task->costs, node);
    uint32_t merged_node = plane->nodes[node];
    enum cn_wait kind;

    row->time_ns += cost.self_ns;
    if (cn_cct_task_is_wait(task, link->key, &kind)) {
        row->wait_ns[kind] += cost.self_ns;
        return;
    }
    add_counters(plane, node);
    /* Several nodes may be one context: the total of the outermost includes the others. */
    if (node == 0 || (merged_node != plane->nodes[link->parent] &&
                      cn_cct_merged_is_context(merged, merged_node)))
        add_total(plane, node, row);
    if (!cn_cct_merged_is_context(merged, merged_node))
        return;
    row->calls += cost.untimed_calls;
    if (cost.min_ns > cost.max_ns || node >= task->costs.count)
        return;
    if (!row->has_duration || cost.min_ns < row->min_ns)
        row->min_ns = cost.min_ns;
    if (cost.max_ns > row->max_ns)
        row->max_ns = cost.max_ns;
    row->has_duration = true;
    row->calls += cn_cct_costs_buckets(&task->costs, node, &plane->calls);
}

static size_t put(struct cn_value *values, size_t count, uint32_t context, unsigned id,
                  double value)
{
    values[count] = (struct cn_value){value, context, (uint16_t)id};
    return count + (value != 0);
}

/* The values of all scopes, from id `id` on. */
static size_t put_scopes(struct cn_value *values, size_t count, uint32_t context,
                         unsigned id, double own, double total)
{
    for (unsigned scope = 0; scope < CN_CCT_EXECUTION; scope++)
        count = put(values, count, context, id + scope, own);
    return put(values, count, context, id + CN_CCT_EXECUTION, total);
}

/* Put the buckets and clear them. */
static size_t put_buckets(struct cn_cct_plane *plane, struct cn_value *values,
                          size_t count, uint32_t context)
{
    struct cn_cct_buckets *calls = &plane->calls;

    for (unsigned word = 0; word < sizeof(calls->used) / sizeof(*calls->used); word++) {
        for (unsigned i = word * 64; calls->used[word] != 0; i++) {
            if (calls->used[word] & 1) {
                count = put(values, count, context, CN_CCT_ID_BUCKET + i,
                            (double)calls->calls[i]);
                calls->calls[i] = 0;
                plane->has_bucket[i] = true;
            }
            calls->used[word] >>= 1;
        }
    }
    return count;
}

/* A context that is no call, like a line or a whole thread, has the extremes of the calls
 * below, so that views can lead to them. */
static size_t put_durations(struct cn_cct_plane *plane, const struct plane_row *row,
                            uint32_t context, struct cn_value *values, size_t count)
{
    uint64_t min_ns = row->has_duration ? row->min_ns : row->total.min_ns;
    uint64_t max_ns = row->has_duration ? row->max_ns : row->total.max_ns;

    if (min_ns > max_ns)
        return count;
    values[count++] =
        (struct cn_value){seconds(min_ns), context, (uint16_t)CN_CCT_ID_MIN};
    values[count++] =
        (struct cn_value){seconds(max_ns), context, (uint16_t)CN_CCT_ID_MAX};
    return row->has_duration ? put_buckets(plane, values, count, context) : count;
}

/* Put the counters and clear them. */
static size_t put_counters(struct cn_cct_plane *plane, struct cn_value *values,
                           size_t count, uint32_t context)
{
    struct cn_cct_plane_counters *c = &plane->counters;

    for (unsigned i = 0; i < c->count; i++) {
        count = put_scopes(values, count, context, cn_cct_counter_id(c->used[i], 0),
                           cn_cct_reading_value(c->used[i], c->own[i]),
                           cn_cct_reading_value(c->used[i], c->total[i]));
        c->own[i] = c->total[i] = 0;
    }
    return count;
}

/* The time by state: running, then the kinds of waiting. */
static size_t put_states(const struct plane_row *row, uint32_t context,
                         struct cn_value *values, size_t count)
{
    uint64_t cpu_ns = row->time_ns, total_ns = row->total.time_ns;

    for (unsigned i = 0; i < CN_WAIT_KINDS; i++) {
        cpu_ns -= row->wait_ns[i];
        total_ns -= row->total.wait_ns[i];
    }
    count = put_scopes(values, count, context, cn_cct_prop_id(CN_CCT_CPU_TIME, 0),
                       seconds(cpu_ns), seconds(total_ns));
    for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
        count = put_scopes(values, count, context,
                           cn_cct_prop_id((enum cn_cct_metric)(CN_CCT_WAIT + i), 0),
                           seconds(row->wait_ns[i]), seconds(row->total.wait_ns[i]));
    return count;
}

static size_t put_row(struct cn_cct_plane *plane, const struct plane_row *row,
                      uint32_t context, struct cn_value *values)
{
    size_t count = put_scopes(values, 0, context, cn_cct_prop_id(CN_CCT_TIME, 0),
                              seconds(row->time_ns), seconds(row->total.time_ns));

    if (plane->merged->has_waits)
        count = put_states(row, context, values, count);
    count = put_scopes(values, count, context, cn_cct_prop_id(CN_CCT_CALLS, 0),
                       (double)row->calls, (double)row->total.calls);
    count = put_counters(plane, values, count, context);
    return put_durations(plane, row, context, values, count);
}

size_t cn_cct_plane_next(struct cn_cct_plane *plane,
                         struct cn_value values[CN_CCT_ID_COUNT])
{
    size_t count = 0, end = order_count(plane), node_count = plane->task->tree.count;

    if (!plane->has_global) {
        struct plane_row row = {.total.min_ns = UINT64_MAX};

        plane->has_global = true;
        add_total(plane, 0, &row);
        count = put_row(plane, &row, 0, values);
    }
    while (count == 0 && plane->next < end) {
        uint32_t context = (uint32_t)(plane->order[plane->next] >> 32);
        struct plane_row row = {.total.min_ns = UINT64_MAX};

        while (plane->next < end && plane->order[plane->next] >> 32 == context) {
            uint32_t number = (uint32_t)plane->order[plane->next++];

            if (number < node_count)
                add_node(plane, number, &row);
            else
                add_total(plane, plane->passes[number - node_count].node, &row);
        }
        count = put_row(plane, &row, context, values);
    }
    return count;
}

void cn_cct_plane_measure(struct cn_cct_plane *plane)
{
    struct cn_value values[CN_CCT_ID_COUNT];
    size_t count;

    plane->value_count = 0;
    plane->context_count = 0;
    while ((count = cn_cct_plane_next(plane, values)) > 0) {
        plane->value_count += count;
        plane->context_count++;
    }
    plane->next = 0;
    plane->has_global = false;
}
