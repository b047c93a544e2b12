#include "analyze/cct/cct_part.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The key of the node that stands for an open call, by its depth. Nobody else's. */
#define GUESSED_KEY UINT32_C(0xc0000000)

bool cn_cct_task_is_divisible(const struct cn_cct_task_options *options)
{
    const struct cn_call_query *query = options->query;
    struct cn_call_stack stack;
    bool is_on = true;

    cn_call_stack_init(&stack, query->rec, query->filter, options->task, false, &is_on);
    return query->filter->is_plain && !query->filter->needs_future &&
           !options->is_collapsed && !options->is_on && query->range.first_ns == 0 &&
           query->range.last_ns == UINT64_MAX && !stack.is_wrapped;
}

void cn_cct_guess_init(struct cn_cct_task *piece,
                       const struct cn_cct_task_options *options)
{
    cn_cct_task_init(piece, options);
    piece->guess = cn_alloc(1, sizeof(*piece->guess));
}

void cn_cct_guess_free(struct cn_cct_guess *guess)
{
    if (guess)
        free(guess->returns);
    free(guess);
}

void cn_cct_guess_begin(struct cn_cct_task *piece, const struct cn_call_feed *feed)
{
    struct cn_cct_guess *guess = piece->guess;
    struct cn_cct_follow *follow = &piece->follow;

    if (!guess || guess->has_begun)
        return;
    guess->has_begun = true;
    guess->clock = feed->settling.least;
    guess->depth = guess->open_count = feed->open_count;
    cn_call_stack_assume(&follow->stack, guess->depth);
    for (uint32_t i = 0; i < guess->depth; i++)
        follow->stack.frames[i].mark = follow->node =
            cn_cct_child(&piece->tree, 0, GUESSED_KEY | i);
}

static void see_return(struct cn_cct_task *piece, const struct cn_call *call)
{
    struct cn_cct_guess *guess = piece->guess;
    struct cn_cct_follow *follow = &piece->follow;
    const struct cn_call_frame *frames = follow->stack.frames;
    uint32_t ended = --guess->open_count;

    guess->returns = cn_grow(guess->returns, guess->return_count, &guess->return_capacity,
                             sizeof(*guess->returns));
    guess->returns[guess->return_count++] =
        (struct cn_cct_return){*call, frames[ended].child_ns};
    cn_call_stack_forget(&follow->stack, ended);
    follow->node = ended > 0 ? frames[ended - 1].mark : 0;
    follow->has_site = false;
    if (call->time_ns > follow->last_ns)
        follow->last_ns = call->time_ns;
    piece->sample_count++;
}

bool cn_cct_guess_see(struct cn_cct_task *piece, const struct cn_call *call)
{
    struct cn_cct_guess *guess = piece->guess;

    /* What open calls read is compared with what they read when they end. */
    if (call->kind == CN_CALL_EVENT && cn_event_has_counters(call->address))
        guess->is_wrong = true;
    if (guess->is_wrong)
        return true;
    if (call->kind > CN_CALL_EXIT || call->depth >= guess->open_count)
        return false;
    if (call->kind == CN_CALL_EXIT && call->depth == guess->open_count - 1)
        see_return(piece, call);
    else
        guess->is_wrong = true;
    return true;
}

void cn_cct_task_mark(struct cn_cct_task *task, const struct cn_call_part *part)
{
    size_t i = task->part_count++;

    task->parts = cn_realloc(task->parts, task->part_count, sizeof(*task->parts));
    task->starts = cn_realloc(task->starts, task->part_count, sizeof(*task->starts));
    task->parts[i] = *part;
    task->starts[i] = (struct cn_cct_start){.first_sample = task->sample_count};
    cn_cct_follow_copy(&task->starts[i].follow, &task->follow);
}

/* Whether the calls that are open are the ones that the piece begins with, and its clock
 * goes right. */
static bool fits(const struct cn_cct_task *task, const struct cn_cct_guess *guess)
{
    const struct cn_call_stack *stack = &task->follow.stack;
    const struct cn_call_clock *clock = &task->follow.clock;
    uint32_t depth = guess->depth;

    if (clock->seen_ns != guess->clock.seen_ns || clock->due_ns != guess->clock.due_ns ||
        !guess->has_begun || guess->is_wrong || task->follow.has_site ||
        guess->return_count > stack->count || stack->count > depth ||
        (stack->count == 0) != (depth == 0))
        return false;
    for (uint32_t i = stack->count; i-- > 0;)
        if (stack->frames[i].depth != --depth || stack->frames[i].mark == 0 ||
            (stack->frames[i].flags & (CN_FRAME_EXEC | CN_FRAME_SCHEDULE)))
            return false;
    return true;
}

/* How much the times of a piece are ahead. */
static uint64_t ahead_ns(const struct cn_cct_task *task, const struct cn_cct_task *piece)
{
    return piece->guess->clock.now_ns - task->follow.clock.now_ns;
}

/* A key of the piece as one of the task. */
static uint32_t translate_key(struct cn_cct_task *task, const struct cn_cct_task *piece,
                              uint32_t key)
{
    const struct cn_recording *rec = task->options.query->rec;
    uint64_t address;

    if (key & CN_CCT_SITE) {
        uint32_t site = key & ~CN_CCT_SITE;

        return CN_CCT_SITE |
               cn_cct_task_site(task, piece->sites[site],
                                piece->site_times[site] - ahead_ns(task, piece));
    }
    address = cn_call_ids_address(&piece->ids, rec, key);
    return address ? cn_call_ids_of(&task->ids, rec, CN_NONE, address) : key;
}

/* The task's node of each of the piece's, to be released with free(). */
static cn_cct_id *join_trees(struct cn_cct_task *task, const struct cn_cct_task *piece)
{
    const struct cn_call_stack *stack = &task->follow.stack;
    uint32_t depth = piece->guess->depth, unknown = depth - stack->count;
    cn_cct_id *nodes = cn_alloc(piece->tree.count, sizeof(*nodes));

    for (size_t i = 1; i < piece->tree.count; i++) {
        const struct cn_cct_link *link = &piece->tree.links[i];

        if (i <= depth)
            nodes[i] = i <= unknown ? 0 : stack->frames[i - 1 - unknown].mark;
        else
            nodes[i] = cn_cct_child(&task->tree, nodes[link->parent],
                                    translate_key(task, piece, link->key));
    }
    return nodes;
}

/* What happened to the calls that were open. */
static void join_returns(struct cn_cct_task *task, const struct cn_cct_task *piece)
{
    const struct cn_cct_guess *guess = piece->guess;
    struct cn_call_stack *stack = &task->follow.stack;
    const struct cn_call_batch none = {0};
    uint32_t unknown = guess->depth - stack->count;

    for (size_t i = 0; i < guess->return_count; i++) {
        struct cn_cct_return ret = guess->returns[i];

        ret.call.time_ns -= ahead_ns(task, piece);
        stack->frames[stack->count - 1].child_ns += ret.child_ns;
        (void)cn_cct_task_follow(task, &task->follow, &ret.call, &none, true);
    }
    for (uint32_t i = 0; i < stack->count; i++)
        stack->frames[i].child_ns += piece->follow.stack.frames[i + unknown].child_ns;
}

/* The task goes on where the piece ended. */
static void join_follow(struct cn_cct_task *task, const struct cn_cct_task *piece,
                        const cn_cct_id *nodes)
{
    struct cn_cct_follow *follow = &task->follow;
    const struct cn_cct_follow *from = &piece->follow;
    uint32_t first = follow->stack.count;
    uint64_t last_ns = from->last_ns - ahead_ns(task, piece);

    cn_call_stack_append(&follow->stack, &from->stack, piece->guess->open_count);
    for (uint32_t i = first; i < follow->stack.count; i++) {
        follow->stack.frames[i].mark = nodes[follow->stack.frames[i].mark];
        follow->stack.frames[i].enter_ns -= ahead_ns(task, piece);
    }
    follow->node = nodes[from->node];
    follow->site = from->site;
    follow->has_site = from->has_site;
    if (last_ns > follow->last_ns)
        follow->last_ns = last_ns;
    follow->clock = (struct cn_call_clock){
        .rec = from->clock.rec,
        .seen_ns = from->clock.seen_ns,
        .now_ns = from->clock.now_ns - ahead_ns(task, piece),
        .due_ns = from->clock.due_ns,
    };
}

bool cn_cct_task_join(struct cn_cct_task *task, const struct cn_cct_task *piece)
{
    bool is_empty = piece->record_count == 0;
    cn_cct_id *nodes;

    if (!is_empty && !fits(task, piece->guess))
        return false;
    task->is_damaged = piece->is_damaged;
    task->damage = piece->damage;
    if (is_empty)
        return true;
    nodes = join_trees(task, piece);
    for (size_t i = piece->guess->depth + 1; i < piece->tree.count; i++)
        cn_cct_costs_join(&task->costs, nodes[i], &piece->costs, (cn_cct_id)i);
    join_returns(task, piece);
    join_follow(task, piece, nodes);
    free(nodes);
    task->record_count += piece->record_count;
    task->sample_count += piece->sample_count;
    task->lost_count += piece->lost_count;
    return true;
}
