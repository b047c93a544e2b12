#include "analyze/calls/graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/visit.h"
#include "base/alloc.h"
#include "base/text.h"

/* One of the open calls of a task. */
struct graph_open_call {
    uint32_t depth;
    uint32_t id;      /* of its node; CN_NONE: it is in the node of the call before */
    uint64_t address; /* of its function if that is unknown, else 0 */
};

/* The open calls of a task at some time, outermost first. */
struct graph_path {
    uint32_t root; /* id of the node above them */
    struct graph_open_call *calls;
    size_t count;
};

struct graph_task {
    uint32_t index;     /* in the recording */
    uint32_t *children; /* slots of the tasks it forked, by the time they started */
    size_t child_count;
    struct graph_path origin; /* open calls of its parent when that forked it */
    uint32_t attached;        /* node of the whole tree below which it continues */
    uint32_t first_depth;     /* of its first call */
};

/* The children of the root of a tree are sessions, then the tasks that continue where another
 * task forked; in a part also its guessed calls, by depth from GUESSED on. */
#define GUESSED UINT32_C(0xc0000000)

/* The open calls of a part when it forked a task. */
struct fork {
    uint32_t slot;
    uint32_t guessed; /* calls of them */
    struct graph_path path;
};

struct graph_walk {
    struct cn_task_walk base; /* first */
    struct cn_call_tree tree;
    size_t next_child;
    struct fork *forks;
    size_t fork_count, fork_capacity;
    bool has_guessed;          /* guessed calls have nodes */
    struct graph_path guessed; /* of a joined part: the calls that were guessed */
    bool has_first;            /* a call was seen */
    uint32_t first_depth;      /* of that call */
};

struct graph_build {
    const struct cn_call_query *query;
    struct cn_call_tree *trees; /* one per worker */
    struct graph_task *tasks;   /* by slot */
    uint32_t *same_name; /* by function: the first one of that name in its module */
    bool apart;
    bool with_extremes;
};

static struct graph_walk *walk_of(struct cn_task_walk *base)
{
    return (struct graph_walk *)base;
}

static uint32_t node_id(const struct graph_build *build, struct cn_call_tree *tree,
                        const struct cn_call_frame *frame)
{
    const struct cn_recording *rec = build->query->rec;

    return frame->function < rec->function_count
               ? build->same_name[frame->function]
               : cn_call_ids_of(&tree->ids, rec, frame->function, frame->address);
}

/* The parent of an outermost call. */
static uint32_t base_node(const struct graph_build *build, struct graph_walk *walk,
                          uint64_t time_ns)
{
    const struct cn_recording *rec = build->query->rec;
    uint32_t slot = walk->base.slot, task = build->tasks[slot].index;
    const struct cn_task *self = &rec->tasks[task];
    const struct cn_session *session = cn_recording_session_at(rec, task, time_ns);
    bool continues = !build->apart && self->is_fork && self->parent != CN_NONE &&
                     (self->session_count < 2 || time_ns < self->sessions[1].from_ns);
    uint32_t id = session ? (uint32_t)(session - rec->sessions) : rec->session_count;

    if (continues)
        id = rec->session_count + 1 + slot;
    return cn_call_tree_child(&walk->tree, 0, id, 0, time_ns);
}

static inline void count_enter(const struct graph_build *build, struct graph_walk *walk,
                               struct cn_call_frame *frame, uint64_t recorded_ns)
{
    const struct cn_call_stack *stack = &walk->base.stack;
    uint32_t at = (uint32_t)(frame - stack->frames);
    uint32_t parent =
        at > 0 ? stack->frames[at - 1].mark : base_node(build, walk, recorded_ns);

    frame->mark = parent;
    if (frame->flags & CN_FRAME_SHOWN) {
        frame->mark =
            cn_call_tree_child(&walk->tree, parent, node_id(build, &walk->tree, frame),
                               frame->address, walk->base.last_ns);
        walk->tree.nodes[frame->mark].calls++;
    }
}

static void count_end(const struct graph_build *build, struct graph_walk *walk,
                      const struct cn_call_end *ended, bool is_open)
{
    const struct cn_call_frame *frame = &ended->frame;
    struct cn_call_tree *tree = &walk->tree;
    uint32_t node = frame->mark, id;

    if (!(frame->flags & CN_FRAME_SHOWN) || !ended->has_time)
        return;
    id = node_id(build, tree, frame);
    /* The second return of setjmp(), instead of the call that longjmp() left. */
    if (cn_call_tree_id(tree, node) != id) {
        node = cn_call_tree_child(tree, cn_call_tree_parent(tree, node), id,
                                  frame->address, walk->base.last_ns);
        tree->nodes[node].calls++;
    }
    cn_call_tree_end(tree, node, ended->total_ns, ended->self_ns, is_open);
}

/* Count the end of the innermost call in the usual case: its mark is its node. */
static inline bool count_top_end(struct graph_walk *walk, const struct cn_call *call)
{
    uint64_t total_ns, self_ns;
    const struct cn_call_frame *frame =
        cn_call_stack_leave_top(&walk->base.stack, call, &total_ns, &self_ns);

    if (!frame)
        return false;
    if (frame->flags & CN_FRAME_SHOWN)
        cn_call_tree_end(&walk->tree, frame->mark, total_ns, self_ns, false);
    return true;
}

/* True if a call of a part is not to be counted. */
static bool check_guess(struct graph_walk *walk, const struct cn_call *call)
{
    return walk->base.guess && cn_call_guess_check(walk->base.guess, &walk->base.stack,
                                                   call) != CN_GUESS_INSIDE;
}

static void leave_slowly(const struct graph_build *build, struct graph_walk *walk,
                         const struct cn_call *call)
{
    struct cn_call_end ended;

    if (check_guess(walk, call))
        return;
    cn_call_stack_leave(&walk->base.stack, call, &ended);
    count_end(build, walk, &ended, false);
}

static inline void count_call(const struct graph_build *build, struct graph_walk *walk,
                              const struct cn_call *call,
                              const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &walk->base.stack;
    struct cn_call_frame *frame;
    struct cn_call_end ended;

    if (call->time_ns > walk->base.last_ns)
        walk->base.last_ns = call->time_ns;
    if (!walk->has_first && call->kind <= CN_CALL_EXIT) {
        walk->has_first = true;
        walk->first_depth = call->depth;
    }
    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        frame = cn_call_stack_enter_top(stack, call);
        if (!frame && check_guess(walk, call))
            break;
        if (!frame)
            frame = cn_call_stack_enter(stack, call, batch, NULL);
        count_enter(build, walk, frame, cn_call_recorded_ns(batch, call));
        break;
    case CN_CALL_EXIT:
        if (!count_top_end(walk, call))
            leave_slowly(build, walk, call);
        break;
    case CN_CALL_EVENT:
        if (call->address == CN_EVENT_SCHED_IN) {
            if (cn_call_stack_wake(stack, call, &ended))
                count_end(build, walk, &ended, false);
        } else if (cn_call_stack_may_sleep(stack, call)) {
            count_enter(build, walk, cn_call_stack_sleep(stack, call),
                        cn_call_recorded_ns(batch, call));
        }
        break;
    case CN_CALL_LOST:
        break;
    }
}

/* The child of the root above a node. */
static uint32_t root_of(const struct cn_call_tree *tree, uint32_t node)
{
    while (cn_call_tree_parent(tree, node) != 0)
        node = cn_call_tree_parent(tree, node);
    return node;
}

/* List the open calls of a walk. */
static void find_path(const struct graph_walk *walk, struct graph_path *out)
{
    const struct cn_call_stack *stack = &walk->base.stack;
    const struct cn_call_tree *tree = &walk->tree;
    uint32_t above = stack->count > 0 ? root_of(tree, stack->frames[0].mark) : 0;

    out->root = cn_call_tree_id(tree, above);
    out->count = stack->count;
    out->calls = cn_alloc(out->count, sizeof(*out->calls));
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct cn_call_frame *frame = &stack->frames[i];
        uint32_t id = cn_call_tree_id(tree, frame->mark);

        out->calls[i] = (struct graph_open_call){
            .depth = frame->depth,
            .id = frame->mark != above ? id : CN_NONE,
            .address = cn_call_ids_address(&tree->ids, tree->rec, id),
        };
        above = frame->mark;
    }
}

/* The node of an open call, whose caller has the node `above`. */
static uint32_t step_down(struct cn_call_tree *tree, uint32_t above,
                          const struct graph_open_call *call)
{
    uint32_t id = call->address
                      ? cn_call_ids_unknown(&tree->ids, tree->rec, call->address)
                      : call->id;

    return call->id == CN_NONE
               ? above
               : cn_call_tree_child(tree, above, id, call->address, UINT64_MAX);
}

static void note_fork(struct graph_walk *walk, uint32_t slot)
{
    struct fork *fork;

    CN_GROW(walk->forks, walk->fork_count, walk->fork_capacity);
    fork = &walk->forks[walk->fork_count++];
    *fork = (struct fork){.slot = slot, .guessed = walk->base.guess->open_count};
    find_path(walk, &fork->path);
}

/* The open calls of a fork, of which some were guessed to be those of `guessed`; to be
 * released with free(). */
static struct graph_path join_paths(const struct fork *fork,
                                    const struct graph_path *guessed, uint32_t unknown)
{
    struct graph_path path = {
        .root = fork->guessed > unknown ? guessed->root : fork->path.root,
        .calls = cn_alloc(fork->path.count - unknown, sizeof(*path.calls)),
        .count = fork->path.count - unknown,
    };

    for (size_t i = 0; i < path.count; i++)
        path.calls[i] = i + unknown < fork->guessed ? guessed->calls[i]
                                                    : fork->path.calls[i + unknown];
    return path;
}

/* Note the open calls for the tasks that were forked by now. */
static void note_origins(const struct graph_build *build, struct graph_walk *walk,
                         uint64_t time_ns)
{
    const struct cn_call_query *query = build->query;
    const struct graph_task *task = &build->tasks[walk->base.slot];

    while (walk->next_child < task->child_count) {
        uint32_t slot = task->children[walk->next_child];

        if (time_ns < query->rec->tasks[query->tasks[slot]].time_ns)
            return;
        walk->next_child++;
        if (walk->base.guess)
            note_fork(walk, slot);
        else
            find_path(walk, &build->tasks[slot].origin);
    }
}

static void init_tree(const struct graph_build *build, struct cn_call_tree *tree)
{
    cn_call_tree_init(tree, build->query->rec);
    if (build->with_extremes)
        cn_call_tree_count_extremes(tree);
}

static void walk_begin(void *arg, struct cn_task_walk *base)
{
    const struct graph_build *build = arg;

    init_tree(build, &walk_of(base)->tree);
}

static void walk_done(void *arg, struct cn_task_walk *base)
{
    (void)arg;
    cn_call_tree_done(&walk_of(base)->tree);
    free(walk_of(base)->guessed.calls);
    for (size_t i = 0; i < walk_of(base)->fork_count; i++)
        free(walk_of(base)->forks[i].path.calls);
    free(walk_of(base)->forks);
}

/* Begin a part: the tasks that were forked up to the calls it left out are noted. */
static void begin_part(const struct graph_build *build, struct graph_walk *walk)
{
    const struct cn_call_guess *guess = walk->base.guess;
    const struct cn_call_query *query = build->query;
    const struct cn_call_stack *stack = &walk->base.stack;
    const struct graph_task *task = &build->tasks[walk->base.slot];
    uint64_t seen_ns = guess->clock.seen_ns > 0 ? guess->clock.seen_ns : guess->begin_ns;

    walk->has_guessed = true;
    for (uint32_t i = 0; i < guess->depth; i++)
        stack->frames[i].mark = cn_call_tree_child(&walk->tree, 0, GUESSED | i, 0, 0);
    while (walk->next_child < task->child_count &&
           query->rec->tasks[query->tasks[task->children[walk->next_child]]].time_ns <=
               seen_ns)
        walk->next_child++;
}

static void walk_count(void *arg, struct cn_task_walk *base,
                       const struct cn_call_batch *batch)
{
    const struct graph_build *build = arg;
    const struct graph_task *task = &build->tasks[base->slot];
    struct graph_walk *walk = walk_of(base);

    if (base->guess && !walk->has_guessed)
        begin_part(build, walk);
    walk->tree.order = (uint64_t)base->order << 32;
    for (size_t i = 0; i < batch->count; i++) {
        if (walk->next_child < task->child_count)
            note_origins(build, walk, cn_call_recorded_ns(batch, &batch->calls[i]));
        count_call(build, walk, &batch->calls[i], batch);
    }
}

static void walk_join(void *arg, struct cn_task_walk *base, struct cn_task_walk *part)
{
    const struct graph_build *build = arg;
    struct graph_walk *walk = walk_of(part);
    uint32_t unknown = part->guess->depth - base->stack.count;

    find_path(walk_of(base), &walk->guessed);
    walk_of(base)->next_child = walk->next_child;
    for (size_t i = 0; i < walk->fork_count; i++)
        build->tasks[walk->forks[i].slot].origin =
            join_paths(&walk->forks[i], &walk->guessed, unknown);
}

static void walk_resume(void *arg, struct cn_task_walk *base,
                        const struct cn_task_walk *part, struct cn_call_frame *frame)
{
    struct cn_call_tree *tree = &walk_of(base)->tree;
    const struct cn_call_tree *from = &((const struct graph_walk *)part)->tree;
    uint32_t above;

    (void)arg;
    if (frame > base->stack.frames)
        above = frame[-1].mark;
    else
        above = cn_call_tree_child(
            tree, 0, cn_call_tree_id(from, root_of(from, frame->mark)), 0, UINT64_MAX);
    frame->mark = cn_call_tree_child_like(tree, above, from, frame->mark);
}

/* Calls that never returned, or not within the time range, end with the last record of their
 * task there. */
static void walk_end(void *arg, struct cn_task_walk *base, unsigned worker)
{
    const struct graph_build *build = arg;
    struct cn_call_end ended;

    (void)worker;
    build->tasks[base->slot].first_depth = walk_of(base)->first_depth;
    while (base->stack.count > 0) {
        cn_call_stack_cut(&base->stack, base->last_ns, &ended);
        if (!(ended.frame.flags & (CN_FRAME_SCHEDULE | CN_FRAME_EXEC)))
            count_end(build, walk_of(base), &ended, true);
    }
}

/* Add a part's calls below a guessed one, which is below `root` of its tree. */
static void merge_guessed(struct cn_call_tree *into, const struct graph_walk *part,
                          uint32_t root)
{
    const struct graph_path *path = &part->guessed;
    uint32_t unknown = part->base.guess->depth - (uint32_t)path->count;
    uint32_t depth = cn_call_tree_id(&part->tree, root) - GUESSED;
    uint32_t at = cn_call_tree_child(into, 0, path->root, 0, UINT64_MAX);

    if (cn_call_tree_first(&part->tree, root) == 0)
        return;
    for (uint32_t i = 0; i + unknown <= depth; i++)
        at = step_down(into, at, &path->calls[i]);
    cn_call_tree_merge(into, at, &part->tree, root, part->base.ahead_ns);
}

/* Add a session, or a task that continues another one. Its time is recorded. */
static void merge_root(struct cn_call_tree *into, const struct cn_call_tree *from,
                       uint32_t root, uint64_t ahead_ns)
{
    uint32_t at = cn_call_tree_child(into, 0, cn_call_tree_id(from, root), 0, UINT64_MAX);

    cn_call_tree_add(into, at, from, root, 0);
    cn_call_tree_merge(into, at, from, root, ahead_ns);
}

static void walk_merge(void *arg, const struct cn_task_walk *base, unsigned worker)
{
    const struct graph_build *build = arg;
    const struct graph_walk *walk = (const struct graph_walk *)base;
    const struct cn_call_tree *tree = &walk->tree;

    for (uint32_t at = cn_call_tree_first(tree, 0); at;
         at = cn_tree_after(&tree->paths, 0, at, true))
        if (cn_call_tree_id(tree, at) >= GUESSED)
            merge_guessed(&build->trees[worker], walk, at);
        else
            merge_root(&build->trees[worker], tree, at, base->ahead_ns);
}

/* The node below which a forked task continues: the innermost call that it shares with its
 * parent. */
static uint32_t find_attached(const struct graph_build *build, struct cn_call_tree *into,
                              const struct graph_task *task)
{
    const struct cn_recording *rec = build->query->rec;
    const struct graph_path *origin = &task->origin;
    size_t count = origin->count;
    const struct cn_session *session;
    uint32_t at;

    while (count > 0 && origin->calls[count - 1].depth >= task->first_depth)
        count--;
    if (count == 0) {
        session =
            cn_recording_session_at(rec, task->index, rec->tasks[task->index].time_ns);
        return cn_call_tree_child(
            into, 0, session ? (uint32_t)(session - rec->sessions) : rec->session_count,
            0, UINT64_MAX);
    }
    at = origin->root > rec->session_count
             ? build->tasks[origin->root - rec->session_count - 1].attached
             : cn_call_tree_child(into, 0, origin->root, 0, UINT64_MAX);
    for (size_t i = 0; i < count; i++)
        at = step_down(into, at, &origin->calls[i]);
    return at;
}

/* Merge the calls of forked tasks below those of their parents. In the order of their start,
 * so parents come before the tasks they forked. */
static void merge_forked(const struct graph_build *build, unsigned worker_count,
                         struct cn_call_tree *into, const uint32_t *by_start)
{
    const struct cn_recording *rec = build->query->rec;

    for (uint32_t i = 0; i < build->query->task_count; i++) {
        struct graph_task *task = &build->tasks[by_start[i]];
        uint32_t key = rec->session_count + 1 + by_start[i];

        for (unsigned k = 0; k < worker_count; k++) {
            const struct cn_call_tree *from = &build->trees[k];
            uint32_t root = cn_tree_find(&from->paths, 0, key);

            if (root == 0)
                continue;
            if (task->attached == 0)
                task->attached = find_attached(build, into, task);
            cn_call_tree_merge(into, task->attached, from, root, 0);
        }
    }
}

static void find_same_names(struct graph_build *build)
{
    const struct cn_recording *rec = build->query->rec;
    struct cn_names names = {0};
    struct cn_text key = {0};
    uint32_t *first = cn_alloc(rec->function_count, sizeof(*first));

    build->same_name = cn_alloc(rec->function_count, sizeof(*build->same_name));
    for (uint32_t i = 0; i < rec->function_count; i++) {
        size_t known = names.count;

        cn_text_clear(&key);
        cn_text_u64(&key, rec->functions[i].module);
        cn_text_char(&key, ':');
        cn_text_str_add(&key, rec->functions[i].name);
        uint32_t name = cn_names_add(&names, cn_text_str(&key));

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
static void find_children(struct graph_build *build, const uint32_t *by_start)
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

        if (parent == CN_NONE)
            continue;
        struct graph_task *task = &build->tasks[parent];
        size_t capacity = task->child_count;
        CN_PUSH(task->children, task->child_count, capacity, by_start[i]);
    }
    cn_map_done(&slots);
}

static void build_init(struct graph_build *build, unsigned worker_count)
{
    const struct cn_call_query *query = build->query;

    build->trees = cn_alloc(worker_count, sizeof(*build->trees));
    build->tasks = cn_alloc(query->task_count, sizeof(*build->tasks));
    for (unsigned i = 0; i < worker_count; i++)
        init_tree(build, &build->trees[i]);
    for (uint32_t i = 0; i < query->task_count; i++)
        build->tasks[i].index = query->tasks[i];
    find_same_names(build);
}

static void build_done(struct graph_build *build, unsigned worker_count)
{
    for (unsigned i = 0; i < worker_count; i++)
        cn_call_tree_done(&build->trees[i]);
    for (uint32_t i = 0; i < build->query->task_count; i++) {
        free(build->tasks[i].children);
        free(build->tasks[i].origin.calls);
    }
    free(build->trees);
    free(build->tasks);
    free(build->same_name);
}

static const struct cn_call_visitor visitor = CN_CALL_VISITOR(graph_walk);

/* Merge the trees of the workers. */
static void merge_trees(const struct graph_build *build, unsigned worker_count,
                        struct cn_call_tree *into, const uint32_t *by_start)
{
    for (unsigned i = 0; i < worker_count; i++) {
        const struct cn_call_tree *from = &build->trees[i];

        for (uint32_t at = cn_call_tree_first(from, 0); at;
             at = cn_tree_after(&from->paths, 0, at, true))
            if (cn_call_tree_id(from, at) <= from->rec->session_count)
                merge_root(into, from, at, 0);
    }
    merge_forked(build, worker_count, into, by_start);
    cn_call_tree_sort(into);
}

bool cn_call_graph_build(struct cn_call_graph *graph, const struct cn_call_query *query,
                         unsigned workers, struct cn_call_graph_options options,
                         struct cn_error *err)
{
    struct graph_build build = {.query = query,
                                .apart = options.is_apart,
                                .with_extremes = options.with_extremes};
    unsigned worker_count = workers > 0 ? workers : 1;
    struct cn_call_visit visit = {
        .query = query,
        .is_ordered = query->filter->has_switches,
        .workers = worker_count,
        .part_len = options.part_len,
        .visitor = &visitor,
        .arg = &build,
    };
    uint32_t *by_start = sort_by_start(query);

    *graph = (struct cn_call_graph){0};
    init_tree(&build, &graph->tree);
    build_init(&build, worker_count);
    if (!build.apart)
        find_children(&build, by_start);
    bool ok = cn_call_visit_run(&visit, &graph->damages, err);
    if (ok)
        merge_trees(&build, worker_count, &graph->tree, by_start);
    build_done(&build, worker_count);
    free(by_start);
    return ok;
}

void cn_call_graph_done(struct cn_call_graph *graph)
{
    cn_call_tree_done(&graph->tree);
    cn_call_damages_done(&graph->damages);
}
