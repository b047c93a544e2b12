#include "analyze/calls/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { DEPTH_MODULUS = 1024 };

enum { DEPTH_MAX = 1 << 16, FORKS_MAX = 16 /* from a task up to its ancestors */ };

/* The first call of a task; false when it has none. */
static bool find_first(const struct cn_recording *rec, uint32_t task, struct cn_call *out)
{
    struct cn_call_stream *stream = NULL;
    struct cn_call_batch batch;
    struct cn_error ignored;
    bool is_found = false;

    if (!cn_recording_stream_open(rec, task, cn_time_always, &stream, &ignored))
        return false;
    while (!is_found && cn_call_stream_next(stream, &batch, &ignored) == CN_ITEM)
        for (size_t i = 0; i < batch.count && !is_found; i++) {
            *out = batch.calls[i];
            is_found = out->kind == CN_CALL_ENTER || out->kind == CN_CALL_EXIT;
        }
    cn_call_stream_close(stream);
    return is_found;
}

/* Set the functions that a task entered last before a time, by depth. */
static void find_entered(const struct cn_recording *rec, uint32_t task, uint64_t time_ns,
                         uint32_t *functions)
{
    struct cn_time_range range = {.last_ns = time_ns};
    struct cn_call_stream *stream = NULL;
    struct cn_call_batch batch;
    struct cn_error ignored;

    if (!cn_recording_stream_open(rec, task, range, &stream, &ignored))
        return;
    while (cn_call_stream_next(stream, &batch, &ignored) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.calls[i].kind == CN_CALL_ENTER && batch.calls[i].time_ns <= time_ns)
                functions[batch.calls[i].depth] = batch.calls[i].function;
    cn_call_stream_close(stream);
}

/* Find the calls that a forked task inherits, and which of them the filter shows. The parent may
 * have left them meanwhile: only the first record of the task shows how many there are. */
static void find_roots(struct cn_call_stack *stack, uint32_t task)
{
    const struct cn_recording *rec = stack->rec;
    uint32_t forks[FORKS_MAX], fork_count = 0, *functions;
    struct cn_call first = {0};

    if (!find_first(rec, task, &first))
        return;
    for (uint32_t t = task;
         fork_count < FORKS_MAX && t != CN_NONE && rec->tasks[t].is_fork;
         t = rec->tasks[t].parent)
        forks[fork_count++] = t;
    functions = cn_alloc(DEPTH_MAX, sizeof(*functions));
    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        functions[i] = CN_NONE;
    while (fork_count-- > 0)
        if (rec->tasks[forks[fork_count]].parent != CN_NONE)
            find_entered(rec, rec->tasks[forks[fork_count]].parent,
                         rec->tasks[forks[fork_count]].time_ns, functions);
    stack->root_count = first.depth;
    if (first.kind == CN_CALL_EXIT) {
        functions[first.depth] = first.function;
        stack->root_count++;
    }
    stack->roots = cn_alloc(stack->root_count, sizeof(*stack->roots));
    for (uint32_t i = 0; i < stack->root_count; i++) {
        struct cn_call call = {.function = functions[i], .kind = CN_CALL_ENTER};
        struct cn_call_batch batch = {.calls = &call, .count = 1};
        struct cn_call_rule rule;
        bool is_on = false;

        cn_call_filter_rule(stack->filter, &call, &batch, &rule);
        stack->roots[i] =
            cn_call_filter_enter(stack->filter, &call, &rule, &stack->scope, &is_on);
        stack->shown += stack->roots[i];
    }
    cn_call_filter_begin(stack->filter, &stack->scope);
    free(functions);
}

/* The inherited calls from `depth` on have ended. True if the outermost one is shown. */
static bool end_roots(struct cn_call_stack *stack, uint32_t depth)
{
    bool is_shown = stack->roots[depth];

    while (stack->root_count > depth)
        stack->shown -= stack->roots[--stack->root_count];
    return is_shown;
}

void cn_call_stack_init(struct cn_call_stack *stack, const struct cn_recording *rec,
                        const struct cn_call_filter *filter, uint32_t task,
                        bool keeps_depth, bool *is_on)
{
    *stack = (struct cn_call_stack){
        .rec = rec,
        .filter = filter,
        .is_wrapped = rec->max_stack > DEPTH_MODULUS,
        .keeps_depth = keeps_depth || rec->tasks[task].is_fork || rec->begins_off,
        .is_on = is_on,
    };
    cn_call_filter_begin(filter, &stack->scope);
    if (filter->has_only && rec->tasks[task].is_fork)
        find_roots(stack, task);
}

void cn_call_stack_done(struct cn_call_stack *stack)
{
    free(stack->frames);
    free(stack->roots);
    *stack = (struct cn_call_stack){0};
}

const char *cn_call_name(const struct cn_recording *rec, uint32_t function,
                         uint64_t address, char *buffer)
{
    if (function < rec->function_count)
        return rec->functions[function].name;
    if (function == cn_call_schedule_id(rec, false))
        return "linux:schedule";
    if (function == cn_call_schedule_id(rec, true))
        return "linux:schedule (pre-empted)";
    (void)snprintf(buffer, CN_CALL_NAME_MAX, "<%" PRIx64 ">", address);
    return buffer;
}

static struct cn_call_frame *push(struct cn_call_stack *stack)
{
    CN_GROW(stack->frames, stack->count, stack->capacity);
    return &stack->frames[stack->count++];
}

void cn_call_stack_copy(struct cn_call_stack *stack, const struct cn_call_stack *from,
                        bool *is_on)
{
    *stack = *from;
    stack->is_on = is_on;
    stack->roots = NULL; /* tasks in parts have no filters */
    stack->root_count = 0;
    stack->capacity = from->count;
    stack->frames = cn_realloc(NULL, from->count, sizeof(*stack->frames));
    if (from->count > 0)
        memcpy(stack->frames, from->frames, from->count * sizeof(*stack->frames));
}

void cn_call_stack_assume(struct cn_call_stack *stack, uint32_t count)
{
    stack->has_begun = true;
    while (stack->count < count) {
        uint32_t depth = stack->count;

        *push(stack) = (struct cn_call_frame){
            .enter_ns = UINT64_MAX,
            .function = CN_NONE,
            .depth = depth,
            .shown_above = stack->shown++,
            .before = stack->scope,
            .flags = CN_FRAME_SHOWN,
        };
    }
}

static struct cn_call_frame *pop(struct cn_call_stack *stack)
{
    struct cn_call_frame *frame = &stack->frames[--stack->count];

    stack->scope = frame->before;
    if (frame->flags & (CN_FRAME_SHOWN | CN_FRAME_OFF))
        stack->shown = frame->shown_above;
    return frame;
}

void cn_call_stack_forget(struct cn_call_stack *stack, uint32_t count)
{
    while (stack->count > count)
        (void)pop(stack);
}

void cn_call_stack_append(struct cn_call_stack *stack, const struct cn_call_stack *from,
                          uint32_t first)
{
    stack->has_begun = stack->has_begun || from->has_begun;
    for (uint32_t i = first; i < from->count; i++) {
        struct cn_call_frame *frame = push(stack);

        *frame = from->frames[i];
        frame->shown_above = stack->shown;
        stack->shown += frame->flags & CN_FRAME_SHOWN;
    }
}

/* The depth of a call that is recorded as `depth`, modulo 1024 where `expected` fits. */
static uint32_t unwrap(const struct cn_call_stack *stack, uint32_t depth,
                       uint32_t expected)
{
    return stack->is_wrapped && expected % DEPTH_MODULUS == depth ? expected : depth;
}

uint32_t cn_call_stack_depth(const struct cn_call_stack *stack,
                             const struct cn_call *call)
{
    return stack->count > 0 ? unwrap(stack, call->depth,
                                     stack->frames[stack->count - 1].depth +
                                         (call->kind == CN_CALL_ENTER))
                            : call->depth;
}

uint32_t cn_call_stack_kept(const struct cn_call_stack *stack, const struct cn_call *call)
{
    uint32_t count = stack->count, depth = cn_call_stack_depth(stack, call);

    while (count > 0 && stack->frames[count - 1].depth >= depth)
        count--;
    return count;
}

static void begin(struct cn_call_stack *stack, const struct cn_call *call)
{
    stack->has_begun = true;
    if (stack->keeps_depth && !stack->filter->has_only)
        stack->shown = call->depth + (call->kind == CN_CALL_EXIT ? 1u : 0u);
    stack->inherited = stack->roots ? 0 : stack->shown;
}

/* True if all open calls are functions of the kernel. */
static bool is_outer_kernel(const struct cn_call_stack *stack)
{
    uint32_t function = stack->count > 0 ? stack->frames[0].function : CN_NONE;

    return function < stack->rec->function_count &&
           stack->rec->functions[function].type == 'K';
}

struct cn_call_frame *cn_call_stack_enter(struct cn_call_stack *stack,
                                          const struct cn_call *call,
                                          const struct cn_call_batch *batch,
                                          struct cn_call_rule *rule)
{
    struct cn_call_frame *frame;
    uint32_t depth = cn_call_stack_depth(stack, call);
    struct cn_call_rule own_rule;

    if (!stack->has_begun)
        begin(stack, call);
    while (stack->count > 0 && stack->frames[stack->count - 1].depth >= depth)
        (void)pop(stack);
    if (stack->count == 0 && depth < stack->root_count)
        (void)end_roots(stack, depth);
    /* A new program is not inside the calls of the old one. */
    if (stack->count == 0 && depth < stack->inherited)
        stack->inherited = stack->shown = depth;
    frame = push(stack);
    *frame = (struct cn_call_frame){
        .enter_ns = call->time_ns,
        .address = call->address,
        .function = call->function,
        .depth = depth,
        .shown_above = stack->shown,
        .before = stack->scope,
        .flags = cn_call_stack_flags(stack, call),
    };
    if (!stack->filter->is_plain) {
        rule = rule ? rule : &own_rule;
        cn_call_filter_rule(stack->filter, call, batch, rule);
        if (!cn_call_filter_enter(stack->filter, call, rule, &stack->scope,
                                  stack->is_on) ||
            (stack->filter->skips_outer_kernel && is_outer_kernel(stack)))
            frame->flags &= (uint8_t)~CN_FRAME_SHOWN;
        else if (!*stack->is_on)
            frame->flags ^= CN_FRAME_SHOWN | CN_FRAME_OFF;
    }
    stack->shown += (frame->flags & (CN_FRAME_SHOWN | CN_FRAME_OFF)) != 0;
    return frame;
}

void cn_call_stack_cut(struct cn_call_stack *stack, uint64_t time_ns,
                       struct cn_call_end *out)
{
    struct cn_call_frame *frame = pop(stack);
    uint64_t total_ns = time_ns > frame->enter_ns ? time_ns - frame->enter_ns : 0;

    out->frame = *frame;
    out->has_time = true;
    out->total_ns = total_ns;
    out->self_ns = total_ns > frame->child_ns ? total_ns - frame->child_ns : 0;
    if (stack->count > 0)
        stack->frames[stack->count - 1].child_ns += total_ns;
}

void cn_call_stack_leave(struct cn_call_stack *stack, const struct cn_call *call,
                         struct cn_call_end *out)
{
    uint32_t depth = cn_call_stack_depth(stack, call);

    if (!stack->has_begun)
        begin(stack, call);
    while (stack->count > 0 && stack->frames[stack->count - 1].depth > depth)
        (void)pop(stack);
    if (stack->count > 0 && stack->frames[stack->count - 1].depth == depth) {
        cn_call_stack_cut(stack, call->time_ns, out);
        out->self_ns = cn_call_self_ns(call, out->total_ns, out->frame.child_ns);
    } else {
        bool is_shown = stack->filter->is_plain ||
                        cn_call_filter_shows(stack->filter, &stack->scope, *stack->is_on);

        if (stack->count == 0 && depth < stack->root_count)
            is_shown = end_roots(stack, depth) && *stack->is_on;
        else if (is_shown && stack->shown > 0 && stack->count == 0)
            stack->inherited = --stack->shown;
        *out = (struct cn_call_end){
            .frame = {.enter_ns = call->time_ns,
                      .depth = depth,
                      .shown_above = stack->shown,
                      .flags = is_shown ? CN_FRAME_SHOWN : 0},
        };
    }
    /* The second return of setjmp() ends a call of another function. */
    out->frame.function = call->function;
    out->frame.address = call->address;
    if (!*stack->is_on)
        out->frame.flags &= (uint8_t)~CN_FRAME_SHOWN;
}

struct cn_call_frame *cn_call_stack_sleep(struct cn_call_stack *stack,
                                          const struct cn_call *call)
{
    bool is_preempted = call->address == CN_EVENT_SCHED_OUT_PREEMPT;
    bool is_shown = cn_call_stack_shows_event(stack, call);
    struct cn_call_frame *frame = push(stack);

    *frame = (struct cn_call_frame){
        .enter_ns = call->time_ns,
        .address = call->address,
        .function = cn_call_schedule_id(stack->rec, is_preempted),
        .depth = UINT32_MAX,
        .shown_above = stack->shown,
        .before = stack->scope,
        .flags = CN_FRAME_SCHEDULE,
    };
    if (is_shown)
        frame->flags |= CN_FRAME_SHOWN;
    if (is_preempted)
        frame->flags |= CN_FRAME_PREEMPT;
    return frame;
}

bool cn_call_stack_may_sleep(const struct cn_call_stack *stack,
                             const struct cn_call *call)
{
    const struct cn_call_filter *filter = stack->filter;

    if (call->address != CN_EVENT_SCHED_OUT &&
        call->address != CN_EVENT_SCHED_OUT_PREEMPT)
        return false;
    if (filter->without_events || filter->without_schedule ||
        (stack->count == 0 ? !filter->has_outer_events
                           : stack->frames[stack->count - 1].flags & CN_FRAME_EXEC))
        return false;
    return call->address == CN_EVENT_SCHED_OUT || !filter->without_preemption;
}

bool cn_call_stack_wake(struct cn_call_stack *stack, const struct cn_call *call,
                        struct cn_call_end *out)
{
    if (stack->count == 0 || !(stack->frames[stack->count - 1].flags & CN_FRAME_SCHEDULE))
        return false;
    cn_call_stack_cut(stack, call->time_ns, out);
    return true;
}

/* True for an event of the scheduler that --no-sched or --no-sched-preempt excludes. */
static bool is_excluded(const struct cn_call_filter *filter, const struct cn_call *call)
{
    if (call->address == CN_EVENT_SCHED_OUT_PREEMPT)
        return filter->without_preemption || filter->without_schedule;
    return filter->without_schedule && call->address >= CN_EVENT_SCHED_IN &&
           call->address <= CN_EVENT_SCHED_BOTH;
}

bool cn_call_stack_shows_event(const struct cn_call_stack *stack,
                               const struct cn_call *call)
{
    const struct cn_call_filter *filter = stack->filter;

    if (filter->skips_outer_kernel && is_outer_kernel(stack))
        return false;
    if (stack->count == 0)
        return !filter->without_events && !is_excluded(filter, call) &&
               (call->address >= CN_EVENT_COUNTER      ? true
                : call->address >= CN_EVENT_READ_STATM ? filter->has_outer_events
                                                       : filter->has_outer_kernel);
    const struct cn_call_frame *top = &stack->frames[stack->count - 1];
    if (top->flags & CN_FRAME_EXEC)
        return false;
    if (filter->is_plain)
        return true;
    return !filter->without_events && !is_excluded(filter, call) &&
           cn_call_filter_shows(filter, &stack->scope, *stack->is_on);
}
