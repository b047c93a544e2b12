#include "analyze/calls/tasks.h"

#include <stdlib.h>

#include "analyze/calls/visit.h"
#include "base/alloc.h"

struct loaded_task {
    struct cn_task_walk base; /* first */
    struct cn_task_cost *cost;
};

static void note_time(struct cn_task_cost *cost, uint64_t time_ns)
{
    if (!cost->has_times)
        cost->first_ns = time_ns;
    cost->has_times = true;
    if (time_ns > cost->last_ns)
        cost->last_ns = time_ns;
}

static void count_end(struct loaded_task *task, const struct cn_call_end *ended)
{
    if (!(ended->frame.flags & CN_FRAME_SHOWN))
        return;
    if (ended->frame.flags & CN_FRAME_SCHEDULE) {
        task->cost->slept_ns += ended->total_ns;
        task->cost->calls++;
    } else if (ended->frame.shown_above <= task->base.stack.inherited) {
        task->cost->total_ns += ended->total_ns;
    }
}

static void end_open_calls(struct loaded_task *task, uint64_t time_ns)
{
    struct cn_call_end ended;

    while (task->base.stack.count > 0) {
        cn_call_stack_cut(&task->base.stack, time_ns, &ended);
        if (!(ended.frame.flags & CN_FRAME_EXEC))
            count_end(task, &ended);
    }
}

static void count_event(struct loaded_task *task, const struct cn_call *call)
{
    struct cn_call_stack *stack = &task->base.stack;
    struct cn_call_end ended;

    if (cn_call_stack_shows_event(stack, call))
        note_time(task->cost, call->time_ns);
    if (call->address == CN_EVENT_SCHED_IN) {
        if (cn_call_stack_wake(stack, call, &ended))
            count_end(task, &ended);
    } else if (cn_call_stack_may_sleep(stack, call)) {
        (void)cn_call_stack_sleep(stack, call);
    } else if (call->address == CN_EVENT_TASK_EXIT &&
               cn_call_stack_shows_event(stack, call)) {
        end_open_calls(task, call->time_ns);
    }
}

static void count_call(struct loaded_task *task, const struct cn_call *call,
                       const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &task->base.stack;
    struct cn_call_frame *frame;
    struct cn_call_end ended;

    if (call->kind == CN_CALL_EVENT) {
        count_event(task, call);
    } else if (call->kind == CN_CALL_ENTER) {
        frame = cn_call_stack_enter_quick(stack, call, batch);
        if (frame->flags & CN_FRAME_SHOWN) {
            task->cost->calls++;
            note_time(task->cost, call->time_ns);
        }
    } else if (call->kind == CN_CALL_EXIT) {
        cn_call_stack_leave_quick(stack, call, &ended);
        count_end(task, &ended);
        if (ended.frame.flags & CN_FRAME_SHOWN) {
            task->cost->calls += !ended.has_time;
            note_time(task->cost, call->time_ns);
        }
    }
}

static void task_begin(void *arg, struct cn_task_walk *base)
{
    const struct cn_call_tasks *tasks = arg;

    ((struct loaded_task *)base)->cost = &tasks->list[base->slot];
}

static void task_done(void *arg, struct cn_task_walk *base)
{
    (void)arg;
    (void)base;
}

static void task_count(void *arg, struct cn_task_walk *base,
                       const struct cn_call_batch *batch)
{
    (void)arg;
    for (size_t i = 0; i < batch->count; i++)
        count_call((struct loaded_task *)base, &batch->calls[i], batch);
}

static void task_end(void *arg, struct cn_task_walk *base, unsigned worker)
{
    struct loaded_task *task = (struct loaded_task *)base;
    struct cn_task_cost *cost = task->cost;

    (void)arg;
    (void)worker;
    end_open_calls(task, cost->last_ns);
    cost->self_ns = cost->total_ns > cost->slept_ns ? cost->total_ns - cost->slept_ns : 0;
}

static void task_merge(void *arg, const struct cn_task_walk *base, unsigned worker)
{
    (void)arg;
    (void)base;
    (void)worker;
}

void cn_call_tasks_build(struct cn_call_tasks *tasks, const struct cn_call_query *query,
                         unsigned workers)
{
    static const struct cn_call_visitor visitor = {
        .walk_size = sizeof(struct loaded_task),
        .begin = task_begin,
        .done = task_done,
        .count = task_count,
        .end = task_end,
        .merge = task_merge,
    };
    struct cn_call_visit visit = {
        .query = query, .workers = workers, .visitor = &visitor, .arg = tasks};
    struct cn_error err;

    *tasks = (struct cn_call_tasks){
        .list = cn_alloc(query->task_count, sizeof(*tasks->list)),
        .count = query->task_count,
    };
    for (size_t i = 0; i < tasks->count; i++)
        tasks->list[i].task = query->tasks[i];
    (void)!cn_call_visit_run(&visit, &tasks->damages, &err);
}

void cn_call_tasks_done(struct cn_call_tasks *tasks)
{
    free(tasks->list);
    cn_call_damages_done(&tasks->damages);
}
