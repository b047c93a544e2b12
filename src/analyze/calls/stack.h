/* Call stack: the open calls of a task, rebuilt from entries and exits.
 *
 * The recorded depth repairs it. An entry or exit at depth d ends all deeper calls: their
 * exits are missing, because longjmp() or an exception skipped them, exec() replaced the
 * program, or records were lost. An exit without an entry has no duration: fork() returns in
 * a child that never called it.
 *
 * A wait (sched-out, then sched-in) is a call on top of the others.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_STACK_H
#define CN_ANALYZE_CALLS_STACK_H

#include "analyze/calls/filter.h"
#include "model/calls/recording.h"

/* Bits of cn_call_frame.flags. */
enum {
    CN_FRAME_SHOWN = 1,    /* the filter shows it */
    CN_FRAME_SCHEDULE = 2, /* the task waits */
    CN_FRAME_PREEMPT = 4,  /* because it was pre-empted */
    CN_FRAME_EXEC = 8,     /* a call that replaces the program when it succeeds */
    CN_FRAME_OFF = 16, /* the filter would show it, but it was entered after trace_off */
};

struct cn_call_frame {
    uint64_t enter_ns;
    uint64_t child_ns; /* time of the calls it made */
    uint64_t address;
    uint32_t function;             /* or cn_call_schedule_id() */
    uint32_t depth;                /* as recorded, from the outermost call */
    uint32_t shown_above;          /* shown calls around it */
    uint32_t mark, slot;           /* for the view */
    uint64_t placed_ns;            /* for the view: when it was recorded to begin */
    struct cn_filter_scope before; /* the filter's scope to restore at its end */
    uint8_t flags;
};

struct cn_call_stack {
    const struct cn_recording *rec;
    const struct cn_call_filter *filter;
    struct cn_call_frame *frames;
    uint32_t count;
    size_t capacity;
    uint32_t shown;     /* shown calls, with those inherited by a fork */
    uint32_t inherited; /* those inherited by a fork */
    bool has_begun;     /* a call was seen */
    bool is_wrapped;    /* depths are recorded modulo 1024 */
    bool keeps_depth;   /* the first call is shown at its recorded depth */
    struct cn_filter_scope scope;
    bool *is_on; /* the switch of trace_on and trace_off, shared by tasks */
    /* With a filter that chooses functions: whether the return from a call that a forked
     * task inherits from its parent is shown, by depth. As in uftrace, the calls that the task
     * makes inside are not. */
    bool *roots;
    uint32_t root_count;
};

/* A call that ended. */
struct cn_call_end {
    struct cn_call_frame frame; /* of an exit without an entry: as recorded */
    uint64_t total_ns, self_ns; /* 0 when has_time is false */
    bool has_time;
};

void cn_call_stack_init(struct cn_call_stack *stack, const struct cn_recording *rec,
                        const struct cn_call_filter *filter, uint32_t task,
                        bool keeps_depth, bool *is_on);
void cn_call_stack_done(struct cn_call_stack *stack);

/* A copy, with a switch of its own. */
void cn_call_stack_copy(struct cn_call_stack *stack, const struct cn_call_stack *from,
                        bool *is_on);

/* On an empty stack: assume `count` open calls of unknown functions, at depths from 0 on. No
 * exit is the usual case for them. */
void cn_call_stack_assume(struct cn_call_stack *stack, uint32_t count);

/* Drop all but the outermost `count` calls. */
void cn_call_stack_forget(struct cn_call_stack *stack, uint32_t count);

/* Push the frames of another stack, from `first` on. */
void cn_call_stack_append(struct cn_call_stack *stack, const struct cn_call_stack *from,
                          uint32_t first);

/* The ids of waiting, blocked or pre-empted: after those of all functions. */
static inline uint32_t cn_call_schedule_id(const struct cn_recording *rec,
                                           bool is_preempted)
{
    return rec->function_count + is_preempted;
}

/* The name of a function or schedule id. Unknown functions are named by their address, in
 * `buffer` of CN_CALL_NAME_MAX bytes. */
enum { CN_CALL_NAME_MAX = 24 };
const char *cn_call_name(const struct cn_recording *rec, uint32_t function,
                         uint64_t address, char *buffer);

/* Push an entry. The frame is valid until the next change. `rule` receives the rule of the
 * filter and may be NULL. */
struct cn_call_frame *cn_call_stack_enter(struct cn_call_stack *stack,
                                          const struct cn_call *call,
                                          const struct cn_call_batch *batch,
                                          struct cn_call_rule *rule);

void cn_call_stack_leave(struct cn_call_stack *stack, const struct cn_call *call,
                         struct cn_call_end *out);

/* The depth of an entry or exit: as recorded, or deeper if the open calls show that. */
uint32_t cn_call_stack_depth(const struct cn_call_stack *stack,
                             const struct cn_call *call);

/* The number of open calls that an entry or exit does not end. */
uint32_t cn_call_stack_kept(const struct cn_call_stack *stack,
                            const struct cn_call *call);

/* True for a sched-out that interrupts a call. It does so even when it is not shown: waiting
 * is not self time of the call. */
bool cn_call_stack_may_sleep(const struct cn_call_stack *stack,
                             const struct cn_call *call);

/* sched-out and sched-in. The latter returns false when the task was not waiting. */
struct cn_call_frame *cn_call_stack_sleep(struct cn_call_stack *stack,
                                          const struct cn_call *call);
bool cn_call_stack_wake(struct cn_call_stack *stack, const struct cn_call *call,
                        struct cn_call_end *out);

/* End the innermost call at a time, without an exit. */
void cn_call_stack_cut(struct cn_call_stack *stack, uint64_t time_ns,
                       struct cn_call_end *out);

/* True if an event is shown: inside a call, and not between exec() and the first call of
 * the new program. */
bool cn_call_stack_shows_event(const struct cn_call_stack *stack,
                               const struct cn_call *call);

/* The functions below are enter and leave, inline for the usual case: everything is shown,
 * and the call is an entry one deeper than the innermost call, or the exit of that call. */

static inline uint8_t cn_call_stack_flags(const struct cn_call_stack *stack,
                                          const struct cn_call *call)
{
    bool is_exec = call->function != CN_NONE && stack->filter->is_exec[call->function];

    return is_exec ? CN_FRAME_SHOWN | CN_FRAME_EXEC : CN_FRAME_SHOWN;
}

/* Enter a call in the usual case; else NULL. */
static inline struct cn_call_frame *cn_call_stack_enter_top(struct cn_call_stack *stack,
                                                            const struct cn_call *call)
{
    uint32_t count = stack->count;
    struct cn_call_frame *frame;

    if (!stack->filter->is_plain || count == 0 || count == stack->capacity ||
        stack->frames[count - 1].depth + 1 != call->depth)
        return NULL;
    frame = &stack->frames[count];
    frame->enter_ns = call->time_ns;
    frame->child_ns = 0;
    frame->address = call->address;
    frame->function = call->function;
    frame->depth = call->depth;
    frame->shown_above = stack->shown++;
    frame->before = stack->scope;
    frame->flags = cn_call_stack_flags(stack, call);
    stack->count = count + 1;
    return frame;
}

static inline struct cn_call_frame *
cn_call_stack_enter_quick(struct cn_call_stack *stack, const struct cn_call *call,
                          const struct cn_call_batch *batch)
{
    struct cn_call_frame *frame = cn_call_stack_enter_top(stack, call);

    return frame ? frame : cn_call_stack_enter(stack, call, batch, NULL);
}

/* The self time of a call that ends, in which calls inside of it took `child_ns`. */
static inline uint64_t cn_call_self_ns(const struct cn_call *exit, uint64_t total_ns,
                                       uint64_t child_ns)
{
    if (exit->flags & CN_CALL_HAS_SELF)
        return exit->self_ns;
    if (exit->flags & CN_CALL_COVERED)
        child_ns += exit->covered_ns;
    return total_ns > child_ns ? total_ns - child_ns : 0;
}

/* Leave the innermost call in the usual case; else NULL. The frame is valid until the next
 * entry. */
static inline struct cn_call_frame *cn_call_stack_leave_top(struct cn_call_stack *stack,
                                                            const struct cn_call *call,
                                                            uint64_t *total_ns,
                                                            uint64_t *self_ns)
{
    struct cn_call_frame *frame;

    if (!stack->filter->is_plain || stack->count < 2)
        return NULL;
    frame = &stack->frames[stack->count - 1];
    if (frame->depth != call->depth || frame->function != call->function ||
        frame->enter_ns > call->time_ns)
        return NULL;
    stack->count--;
    stack->shown = frame->shown_above;
    *total_ns = call->time_ns - frame->enter_ns;
    *self_ns = cn_call_self_ns(call, *total_ns, frame->child_ns);
    frame[-1].child_ns += *total_ns;
    return frame;
}

static inline void cn_call_stack_leave_quick(struct cn_call_stack *stack,
                                             const struct cn_call *call,
                                             struct cn_call_end *out)
{
    const struct cn_call_frame *frame =
        cn_call_stack_leave_top(stack, call, &out->total_ns, &out->self_ns);

    if (!frame) {
        cn_call_stack_leave(stack, call, out);
        return;
    }
    out->frame = *frame;
    out->has_time = true;
}

/* Enter or leave as the next call does, where only the open calls matter. */
static inline void cn_call_stack_follow(struct cn_call_stack *stack,
                                        const struct cn_call *call,
                                        const struct cn_call_batch *batch)
{
    struct cn_call_end ended;

    if (call->kind == CN_CALL_ENTER)
        (void)cn_call_stack_enter_quick(stack, call, batch);
    else if (call->kind == CN_CALL_EXIT)
        cn_call_stack_leave_quick(stack, call, &ended);
}

#endif
