#include "analyze/calls/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_stack.h"
#include "analyze/calls/call_tree.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/text.h"

/* Where the parent of a forked task was when it forked: its open calls, outermost
 * first. */
struct origin {
    unsigned worker; /* whose tree the nodes are in */
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
    uint32_t attached;    /* node of the whole tree below which it goes on */
    bool has_first;       /* a call was seen */
    uint32_t first_depth; /* of that */
    unsigned worker;      /* who read it */
    uint64_t last_ns;
    enum cn_step step;
    struct cn_error err;
};

/* The children of a worker's root are sessions, then the tasks that go on where
 * another task forked. */
struct build {
    const struct cn_call_query *query;
    struct cn_call_tree *trees; /* one a worker */
    struct task *tasks;         /* by slot */
    uint32_t *same_name; /* by function: the first one of that name in its module */
    bool apart;
};

const char *cn_graph_node_name(const struct cn_call_tree *tree,
                               const struct cn_graph_node *node, char *buffer)
{
    uint64_t address = cn_call_ids_address(&tree->ids, tree->rec, node->id);

    return cn_call_name(tree->rec, address ? CN_NONE : node->id, address, buffer);
}

static uint32_t node_id(const struct build *build, struct cn_call_tree *tree,
                        const struct cn_call_frame *frame)
{
    const struct cn_recording *rec = build->query->rec;

    return frame->function < rec->function_count
               ? build->same_name[frame->function]
               : cn_call_ids_of(&tree->ids, rec, frame->function, frame->address);
}

/* Below what an outermost call goes. */
static uint32_t base_node(const struct build *build, struct cn_call_tree *tree,
                          const struct task *task, uint64_t time_ns)
{
    const struct cn_recording *rec = build->query->rec;
    const struct cn_task *self = &rec->tasks[task->index];
    const struct cn_session *session = cn_recording_session_at(rec, task->index, time_ns);
    bool goes_on = !build->apart && self->is_fork && self->parent != CN_NONE &&
                   (self->session_count < 2 || time_ns < self->sessions[1].from_ns);
    uint32_t id = session ? (uint32_t)(session - rec->sessions) : rec->session_count;

    if (goes_on)
        id = rec->session_count + 1 + task->slot;
    return cn_call_tree_child(tree, 0, id, 0, time_ns);
}

static void note_origin(struct build *build, struct task *task, unsigned worker)
{
    struct task *child = &build->tasks[task->children[task->next_child++]];
    struct origin *origin = &child->origin;

    origin->worker = worker;
    origin->count = task->stack.count;
    origin->depths = cn_alloc(origin->count, sizeof(*origin->depths));
    origin->nodes = cn_alloc(origin->count, sizeof(*origin->nodes));
    for (size_t i = 0; i < origin->count; i++) {
        origin->depths[i] = task->stack.frames[i].depth;
        origin->nodes[i] = task->stack.frames[i].mark;
    }
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
                        struct task *task, struct cn_call_frame *frame)
{
    struct cn_call_stack *stack = &task->stack;
    uint32_t at = (uint32_t)(frame - stack->frames);
    uint32_t parent = at > 0 ? stack->frames[at - 1].mark
                             : base_node(build, tree, task, frame->enter_ns);

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
    /* A second return of setjmp(), in place of the call that was left by
     * longjmp(). */
    if (tree->nodes[node].id != id) {
        node = cn_call_tree_child(tree, tree->nodes[node].parent, id, frame->address,
                                  frame->enter_ns);
        tree->nodes[node].calls++;
    }
    tree->nodes[node].total_ns += ended->total_ns;
    tree->nodes[node].self_ns += ended->self_ns;
}

/* The end of the innermost call, when that is what the record says: it is the call that
 * its node was found for. */
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

static void count_event(const struct build *build, struct cn_call_tree *tree,
                        struct task *task, const struct cn_call *call)
{
    struct cn_call_end ended;

    if (call->address == CN_EVENT_SCHED_IN) {
        if (cn_call_stack_wake(&task->stack, call, &ended))
            count_end(build, tree, &ended);
    } else if (cn_call_stack_may_sleep(&task->stack, call)) {
        count_enter(build, tree, task, cn_call_stack_sleep(&task->stack, call));
    }
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
        count_enter(build, tree, task, frame);
        break;
    case CN_CALL_EXIT:
        if (count_top_end(tree, task, call))
            break;
        cn_call_stack_leave(&task->stack, call, &ended);
        count_end(build, tree, &ended);
        break;
    case CN_CALL_EVENT:
        count_event(build, tree, task, call);
        break;
    case CN_CALL_LOST:
        break;
    }
}

static void note_origins(struct build *build, struct task *task, uint64_t time_ns,
                         unsigned worker)
{
    const struct cn_call_query *query = build->query;

    while (task->next_child < task->child_count) {
        uint32_t slot = task->children[task->next_child];

        if (time_ns < query->rec->tasks[query->tasks[slot]].time_ns)
            return;
        note_origin(build, task, worker);
    }
}

static void count_task(void *arg, size_t job, unsigned worker)
{
    struct build *build = arg;
    const struct cn_call_query *query = build->query;
    struct cn_call_tree *tree = &build->trees[worker];
    struct task *task = &build->tasks[job];
    struct cn_call_feed feed;
    struct cn_call_batch batch;

    task->worker = worker;
    task->step = CN_FAIL;
    if (!cn_call_feed_open(&feed, query->rec, query->filter, query->tasks[job],
                           query->range, &task->err))
        return;
    while ((task->step = cn_call_feed_next(&feed, &batch, &task->err)) == CN_ITEM) {
        for (size_t i = 0; i < batch.count; i++) {
            if (task->next_child < task->child_count)
                note_origins(build, task, batch.calls[i].time_ns, worker);
            count_call(build, tree, task, &batch.calls[i], &batch);
        }
    }
    cn_call_feed_close(&feed);
}

static bool count_merged(struct build *build, struct cn_call_damages *damages,
                         struct cn_error *err)
{
    struct cn_call_merge merge;
    struct cn_merged_call next;

    if (!cn_call_merge_open(&merge, build->query, err))
        return false;
    while (cn_call_merge_next(&merge, &next)) {
        struct task *task = &build->tasks[next.slot];

        note_origins(build, task, next.call->time_ns, 0);
        count_call(build, &build->trees[0], task, next.call, next.batch);
    }
    for (size_t i = 0; i < merge.damages.count; i++)
        cn_call_damages_add(damages, merge.damages.list[i].task,
                            &merge.damages.list[i].err);
    cn_call_merge_close(&merge);
    return true;
}

static void cut_all(struct build *build)
{
    const struct cn_call_query *query = build->query;
    uint64_t last_ns = 0;
    struct cn_call_end ended;

    if (query->range.last_ns < UINT64_MAX)
        return;
    for (uint32_t i = 0; i < query->task_count; i++)
        if (build->tasks[i].last_ns > last_ns)
            last_ns = build->tasks[i].last_ns;
    for (uint32_t i = 0; i < query->task_count; i++) {
        struct task *task = &build->tasks[i];

        while (task->stack.count > 0) {
            cn_call_stack_cut(&task->stack, last_ns, &ended);
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
    while (count-- > 0) {
        const struct cn_graph_node *step = &from->nodes[path[count]];
        uint64_t address = cn_call_ids_address(&from->ids, rec, step->id);
        uint32_t id = address ? cn_call_ids_unknown(&into->ids, rec, address) : step->id;

        at = cn_call_tree_child(into, at, id, step->address, step->first_ns);
    }
    free(path);
    return at;
}

/* Below what a forked task goes on: the innermost call of its parent that it
 * shares. */
static uint32_t find_place(struct build *build, struct cn_call_tree *into,
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

static void merge_sessions(struct build *build, struct cn_call_tree *into,
                           const struct cn_call_tree *from)
{
    for (uint32_t at = from->nodes[0].first_child; at; at = from->nodes[at].next) {
        if (from->nodes[at].id <= build->query->rec->session_count)
            cn_call_tree_merge(
                into, cn_call_tree_child(into, 0, from->nodes[at].id, 0, 0), from, at);
    }
}

/* Parents before the tasks they forked: by the time they started. */
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
        task->attached = find_place(build, into, task);
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

/* Sorting by time needs the recording: the slots carry their start with them. */
struct start {
    uint64_t time_ns;
    uint32_t slot;
};

static int compare_starts(const void *a, const void *b)
{
    const struct start *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->slot < y->slot ? -1 : 1;
}

static uint32_t *sort_by_start(const struct cn_call_query *query)
{
    struct start *starts = cn_alloc(query->task_count, sizeof(*starts));
    uint32_t *slots = cn_alloc(query->task_count, sizeof(*slots));

    for (uint32_t i = 0; i < query->task_count; i++)
        starts[i] = (struct start){query->rec->tasks[query->tasks[i]].time_ns, i};
    if (query->task_count > 0)
        qsort(starts, query->task_count, sizeof(*starts), compare_starts);
    for (uint32_t i = 0; i < query->task_count; i++)
        slots[i] = starts[i].slot;
    free(starts);
    return slots;
}

/* Tell tasks whom they forked. */
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

static bool count_all(struct build *build, unsigned tree_count,
                      struct cn_call_damages *damages, struct cn_error *err)
{
    const struct cn_call_query *query = build->query;
    struct cn_jobs jobs = {.count = query->task_count, .arg = build, .run = count_task};

    if (query->filter->has_switches)
        return count_merged(build, damages, err);
    cn_pool_run(&jobs, tree_count);
    for (uint32_t i = 0; i < query->task_count; i++)
        if (build->tasks[i].step == CN_FAIL)
            cn_call_damages_add(damages, query->tasks[i], &build->tasks[i].err);
    return true;
}

bool cn_call_graph_build(struct cn_call_graph *graph, const struct cn_call_query *query,
                         unsigned workers, bool apart, struct cn_error *err)
{
    struct build build = {.query = query, .apart = apart};
    unsigned tree_count = query->filter->has_switches ? 1 : workers;
    uint32_t *by_start = sort_by_start(query);
    bool ok;

    *graph = (struct cn_call_graph){0};
    cn_call_tree_init(&graph->tree, query->rec);
    build_init(&build, tree_count);
    find_children(&build, by_start);
    ok = count_all(&build, tree_count, &graph->damages, err);
    if (ok) {
        cut_all(&build);
        for (unsigned i = 0; i < tree_count; i++)
            merge_sessions(&build, &graph->tree, &build.trees[i]);
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
