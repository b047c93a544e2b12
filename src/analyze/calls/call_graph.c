#include "analyze/calls/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_stack.h"
#include "base/alloc.h"
#include "base/text.h"

/* The open calls of the parent of a forked task when it forked, outermost first. */
struct origin {
    unsigned worker; /* the nodes are in its tree */
    uint32_t *depths, *nodes;
    size_t count;
};

struct task {
    struct cn_call_stack stack;
    bool is_on;
    uint32_t slot;      /* of the query */
    uint32_t index;     /* in the recording */
    uint32_t *children; /* slots of the tasks it forked, by the time they started */
    size_t child_count, next_child;
    struct origin origin;
    uint32_t attached;    /* node of the whole tree below which it continues */
    bool has_first;       /* a call was seen */
    uint32_t first_depth; /* of that call */
    unsigned worker;      /* that read it */
    uint64_t last_ns;
};

/* The children of a worker's root are sessions, then the tasks that continue where another
 * task forked. */
struct build {
    const struct cn_call_query *query;
    struct cn_call_tree *trees; /* one per worker */
    struct task *tasks;         /* by slot */
    uint32_t *same_name; /* by function: the first one of that name in its module */
    bool apart;
};

static uint32_t node_id(const struct build *build, struct cn_call_tree *tree,
                        const struct cn_call_frame *frame)
{
    const struct cn_recording *rec = build->query->rec;

    return frame->function < rec->function_count
               ? build->same_name[frame->function]
               : cn_call_ids_of(&tree->ids, rec, frame->function, frame->address);
}

/* The parent of an outermost call. */
static uint32_t base_node(const struct build *build, struct cn_call_tree *tree,
                          const struct task *task, uint64_t time_ns)
{
    const struct cn_recording *rec = build->query->rec;
    const struct cn_task *self = &rec->tasks[task->index];
    const struct cn_session *session = cn_recording_session_at(rec, task->index, time_ns);
    bool continues = !build->apart && self->is_fork && self->parent != CN_NONE &&
                     (self->session_count < 2 || time_ns < self->sessions[1].from_ns);
    uint32_t id = session ? (uint32_t)(session - rec->sessions) : rec->session_count;

    if (continues)
        id = rec->session_count + 1 + task->slot;
    return cn_call_tree_child(tree, 0, id, 0, time_ns);
}

/* The child of a node, mostly the one that was called last. */
static inline uint32_t child_of(struct cn_call_tree *tree, uint32_t parent, uint32_t id,
                                const struct cn_call_frame *frame)
{
    uint32_t recent = tree->nodes[parent].recent;

    if (recent && tree->nodes[recent].id == id)
        return recent;
    return cn_call_tree_child(tree, parent, id, frame->address, frame->enter_ns);
}

static void count_enter(const struct build *build, struct cn_call_tree *tree,
                        struct task *task, struct cn_call_frame *frame,
                        uint64_t recorded_ns)
{
    struct cn_call_stack *stack = &task->stack;
    uint32_t at = (uint32_t)(frame - stack->frames);
    uint32_t parent =
        at > 0 ? stack->frames[at - 1].mark : base_node(build, tree, task, recorded_ns);

    frame->mark = parent;
    if (frame->flags & CN_FRAME_SHOWN) {
        frame->mark = child_of(tree, parent, node_id(build, tree, frame), frame);
        tree->nodes[frame->mark].calls++;
    }
}

static void count_end(const struct build *build, struct cn_call_tree *tree,
                      const struct cn_call_end *ended)
{
    const struct cn_call_frame *frame = &ended->frame;
    uint32_t node = frame->mark, id;

    if (!(frame->flags & CN_FRAME_SHOWN) || !ended->has_time)
        return;
    id = node_id(build, tree, frame);
    /* The second return of setjmp(), instead of the call that longjmp() left. */
    if (tree->nodes[node].id != id) {
        node = cn_call_tree_child(tree, tree->nodes[node].parent, id, frame->address,
                                  frame->enter_ns);
        tree->nodes[node].calls++;
    }
    tree->nodes[node].total_ns += ended->total_ns;
    tree->nodes[node].self_ns += ended->self_ns;
}

/* Count the end of the innermost call in the usual case: its mark is its node. */
static inline bool count_top_end(struct cn_call_tree *tree, struct task *task,
                                 const struct cn_call *call)
{
    uint64_t total_ns, self_ns;
    const struct cn_call_frame *frame =
        cn_call_stack_leave_top(&task->stack, call, &total_ns, &self_ns);
    struct cn_graph_node *node;

    if (!frame)
        return false;
    if (frame->flags & CN_FRAME_SHOWN) {
        node = &tree->nodes[frame->mark];
        node->total_ns += total_ns;
        node->self_ns += self_ns;
    }
    return true;
}

static void count_call(struct build *build, struct cn_call_tree *tree, struct task *task,
                       const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct cn_call_frame *frame;
    struct cn_call_end ended;

    if (call->time_ns > task->last_ns)
        task->last_ns = call->time_ns;
    if (!task->has_first && call->kind <= CN_CALL_EXIT) {
        task->has_first = true;
        task->first_depth = call->depth;
    }
    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        frame = cn_call_stack_enter_quick(&task->stack, call, batch);
        count_enter(build, tree, task, frame, cn_call_recorded_ns(batch, call));
        break;
    case CN_CALL_EXIT:
        if (count_top_end(tree, task, call))
            break;
        cn_call_stack_leave(&task->stack, call, &ended);
        count_end(build, tree, &ended);
        break;
    case CN_CALL_EVENT:
        if (call->address == CN_EVENT_SCHED_IN) {
            if (cn_call_stack_wake(&task->stack, call, &ended))
                count_end(build, tree, &ended);
        } else if (cn_call_stack_may_sleep(&task->stack, call)) {
            count_enter(build, tree, task, cn_call_stack_sleep(&task->stack, call),
                        cn_call_recorded_ns(batch, call));
        }
        break;
    case CN_CALL_LOST:
        break;
    }
}

/* Note the open calls for the tasks that were forked by now. */
static void note_origins(struct build *build, struct task *task, uint64_t time_ns,
                         unsigned worker)
{
    const struct cn_call_query *query = build->query;

    while (task->next_child < task->child_count) {
        uint32_t slot = task->children[task->next_child];
        struct origin *origin = &build->tasks[slot].origin;

        if (time_ns < query->rec->tasks[query->tasks[slot]].time_ns)
            return;
        task->next_child++;
        origin->worker = worker;
        origin->count = task->stack.count;
        origin->depths = cn_alloc(origin->count, sizeof(*origin->depths));
        origin->nodes = cn_alloc(origin->count, sizeof(*origin->nodes));
        for (size_t i = 0; i < origin->count; i++) {
            origin->depths[i] = task->stack.frames[i].depth;
            origin->nodes[i] = task->stack.frames[i].mark;
        }
    }
}

static void count_batch(void *arg, uint32_t slot, unsigned worker,
                        const struct cn_call_batch *batch)
{
    struct build *build = arg;
    struct task *task = &build->tasks[slot];

    task->worker = worker;
    for (size_t i = 0; i < batch->count; i++) {
        if (task->next_child < task->child_count)
            note_origins(build, task, cn_call_recorded_ns(batch, &batch->calls[i]),
                         worker);
        count_call(build, &build->trees[worker], task, &batch->calls[i], batch);
    }
}

/* Calls that never returned, or not within the time range, end with the last record of their
 * task there. */
static void end_open_calls(struct build *build)
{
    const struct cn_call_query *query = build->query;
    struct cn_call_end ended;

    for (uint32_t i = 0; i < query->task_count; i++) {
        struct task *task = &build->tasks[i];

        while (task->stack.count > 0) {
            cn_call_stack_cut(&task->stack, task->last_ns, &ended);
            if (!(ended.frame.flags & (CN_FRAME_SCHEDULE | CN_FRAME_EXEC)))
                count_end(build, &build->trees[task->worker], &ended);
        }
    }
}

/* The node of the whole tree that stands for `node` of a worker's tree. */
static uint32_t follow(struct build *build, struct cn_call_tree *into,
                       const struct cn_call_tree *from, uint32_t node)
{
    const struct cn_recording *rec = build->query->rec;
    uint32_t *path = NULL;
    size_t count = 0, capacity = 0;
    uint32_t at, root;

    for (; from->nodes[node].parent != 0; node = from->nodes[node].parent) {
        path = cn_grow(path, count, &capacity, sizeof(*path));
        path[count++] = node;
    }
    root = from->nodes[node].id;
    at = root > rec->session_count ? build->tasks[root - rec->session_count - 1].attached
                                   : cn_call_tree_child(into, 0, root, 0, 0);
    while (count-- > 0)
        at = cn_call_tree_child_like(into, at, from, &from->nodes[path[count]]);
    free(path);
    return at;
}

/* The node below which a forked task continues: the innermost call that it shares with its
 * parent. */
static uint32_t find_attached(struct build *build, struct cn_call_tree *into,
                              const struct task *task)
{
    const struct cn_recording *rec = build->query->rec;
    const struct origin *origin = &task->origin;
    const struct cn_session *session;

    for (size_t i = origin->count; i-- > 0;) {
        if (origin->depths[i] < task->first_depth)
            return follow(build, into, &build->trees[origin->worker], origin->nodes[i]);
    }
    session = cn_recording_session_at(rec, task->index, rec->tasks[task->index].time_ns);
    return cn_call_tree_child(
        into, 0, session ? (uint32_t)(session - rec->sessions) : rec->session_count, 0,
        0);
}

/* Children of the root that are tasks are not merged here: see merge_forked(). */
static void merge_session(struct cn_call_tree *into, const struct cn_call_tree *from,
                          uint32_t session)
{
    uint32_t id = from->nodes[session].id;

    if (id <= from->rec->session_count)
        cn_call_tree_merge(into, cn_call_tree_child(into, 0, id, 0, 0), from, session);
}

/* In the order of their start, so parents come before the tasks they forked. */
static void merge_forked(struct build *build, struct cn_call_tree *into,
                         const uint32_t *by_start)
{
    const struct cn_recording *rec = build->query->rec;

    for (uint32_t i = 0; i < build->query->task_count; i++) {
        struct task *task = &build->tasks[by_start[i]];
        const struct cn_call_tree *from = &build->trees[task->worker];
        uint64_t key = (uint64_t)rec->session_count + 1 + task->slot;
        uint32_t root = cn_map_find(&from->children, key, 0);

        if (root == 0)
            continue;
        task->attached = find_attached(build, into, task);
        cn_call_tree_merge(into, task->attached, from, root);
    }
}

static void find_same_names(struct build *build)
{
    const struct cn_recording *rec = build->query->rec;
    struct cn_names names = {0};
    struct cn_text key = {0};
    uint32_t *first = cn_alloc(rec->function_count, sizeof(*first));

    build->same_name = cn_alloc(rec->function_count, sizeof(*build->same_name));
    for (uint32_t i = 0; i < rec->function_count; i++) {
        size_t known = names.count;
        uint32_t name;

        cn_text_clear(&key);
        cn_text_u64(&key, rec->functions[i].module);
        cn_text_char(&key, ':');
        cn_text_str_add(&key, rec->functions[i].name);
        name = cn_names_add(&names, cn_text_str(&key));

        if (name == known)
            first[name] = i;
        build->same_name[i] = first[name];
    }
    free(first);
    cn_text_done(&key);
    cn_names_done(&names);
}

static int compare_starts(const void *a, const void *b, void *arg)
{
    const struct cn_call_query *query = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t x_ns = query->rec->tasks[query->tasks[x]].time_ns;
    uint64_t y_ns = query->rec->tasks[query->tasks[y]].time_ns;

    return x_ns != y_ns ? (x_ns < y_ns ? -1 : 1) : (x > y) - (x < y);
}

/* The slots of a query by the start of their tasks, to be released with free(). */
static uint32_t *sort_by_start(const struct cn_call_query *query)
{
    struct cn_call_query own = *query; /* not const, for qsort_r() */
    uint32_t *slots = cn_alloc(query->task_count, sizeof(*slots));

    for (uint32_t i = 0; i < query->task_count; i++)
        slots[i] = i;
    if (query->task_count > 0)
        qsort_r(slots, query->task_count, sizeof(*slots), compare_starts, &own);
    return slots;
}

/* List the forked children of each task. */
static void find_children(struct build *build, const uint32_t *by_start)
{
    const struct cn_call_query *query = build->query;
    const struct cn_recording *rec = query->rec;
    struct cn_map slots = {0};

    for (uint32_t i = 0; i < query->task_count; i++)
        (void)cn_map_at(&slots, query->tasks[i], i);
    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *self = &rec->tasks[query->tasks[by_start[i]]];
        uint32_t parent =
            self->is_fork ? cn_map_find(&slots, self->parent, CN_NONE) : CN_NONE;
        struct task *task;
        size_t capacity;

        if (parent == CN_NONE)
            continue;
        task = &build->tasks[parent];
        capacity = task->child_count;
        task->children = cn_grow(task->children, task->child_count, &capacity,
                                 sizeof(*task->children));
        task->children[task->child_count++] = by_start[i];
    }
    cn_map_done(&slots);
}

static void build_init(struct build *build, unsigned tree_count)
{
    const struct cn_call_query *query = build->query;
    bool is_on = !query->filter->is_off;

    build->trees = cn_alloc(tree_count, sizeof(*build->trees));
    build->tasks = cn_alloc(query->task_count, sizeof(*build->tasks));
    for (unsigned i = 0; i < tree_count; i++)
        cn_call_tree_init(&build->trees[i], query->rec);
    for (uint32_t i = 0; i < query->task_count; i++) {
        struct task *task = &build->tasks[i];

        task->slot = i;
        task->index = query->tasks[i];
        task->is_on = is_on;
        cn_call_stack_init(&task->stack, query->rec, query->filter, task->index,
                           query->range.first_ns > 0,
                           query->filter->has_switches ? &build->tasks[0].is_on
                                                       : &task->is_on);
    }
    find_same_names(build);
}

static void build_done(struct build *build, unsigned tree_count)
{
    for (unsigned i = 0; i < tree_count; i++)
        cn_call_tree_done(&build->trees[i]);
    for (uint32_t i = 0; i < build->query->task_count; i++) {
        cn_call_stack_done(&build->tasks[i].stack);
        free(build->tasks[i].children);
        free(build->tasks[i].origin.depths);
        free(build->tasks[i].origin.nodes);
    }
    free(build->trees);
    free(build->tasks);
    free(build->same_name);
}

bool cn_call_graph_build(struct cn_call_graph *graph, const struct cn_call_query *query,
                         unsigned workers, bool apart, struct cn_error *err)
{
    struct build build = {.query = query, .apart = apart};
    bool is_ordered = query->filter->has_switches;
    unsigned tree_count = is_ordered ? 1 : workers;
    struct cn_call_visit visit = {query, is_ordered, workers, count_batch, &build};
    uint32_t *by_start = sort_by_start(query);
    bool ok;

    *graph = (struct cn_call_graph){0};
    cn_call_tree_init(&graph->tree, query->rec);
    build_init(&build, tree_count);
    find_children(&build, by_start);
    ok = cn_call_visit_run(&visit, &graph->damages, err);
    if (ok) {
        end_open_calls(&build);
        for (unsigned i = 0; i < tree_count; i++)
            for (uint32_t at = build.trees[i].nodes[0].first_child; at;
                 at = build.trees[i].nodes[at].next)
                merge_session(&graph->tree, &build.trees[i], at);
        merge_forked(&build, &graph->tree, by_start);
        cn_call_tree_sort(&graph->tree);
    }
    build_done(&build, tree_count);
    free(by_start);
    return ok;
}

void cn_call_graph_done(struct cn_call_graph *graph)
{
    cn_call_tree_done(&graph->tree);
    cn_call_damages_done(&graph->damages);
}
