#include "analyze/cct/members.h"
#include "analyze/cct/ranges.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/run/progress.h"
#include "model/gpu/metrics.h"

enum {
    SITES_MAX = 1 << 24,
    PATH_DEPTH_MAX = 1024, /* of callers in other tasks; the outermost are left out */
    REPORT_EVERY = 1 << 9, /* batches */
};

static const struct cn_recording *recording_of(const struct cn_cct_task *task)
{
    return task->options.query->rec;
}

void cn_cct_follow_init(struct cn_cct_follow *follow, const struct cn_cct_task *task)
{
    const struct cn_call_query *query = task->options.query;
    bool *is_on = task->options.is_on ? task->options.is_on : &follow->own_switch;

    *follow = (struct cn_cct_follow){.own_switch = !query->filter->is_off,
                                     .clock.rec = query->rec};
    cn_call_stack_init(&follow->stack, query->rec, query->filter, task->options.task,
                       query->range.first_ns > 0, is_on);
    follow->ranges = cn_cct_ranges_open(query, task->options.task);
}

void cn_cct_follow_copy(struct cn_cct_follow *follow, const struct cn_cct_follow *from)
{
    *follow = *from;
    cn_call_stack_copy(&follow->stack, &from->stack, &follow->own_switch);
}

void cn_cct_follow_done(struct cn_cct_follow *follow)
{
    cn_call_stack_done(&follow->stack);
    cn_cct_ranges_close(follow->ranges);
    follow->ranges = NULL;
}

bool cn_cct_task_has_launches(const struct cn_cct_task_options *options)
{
    const struct cn_gpu_work *work = options->query->rec->gpu;

    return options->op_nodes && cn_gpu_work_launches(work, options->task, 0) <
                                    cn_gpu_work_launches(work, options->task + 1, 0);
}

/* Go to the next allocation in the range of the query. */
static void find_allocation(struct cn_cct_task *task)
{
    const struct cn_recording *rec = recording_of(task);
    struct cn_cct_heap *heap = &task->heap;
    enum cn_step step;

    do {
        step = rec->ops->heap_next(&heap->log, &heap->next, &heap->err);
        if (step == CN_ITEM && heap->next.kind == CN_HEAP_EVENT_LOST)
            task->lost_count += heap->next.size;
    } while (step == CN_ITEM &&
             (heap->next.kind != CN_HEAP_EVENT_ALLOC ||
              heap->next.time_ns < task->options.query->range.first_ns));
    heap->has_next =
        step == CN_ITEM && heap->next.time_ns <= task->options.query->range.last_ns;
    heap->is_damaged = step == CN_FAIL;
}

void cn_cct_task_init(struct cn_cct_task *task, const struct cn_cct_task_options *options)
{
    *task = (struct cn_cct_task){
        .options = *options,
        .thinner = {.resolution_ns = options->resolution_ns,
                    .sample_max = options->sample_max},
    };
    cn_tree_init(&task->tree);
    cn_cct_follow_init(&task->follow, task);
    if (options->op_nodes) {
        const struct cn_gpu_work *work = recording_of(task)->gpu;

        task->next_launch =
            cn_gpu_work_launches(work, options->task, options->query->range.first_ns);
        task->end_launch = cn_gpu_work_launches(work, options->task + 1, 0);
    }
    cn_cct_task_begin_io(task);
    if (options->heap_nodes) {
        const struct cn_recording *rec = recording_of(task);

        rec->ops->heap_begin(rec, options->task, &task->heap.log);
        find_allocation(task);
    }
}

void cn_cct_task_done(struct cn_cct_task *task)
{
    cn_tree_done(&task->tree);
    cn_cct_costs_done(&task->costs);
    cn_cct_readings_done(&task->readings);
    cn_call_ids_done(&task->ids);
    cn_cct_follow_done(&task->follow);
    for (size_t i = 0; i < task->part_count; i++)
        cn_cct_follow_done(&task->starts[i].follow);
    free(task->parts);
    free(task->starts);
    cn_call_guess_free(task->guess);
    cn_map_done(&task->site_numbers);
    free(task->sites);
    free(task->site_times);
    free(task->open_calls);
    free(task->thinner.list);
    *task = (struct cn_cct_task){0};
}

bool cn_cct_task_is_wait(const struct cn_cct_task *task, uint32_t key, enum cn_wait *kind)
{
    const struct cn_recording *rec = recording_of(task);
    bool is_preempted = key == cn_call_schedule_id(rec, true);

    *kind = is_preempted ? CN_WAIT_PREEMPTED : CN_WAIT_BLOCKED;
    return is_preempted || key == cn_call_schedule_id(rec, false);
}

/* The node of the innermost call. */
static inline cn_cct_id node_on_top(const struct cn_call_stack *stack)
{
    return stack->count > 0 ? stack->frames[stack->count - 1].mark : 0;
}

/* Where an outermost call of the stack is. */
static inline cn_cct_id node_above(const struct cn_cct_follow *follow)
{
    cn_cct_id node = node_on_top(&follow->stack);

    return node != 0 ? node : follow->root;
}

cn_cct_id cn_cct_follow_node(const struct cn_cct_follow *follow)
{
    const struct cn_call_stack *stack = &follow->stack;
    cn_cct_id node = node_on_top(stack);

    return node != 0 && stack->frames[stack->count - 1].flags & CN_FRAME_SCHEDULE ? 0
                                                                                  : node;
}

uint32_t cn_cct_task_site(struct cn_cct_task *task, uint64_t address, uint64_t time_ns)
{
    uint32_t number = cn_map_find(&task->site_numbers, address, CN_NONE);

    if (number != CN_NONE)
        return number;
    if (task->tree.is_borrowed || task->site_count == SITES_MAX) {
        task->tree.is_full = task->tree.is_borrowed;
        return task->site_count > 0 ? (uint32_t)task->site_count - 1 : 0;
    }
    CN_GROW(task->sites, task->site_count, task->site_capacity);
    CN_GROW(task->site_times, task->site_count, task->site_time_capacity);
    task->sites[task->site_count] = address;
    task->site_times[task->site_count] = time_ns;
    return *cn_map_at(&task->site_numbers, address, (uint32_t)task->site_count++);
}

/* The key of an address outside all functions. A borrowed tree has them all: it cannot add one. */
static uint32_t unknown_key(struct cn_cct_task *task, uint64_t address)
{
    if (!task->tree.is_borrowed)
        return cn_call_ids_unknown(&task->ids, recording_of(task), address);
    uint32_t key = cn_call_ids_find(&task->ids, recording_of(task), address);
    task->tree.is_full = task->tree.is_full || key == CN_NONE;
    return key;
}

static inline uint32_t key_of(struct cn_cct_task *task, uint32_t function,
                              uint64_t address)
{
    return function != CN_NONE ? function : unknown_key(task, address);
}

static inline cn_cct_id child_of(struct cn_cct_task *task, cn_cct_id parent, uint32_t key)
{
    cn_cct_id open =
        task->options.is_collapsed ? cn_tree_find_above(&task->tree, parent, key) : 0;

    return open != 0 ? open : cn_tree_child(&task->tree, parent, key);
}

/* The node of a path of callers, below another one; 0: none. */
static cn_cct_id node_of_path(struct cn_cct_task *task, cn_cct_id node, uint32_t path)
{
    const struct cn_recording *rec = recording_of(task);
    uint32_t functions[PATH_DEPTH_MAX], depth = 0;

    for (; path != CN_NONE && depth < PATH_DEPTH_MAX; path = rec->paths[path].parent)
        functions[depth++] = rec->paths[path].function;
    while (depth > 0)
        node = child_of(task, node, functions[--depth]);
    return node;
}

static inline void enter(struct cn_cct_task *task, struct cn_cct_follow *follow,
                         const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &follow->stack;
    struct cn_call_frame *frame = cn_call_stack_enter_quick(stack, call, batch);
    cn_cct_id node = stack->count > 1 ? frame[-1].mark : 0;

    if (stack->count == 1 && (call->flags & CN_CALL_MOVED))
        node = node_of_path(task, 0,
                            cn_recording_caller_of(recording_of(task), task->options.task,
                                                   call->time_ns));
    if (frame->flags & CN_FRAME_SHOWN) {
        if (follow->has_site && node != 0)
            node = cn_tree_child(&task->tree, node,
                                 CN_CCT_SITE |
                                     cn_cct_task_site(task, follow->site,
                                                      cn_call_recorded_ns(batch, call)));
        node = child_of(task, node != 0 ? node : follow->root,
                        key_of(task, call->function, call->address));
    }
    follow->has_site = false;
    frame->mark = node;
}

/* The node of an exit without an entry, or of another function than its entry. */
static cn_cct_id other_node(struct cn_cct_task *task, const struct cn_cct_follow *follow,
                            const struct cn_call_end *ended, uint32_t key)
{
    cn_cct_id parent = node_above(follow);

    if (ended->has_time && ended->frame.mark != 0)
        parent = task->tree.links[ended->frame.mark].parent;
    return child_of(task, parent, key);
}

/* An exit that is not the usual case. */
static void leave_slowly(struct cn_cct_task *task, struct cn_cct_follow *follow,
                         const struct cn_call *call, bool is_counted)
{
    struct cn_call_stack *stack = &follow->stack;
    struct cn_call_end ended;
    cn_cct_id node;

    cn_call_stack_leave(stack, call, &ended);
    if (!is_counted)
        return;
    node = ended.frame.mark;
    if (!(ended.frame.flags & CN_FRAME_SHOWN)) {
        if (ended.has_time && node != 0)
            cn_cct_costs_add_time(&task->costs, node, ended.self_ns);
        return;
    }
    uint32_t key = key_of(task, call->function, call->address);
    if (!ended.has_time || task->tree.links[node].key != key)
        node = other_node(task, follow, &ended, key);
    if (ended.has_time)
        cn_cct_costs_add(&task->costs, node, ended.total_ns, ended.self_ns);
    else
        cn_cct_costs_add_call(&task->costs, node);
}

static inline void leave(struct cn_cct_task *task, struct cn_cct_follow *follow,
                         const struct cn_call *call, bool is_counted)
{
    uint64_t total_ns, self_ns;
    const struct cn_call_frame *frame = NULL;

    /* Unknown functions share CN_NONE. */
    if (call->function != CN_NONE)
        frame = cn_call_stack_leave_top(&follow->stack, call, &total_ns, &self_ns);
    if (!frame)
        leave_slowly(task, follow, call, is_counted);
    else if (is_counted)
        cn_cct_costs_add(&task->costs, frame->mark, total_ns, self_ns);
}

static void sleep_or_wake(struct cn_cct_task *task, struct cn_cct_follow *follow,
                          const struct cn_call *call, bool is_counted)
{
    struct cn_call_stack *stack = &follow->stack;
    cn_cct_id above = node_above(follow);
    struct cn_call_frame *frame;
    struct cn_call_end ended;

    if (call->address == CN_EVENT_SCHED_IN) {
        if (cn_call_stack_wake(stack, call, &ended) && is_counted)
            cn_cct_costs_add(&task->costs, ended.frame.mark, ended.total_ns,
                             ended.self_ns);
    } else if (cn_call_stack_shows_event(stack, call)) {
        frame = cn_call_stack_sleep(stack, call);
        frame->mark = cn_tree_child(&task->tree, above, frame->function);
    }
}

/* Counters are read by the innermost call. */
static void note_counters(struct cn_cct_task *task, const struct cn_cct_follow *follow,
                          const struct cn_call *call, const struct cn_call_batch *batch)
{
    const struct cn_call_stack *stack = &follow->stack;
    uint32_t frames = stack->count;
    struct cn_counters counters;

    while (frames > 0 && stack->frames[frames - 1].flags & CN_FRAME_SCHEDULE)
        frames--;
    if (frames > 0 && stack->frames[frames - 1].mark != 0 &&
        cn_recording_counters(recording_of(task), batch, call, &counters))
        cn_cct_readings_add(&task->readings, &counters, frames,
                            stack->frames[frames - 1].mark);
}

static void see_event(struct cn_cct_task *task, struct cn_cct_follow *follow,
                      const struct cn_call *call, const struct cn_call_batch *batch,
                      bool is_counted)
{
    struct cn_bytes data;

    switch (call->address) {
    case CN_EVENT_SCHED_IN:
    case CN_EVENT_SCHED_OUT:
    case CN_EVENT_SCHED_OUT_PREEMPT:
        sleep_or_wake(task, follow, call, is_counted);
        break;
    case CN_EVENT_CALLSITE:
        data = cn_call_data(batch, call);
        follow->has_site = data.len >= sizeof(uint64_t);
        if (follow->has_site)
            follow->site = recording_of(task)->is_big_endian ? cn_u64_be_get(data.ptr)
                                                             : cn_u64_get(data.ptr);
        break;
    default:
        if (is_counted && cn_event_has_counters(call->address))
            note_counters(task, follow, call, batch);
        break;
    }
}

bool cn_cct_task_follow(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        const struct cn_call *call, const struct cn_call_batch *batch,
                        bool is_counted)
{
    cn_cct_id node;

    if (call->time_ns > follow->last_ns)
        follow->last_ns = call->time_ns;
    if (call->kind == CN_CALL_ENTER)
        enter(task, follow, call, batch);
    else if (call->kind == CN_CALL_EXIT)
        leave(task, follow, call, is_counted);
    else if (call->kind == CN_CALL_EVENT)
        see_event(task, follow, call, batch, is_counted);
    else if (is_counted)
        task->lost_count += call->address;
    node = cn_cct_follow_node(follow);
    if (node == follow->node)
        return false;
    follow->node = node;
    return true;
}

/* Count an operation of a GPU below `node`. */
static void add_op(struct cn_cct_task *task, uint32_t number, cn_cct_id node)
{
    const struct cn_gpu_work *work = recording_of(task)->gpu;
    const struct cn_gpu_op *op = &work->ops[number];
    struct cn_gpu_amount amounts[CN_GPU_AMOUNT_MAX];
    size_t count = cn_gpu_amounts(work, op, amounts);

    if (op->capture > 0)
        node = node_of_path(
            task, cn_tree_child(&task->tree, node, CN_CCT_GPU | CN_GPU_PLACE_CAPTURED),
            op->capture - 1);
    node = cn_tree_child(&task->tree, node, CN_CCT_GPU | (uint32_t)cn_gpu_op_place(op));
    if (op->kind == CN_GPU_KERNEL && op->place != CN_NONE)
        node = cn_tree_child(&task->tree, node, op->place);
    for (size_t i = 0; i < count; i++)
        cn_cct_readings_add_amount(&task->readings, &amounts[i], node);
    task->options.op_nodes[number] = node;
}

/* Add the GPU work that the task launched before a time.
 * The innermost call that is shown launched it, or the path that the operation has. What calls that
 * are not shown launched is not shown either. */
static void count_launches(struct cn_cct_task *task, uint64_t before_ns)
{
    const struct cn_gpu_work *work = recording_of(task)->gpu;
    uint64_t last_ns = task->options.query->range.last_ns;

    for (; task->next_launch < task->end_launch; task->next_launch++) {
        uint32_t number = work->by_launch[task->next_launch];
        const struct cn_gpu_op *op = &work->ops[number];
        const struct cn_call_stack *stack = &task->follow.stack;
        uint32_t frames = stack->count;

        if (op->launch_ns >= before_ns || op->launch_ns > last_ns)
            return;
        if (op->path != CN_NONE) {
            add_op(task, number, node_of_path(task, 0, op->path));
            continue;
        }
        while (frames > 0 && stack->frames[frames - 1].flags & CN_FRAME_SCHEDULE)
            frames--;
        if (frames == 0 || stack->frames[frames - 1].mark != 0)
            add_op(task, number,
                   frames > 0 ? stack->frames[frames - 1].mark : task->follow.root);
    }
}

bool cn_cct_task_has_heap(const struct cn_cct_task_options *options)
{
    return options->query->rec->tasks[options->task].heap_len > 0;
}

/* Store the nodes of the allocations before a time: as for GPU work, the innermost call that is shown. */
static void count_allocations(struct cn_cct_task *task, uint64_t before_ns)
{
    const struct cn_call_stack *stack = &task->follow.stack;
    struct cn_cct_heap *heap = &task->heap;

    while (heap->has_next && heap->next.time_ns < before_ns) {
        uint32_t frames = stack->count;
        cn_cct_id node = task->follow.root;

        while (frames > 0 && stack->frames[frames - 1].flags & CN_FRAME_SCHEDULE)
            frames--;
        if (frames > 0) {
            node = stack->frames[frames - 1].mark;
            node = node != 0 ? node : CN_NONE;
        }
        heap->has_failed =
            heap->has_failed ||
            !cn_cct_samples_add(task->options.heap_nodes,
                                (struct cn_sample){heap->next.time_ns, node}, &heap->err);
        find_allocation(task);
    }
}

void cn_cct_task_add_lonely(struct cn_cct_task *task, uint32_t stream)
{
    const struct cn_gpu_work *work = recording_of(task)->gpu;
    const struct cn_time_range *range = &task->options.query->range;

    for (uint32_t i = 0; i < work->op_count; i++)
        if (work->ops[i].thread == CN_NONE && work->ops[i].stream == stream &&
            work->ops[i].begin_ns >= range->first_ns &&
            work->ops[i].begin_ns <= range->last_ns)
            add_op(task, i,
                   cn_tree_child(&task->tree, 0,
                                 CN_CCT_GPU | cn_gpu_op_origin(&work->ops[i])));
}

/* Count a sample: the current node changed. */
static void add_sample(struct cn_cct_task *task)
{
    task->sample_count++;
    if (task->options.sample_max > 0)
        cn_thinner_put(&task->thinner,
                       (struct cn_sample){task->seen_ns, task->follow.node});
}

/* Count what happened before a recorded time; the clock of calls has `now_ns` then. */
static void count_between(struct cn_cct_task *task, uint64_t before_ns, uint64_t now_ns)
{
    struct cn_cct_follow *follow = &task->follow;
    uint64_t time_ns;

    while ((time_ns = cn_cct_ranges_next_ns(follow->ranges)) < before_ns) {
        cn_cct_id node = follow->node;
        uint64_t left_ns = before_ns - time_ns;
        uint64_t at_ns = now_ns > left_ns ? now_ns - left_ns : 0;

        count_launches(task, time_ns);
        count_allocations(task, time_ns);
        cn_cct_ranges_change(follow->ranges, task, follow,
                             at_ns > follow->last_ns ? at_ns : follow->last_ns, true);
        /* Samples that are stored are those of calls. */
        if (follow->node == node || before_ns == UINT64_MAX || task->options.is_on)
            continue;
        if (time_ns > task->seen_ns)
            task->seen_ns = time_ns;
        add_sample(task);
    }
    count_launches(task, before_ns);
    count_allocations(task, before_ns);
    cn_cct_task_count_io(task, before_ns);
}

void cn_cct_task_finish(struct cn_cct_task *task)
{
    count_between(task, UINT64_MAX, 0);
}

/* Assume the open calls after those that the feed left out. */
static void begin_guess(struct cn_cct_task *task, const struct cn_call_feed *feed)
{
    struct cn_call_guess *guess = task->guess;
    struct cn_cct_follow *follow = &task->follow;

    if (!guess || guess->has_begun)
        return;
    cn_call_guess_begin(guess, &follow->stack, feed);
    for (uint32_t i = 0; i < guess->depth; i++)
        follow->stack.frames[i].mark = follow->node =
            cn_tree_child(&task->tree, 0, CN_CCT_GUESSED | i);
}

/* A guessed call returned. */
static void note_return(struct cn_cct_task *task, const struct cn_call *call)
{
    struct cn_cct_follow *follow = &task->follow;

    follow->node = node_on_top(&follow->stack);
    follow->has_site = false;
    if (call->time_ns > follow->last_ns)
        follow->last_ns = call->time_ns;
    add_sample(task);
}

/* Check a call of a part before it is counted. True when it is not to be counted: it is the
 * return of a guessed call, or the guess is wrong. */
static bool check_guess(struct cn_cct_task *task, const struct cn_call *call)
{
    /* The differences of counters depend on readings before the part. */
    if (call->kind == CN_CALL_EVENT && cn_event_has_counters(call->address))
        task->guess->is_wrong = true;
    enum cn_guess_step step = cn_call_guess_check(task->guess, &task->follow.stack, call);
    if (step == CN_GUESS_RETURN)
        note_return(task, call);
    return step != CN_GUESS_INSIDE;
}

void cn_cct_task_count_call(struct cn_cct_task *task, const struct cn_call *call,
                            const struct cn_call_batch *batch)
{
    uint64_t recorded_ns = cn_call_recorded_ns(batch, call);

    count_between(task, recorded_ns, call->time_ns);
    task->record_count++;
    if (recorded_ns > task->seen_ns)
        task->seen_ns = recorded_ns;
    if ((!task->guess || !check_guess(task, call)) &&
        cn_cct_task_follow(task, &task->follow, call, batch, true))
        add_sample(task);
}

static bool is_wrong(const struct cn_cct_task *task)
{
    return task->guess && task->guess->is_wrong;
}

/* The first call from `first` on that follows the next launch, allocation or range; the count of calls if
 * there is none. */
static size_t next_launch(const struct cn_cct_task *task,
                          const struct cn_call_batch *batch, size_t first)
{
    const struct cn_gpu_work *work = recording_of(task)->gpu;
    uint64_t launch_ns = UINT64_MAX;
    size_t i = first;

    if (task->next_launch < task->end_launch)
        launch_ns = work->ops[work->by_launch[task->next_launch]].launch_ns;
    if (task->heap.has_next && task->heap.next.time_ns < launch_ns)
        launch_ns = task->heap.next.time_ns;
    if (cn_cct_ranges_next_ns(task->follow.ranges) < launch_ns)
        launch_ns = cn_cct_ranges_next_ns(task->follow.ranges);
    if (launch_ns == UINT64_MAX)
        return batch->count;
    while (i < batch->count && cn_call_recorded_ns(batch, &batch->calls[i]) <= launch_ns)
        i++;
    return i;
}

static void count_batch(struct cn_cct_task *task, const struct cn_call_batch *batch)
{
    size_t launch = 0;

    for (size_t i = 0; i < batch->count && !is_wrong(task); i++) {
        struct cn_call_batch part = *batch;

        if (launch <= i)
            launch = next_launch(task, batch, i);
        part.count = launch;
        size_t run = i < launch ? cn_cct_run_count(task, &task->follow, &part, i) : 0;

        task->sample_count += run;
        task->record_count += run;
        i += run;
        if (i < batch->count)
            cn_cct_task_count_call(task, &batch->calls[i], batch);
    }
}

bool cn_cct_task_open_feed(const struct cn_cct_task *task,
                           const struct cn_call_span *span,
                           const struct cn_call_clock *clock, struct cn_call_feed *feed,
                           struct cn_error *err)
{
    const struct cn_call_query *query = task->options.query;

    return span
               ? cn_call_feed_open_span(feed, query, task->options.task, span, clock, err)
               : cn_call_feed_open(feed, query, task->options.task, err);
}

static bool report(const struct cn_cct_task *task, const struct cn_progress *progress,
                   bool reports, struct cn_error *err)
{
    enum { RECORD_LEN = 16 };
    static const char what[] = "reading calls";
    uint64_t expected =
        recording_of(task)->tasks[task->options.task].data_len / RECORD_LEN;

    if (expected < task->record_count) /* packed records are shorter */
        expected = task->record_count;
    return reports ? cn_progress_report(progress, what, task->record_count, expected,
                                        "records", err)
                   : cn_progress_check(progress, what, err);
}

bool cn_cct_task_count(struct cn_cct_task *task, const struct cn_call_span *span,
                       const struct cn_progress *progress, bool reports,
                       struct cn_error *err)
{
    struct cn_call_feed feed = {0};
    struct cn_call_batch batch;
    enum cn_step step = CN_FAIL;
    struct cn_error damage;
    uint32_t batch_count = 0;
    bool ok = true;

    if (cn_cct_task_open_feed(task, span, task->guess ? NULL : &task->follow.clock, &feed,
                              &damage))
        while (ok && !is_wrong(task) &&
               (step = cn_call_feed_next(&feed, &batch, &damage)) == CN_ITEM) {
            begin_guess(task, &feed);
            count_batch(task, &batch);
            if (++batch_count % REPORT_EVERY == 0)
                ok = report(task, progress, reports, err);
        }
    cn_cct_task_finish(task);
    task->is_cut = step == CN_FAIL && !cn_call_feed_is_whole(&feed);
    if (step == CN_FAIL)
        cn_cct_task_note_damage(task, &damage);
    task->follow.clock = feed.clock;
    if (task->guess)
        task->guess->left_out = feed.left_out;
    cn_call_feed_close(&feed);
    if (ok && task->tree.is_full)
        ok =
            cn_fail(err, CN_ERR_LIMIT, "task %" PRIu32 ": more than %" PRIu32 " contexts",
                    recording_of(task)->tasks[task->options.task].tid, UINT32_MAX);
    return ok;
}
