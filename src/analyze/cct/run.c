#include "analyze/cct/task.h"

/* The state of a run, in registers while it lasts. */
struct cct_run {
    struct cn_tree tree; /* borrowed */
    const bool *is_exec; /* by function */
    struct cn_call_frame *top;
    const struct cn_call_frame *first, *last;
    struct cn_filter_scope scope;
    uint64_t last_ns;
};

/* Whether the next calls may be a run. */
static bool may_run(const struct cn_cct_task *task, const struct cn_cct_follow *follow)
{
    return follow->stack.filter->is_plain && follow->stack.count > 0 &&
           !follow->has_site && !task->options.is_collapsed;
}

static inline struct cct_run begin(const struct cn_cct_task *task,
                                   const struct cn_cct_follow *follow)
{
    const struct cn_call_stack *stack = &follow->stack;

    return (struct cct_run){
        .tree = task->tree,
        .is_exec = stack->filter->is_exec,
        .top = &stack->frames[stack->count - 1],
        .first = stack->frames,
        .last = &stack->frames[stack->capacity - 1],
        .scope = stack->scope,
        .last_ns = follow->last_ns,
    };
}

static inline void end(const struct cct_run *run, struct cn_cct_follow *follow)
{
    struct cn_call_stack *stack = &follow->stack;

    stack->count = (uint32_t)(run->top - stack->frames) + 1;
    stack->shown = run->top->shown_above + 1;
    follow->node = run->top->mark;
    follow->last_ns = run->last_ns;
}

static inline bool enter(struct cct_run *run, const struct cn_call *call)
{
    struct cn_call_frame *above = run->top, *frame = above + 1;

    if (call->depth != above->depth + 1 || above == run->last ||
        call->function == CN_NONE)
        return false;
    cn_cct_id node = cn_tree_find_cached(&run->tree, above->mark, call->function);
    if (node == 0)
        return false;
    *frame = (struct cn_call_frame){
        .enter_ns = call->time_ns,
        .address = call->address,
        .function = call->function,
        .depth = call->depth,
        .shown_above = above->shown_above + 1,
        .mark = node,
        .before = run->scope,
        .flags = run->is_exec[call->function] ? CN_FRAME_SHOWN | CN_FRAME_EXEC
                                              : CN_FRAME_SHOWN,
    };
    run->top = frame;
    return true;
}

/* Whether a call is the exit of the innermost call, unless that is the outermost. */
static inline bool leaves_top(const struct cct_run *run, const struct cn_call *call)
{
    const struct cn_call_frame *top = run->top;

    return call->kind == CN_CALL_EXIT && call->depth == top->depth &&
           call->function == top->function && call->function != CN_NONE &&
           call->time_ns >= top->enter_ns && top != run->first;
}

/* Keep the sample of a call that was followed. */
static inline void keep_sample(struct cn_cct_task *task, uint64_t recorded_ns,
                               cn_cct_id node)
{
    if (recorded_ns > task->seen_ns)
        task->seen_ns = recorded_ns;
    cn_thinner_put(&task->thinner, (struct cn_sample){task->seen_ns, node});
}

size_t cn_cct_run_count(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        const struct cn_call_batch *batch, size_t first)
{
    const struct cn_call *calls = batch->calls + first;
    const struct cn_call *recorded = batch->recorded ? batch->recorded + first : calls;
    size_t count = batch->count - first, i;
    bool keeps_samples = task->options.sample_max > 0;
    struct cct_run run;

    if (!may_run(task, follow))
        return 0;
    run = begin(task, follow);
    for (i = 0; i < count; i++) {
        const struct cn_call *call = &calls[i];

        if (call->kind == CN_CALL_ENTER) {
            if (!enter(&run, call))
                break;
        } else if (leaves_top(&run, call)) {
            struct cn_call_frame *frame = run.top--;
            uint64_t total_ns = call->time_ns - frame->enter_ns;
            uint64_t self_ns = cn_call_self_ns(call, total_ns, frame->child_ns);

            frame[-1].child_ns += total_ns;
            cn_cct_costs_add(&task->costs, frame->mark, total_ns, self_ns);
        } else {
            break;
        }
        run.last_ns = call->time_ns > run.last_ns ? call->time_ns : run.last_ns;
        if (keeps_samples)
            keep_sample(task, recorded[i].time_ns, run.top->mark);
    }
    /* The current node of a waiting task is not that of its innermost frame. */
    if (i > 0)
        end(&run, follow);
    return i;
}

size_t cn_cct_run_sample(struct cn_cct_task *task, struct cn_cct_follow *follow,
                         const struct cn_call *calls, size_t count, struct cn_sample *out)
{
    struct cct_run run;
    size_t i;

    if (!may_run(task, follow))
        return 0;
    run = begin(task, follow);
    for (i = 0; i < count; i++) {
        const struct cn_call *call = &calls[i];

        if (call->kind == CN_CALL_ENTER) {
            if (!enter(&run, call))
                break;
        } else if (leaves_top(&run, call)) {
            run.top--;
        } else {
            break;
        }
        run.last_ns = call->time_ns > run.last_ns ? call->time_ns : run.last_ns;
        out[i] = (struct cn_sample){run.last_ns, run.top->mark};
    }
    /* The current node of a waiting task is not that of its innermost frame. */
    if (i > 0)
        end(&run, follow);
    return i;
}
