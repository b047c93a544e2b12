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

/* A call around the current one. */
struct open_method {
    uint32_t name, service; /* 0: of no service */
};

struct methods_counting {
    struct cn_trace_methods *methods;
    const struct cn_trace_set *set;
    uint32_t depth_max;
    uint64_t min_ns;
    struct open_method *open; /* by depth */
    size_t open_count, open_capacity;
    struct cn_map open_counts; /* of each method of each service */
    struct cn_names services;  /* from 1 */
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

/* That of its span, else that of its caller. */
static uint32_t service_of(struct methods_counting *c, const struct cn_trace *trace,
                           uint32_t node)
{
    uint32_t span = trace->nodes[node].span;
    uint32_t service = span == CN_NONE ? 0 : trace->spans[span].service;

    if (service == 0)
        return c->open_count > 0 ? c->open[c->open_count - 1].service : 0;
    cn_text_clear(&c->name);
    cn_words_print(trace->words, service, &c->name);
    return 1 + cn_names_add(&c->services, cn_text_str(&c->name));
}

static uint32_t *open_count_of(struct methods_counting *c, struct open_method open)
{
    return cn_map_at(&c->open_counts, (uint64_t)open.service << 32 | open.name, 0);
}

static bool count_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                       uint32_t depth)
{
    struct methods_counting *c = arg;
    const struct cn_trace_node *call = &branch->trace.nodes[node];

    if (depth > c->depth_max || call->duration_ns < c->min_ns)
        return false;
    while (c->open_count > depth)
        --*open_count_of(c, c->open[--c->open_count]);
    struct open_method open = {.service = service_of(c, &branch->trace, node),
                               .name = method_of(c, &branch->trace, node)};
    CN_PUSH(c->open, c->open_count, c->open_capacity, open);
    struct cn_trace_method *method = &c->methods->list[open.name];
    method->calls++;
    method->errors += (call->flags & CN_TRACE_ERROR) != 0;
    method->self_ns += cn_trace_set_self_ns(c->set, branch, node);
    if ((*open_count_of(c, open))++ == 0)
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
    cn_map_done(&c.open_counts);
    cn_names_done(&c.services);
    cn_text_done(&c.name);
}

void cn_trace_methods_done(struct cn_trace_methods *methods)
{
    free(methods->list);
    cn_names_done(&methods->names);
    *methods = (struct cn_trace_methods){0};
}
