#include "formats/hpctoolkit/meas/code/structure.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/meas/format.h"
#include "model/contexts/context.h"

struct cn_hpc_call_step {
    uint32_t function;
    uint32_t next, end; /* calls whose callers were not tried yet */
};

/* Tarjan's search for strongly connected components, from callees to callers. */
struct callee_search {
    const struct cn_hpc_call_graph *graph;
    uint32_t *order; /* by function: when it was reached, from 1; 0: not yet */
    uint32_t *low;   /* by function: the earliest that it reaches back to */
    uint32_t *group; /* by function: representative of its component, or CN_NONE */
    uint32_t *open;  /* stack of functions without a component */
    struct cn_hpc_call_step *steps;
    uint32_t open_count, step_count, reached_count;
};

bool cn_hpc_call_graph_add_function(struct cn_hpc_call_graph *graph, uint64_t entry,
                                    uint32_t function)
{
    if (cn_map_find(&graph->entries, entry, CN_NONE) != CN_NONE)
        return false;
    CN_GROW(graph->functions, graph->count, graph->capacity);
    graph->functions[graph->count] = function;
    (void)cn_map_at(&graph->entries, entry, graph->count++);
    return true;
}

void cn_hpc_call_graph_add_call(struct cn_hpc_call_graph *graph, uint64_t address,
                                uint64_t target)
{
    CN_GROW(graph->calls, graph->call_count, graph->call_capacity);
    CN_GROW(graph->targets, graph->call_count, graph->target_capacity);
    graph->targets[graph->call_count] = target;
    graph->calls[graph->call_count++] =
        (struct cn_hpc_call){.address = address, .caller = graph->count - 1};
}

/* Sort calls by callee; calls of the same callee keep their order. */
static void sort_by_callee(struct cn_hpc_call_graph *graph)
{
    struct cn_hpc_call *sorted = cn_alloc(graph->call_count, sizeof(*sorted));
    uint32_t *next = cn_alloc((size_t)graph->count + 1, sizeof(*next));

    free(graph->caller_ends);
    graph->caller_ends = cn_alloc(graph->count, sizeof(*graph->caller_ends));
    for (size_t i = 0; i < graph->call_count; i++)
        next[graph->calls[i].callee + 1]++;
    for (uint32_t i = 0; i < graph->count; i++) {
        next[i + 1] += next[i];
        graph->caller_ends[i] = next[i + 1];
    }
    for (size_t i = 0; i < graph->call_count; i++)
        sorted[next[graph->calls[i].callee]++] = graph->calls[i];
    free(next);
    free(graph->calls);
    graph->calls = sorted;
    graph->call_capacity = graph->call_count;
}

static struct cn_hpc_call_step step_into(const struct cn_hpc_call_graph *graph,
                                         uint32_t function)
{
    return (struct cn_hpc_call_step){
        .function = function,
        .next = function == 0 ? 0 : graph->caller_ends[function - 1],
        .end = graph->caller_ends[function],
    };
}

static void reach(struct callee_search *s, uint32_t function)
{
    s->order[function] = ++s->reached_count;
    s->low[function] = s->reached_count;
    s->open[s->open_count++] = function;
    s->steps[s->step_count++] = step_into(s->graph, function);
}

/* All callers of the function on top were tried. */
static void leave(struct callee_search *s)
{
    uint32_t function = s->steps[--s->step_count].function, member;

    if (s->step_count > 0) {
        uint32_t before = s->steps[s->step_count - 1].function;

        if (s->low[function] < s->low[before])
            s->low[before] = s->low[function];
    }
    if (s->low[function] != s->order[function])
        return;
    do {
        member = s->open[--s->open_count];
        s->group[member] = function; /* reached first: the representative */
    } while (member != function);
}

static void search_from(struct callee_search *s, uint32_t function)
{
    reach(s, function);
    while (s->step_count > 0) {
        struct cn_hpc_call_step *step = &s->steps[s->step_count - 1];

        if (step->next == step->end) {
            leave(s);
            continue;
        }
        uint32_t caller = s->graph->calls[step->next++].caller;
        if (s->order[caller] == 0)
            reach(s, caller);
        else if (s->group[caller] == CN_NONE && s->order[caller] < s->low[step->function])
            s->low[step->function] = s->order[caller];
    }
}

/* The representative of each function's component; released with free(). */
static uint32_t *find_groups(const struct cn_hpc_call_graph *graph)
{
    struct callee_search s = {
        .graph = graph,
        .order = cn_alloc(graph->count, sizeof(*s.order)),
        .low = cn_alloc(graph->count, sizeof(*s.low)),
        .group = cn_alloc(graph->count, sizeof(*s.group)),
        .open = cn_alloc(graph->count, sizeof(*s.open)),
        .steps = cn_alloc(graph->count, sizeof(*s.steps)),
    };

    for (uint32_t i = 0; i < graph->count; i++)
        s.group[i] = CN_NONE;
    for (uint32_t i = 0; i < graph->count; i++)
        if (s.order[i] == 0)
            search_from(&s, i);
    free(s.order);
    free(s.low);
    free(s.open);
    free(s.steps);
    return s.group;
}

/* Add calls of the other members for each call of a representative. Calls of large
 * components would multiply; a real binary has few recursive functions. */
static void call_members(struct cn_hpc_call_graph *graph, const uint32_t *groups)
{
    uint32_t *first = cn_alloc(graph->count, sizeof(*first));
    uint32_t *next = cn_alloc(graph->count, sizeof(*next)); /* CN_NONE ends a list */
    size_t end = graph->call_count;

    for (uint32_t i = 0; i < graph->count; i++)
        first[i] = CN_NONE;
    for (uint32_t i = graph->count; i-- > 0;) {
        if (groups[i] == i)
            continue;
        next[i] = first[groups[i]];
        first[groups[i]] = i;
    }
    for (size_t i = 0; i < end; i++) {
        struct cn_hpc_call call = graph->calls[i];

        if (groups[call.callee] != call.callee)
            continue;
        for (uint32_t at = first[call.callee]; at != CN_NONE && !graph->is_broken;
             at = next[at]) {
            graph->is_broken = graph->call_count == CN_HPC_CALLS_MAX;
            CN_PUSH(graph->calls, graph->call_count, graph->call_capacity,
                    (struct cn_hpc_call){call.address, call.caller, at});
        }
    }
    free(first);
    free(next);
}

static void remove_recursion(struct cn_hpc_call_graph *graph)
{
    uint32_t *groups = find_groups(graph);
    size_t kept = 0;

    for (size_t i = 0; i < graph->call_count; i++)
        if (groups[graph->calls[i].caller] != groups[graph->calls[i].callee])
            graph->calls[kept++] = graph->calls[i];
    graph->call_count = kept;
    call_members(graph, groups);
    free(groups);
}

void cn_hpc_call_graph_settle(struct cn_hpc_call_graph *graph)
{
    if (!graph->is_complete) {
        cn_hpc_call_graph_done(graph);
        return;
    }
    graph->is_broken = graph->call_count > CN_HPC_CALLS_MAX;
    for (size_t i = 0; i < graph->call_count; i++) {
        graph->calls[i].callee = cn_map_find(&graph->entries, graph->targets[i], CN_NONE);
        graph->is_broken = graph->is_broken || graph->calls[i].callee == CN_NONE;
    }
    free(graph->targets);
    graph->targets = NULL;
    if (graph->is_broken || graph->count == 0)
        return;
    sort_by_callee(graph);
    remove_recursion(graph);
    if (!graph->is_broken)
        sort_by_callee(graph);
}

/* The steps lead from the function to one without callers: a path. */
static bool add_path(const struct cn_hpc_call_graph *graph, size_t step_count,
                     struct cn_hpc_call_paths *out)
{
    if (out->count == CN_HPC_PATHS_MAX ||
        step_count > CN_HPC_PATH_CALLS_MAX - out->call_count)
        return false;
    CN_PUSH(out->list, out->count, out->capacity,
            (struct cn_hpc_call_path){
                .first_call = out->call_count,
                .call_count = step_count - 1,
                .entry = out->steps[step_count - 1].function,
            });
    for (size_t i = step_count - 1; i-- > 0;) {
        CN_PUSH(out->calls, out->call_count, out->call_capacity,
                graph->calls[out->steps[i].next - 1].address);
    }
    return true;
}

bool cn_hpc_call_graph_paths(const struct cn_hpc_call_graph *graph, uint64_t entry,
                             struct cn_hpc_call_paths *out)
{
    size_t count = 0, tried_count = 0;
    uint32_t next = cn_map_find(&graph->entries, entry, CN_NONE);

    out->count = 0;
    out->call_count = 0;
    if (!graph->is_complete || graph->is_broken || next == CN_NONE)
        return false;
    for (;;) {
        struct cn_hpc_call_step *step;

        if (next != CN_NONE) {
            /* Without recursion no path is longer than there are functions. */
            CN_PUSH(out->steps, count, out->step_capacity, step_into(graph, next));
            step = &out->steps[count - 1];
            if (step->next == step->end && !add_path(graph, count, out))
                return false;
        }
        if (count == 0)
            return true;
        step = &out->steps[count - 1];
        next = CN_NONE;
        if (step->next == step->end)
            count--;
        else if (tried_count++ == CN_HPC_PATH_CALLS_MAX)
            return false;
        else
            next = graph->calls[step->next++].caller;
    }
}

void cn_hpc_call_paths_done(struct cn_hpc_call_paths *paths)
{
    free(paths->list);
    free(paths->calls);
    free(paths->steps);
    *paths = (struct cn_hpc_call_paths){0};
}

void cn_hpc_call_graph_done(struct cn_hpc_call_graph *graph)
{
    cn_map_done(&graph->entries);
    free(graph->functions);
    free(graph->calls);
    free(graph->targets);
    free(graph->caller_ends);
    *graph = (struct cn_hpc_call_graph){0};
}
