#include "store/trace/methods.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "store/trace/distributed.h"

uint64_t cn_trace_set_self_ns(const struct cn_trace_set *set,
                              const struct cn_trace_branch *branch, uint32_t node)
{
    const struct cn_trace_node *nodes = branch->trace.nodes;
    struct cn_self_time self = {.at_ns = cn_trace_branch_begin_ns(branch, node),
                                .end_ns = cn_trace_branch_end_ns(branch, node),
                                .ns = nodes[node].duration_ns};
    uint32_t call = node + 1, called = branch->first_children[node];

    /* Both lists are in the order of time. */
    while (call < nodes[node].end || called != CN_NONE) {
        bool has_call = call < nodes[node].end;
        uint64_t call_ns = has_call ? cn_trace_branch_begin_ns(branch, call) : UINT64_MAX;

        if (called == CN_NONE ||
            (has_call && call_ns <= set->branches[called].row.time_ns)) {
            cn_self_time_take(&self, call_ns, cn_trace_branch_end_ns(branch, call));
            call = nodes[call].end;
            continue;
        }
        if (set->branches[called].trace.node_count > 0)
            cn_self_time_take(&self, cn_trace_branch_begin_ns(&set->branches[called], 0),
                              cn_trace_branch_end_ns(&set->branches[called], 0));
        called = set->branches[called].next;
    }
    return self.ns;
}

struct methods_counting {
    struct cn_trace_methods *methods;
    const struct cn_trace_set *set;
    uint32_t depth_max;
    uint64_t min_ns;
    uint32_t *open; /* names of the calls around the current one, by depth */
    size_t open_count, open_capacity;
    struct cn_text name;
};

static uint32_t method_of(struct methods_counting *c, const struct cn_trace *trace,
                          uint32_t node)
{
    struct cn_trace_methods *methods = c->methods;

    cn_text_clear(&c->name);
    cn_words_print_method_name(trace->words, trace->nodes[node].method, &c->name);
    uint32_t name = cn_names_add(&methods->names, cn_text_str(&c->name));
    if (name == methods->count) {
        CN_PUSH(methods->list, methods->count, methods->capacity,
                (struct cn_trace_method){.name = name, .min_ns = UINT64_MAX});
    }
    return name;
}

static bool count_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                       uint32_t depth)
{
    struct methods_counting *c = arg;
    const struct cn_trace_node *call = &branch->trace.nodes[node];

    if (depth > c->depth_max || call->duration_ns < c->min_ns)
        return false;
    while (c->open_count > depth)
        c->methods->list[c->open[--c->open_count]].open_count--;
    uint32_t name = method_of(c, &branch->trace, node);
    CN_PUSH(c->open, c->open_count, c->open_capacity, name);
    struct cn_trace_method *method = &c->methods->list[name];
    method->calls++;
    method->errors += (call->flags & CN_TRACE_ERROR) != 0;
    method->self_ns += cn_trace_set_self_ns(c->set, branch, node);
    if (method->open_count++ == 0)
        method->total_ns += call->duration_ns;
    if (method->min_ns > call->duration_ns)
        method->min_ns = call->duration_ns;
    if (method->max_ns < call->duration_ns)
        method->max_ns = call->duration_ns;
    return true;
}

void cn_trace_methods_build(struct cn_trace_methods *out, const struct cn_trace_set *set,
                            uint32_t depth, uint64_t min_ns)
{
    struct methods_counting c = {
        .methods = out, .set = set, .depth_max = depth, .min_ns = min_ns};

    *out = (struct cn_trace_methods){0};
    cn_trace_set_walk(set, count_call, &c);
    CN_SORT(out->list, out->count, CN_DOWN(struct cn_trace_method, self_ns),
            CN_UP(struct cn_trace_method, name));
    free(c.open);
    cn_text_done(&c.name);
}

void cn_trace_methods_done(struct cn_trace_methods *methods)
{
    free(methods->list);
    cn_names_done(&methods->names);
    *methods = (struct cn_trace_methods){0};
}
