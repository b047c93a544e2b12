#include "analyze/calls/part.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_call_guess_free(struct cn_call_guess *guess)
{
    if (guess)
        free(guess->returns);
    free(guess);
}

void cn_call_guess_begin(struct cn_call_guess *guess, struct cn_call_stack *stack,
                         const struct cn_call_feed *feed)
{
    guess->has_begun = true;
    guess->clock = feed->settling.least;
    guess->begin_ns = feed->settled_ns;
    guess->depth = guess->open_count = feed->open_count;
    cn_call_stack_assume(stack, guess->depth);
}

static void note_return(struct cn_call_guess *guess, struct cn_call_stack *stack,
                        const struct cn_call *call)
{
    uint32_t ended = --guess->open_count;

    CN_PUSH(guess->returns, guess->return_count, guess->return_capacity,
            (struct cn_call_return){.call = *call,
                                    .child_ns = stack->frames[ended].child_ns});
    cn_call_stack_forget(stack, ended);
}

enum cn_guess_step cn_call_guess_check(struct cn_call_guess *guess,
                                       struct cn_call_stack *stack,
                                       const struct cn_call *call)
{
    if (guess->is_wrong)
        return CN_GUESS_WRONG;
    if (call->kind > CN_CALL_EXIT)
        return CN_GUESS_INSIDE;
    uint32_t depth = cn_call_stack_depth(stack, call);
    if (depth >= guess->open_count)
        return CN_GUESS_INSIDE;
    if (call->kind == CN_CALL_EXIT && depth == guess->open_count - 1) {
        note_return(guess, stack, call);
        return CN_GUESS_RETURN;
    }
    guess->is_wrong = true;
    return CN_GUESS_WRONG;
}

bool cn_call_guess_fits(const struct cn_call_guess *guess,
                        const struct cn_call_stack *stack,
                        const struct cn_call_clock *clock)
{
    uint32_t depth = guess->depth;

    if (clock->seen_ns != guess->clock.seen_ns || clock->due_ns != guess->clock.due_ns ||
        clock->cost_ns != guess->clock.cost_ns || !guess->has_begun || guess->is_wrong ||
        guess->return_count > stack->count || stack->count > depth ||
        (stack->count == 0) != (depth == 0))
        return false;
    for (uint32_t i = stack->count; i-- > 0;)
        if (stack->frames[i].depth != --depth ||
            (stack->frames[i].flags & (CN_FRAME_EXEC | CN_FRAME_SCHEDULE)))
            return false;
    return true;
}

uint32_t cn_call_guess_join(const struct cn_call_guess *guess,
                            const struct cn_call_stack *part, struct cn_call_stack *stack,
                            uint64_t ahead_ns,
                            void (*leave)(void *arg, const struct cn_call *call),
                            void *arg)
{
    uint32_t unknown = guess->depth - stack->count, kept;

    for (size_t i = 0; i < guess->return_count; i++) {
        struct cn_call call = guess->returns[i].call;

        call.time_ns -= ahead_ns;
        stack->frames[stack->count - 1].child_ns += guess->returns[i].child_ns;
        leave(arg, &call);
    }
    kept = stack->count;
    for (uint32_t i = 0; i < kept; i++)
        stack->frames[i].child_ns += part->frames[i + unknown].child_ns;
    cn_call_stack_append(stack, part, guess->open_count);
    for (uint32_t i = kept; i < stack->count; i++)
        stack->frames[i].enter_ns -= ahead_ns;
    return kept;
}

struct cn_call_clock cn_call_guess_clock(const struct cn_call_clock *part,
                                         uint64_t ahead_ns)
{
    struct cn_call_clock clock = *part;

    clock.now_ns -= ahead_ns;
    return clock;
}

bool cn_call_query_is_divisible(const struct cn_call_query *query)
{
    return query->filter->is_plain && !query->filter->needs_future &&
           query->range.first_ns == 0 && query->range.last_ns == UINT64_MAX;
}

bool cn_call_task_is_long(uint64_t len, uint64_t all_len, unsigned workers)
{
    /* For two workers, three equal tasks are long, four are not. */
    return workers > 1 && len > all_len / workers / 8 * 5;
}

size_t cn_part_jobs_add(struct cn_part_jobs *jobs, size_t owner,
                        const struct cn_recording *rec, uint32_t task, uint64_t part_len)
{
    struct cn_call_part *parts;
    size_t count = cn_recording_parts(rec, task, part_len, &parts);

    for (size_t i = 0; i < count; i++) {
        CN_PUSH(jobs->list, jobs->count, jobs->capacity,
                (struct cn_part_job){
                    .owner = owner,
                    .part = parts[i],
                    .number = (uint32_t)i,
                    .is_last = i + 1 == count,
                });
    }
    free(parts);
    return count;
}

void cn_part_jobs_done(struct cn_part_jobs *jobs)
{
    free(jobs->list);
    *jobs = (struct cn_part_jobs){0};
}
