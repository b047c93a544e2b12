/* Stacks as uftrace dump counts them: task after task, each call at its end. A call takes
 * only whole samples from its caller, which counts the remainder. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/tree.h"
#include "base/alloc.h"
#include "formats/exchange/write/spans/spans.h"
#include "formats/exchange/write/stacks/stacks.h"

struct samples_count {
    const struct cn_recording *rec;
    struct cn_call_tree tree;
    uint64_t unit_ns;
    uint32_t *path; /* nodes by depth */
    size_t capacity;
    uint32_t *same_name; /* by function: the first function of that name in its module */
};

static void find_same_names(struct samples_count *count)
{
    const struct cn_recording *rec = count->rec;
    struct cn_names names = {0};
    struct cn_map first = {0};
    struct cn_text key = {0};

    count->same_name = cn_alloc(rec->function_count, sizeof(*count->same_name));
    for (uint32_t i = 0; i < rec->function_count; i++) {
        cn_text_clear(&key);
        cn_text_printf(&key, "%" PRIu32 " %s", rec->functions[i].module,
                       rec->functions[i].name);
        count->same_name[i] =
            *cn_map_at(&first, cn_names_add(&names, cn_text_str(&key)), i);
    }
    cn_names_done(&names);
    cn_map_done(&first);
    cn_text_done(&key);
}

static uint32_t session_node(struct samples_count *count, const struct cn_span *span)
{
    const struct cn_recording *rec = count->rec;
    const struct cn_session *session =
        cn_recording_session_at(rec, span->task, span->time_ns);
    uint32_t id = session ? (uint32_t)(session - rec->sessions) : rec->session_count;

    return cn_call_tree_child(&count->tree, 0, id, 0, span->time_ns);
}

static void enter(struct samples_count *count, const struct cn_span *span)
{
    uint32_t id =
        span->function < count->rec->function_count
            ? count->same_name[span->function]
            : cn_call_ids_of(&count->tree.ids, count->rec, span->function, span->address);
    uint32_t parent =
        span->depth > 0 ? count->path[span->depth - 1] : session_node(count, span);
    uint32_t node =
        cn_call_tree_child(&count->tree, parent, id, span->address, span->time_ns);

    count->tree.nodes[node].calls++;
    CN_GROW(count->path, span->depth, count->capacity);
    count->path[span->depth] = node;
}

static void leave(struct samples_count *count, const struct cn_span *span)
{
    uint32_t node = count->path[span->depth];
    uint64_t total_ns = span->total_ns;

    count->tree.nodes[node].total_ns += total_ns;
    /* Until all spans are read, self_ns is the time of the callees. */
    if (span->depth > 0)
        count->tree.nodes[cn_call_tree_parent(&count->tree, node)].self_ns +=
            total_ns - total_ns % count->unit_ns;
}

static void visit(void *arg, const struct cn_span *span)
{
    if (span->kind == CN_SPAN_BEGIN)
        enter(arg, span);
    else if (span->kind == CN_SPAN_END && span->has_begin)
        leave(arg, span);
}

void cn_stacks_of_samples(struct cn_stacks *stacks, struct cn_export *x, uint64_t unit_ns)
{
    struct samples_count count = {.rec = x->query->rec, .unit_ns = unit_ns ? unit_ns : 1};
    struct cn_span_counts ignored = {0};

    cn_call_tree_init(&count.tree, count.rec);
    find_same_names(&count);
    for (uint32_t i = 0; i < x->query->task_count; i++) {
        struct cn_error damage;

        if (!cn_export_spans(x, x->query->tasks[i], visit, &count, &ignored, &damage))
            cn_export_damage(x, x->query->tasks[i], &damage);
    }
    for (size_t i = 0; i < count.tree.paths.count; i++) {
        struct cn_graph_node *node = &count.tree.nodes[i];

        node->self_ns =
            node->total_ns > node->self_ns ? node->total_ns - node->self_ns : 0;
    }
    cn_call_tree_sort(&count.tree);
    cn_stacks_of_tree(stacks, &count.tree, CN_WAITS_CALLED);
    cn_call_tree_done(&count.tree);
    free(count.path);
    free(count.same_name);
}
