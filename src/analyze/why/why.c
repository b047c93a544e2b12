#include "analyze/why/why.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/tree.h"
#include "analyze/calls/visit.h"
#include "analyze/durations/durations.h"
#include "analyze/recorder_cost.h"
#include "analyze/why/found.h"
#include "base/alloc.h"

/* How the first reading of a task in parts helps the second one: by the order of a part, the
 * guessed call, from 1, that is the outermost open call of the function. */
struct why_build {
    const struct cn_call_query *query;
    struct cn_why_limits limits;
    bool *is_wanted;     /* by function: it has the name */
    uint32_t *same_name; /* by function: the first one of its name */
    struct cn_map open_parts;
    bool explains; /* the second reading */
    struct cn_why_found *workers;
};

/* The exit of the function's outermost call, if it is counted after a part was joined. */
struct noted_exit {
    bool is_set;
    uint64_t end_ns;
    struct cn_text data;
};

struct why_walk {
    struct cn_task_walk base; /* first */
    struct cn_why_found found;

    /* The outermost open call of the function. */
    uint32_t open_at; /* 1 + index of its frame; 0: none */
    uint64_t begin_ns;
    struct cn_text arguments;
    struct cn_why_cost *open_costs; /* by node of found.tree */
    size_t open_capacity, open_size;
    uint32_t *touched; /* nodes with costs */
    size_t touched_count, touched_capacity;

    /* Of a part. */
    bool has_begun;
    struct noted_exit head_exit;
    struct cn_why_cost *head; /* of the call open at its begin: costs by node */
    uint32_t *head_nodes;
    size_t head_count;

    /* Of a task: the exit of its open call, if it is in the part being joined, and the number
     * of guessed calls of that part that the task does not have. */
    struct noted_exit exit;
    uint32_t unknown;
};

/* In the tree of a part, guessed calls are nodes below the root, by frame. */
#define GUESSED UINT32_C(0xc0000000)

static struct why_walk *walk_of(struct cn_task_walk *base)
{
    return (struct why_walk *)base;
}

static bool is_wanted(const struct why_build *build, uint32_t function)
{
    return function < build->query->rec->function_count && build->is_wanted[function];
}

static uint32_t node_id(const struct why_build *build, struct cn_call_tree *tree,
                        uint32_t function, uint64_t address)
{
    const struct cn_recording *rec = build->query->rec;

    return function < rec->function_count
               ? build->same_name[function]
               : cn_call_ids_of(&tree->ids, rec, function, address);
}

static void grow_costs(struct why_walk *walk)
{
    CN_GROW_TO(walk->open_costs, walk->found.tree.paths.count, walk->open_capacity);
    while (walk->open_size < walk->found.tree.paths.count)
        walk->open_costs[walk->open_size++] = (struct cn_why_cost){0};
}

static inline void add_cost(struct why_walk *walk, uint32_t node, uint64_t calls,
                            uint64_t self_ns)
{
    if (node >= walk->open_size)
        grow_costs(walk);
    struct cn_why_cost *cost = &walk->open_costs[node];
    if (cost->calls == 0 && cost->self_ns == 0) {
        CN_PUSH(walk->touched, walk->touched_count, walk->touched_capacity, node);
    }
    cost->calls += calls;
    cost->self_ns += self_ns;
}

static void forget_call(struct why_walk *walk)
{
    for (size_t i = 0; i < walk->touched_count; i++)
        walk->open_costs[walk->touched[i]] = (struct cn_why_cost){0};
    walk->touched_count = 0;
    walk->open_at = 0;
}

static void copy_data(struct cn_text *text, const struct cn_call_batch *batch,
                      const struct cn_call *call)
{
    cn_text_clear(text);
    if (call->flags & CN_CALL_HAS_DATA) {
        struct cn_bytes data = cn_call_data(batch, call);

        cn_text_add(text, (const char *)data.ptr, data.len);
    }
}

static void begin_call(const struct why_build *build, struct why_walk *walk,
                       struct cn_call_frame *frame, const struct cn_call *call,
                       const struct cn_call_batch *batch)
{
    walk->open_at = (uint32_t)(frame - walk->base.stack.frames) + 1;
    walk->begin_ns = cn_call_recorded_ns(batch, call);
    frame->mark = 0;
    if (build->explains)
        copy_data(&walk->arguments, batch, call);
}

/* The outermost call of the function returned. */
static void end_call(const struct why_build *build, struct why_walk *walk,
                     uint32_t function, uint64_t total_ns, uint64_t self_ns,
                     const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct noted_exit *noted = &walk->exit;
    struct cn_why_call ended = {
        .begin_ns = walk->begin_ns,
        .end_ns = noted->is_set ? noted->end_ns : cn_call_recorded_ns(batch, call),
        .total_ns = total_ns,
        .task = build->query->tasks[walk->base.slot],
        .function = function,
    };

    if (!build->explains) {
        cn_why_found_measure(&walk->found, &ended);
    } else {
        add_cost(walk, 0, 1, self_ns);
        if (!noted->is_set)
            copy_data(&noted->data, batch, call);
        ended.arguments = (struct cn_bytes){(const uint8_t *)walk->arguments.chars,
                                            walk->arguments.len};
        ended.result =
            (struct cn_bytes){(const uint8_t *)noted->data.chars, noted->data.len};
        cn_why_found_add(&walk->found, &build->limits, &ended, walk->open_costs,
                         walk->touched, walk->touched_count);
    }
    noted->is_set = false;
    forget_call(walk);
}

static inline void count_enter(const struct why_build *build, struct why_walk *walk,
                               struct cn_call_frame *frame, const struct cn_call *call,
                               const struct cn_call_batch *batch, bool explains)
{
    if (walk->open_at > 0) {
        if (!explains)
            return;
        frame->mark = frame[-1].mark;
        if (frame->flags & CN_FRAME_SHOWN)
            frame->mark = cn_call_tree_child(
                &walk->found.tree, frame->mark,
                node_id(build, &walk->found.tree, frame->function, frame->address),
                frame->address, 0);
    } else if (is_wanted(build, frame->function) && (frame->flags & CN_FRAME_SHOWN)) {
        begin_call(build, walk, frame, call, batch);
    }
}

/* A call inside the function ended, not in the usual way. */
static void count_inner_end(const struct why_build *build, struct why_walk *walk,
                            const struct cn_call_end *ended)
{
    struct cn_call_tree *tree = &walk->found.tree;
    uint32_t node = ended->frame.mark, id;

    if (!build->explains || !(ended->frame.flags & CN_FRAME_SHOWN) || !ended->has_time)
        return;
    id = node_id(build, tree, ended->frame.function, ended->frame.address);
    /* The second return of setjmp(), instead of the call that longjmp() left. */
    if (cn_call_tree_id(tree, node) != id)
        node = cn_call_tree_child(tree, cn_call_tree_parent(tree, node), id,
                                  ended->frame.address, 0);
    add_cost(walk, node, 1, ended->self_ns);
}

/* A guessed call of a part returned. One of the function: what the part counted before was
 * not outermost. */
static void note_return(const struct why_build *build, struct why_walk *walk,
                        const struct cn_call *call, const struct cn_call_batch *batch)
{
    uint32_t ended_at = walk->base.guess->open_count + 1;

    if (walk->open_at > ended_at)
        forget_call(walk);
    if (!is_wanted(build, call->function))
        return;
    cn_why_found_clear(&walk->found);
    walk->head_exit.is_set = true;
    walk->head_exit.end_ns = cn_call_recorded_ns(batch, call);
    copy_data(&walk->head_exit.data, batch, call);
    if (walk->open_at != ended_at)
        return;
    walk->head_count = walk->touched_count;
    walk->head = cn_alloc(walk->head_count, sizeof(*walk->head));
    walk->head_nodes = cn_alloc(walk->head_count, sizeof(*walk->head_nodes));
    for (size_t i = 0; i < walk->head_count; i++) {
        walk->head_nodes[i] = walk->touched[i];
        walk->head[i] = walk->open_costs[walk->touched[i]];
    }
    forget_call(walk);
}

/* True if a call of a part is not to be counted. */
static bool check_guess(const struct why_build *build, struct why_walk *walk,
                        const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct cn_call_guess *guess = walk->base.guess;
    enum cn_guess_step step = CN_GUESS_INSIDE;

    if (guess)
        step = cn_call_guess_check(guess, &walk->base.stack, call);
    if (step == CN_GUESS_RETURN)
        note_return(build, walk, call, batch);
    return step != CN_GUESS_INSIDE;
}

static void enter_slowly(const struct why_build *build, struct why_walk *walk,
                         const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &walk->base.stack;

    if (check_guess(build, walk, call, batch))
        return;
    if (walk->open_at > cn_call_stack_kept(stack, call))
        forget_call(walk);
    count_enter(build, walk, cn_call_stack_enter(stack, call, batch, NULL), call, batch,
                build->explains);
}

static void leave_slowly(const struct why_build *build, struct why_walk *walk,
                         const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &walk->base.stack;
    struct cn_call_end ended;

    if (check_guess(build, walk, call, batch))
        return;
    uint32_t kept = cn_call_stack_kept(stack, call);
    cn_call_stack_leave(stack, call, &ended);
    if (walk->open_at == 0)
        return;
    if (kept >= walk->open_at)
        count_inner_end(build, walk, &ended);
    else if (kept + 1 == walk->open_at && ended.has_time &&
             is_wanted(build, call->function))
        end_call(build, walk, call->function, ended.total_ns, ended.self_ns, call, batch);
    else
        forget_call(walk);
}

static inline void count_exit(const struct why_build *build, struct why_walk *walk,
                              const struct cn_call *call,
                              const struct cn_call_batch *batch, bool explains)
{
    uint64_t total_ns, self_ns;
    const struct cn_call_frame *frame =
        cn_call_stack_leave_top(&walk->base.stack, call, &total_ns, &self_ns);
    uint32_t count = walk->base.stack.count;

    if (!frame)
        leave_slowly(build, walk, call, batch);
    else if (walk->open_at == count + 1)
        end_call(build, walk, call->function, total_ns, self_ns, call, batch);
    else if (explains && walk->open_at > 0)
        add_cost(walk, frame->mark, 1, self_ns);
}

static void count_event(const struct why_build *build, struct why_walk *walk,
                        const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &walk->base.stack;
    struct cn_call_end ended;

    if (call->address == CN_EVENT_SCHED_IN) {
        if (cn_call_stack_wake(stack, call, &ended) && walk->open_at > 0)
            count_inner_end(build, walk, &ended);
    } else if (cn_call_stack_may_sleep(stack, call)) {
        count_enter(build, walk, cn_call_stack_sleep(stack, call), call, batch,
                    build->explains);
    }
}

static inline void count_call(const struct why_build *build, struct why_walk *walk,
                              const struct cn_call *call,
                              const struct cn_call_batch *batch, bool explains)
{
    struct cn_call_frame *frame;

    if (call->time_ns > walk->base.last_ns)
        walk->base.last_ns = call->time_ns;
    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        frame = cn_call_stack_enter_top(&walk->base.stack, call);
        if (frame)
            count_enter(build, walk, frame, call, batch, explains);
        else
            enter_slowly(build, walk, call, batch);
        break;
    case CN_CALL_EXIT:
        count_exit(build, walk, call, batch, explains);
        break;
    case CN_CALL_EVENT:
        count_event(build, walk, call, batch);
        break;
    case CN_CALL_LOST:
        walk->found.lost_count += call->address;
        break;
    }
}

static void walk_begin(void *arg, struct cn_task_walk *base)
{
    const struct why_build *build = arg;

    cn_why_found_init(&walk_of(base)->found, build->query->rec);
}

static void walk_done(void *arg, struct cn_task_walk *base)
{
    struct why_walk *walk = walk_of(base);

    (void)arg;
    cn_why_found_done(&walk->found);
    cn_text_done(&walk->arguments);
    cn_text_done(&walk->exit.data);
    cn_text_done(&walk->head_exit.data);
    free(walk->open_costs);
    free(walk->touched);
    free(walk->head);
    free(walk->head_nodes);
}

/* The first reading knows whether a call of the function is open at the begin of a part. */
static void begin_part(const struct why_build *build, struct why_walk *walk)
{
    struct cn_call_stack *stack = &walk->base.stack;

    walk->has_begun = true;
    if (!build->explains)
        return;
    walk->open_at = cn_map_find(&build->open_parts, walk->base.order, 0);
    for (uint32_t i = walk->open_at; walk->open_at > 0 && i < stack->count; i++)
        stack->frames[i].mark =
            cn_call_tree_child(&walk->found.tree, 0, GUESSED | i, 0, 0);
    if (walk->open_at > 0 && walk->open_at <= stack->count)
        stack->frames[walk->open_at - 1].mark = 0;
    else
        walk->open_at = 0;
}

static void walk_count(void *arg, struct cn_task_walk *base,
                       const struct cn_call_batch *batch)
{
    const struct why_build *build = arg;
    struct why_walk *walk = walk_of(base);

    if (base->guess && !walk->has_begun)
        begin_part(build, walk);
    if (build->explains)
        for (size_t i = 0; i < batch->count; i++)
            count_call(build, walk, &batch->calls[i], batch, true);
    else
        for (size_t i = 0; i < batch->count; i++)
            count_call(build, walk, &batch->calls[i], batch, false);
}

/* Add costs of the call of the task that is open in a part to those that the task has.
 * `costs` is by node, or with `is_dense` in the order of `nodes`. */
static void join_costs(struct why_walk *walk, const struct why_walk *part,
                       const uint32_t *nodes, size_t count,
                       const struct cn_why_cost *costs, bool is_dense)
{
    const struct cn_call_tree *from = &part->found.tree;
    uint32_t *joined =
        cn_alloc(from->paths.count, sizeof(*joined)); /* 1 + node of the task */
    uint32_t *path = cn_alloc(from->paths.count, sizeof(*path));

    joined[0] = 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = nodes[i], length = 0;
        const struct cn_why_cost *cost = &costs[is_dense ? i : at];

        for (; joined[at] == 0; at = cn_call_tree_parent(from, at))
            path[length++] = at;
        while (length-- > 0) {
            uint32_t node = path[length], id = cn_call_tree_id(from, node);
            uint32_t above = joined[cn_call_tree_parent(from, node)] - 1;

            joined[node] =
                1 + (id >= GUESSED
                         ? walk->base.stack.frames[(id ^ GUESSED) - walk->unknown].mark
                         : cn_call_tree_child_like(&walk->found.tree, above, from, node));
        }
        add_cost(walk, joined[nodes[i]] - 1, cost->calls, cost->self_ns);
    }
    free(path);
    free(joined);
}

static void walk_join(void *arg, struct cn_task_walk *base,
                      struct cn_task_walk *part_base)
{
    struct why_build *build = arg;
    struct why_walk *walk = walk_of(base), *part = walk_of(part_base);
    const struct cn_call_guess *guess = part_base->guess;

    walk->unknown = guess->depth - base->stack.count;
    if (walk->open_at == 0)
        return;
    bool returned = base->stack.count - walk->open_at < guess->return_count;
    if (!returned)
        cn_why_found_clear(&part->found);
    if (!build->explains) {
        (void)cn_map_at(&build->open_parts, part_base->order,
                        walk->open_at + walk->unknown);
    } else if (returned) {
        join_costs(walk, part, part->head_nodes, part->head_count, part->head, true);
    } else {
        join_costs(walk, part, part->touched, part->touched_count, part->open_costs,
                   false);
    }
    walk->exit.is_set = returned && part->head_exit.is_set;
    if (walk->exit.is_set) {
        walk->exit.end_ns = part->head_exit.end_ns;
        cn_text_clear(&walk->exit.data);
        cn_text_add(&walk->exit.data, part->head_exit.data.chars,
                    part->head_exit.data.len);
    }
}

static void walk_resume(void *arg, struct cn_task_walk *base,
                        const struct cn_task_walk *part_base, struct cn_call_frame *frame)
{
    const struct why_build *build = arg;
    struct why_walk *walk = walk_of(base);
    const struct why_walk *part = (const struct why_walk *)part_base;
    uint32_t at = (uint32_t)(frame - base->stack.frames) + 1;
    uint32_t from = frame->mark;

    if (walk->open_at > 0) {
        frame->mark = frame[-1].mark;
        if (build->explains && (frame->flags & CN_FRAME_SHOWN))
            frame->mark = cn_call_tree_child_like(&walk->found.tree, frame->mark,
                                                  &part->found.tree, from);
    } else if (part->open_at > 0 && part->open_at == at + walk->unknown) {
        walk->open_at = at;
        walk->begin_ns = part->begin_ns;
        cn_text_clear(&walk->arguments);
        cn_text_add(&walk->arguments, part->arguments.chars, part->arguments.len);
        frame->mark = 0;
        join_costs(walk, part, part->touched, part->touched_count, part->open_costs,
                   false);
    }
}

static void walk_end(void *arg, struct cn_task_walk *base, unsigned worker)
{
    (void)arg;
    (void)worker;
    if (walk_of(base)->open_at > 0)
        walk_of(base)->found.open_count++;
}

static void walk_merge(void *arg, const struct cn_task_walk *base, unsigned worker)
{
    const struct why_build *build = arg;

    cn_why_found_merge(&build->workers[worker], &((const struct why_walk *)base)->found);
}

static const struct cn_call_visitor visitor = CN_CALL_VISITOR(why_walk);

static bool has_name(const struct cn_call_function *function, const char *name)
{
    return strcmp(function->name, name) == 0 || strcmp(function->raw_name, name) == 0;
}

bool cn_why_knows(const struct cn_recording *rec, const char *name)
{
    for (uint32_t i = 0; i < rec->function_count; i++)
        if (has_name(&rec->functions[i], name))
            return true;
    return false;
}

/* Which functions have the name, and which functions have the same one. */
static void find_functions(struct why_build *build, const char *name)
{
    const struct cn_recording *rec = build->query->rec;
    struct cn_names names = {0};
    uint32_t *first = cn_alloc(rec->function_count, sizeof(*first));

    build->is_wanted = cn_alloc(rec->function_count, sizeof(*build->is_wanted));
    build->same_name = cn_alloc(rec->function_count, sizeof(*build->same_name));
    for (uint32_t i = 0; i < rec->function_count; i++) {
        size_t known = names.count;
        uint32_t number = cn_names_add(&names, rec->functions[i].name);

        if (number == known)
            first[number] = i;
        build->same_name[i] = first[number];
        build->is_wanted[i] = has_name(&rec->functions[i], name);
    }
    free(first);
    cn_names_done(&names);
}

/* Read the recording; what the workers found is added to `out`. */
static bool read_calls(struct why_build *build, unsigned workers, uint64_t part_len,
                       struct cn_why_found *out, struct cn_call_damages *damages,
                       struct cn_error *err)
{
    struct cn_call_visit visit = {
        .query = build->query,
        .is_ordered = build->query->filter->has_switches,
        .workers = workers,
        .part_len = part_len,
        .visitor = &visitor,
        .arg = build,
    };

    build->workers = cn_alloc(workers, sizeof(*build->workers));
    for (unsigned i = 0; i < workers; i++)
        cn_why_found_init(&build->workers[i], build->query->rec);
    bool ok = cn_call_visit_run(&visit, damages, err);
    cn_why_found_init(out, build->query->rec);
    for (unsigned i = 0; i < workers; i++) {
        cn_why_found_merge(out, &build->workers[i]);
        cn_why_found_done(&build->workers[i]);
    }
    free(build->workers);
    return ok;
}

bool cn_why_build(struct cn_why *why, const struct cn_call_query *query, const char *name,
                  unsigned workers, const struct cn_why_options *options,
                  struct cn_error *err)
{
    struct why_build build = {.query = query};
    struct cn_why_found measured, explained;
    unsigned worker_count = workers > 0 ? workers : 1;
    bool ok;

    *why = (struct cn_why){0};
    if (!query->is_raw)
        why->recorder = cn_recorder_cost_of(query->rec);
    find_functions(&build, name);
    ok = read_calls(&build, worker_count, options->part_len, &measured, &why->damages,
                    err);
    why->call_count = measured.durations.count;
    why->open_count = measured.open_count;
    why->lost_count = measured.lost_count;
    why->shortest_ns = measured.shortest_ns;
    why->longest_ns = measured.longest_ns;
    why->begin_ns = measured.begin_ns;
    why->end_ns = measured.end_ns;
    if (ok && cn_why_limits_choose(&build.limits, &measured.durations, options)) {
        cn_call_damages_done(&why->damages);
        why->damages = (struct cn_call_damages){0};
        build.explains = true;
        ok = read_calls(&build, worker_count, options->part_len, &explained,
                        &why->damages, err);
        cn_why_found_take(&explained, why);
        cn_why_found_done(&explained);
    }
    cn_why_found_done(&measured);
    cn_map_done(&build.open_parts);
    free(build.is_wanted);
    free(build.same_name);
    return ok;
}

void cn_why_done(struct cn_why *why)
{
    for (int i = 0; i < CN_WHY_GROUPS; i++)
        free(why->groups[i].samples);
    free(why->contexts);
    free(why->data);
    cn_names_done(&why->names);
    cn_call_damages_done(&why->damages);
    *why = (struct cn_why){0};
}
