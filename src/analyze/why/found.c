#include "analyze/why/found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    SAMPLES = 20000,    /* of larger groups, about so many calls are sampled */
    DATA_MAX = 1 << 12, /* bytes of arguments of a sample */
};

void cn_why_found_init(struct cn_why_found *found, const struct cn_recording *rec)
{
    *found = (struct cn_why_found){.shortest_ns = UINT64_MAX, .begin_ns = UINT64_MAX};
    for (int i = 0; i < CN_WHY_GROUPS; i++)
        found->groups[i].shortest_ns = UINT64_MAX;
    cn_call_tree_init(&found->tree, rec);
}

void cn_why_found_done(struct cn_why_found *found)
{
    cn_durations_done(&found->durations);
    cn_call_tree_done(&found->tree);
    free(found->costs);
    for (int i = 0; i < CN_WHY_GROUPS; i++)
        free(found->samples[i]);
    cn_text_done(&found->data);
}

void cn_why_found_clear(struct cn_why_found *found)
{
    cn_durations_done(&found->durations);
    found->shortest_ns = found->begin_ns = UINT64_MAX;
    found->longest_ns = found->end_ns = 0;
    for (size_t i = 0; i < found->cost_count; i++)
        memset(found->costs[i], 0, sizeof(found->costs[i]));
    for (int i = 0; i < CN_WHY_GROUPS; i++) {
        found->groups[i] = (struct cn_why_calls){.shortest_ns = UINT64_MAX};
        found->sample_counts[i] = 0;
    }
    cn_text_clear(&found->data);
}

void cn_why_found_measure(struct cn_why_found *found, const struct cn_why_call *call)
{
    cn_durations_add(&found->durations, call->total_ns);
    if (call->total_ns < found->shortest_ns)
        found->shortest_ns = call->total_ns;
    if (call->total_ns > found->longest_ns)
        found->longest_ns = call->total_ns;
    if (call->begin_ns < found->begin_ns)
        found->begin_ns = call->begin_ns;
    if (call->end_ns > found->end_ns)
        found->end_ns = call->end_ns;
}

static void grow_costs(struct cn_why_found *found)
{
    CN_GROW_TO(found->costs, found->tree.paths.count, found->cost_capacity);
    while (found->cost_count < found->tree.paths.count)
        memset(found->costs[found->cost_count++], 0, sizeof(*found->costs));
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* By time, then by task: calls of a task that take no time may begin at the same time. */
static int compare_calls(const struct cn_why_call *a, const struct cn_why_call *b)
{
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return (a->total_ns > b->total_ns) - (a->total_ns < b->total_ns);
}

/* The nearest call to the median; of equally near ones the first. */
static void note_example(struct cn_why_calls *group, uint64_t example_ns,
                         const struct cn_why_call *call)
{
    uint64_t known = distance(group->example.total_ns, example_ns);
    uint64_t fresh = distance(call->total_ns, example_ns);

    if (group->count > 0 &&
        (fresh > known || (fresh == known && compare_calls(call, &group->example) >= 0)))
        return;
    group->example_ns = example_ns;
    group->example = *call;
    group->example.arguments = group->example.result = (struct cn_bytes){0};
}

/* Calls are sampled if a hash of their begin is at most this. */
static uint64_t keep_limit(uint64_t call_count)
{
    return call_count <= SAMPLES ? UINT64_MAX : UINT64_MAX / call_count * SAMPLES;
}

bool cn_why_limits_choose(struct cn_why_limits *limits,
                          const struct cn_durations *durations,
                          const struct cn_why_options *options)
{
    uint64_t count = durations->count, wanted, rank;

    if (count < CN_WHY_CALLS_MIN)
        return false;
    limits->has_at = options->has_at;
    limits->at_ns = options->at_ns;
    limits->at_end_ns = options->at_end_ns;
    double last = (double)(count - 1);
    limits->low_ns[CN_WHY_TYPICAL] =
        cn_durations_at(durations, (uint64_t)(last * options->typical_from)).low_ns;
    limits->high_ns[CN_WHY_TYPICAL] =
        cn_durations_at(durations, (uint64_t)(last * options->typical_to)).high_ns;
    limits->example_ns[CN_WHY_TYPICAL] =
        cn_durations_at(
            durations,
            (uint64_t)(last * (options->typical_from + options->typical_to) / 2))
            .low_ns;
    if (options->typical_to_ns > 0) {
        limits->low_ns[CN_WHY_TYPICAL] = options->typical_from_ns;
        limits->high_ns[CN_WHY_TYPICAL] = options->typical_to_ns;
        limits->example_ns[CN_WHY_TYPICAL] =
            options->typical_from_ns +
            (options->typical_to_ns - options->typical_from_ns) / 2;
    }
    wanted = (uint64_t)ceil((double)count * options->slowest);
    if (wanted < CN_WHY_SLOW_MIN)
        wanted = CN_WHY_SLOW_MIN;
    if (wanted > count)
        wanted = count;
    limits->low_ns[CN_WHY_SLOW] = cn_durations_at(durations, count - wanted).low_ns;
    if (options->slow_from_ns > 0)
        limits->low_ns[CN_WHY_SLOW] = options->slow_from_ns;
    else if (limits->low_ns[CN_WHY_SLOW] <= limits->high_ns[CN_WHY_TYPICAL])
        limits->low_ns[CN_WHY_SLOW] = limits->high_ns[CN_WHY_TYPICAL] + 1;
    limits->high_ns[CN_WHY_SLOW] = UINT64_MAX;
    wanted = cn_durations_from(durations, limits->low_ns[CN_WHY_SLOW]);
    if (wanted < CN_WHY_SLOW_MIN && !options->has_at)
        return false;
    rank = count - wanted + wanted / 2;
    limits->example_ns[CN_WHY_SLOW] =
        cn_durations_at(durations, rank < count ? rank : count - 1).low_ns;
    limits->keep[CN_WHY_SLOW] = options->has_at ? UINT64_MAX : keep_limit(wanted);
    wanted = cn_durations_from(durations, limits->low_ns[CN_WHY_TYPICAL]) -
             cn_durations_from(durations, limits->high_ns[CN_WHY_TYPICAL] + 1);
    limits->keep[CN_WHY_TYPICAL] = keep_limit(wanted);
    return true;
}

static uint64_t hash(const struct cn_why_call *call)
{
    uint64_t x = call->begin_ns + ((uint64_t)call->task << 48);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Data of a sample in the text. */
static struct cn_bytes data_at(const struct cn_text *text, size_t off, size_t len)
{
    return len > 0 ? (struct cn_bytes){(const uint8_t *)text->chars + off, len}
                   : (struct cn_bytes){0};
}

static size_t add_data(struct cn_text *text, struct cn_bytes *data)
{
    size_t off = text->len;

    if (data->len > DATA_MAX)
        data->len = 0;
    cn_text_add(text, (const char *)data->ptr, data->len);
    return off;
}

static void add_sample(struct cn_why_found *found, int group,
                       const struct cn_why_call *call)
{
    struct cn_why_sample *sample;

    CN_GROW(found->samples[group], found->sample_counts[group],
            found->sample_capacities[group]);
    sample = &found->samples[group][found->sample_counts[group]++];
    *sample = (struct cn_why_sample){.call = *call};
    sample->arguments_off = add_data(&found->data, &sample->call.arguments);
    sample->result_off = add_data(&found->data, &sample->call.result);
}

static void add_to_group(struct cn_why_found *found, int at,
                         const struct cn_why_limits *limits,
                         const struct cn_why_call *call, const struct cn_why_cost *costs,
                         const uint32_t *touched, size_t touched_count)
{
    struct cn_why_calls *group = &found->groups[at];

    note_example(group, limits->example_ns[at], call);
    group->count++;
    group->total_ns += call->total_ns;
    if (call->total_ns < group->shortest_ns)
        group->shortest_ns = call->total_ns;
    if (call->total_ns > group->longest_ns)
        group->longest_ns = call->total_ns;
    if (found->cost_count < found->tree.paths.count)
        grow_costs(found);
    for (size_t i = 0; i < touched_count; i++) {
        struct cn_why_cost *cost = &found->costs[touched[i]][at];

        cost->calls += costs[touched[i]].calls;
        cost->self_ns += costs[touched[i]].self_ns;
        cn_call_squares_add(&cost->squares, costs[touched[i]].self_ns);
    }
    if (hash(call) <= limits->keep[at])
        add_sample(found, at, call);
}

/* The one call that is asked for. */
static bool is_chosen(const struct cn_why_limits *limits, const struct cn_why_call *call)
{
    if (limits->at_end_ns > 0)
        return call->begin_ns == limits->at_ns && call->end_ns == limits->at_end_ns;
    return call->begin_ns <= limits->at_ns && call->end_ns >= limits->at_ns;
}

void cn_why_found_add(struct cn_why_found *found, const struct cn_why_limits *limits,
                      const struct cn_why_call *call, const struct cn_why_cost *costs,
                      const uint32_t *touched, size_t touched_count)
{
    if (limits->has_at && is_chosen(limits, call)) {
        add_to_group(found, CN_WHY_SLOW, limits, call, costs, touched, touched_count);
        return;
    }
    for (int i = 0; i < (limits->has_at ? CN_WHY_SLOW : CN_WHY_GROUPS); i++)
        if (call->total_ns >= limits->low_ns[i] && call->total_ns <= limits->high_ns[i])
            add_to_group(found, i, limits, call, costs, touched, touched_count);
}

static void merge_costs(struct cn_why_found *into, const struct cn_why_found *from)
{
    uint32_t *nodes = cn_alloc(from->tree.paths.count, sizeof(*nodes));
    bool *has_costs =
        cn_alloc(from->tree.paths.count, sizeof(*has_costs)); /* it or one below */

    /* Parents come before their children. */
    for (size_t i = from->cost_count; i-- > 0;) {
        has_costs[i] |= from->costs[i][CN_WHY_TYPICAL].calls > 0 ||
                        from->costs[i][CN_WHY_SLOW].calls > 0;
        has_costs[from->tree.paths.links[i].parent] |= has_costs[i];
    }
    for (uint32_t i = 0; i < from->cost_count; i++) {
        const struct cn_why_cost *costs = from->costs[i];

        if (!has_costs[i])
            continue;
        if (i > 0)
            nodes[i] = cn_call_tree_child_like(
                &into->tree, nodes[cn_call_tree_parent(&from->tree, i)], &from->tree, i);
        grow_costs(into);
        for (int k = 0; k < CN_WHY_GROUPS; k++) {
            into->costs[nodes[i]][k].calls += costs[k].calls;
            into->costs[nodes[i]][k].self_ns += costs[k].self_ns;
            cn_call_squares_merge(&into->costs[nodes[i]][k].squares, &costs[k].squares);
        }
    }
    free(has_costs);
    free(nodes);
}

static void merge_group(struct cn_why_found *into, const struct cn_why_found *from,
                        int at)
{
    struct cn_why_calls *group = &into->groups[at];
    const struct cn_why_calls *other = &from->groups[at];

    if (other->count == 0)
        return;
    note_example(group, other->example_ns, &other->example);
    group->count += other->count;
    group->total_ns += other->total_ns;
    if (other->shortest_ns < group->shortest_ns)
        group->shortest_ns = other->shortest_ns;
    if (other->longest_ns > group->longest_ns)
        group->longest_ns = other->longest_ns;
    for (size_t i = 0; i < from->sample_counts[at]; i++) {
        const struct cn_why_sample *sample = &from->samples[at][i];
        struct cn_why_call call = sample->call;

        call.arguments = data_at(&from->data, sample->arguments_off, call.arguments.len);
        call.result = data_at(&from->data, sample->result_off, call.result.len);
        add_sample(into, at, &call);
    }
}

void cn_why_found_merge(struct cn_why_found *into, const struct cn_why_found *from)
{
    cn_durations_merge(&into->durations, &from->durations);
    if (from->shortest_ns < into->shortest_ns)
        into->shortest_ns = from->shortest_ns;
    if (from->longest_ns > into->longest_ns)
        into->longest_ns = from->longest_ns;
    if (from->begin_ns < into->begin_ns)
        into->begin_ns = from->begin_ns;
    if (from->end_ns > into->end_ns)
        into->end_ns = from->end_ns;
    into->open_count += from->open_count;
    into->lost_count += from->lost_count;
    merge_costs(into, from);
    for (int i = 0; i < CN_WHY_GROUPS; i++)
        merge_group(into, from, i);
}

static int compare_samples(const void *a, const void *b)
{
    const struct cn_why_sample *x = a, *y = b;

    return compare_calls(&x->call, &y->call);
}

static void take_group(struct cn_why_found *found, int at, struct cn_why_calls *out)
{
    size_t count = found->sample_counts[at];

    *out = found->groups[at];
    if (count > 0)
        qsort(found->samples[at], count, sizeof(*found->samples[at]), compare_samples);
    out->samples = cn_alloc(count, sizeof(*out->samples));
    out->sample_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct cn_why_sample *sample = &found->samples[at][i];
        struct cn_why_call *call = &out->samples[i];

        *call = sample->call;
        call->arguments =
            data_at(&found->data, sample->arguments_off, call->arguments.len);
        call->result = data_at(&found->data, sample->result_off, call->result.len);
    }
}

/* A context of the result, with what its order depends on. */
struct listed {
    uint32_t node;
    struct cn_why_context context;
    uint32_t depth;
};

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    const char *x_name = x->context.name ? x->context.name : "";
    const char *y_name = y->context.name ? y->context.name : "";

    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    /* `parent` is the position of the parent in the list. */
    if (x->context.parent != y->context.parent)
        return x->context.parent < y->context.parent ? -1 : 1;
    int order = strcmp(x_name, y_name);
    return order ? order : x->context.is_preempted - y->context.is_preempted;
}

static struct listed listed_of(const struct cn_call_tree *tree, uint32_t node,
                               uint32_t parent, uint32_t depth, struct cn_names *names)
{
    struct listed listed = {.node = node, .depth = depth, .context.parent = parent};
    uint32_t id = cn_call_tree_id(tree, node), number;
    char buffer[CN_CALL_NAME_MAX];

    listed.context.is_preempted = id == cn_call_schedule_id(tree->rec, true);
    if (!listed.context.is_preempted && id != cn_call_schedule_id(tree->rec, false)) {
        number = cn_names_add(names, cn_call_tree_name(tree, node, buffer));
        listed.context.name = names->list[number];
    }
    return listed;
}

/* Contexts level by level, so that each level is sorted after the one above it. */
static void take_contexts(const struct cn_why_found *found, struct cn_why *why)
{
    const struct cn_call_tree *tree = &found->tree;
    struct listed *list = cn_alloc(tree->paths.count, sizeof(*list));
    size_t first = 0, count = 1;

    while (first < count) {
        size_t end = count;

        for (size_t i = first; i < end; i++)
            for (uint32_t at = cn_call_tree_first(tree, list[i].node); at;
                 at = cn_call_tree_next(tree, at))
                list[count++] =
                    listed_of(tree, at, (uint32_t)i, list[i].depth + 1, &why->names);
        first = end;
        if (count > end)
            qsort(list + end, count - end, sizeof(*list), compare_listed);
    }
    why->contexts = cn_alloc(count, sizeof(*why->contexts));
    why->context_count = count;
    for (size_t i = 0; i < count; i++) {
        why->contexts[i] = list[i].context;
        if (list[i].node < found->cost_count)
            memcpy(why->contexts[i].costs, found->costs[list[i].node],
                   sizeof(why->contexts[i].costs));
    }
    free(list);
}

void cn_why_found_take(struct cn_why_found *found, struct cn_why *why)
{
    for (int i = 0; i < CN_WHY_GROUPS; i++)
        take_group(found, i, &why->groups[i]);
    take_contexts(found, why);
    why->data = found->data.chars;
    found->data = (struct cn_text){0};
}
