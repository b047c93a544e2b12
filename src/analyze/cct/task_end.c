#include "analyze/cct/task.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_cct_task_note_damage(struct cn_cct_task *task, const struct cn_error *err)
{
    if (!task->is_damaged)
        task->damage = *err;
    task->is_damaged = true;
}

void cn_cct_task_end(struct cn_cct_task *task)
{
    struct cn_call_stack *stack = &task->follow.stack;
    bool is_partial = task->options.query->range.last_ns < UINT64_MAX;
    struct cn_call_end ended;

    if (task->heap.is_damaged)
        cn_cct_task_note_damage(task, &task->heap.err);

    /* The times of samples ascend strictly. */
    task->end_ns = cn_cct_follow_recorded_ns(&task->follow) + 1;
    if (task->follow.node != 0)
        task->sample_count++;
    task->open_calls = cn_alloc(stack->count, sizeof(*task->open_calls));
    while (stack->count > 0 && !is_partial) {
        cn_call_stack_cut(stack, task->follow.last_ns, &ended);
        if (ended.frame.mark != 0 && (ended.frame.flags & CN_FRAME_SHOWN) &&
            !(ended.frame.flags & (CN_FRAME_SCHEDULE | CN_FRAME_EXEC)))
            task->open_calls[task->open_call_count++] = (struct cn_cct_open_call){
                ended.frame.mark, ended.total_ns, ended.self_ns};
    }
    cn_cct_follow_done(&task->follow);
}

/* The shortest call of a node is one that returned, if any did. */
void cn_cct_task_count_open(struct cn_cct_task *task)
{
    struct cn_cct_costs *costs = &task->costs;
    uint64_t *min_ns = cn_alloc(task->open_call_count, sizeof(*min_ns));

    for (size_t i = 0; i < task->open_call_count; i++) {
        cn_cct_costs_reach(costs, task->open_calls[i].node);
        min_ns[i] = costs->list[task->open_calls[i].node].min_ns;
    }
    for (size_t i = 0; i < task->open_call_count; i++) {
        const struct cn_cct_open_call *open = &task->open_calls[i];

        cn_cct_costs_add(costs, open->node, open->total_ns, open->self_ns);
        struct cn_cct_cost *cost = &costs->list[open->node];
        cost->min_ns = min_ns[i] != UINT64_MAX ? min_ns[i] : cost->max_ns;
    }
    free(min_ns);
    task->open_call_count = 0;
}
