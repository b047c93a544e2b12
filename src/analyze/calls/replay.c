#include "analyze/calls/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "model/calls/values.h"

enum { TASK_NAME_MAX = 15 }; /* of the kernel */

struct replay_caller {
    uint64_t address, time_ns;
};

struct replay_run {
    struct cn_call_replay *replay;
    const struct cn_call_query *query;
    const struct cn_replay_options *options;
    cn_replay_fn on_line;
    void *arg;
    bool is_stopped;
    struct replay_caller *callers; /* by slot: the call site of the next call */
    struct cn_text *names;         /* by slot: of tasks that are renamed, so far */
    uint32_t *ended; /* by slot: function of the last record if it is an exit */

    /* A line that may be merged with the next. */
    bool has_pending;
    struct cn_replay_line pending;
    struct cn_text arguments, result;
    /* A pending event outlives its batch. */
    struct cn_call event;
    struct cn_call_batch event_batch;
};

/* The name of a task before its first rename: that of the program or, of a thread, of its
 * process now. */
static void begin_name(struct replay_run *run, uint32_t slot, uint64_t time_ns)
{
    const struct cn_call_query *query = run->query;
    const struct cn_task *task = &query->rec->tasks[query->tasks[slot]];
    const struct cn_session *session =
        cn_recording_session_at(query->rec, query->tasks[slot], time_ns);
    const char *name = session ? session->exename : task->name;

    for (uint32_t i = 0; task->tid != task->pid && i < query->task_count; i++)
        if (query->rec->tasks[query->tasks[i]].tid == task->pid &&
            run->names[i].len > 0) {
            cn_text_str_add(&run->names[slot], cn_text_str(&run->names[i]));
            return;
        }
    cn_text_printf(&run->names[slot], "%.*s", TASK_NAME_MAX, cn_path_name(name));
}

static const char *name_at(struct replay_run *run, uint32_t slot, uint64_t time_ns)
{
    const struct cn_task *task = &run->query->rec->tasks[run->query->tasks[slot]];

    if (!task->is_renamed)
        return task->name;
    if (run->names[slot].len == 0)
        begin_name(run, slot, time_ns);
    return cn_text_str(&run->names[slot]);
}

static void emit(struct replay_run *run, struct cn_replay_line *line)
{
    line->task_name = name_at(run, line->slot, line->time_ns);
    if (!run->is_stopped && !run->on_line(run->arg, line))
        run->is_stopped = true;
}

static void flush(struct replay_run *run)
{
    if (!run->has_pending)
        return;
    run->has_pending = false;
    emit(run, &run->pending);
}

/* Put a line that may be merged with the next. */
static void put_half(struct replay_run *run, struct cn_replay_line *line)
{
    flush(run);
    if (run->options->without_merge) {
        emit(run, line);
        return;
    }
    run->pending = *line;
    run->has_pending = true;
}

static void put(struct replay_run *run, struct cn_replay_line *line)
{
    flush(run);
    emit(run, line);
}

static const char *print_values(struct replay_run *run, const struct cn_merged_call *next,
                                struct cn_text *text, const char *otherwise)
{
    if (!(next->call->flags & CN_CALL_HAS_DATA) || run->options->without_arguments)
        return otherwise;
    cn_text_clear(text);
    cn_recording_print_arguments(run->query->rec, run->query->tasks[next->slot],
                                 next->batch, next->call, text);
    return cn_text_str(text);
}

static void put_backtrace(struct replay_run *run, const struct cn_call_stack *stack,
                          const struct cn_merged_call *next)
{
    struct cn_replay_line line = {
        .kind = CN_REPLAY_BACKTRACE, .slot = next->slot, .time_ns = next->call->time_ns};

    for (uint32_t i = 0; i + 1 < stack->count; i++) {
        line.depth = i;
        line.function = stack->frames[i].function;
        line.address = stack->frames[i].address;
        put(run, &line);
    }
}

static void put_enter(struct replay_run *run, const struct cn_merged_call *next)
{
    struct cn_call_stack *stack = &run->replay->stacks[next->slot];
    struct cn_call_rule rule = {0};
    struct cn_call_frame *frame =
        cn_call_stack_enter(stack, next->call, next->batch, &rule);
    struct replay_caller caller = run->callers[next->slot];
    struct cn_replay_line line = {
        .kind = CN_REPLAY_OPEN,
        .slot = next->slot,
        .depth = frame->shown_above,
        .recorded_depth = next->call->depth,
        .function = next->call->function,
        .time_ns = next->call->time_ns,
        .address = next->call->address,
        .caller = caller.address,
        .caller_ns = caller.time_ns,
        .result = "",
        .color = rule.color,
        .call = run->options->without_merge ? next->call : NULL,
        .batch = run->options->without_merge ? next->batch : NULL,
    };

    run->callers[next->slot] = (struct replay_caller){0};
    if (!(frame->flags & CN_FRAME_SHOWN))
        return;
    flush(run);
    if (rule.flags & CN_RULE_BACKTRACE)
        put_backtrace(run, stack, next);
    line.arguments = print_values(run, next, &run->arguments, "()");
    put_half(run, &line);
}

static void put_leave(struct replay_run *run, const struct cn_merged_call *next)
{
    struct cn_call_stack *stack = &run->replay->stacks[next->slot];
    struct cn_call_end ended;
    struct cn_replay_line line;

    cn_call_stack_leave(stack, next->call, &ended);
    if (!(ended.frame.flags & CN_FRAME_SHOWN) &&
        !((ended.frame.flags & CN_FRAME_OFF) && run->replay->is_on))
        return;
    line = (struct cn_replay_line){
        .kind = CN_REPLAY_CLOSE,
        .slot = next->slot,
        .depth = ended.frame.shown_above,
        .recorded_depth = next->call->depth,
        .function = next->call->function,
        .time_ns = next->call->time_ns,
        .duration_ns = ended.total_ns,
        .address = next->call->address,
        .arguments = "()",
        .result = print_values(run, next, &run->result, ""),
        .call = run->options->without_merge ? next->call : NULL,
        .batch = run->options->without_merge ? next->batch : NULL,
    };
    /* Only hidden calls can lie between. */
    if (run->has_pending && run->pending.kind == CN_REPLAY_OPEN &&
        run->pending.slot == next->slot && run->pending.depth == line.depth &&
        ended.has_time && ended.frame.enter_ns == run->pending.time_ns) {
        run->pending.kind = CN_REPLAY_LEAF;
        run->pending.duration_ns = line.duration_ns;
        run->pending.result = line.result;
        flush(run);
        return;
    }
    put(run, &line);
}

static void put_sleep(struct replay_run *run, const struct cn_merged_call *next,
                      struct cn_replay_line *line)
{
    struct cn_call_frame *frame =
        cn_call_stack_sleep(&run->replay->stacks[next->slot], next->call);

    if (run->options->is_flat)
        frame->flags |= CN_FRAME_SHOWN;
    if (!(frame->flags & CN_FRAME_SHOWN))
        return;
    flush(run);
    run->event = *next->call;
    run->event.data_len = 0;
    run->event.flags &= (uint8_t)~CN_CALL_HAS_DATA;
    run->event_batch = (struct cn_call_batch){.calls = &run->event, .count = 1};
    put_half(run, line);
    run->pending.event = &run->event;
    run->pending.batch = &run->event_batch;
}

static void put_wake(struct replay_run *run, const struct cn_merged_call *next,
                     struct cn_replay_line *line)
{
    struct cn_call_end ended;

    if (!cn_call_stack_wake(&run->replay->stacks[next->slot], next->call, &ended) ||
        !(ended.frame.flags & CN_FRAME_SHOWN))
        return;
    if (run->has_pending && run->pending.kind == CN_REPLAY_EVENT &&
        run->pending.slot == next->slot) {
        run->pending.kind = CN_REPLAY_SCHEDULE;
        run->pending.duration_ns = ended.total_ns;
        run->pending.function = ended.frame.function;
        flush(run);
        return;
    }
    line->duration_ns = ended.total_ns;
    line->address = ended.frame.address;
    line->function = ended.frame.function;
    put(run, line);
}

static uint64_t caller_of(const struct cn_merged_call *next, bool is_big_endian)
{
    struct cn_bytes data = cn_call_data(next->batch, next->call);
    uint64_t address = 0;

    for (size_t i = 0; i < data.len && data.len <= sizeof(address); i++)
        address |= (uint64_t)data.ptr[i] << 8 * (is_big_endian ? data.len - 1 - i : i);
    return address;
}

static bool is_sleep(const struct cn_call *call)
{
    return call->address == CN_EVENT_SCHED_OUT ||
           call->address == CN_EVENT_SCHED_OUT_PREEMPT;
}

static void put_event(struct replay_run *run, const struct cn_merged_call *next)
{
    struct cn_call_stack *stack = &run->replay->stacks[next->slot];
    uint64_t id = next->call->address;
    bool is_shown = cn_call_stack_shows_event(stack, next->call);
    struct cn_replay_line line = {
        .kind = CN_REPLAY_EVENT,
        .slot = next->slot,
        .depth = stack->shown,
        .function = CN_NONE,
        .time_ns = next->call->time_ns,
        .address = id,
        .event = next->call,
        .batch = next->batch,
    };

    if (id == CN_EVENT_CALLSITE && !run->options->is_flat) {
        run->callers[next->slot] = (struct replay_caller){
            caller_of(next, run->query->rec->is_big_endian), next->call->time_ns};
        return;
    }
    if (run->options->is_flat && stack->count > 0 &&
        (stack->frames[stack->count - 1].flags & CN_FRAME_EXEC))
        is_shown = true;
    if (id == CN_EVENT_SCHED_IN && stack->count > 0 &&
        (stack->frames[stack->count - 1].flags & CN_FRAME_SCHEDULE))
        put_wake(run, next, &line);
    else if (is_shown && id == CN_EVENT_SCHED_IN && !run->options->is_flat &&
             stack->count > 0)
        return; /* the sched-out is missing */
    else if (cn_call_stack_may_sleep(stack, next->call) ||
             (is_shown && run->options->is_flat && is_sleep(next->call)))
        put_sleep(run, next, &line);
    else if (is_shown)
        put(run, &line);
}

static bool is_thread_end(const struct cn_recording *rec, uint32_t function)
{
    return function < rec->function_count &&
           strcmp(rec->functions[function].name, "pthread_exit") == 0;
}

/* pthread_exit() does not return: its callers end with their task, and so does it, unless the
 * recorder has seen the end of the thread. */
static void end_thread(struct replay_run *run, const struct cn_merged_call *next)
{
    struct cn_call_stack *stack = &run->replay->stacks[next->slot];
    const struct cn_recording *rec = run->query->rec;
    uint32_t top = stack->count;

    while (top > 0 && (stack->frames[top - 1].flags & CN_FRAME_SCHEDULE))
        top--;
    if (top == 0 || (!is_thread_end(rec, run->ended[next->slot]) &&
                     !is_thread_end(rec, stack->frames[top - 1].function)))
        return;
    cn_call_stack_forget(stack, top);
    while (stack->count > 0) {
        struct cn_call_end ended;

        cn_call_stack_cut(stack, next->call->time_ns, &ended);
        if (ended.frame.flags & CN_FRAME_SHOWN)
            put(run, &(struct cn_replay_line){
                         .kind = CN_REPLAY_CLOSE,
                         .slot = next->slot,
                         .depth = ended.frame.shown_above,
                         .recorded_depth = ended.frame.depth,
                         .function = ended.frame.function,
                         .time_ns = next->call->time_ns,
                         .duration_ns = ended.total_ns,
                         .address = ended.frame.address,
                         .arguments = "()",
                         .result = "",
                     });
    }
}

static void rename_task(struct replay_run *run, const struct cn_merged_call *next)
{
    struct cn_bytes name = cn_call_data(next->batch, next->call);
    struct cn_text *to = &run->names[next->slot];

    if (run->pending.slot == next->slot)
        flush(run); /* a call in which the name changes has a line for each */
    cn_text_clear(to);
    cn_text_add(to, (const char *)name.ptr, name.len);
}

static void put_lost(struct replay_run *run, const struct cn_merged_call *next)
{
    struct cn_replay_line line = {
        .kind = CN_REPLAY_LOST,
        .slot = next->slot,
        .depth = run->replay->stacks[next->slot].shown + 1,
        .function = CN_NONE,
        .time_ns = next->call->time_ns,
        .address = next->call->address,
    };

    run->replay->lost_count += next->call->address;
    put(run, &line);
}

static void put_call(struct replay_run *run, const struct cn_merged_call *next)
{
    switch ((enum cn_call_kind)next->call->kind) {
    case CN_CALL_ENTER:
        put_enter(run, next);
        run->ended[next->slot] = CN_NONE;
        break;
    case CN_CALL_EXIT:
        put_leave(run, next);
        run->ended[next->slot] = next->call->function;
        break;
    case CN_CALL_EVENT:
        put_event(run, next);
        if (next->call->address == CN_EVENT_TASK_EXIT)
            end_thread(run, next);
        else if (next->call->address == CN_EVENT_TASK_NAME)
            rename_task(run, next);
        break;
    case CN_CALL_LOST:
        put_lost(run, next);
        break;
    }
}

static void init(struct cn_call_replay *replay, const struct cn_call_query *query)
{
    *replay = (struct cn_call_replay){
        .stacks = cn_alloc(query->task_count, sizeof(*replay->stacks)),
        .stack_count = query->task_count,
        .is_on = !query->filter->is_off,
    };
    for (uint32_t i = 0; i < query->task_count; i++)
        cn_call_stack_init(&replay->stacks[i], query->rec, query->filter, query->tasks[i],
                           query->range.first_ns > 0, &replay->is_on);
}

bool cn_call_replay_run(struct cn_call_replay *replay, const struct cn_call_query *query,
                        const struct cn_replay_options *options, cn_replay_fn on_line,
                        void *arg, struct cn_error *err)
{
    struct replay_run run = {
        .replay = replay,
        .query = query,
        .options = options,
        .on_line = on_line,
        .arg = arg,
        .callers = cn_alloc(query->task_count, sizeof(*run.callers)),
        .names = cn_alloc(query->task_count, sizeof(*run.names)),
        .ended = cn_alloc(query->task_count, sizeof(*run.ended)),
    };
    struct cn_call_merge merge;
    struct cn_merged_call next;
    bool ok = cn_call_merge_open(&merge, query, err);

    init(replay, query);
    for (uint32_t i = 0; i < query->task_count; i++)
        run.ended[i] = CN_NONE;
    while (ok && !run.is_stopped && cn_call_merge_next(&merge, &next))
        put_call(&run, &next);
    flush(&run);
    if (ok) {
        replay->damages = merge.damages;
        merge.damages = (struct cn_call_damages){0};
        cn_call_merge_close(&merge);
    }
    cn_text_done(&run.arguments);
    cn_text_done(&run.result);
    free(run.callers);
    for (uint32_t i = 0; i < query->task_count; i++)
        cn_text_done(&run.names[i]);
    free(run.names);
    free(run.ended);
    return ok;
}

void cn_call_replay_done(struct cn_call_replay *replay)
{
    for (uint32_t i = 0; i < replay->stack_count; i++)
        cn_call_stack_done(&replay->stacks[i]);
    free(replay->stacks);
    cn_call_damages_done(&replay->damages);
}
