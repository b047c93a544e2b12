#include "analyze/cct/cct_part.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

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

void cn_cct_part_init(struct cn_cct_task *part, const struct cn_cct_task_options *options)
{
    cn_cct_task_init(part, options);
    part->guess = cn_alloc(1, sizeof(*part->guess));
}

void cn_cct_task_mark(struct cn_cct_task *task, const struct cn_call_part *next)
{
    size_t i = task->part_count++;

    task->parts = cn_realloc(task->parts, task->part_count, sizeof(*task->parts));
    task->starts = cn_realloc(task->starts, task->part_count, sizeof(*task->starts));
    task->parts[i] = *next;
    task->starts[i] = (struct cn_cct_start){.first_sample = task->sample_count};
    cn_cct_follow_copy(&task->starts[i].follow, &task->follow);
}

/* Whether the open calls are those that the part guessed, and its clock is right. */
static bool fits(const struct cn_cct_task *task, const struct cn_cct_guess *guess)
{
    const struct cn_call_stack *stack = &task->follow.stack;
    const struct cn_call_clock *clock = &task->follow.clock;
    uint32_t depth = guess->depth;

    if (clock->seen_ns != guess->clock.seen_ns || clock->due_ns != guess->clock.due_ns ||
        clock->cost_ns != guess->clock.cost_ns || !guess->has_begun || guess->is_wrong ||
        task->follow.has_site || guess->return_count > stack->count ||
        stack->count > depth || (stack->count == 0) != (depth == 0))
        return false;
    for (uint32_t i = stack->count; i-- > 0;)
        if (stack->frames[i].depth != --depth || stack->frames[i].mark == 0 ||
            (stack->frames[i].flags & (CN_FRAME_EXEC | CN_FRAME_SCHEDULE)))
            return false;
    return true;
}

/* The constant by which the times of a part are ahead. */
static uint64_t ahead_ns(const struct cn_cct_task *task, const struct cn_cct_task *part)
{
    return part->guess->clock.now_ns - task->follow.clock.now_ns;
}

/* The key in the task for a key of the part. */
static uint32_t translate_key(struct cn_cct_task *task, const struct cn_cct_task *part,
                              uint32_t key)
{
    const struct cn_recording *rec = task->options.query->rec;
    uint64_t address;

    if (key & CN_CCT_SITE) {
        uint32_t site = key & ~CN_CCT_SITE;

        return CN_CCT_SITE |
               cn_cct_task_site(task, part->sites[site], part->site_times[site]);
    }
    address = cn_call_ids_address(&part->ids, rec, key);
    return address ? cn_call_ids_of(&task->ids, rec, CN_NONE, address) : key;
}

/* By node of the part: the node of the task, to be released with free(). */
static cn_cct_id *join_trees(struct cn_cct_task *task, const struct cn_cct_task *part)
{
    const struct cn_call_stack *stack = &task->follow.stack;
    uint32_t depth = part->guess->depth, unknown = depth - stack->count;
    cn_cct_id *nodes = cn_alloc(part->tree.count, sizeof(*nodes));

    for (size_t i = 1; i < part->tree.count; i++) {
        const struct cn_cct_link *link = &part->tree.links[i];

        if (i <= depth)
            nodes[i] = i <= unknown ? 0 : stack->frames[i - 1 - unknown].mark;
        else
            nodes[i] = cn_cct_child(&task->tree, nodes[link->parent],
                                    translate_key(task, part, link->key));
    }
    return nodes;
}

/* Count the returns of guessed calls. */
static void join_returns(struct cn_cct_task *task, const struct cn_cct_task *part)
{
    const struct cn_cct_guess *guess = part->guess;
    struct cn_call_stack *stack = &task->follow.stack;
    const struct cn_call_batch none = {0};
    uint32_t unknown = guess->depth - stack->count;

    for (size_t i = 0; i < guess->return_count; i++) {
        struct cn_cct_return ret = guess->returns[i];

        ret.call.time_ns -= ahead_ns(task, part);
        stack->frames[stack->count - 1].child_ns += ret.child_ns;
        (void)cn_cct_task_follow(task, &task->follow, &ret.call, &none, true);
    }
    for (uint32_t i = 0; i < stack->count; i++)
        stack->frames[i].child_ns += part->follow.stack.frames[i + unknown].child_ns;
}

/* Set the state of the task to the end of the part. */
static void join_follow(struct cn_cct_task *task, const struct cn_cct_task *part,
                        const cn_cct_id *nodes)
{
    struct cn_cct_follow *follow = &task->follow;
    const struct cn_cct_follow *from = &part->follow;
    uint32_t first = follow->stack.count;
    uint64_t last_ns = from->last_ns - ahead_ns(task, part);

    cn_call_stack_append(&follow->stack, &from->stack, part->guess->open_count);
    for (uint32_t i = first; i < follow->stack.count; i++) {
        follow->stack.frames[i].mark = nodes[follow->stack.frames[i].mark];
        follow->stack.frames[i].enter_ns -= ahead_ns(task, part);
    }
    follow->node = nodes[from->node];
    follow->site = from->site;
    follow->has_site = from->has_site;
    if (last_ns > follow->last_ns)
        follow->last_ns = last_ns;
    follow->clock = (struct cn_call_clock){
        .rec = from->clock.rec,
        .seen_ns = from->clock.seen_ns,
        .now_ns = from->clock.now_ns - ahead_ns(task, part),
        .cost_ns = from->clock.cost_ns,
        .due_ns = from->clock.due_ns,
    };
}

bool cn_cct_task_join(struct cn_cct_task *task, const struct cn_cct_task *part)
{
    bool is_empty = part->record_count == 0;
    cn_cct_id *nodes;

    if (!is_empty && !fits(task, part->guess))
        return false;
    task->is_damaged = part->is_damaged;
    task->damage = part->damage;
    if (is_empty)
        return true;
    nodes = join_trees(task, part);
    for (size_t i = part->guess->depth + 1; i < part->tree.count; i++)
        cn_cct_costs_join(&task->costs, nodes[i], &part->costs, (cn_cct_id)i);
    join_returns(task, part);
    join_follow(task, part, nodes);
    free(nodes);
    task->record_count += part->record_count;
    task->sample_count += part->sample_count;
    task->lost_count += part->lost_count;
    return true;
}

/* A part of a task. */
struct job {
    struct cn_cct_task *task;
    struct cn_call_part part;
    bool is_first;
    struct cn_cct_task own; /* counts a later part; the first counts in the task */
};

struct long_tasks {
    struct job *jobs;
    size_t count, capacity;
    const struct cn_progress *progress;
    struct cn_failures failures;
};

static uint64_t length(const struct cn_cct_member *member)
{
    const struct cn_cct_task_options *options = &member->task.options;

    return options->query->rec->tasks[options->task].data_len;
}

/* True if other workers would wait for a task at the end: for two workers, three equal
 * tasks are long, four are not. */
static bool is_long(const struct cn_cct_member *member, uint64_t all_len,
                    unsigned workers)
{
    return workers > 1 && length(member) > all_len / workers / 8 * 5 &&
           cn_cct_task_is_divisible(&member->task.options);
}

/* As many parts as workers: joining a part takes as long as its contexts, in order. The
 * result does not depend on the parts. */
static uint64_t part_len(uint64_t all_len, unsigned workers)
{
    uint64_t even = all_len / workers + 1, most = 4 * (uint64_t)CN_CALL_PART_LEN;

    return even < CN_CALL_PART_LEN ? CN_CALL_PART_LEN : even < most ? even : most;
}

static void add_jobs(struct long_tasks *l, struct cn_cct_task *task, uint64_t len)
{
    struct cn_call_part *parts;
    size_t count =
        cn_recording_parts(task->options.query->rec, task->options.task, len, &parts);

    for (size_t i = 0; i < count; i++) {
        l->jobs = cn_grow(l->jobs, l->count, &l->capacity, sizeof(*l->jobs));
        l->jobs[l->count++] =
            (struct job){.task = task, .part = parts[i], .is_first = i == 0};
    }
    free(parts);
}

static void count_run(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;
    struct job *job = &l->jobs[number];
    struct cn_cct_task *task = job->is_first ? job->task : &job->own;
    struct cn_call_span span = {&job->part, 0, UINT64_MAX};

    if (cn_failures_stopped(&l->failures, worker))
        return;
    if (!job->is_first)
        cn_cct_part_init(task, &job->task->options);
    if (!cn_cct_task_count(task, &span, l->progress, false,
                           cn_failures_error(&l->failures, worker)))
        cn_failures_note(&l->failures, worker, number);
}

/* Nothing is read after damage. */
static bool join(struct job *job, const struct cn_progress *progress,
                 struct cn_error *err)
{
    struct cn_call_span before = {&job->part, 0, 0}, rest = {&job->part, 0, UINT64_MAX};

    if (job->task->is_damaged && !job->is_first)
        return true;
    if (job->is_first) {
        /* It is counted already, and its start state is empty. */
        job->task->starts = cn_alloc(1, sizeof(*job->task->starts));
        job->task->parts = cn_alloc(1, sizeof(*job->task->parts));
        job->task->parts[0] = job->part;
        job->task->part_count = 1;
        return true;
    }
    cn_cct_task_mark(job->task, &job->part);
    before.end = rest.first = job->own.guess->left_out;
    return cn_cct_task_count(job->task, &before, progress, false, err) &&
           (cn_cct_task_join(job->task, &job->own) ||
            cn_cct_task_count(job->task, &rest, progress, false, err));
}

static void join_take(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;
    struct job *job = &l->jobs[number];
    struct cn_error *err = cn_failures_error(&l->failures, worker);

    if (!cn_failures_share(&l->failures, worker))
        return;
    if (!join(job, l->progress, err) ||
        !cn_progress_report(l->progress, "reading calls", number + 1, l->count, "parts",
                            err))
        cn_failures_note(&l->failures, worker, number);
}

static void release_finish(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;

    (void)worker;
    if (!l->jobs[number].is_first)
        cn_cct_task_done(&l->jobs[number].own);
}

bool cn_cct_long_tasks_count(struct cn_cct_member *members, size_t count,
                             unsigned workers, const struct cn_progress *progress,
                             struct cn_error *err)
{
    struct long_tasks l = {.progress = progress};
    struct cn_jobs jobs = {0, &l, count_run, join_take, release_finish};
    uint64_t all_len = 0;
    bool ok;

    for (size_t i = 0; i < count; i++)
        all_len += length(&members[i]);
    for (size_t i = 0; i < count; i++)
        if (is_long(&members[i], all_len, workers))
            add_jobs(&l, &members[i].task, part_len(all_len, workers));
    jobs.count = l.count;
    cn_failures_init(&l.failures, workers);
    cn_pool_run(&jobs, workers);
    ok = cn_failures_result(&l.failures, err);
    cn_failures_done(&l.failures);
    free(l.jobs);
    return ok;
}
