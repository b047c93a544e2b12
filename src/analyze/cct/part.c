#include "analyze/cct/part.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

bool cn_cct_task_is_divisible(const struct cn_cct_task_options *options)
{
    return !options->is_collapsed && !options->is_on &&
           !cn_cct_task_has_launches(options) && !cn_cct_task_has_heap(options) &&
           !options->query->rec->io &&
           options->query->rec->tasks[options->task].ranges == 0 &&
           cn_call_query_is_divisible(options->query);
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

/* Whether the open calls are those that the part guessed, all with nodes. */
static bool fits(const struct cn_cct_task *task, const struct cn_call_guess *guess)
{
    const struct cn_call_stack *stack = &task->follow.stack;

    if (task->follow.has_site || !cn_call_guess_fits(guess, stack, &task->follow.clock))
        return false;
    for (uint32_t i = 0; i < stack->count; i++)
        if (stack->frames[i].mark == 0)
            return false;
    return true;
}

/* The key in the task for a key of the part. */
static uint32_t translate_key(struct cn_cct_task *task, const struct cn_cct_task *part,
                              uint32_t key)
{
    const struct cn_recording *rec = task->options.query->rec;

    if (key & CN_CCT_SITE) {
        uint32_t site = key & ~CN_CCT_SITE;

        return CN_CCT_SITE |
               cn_cct_task_site(task, part->sites[site], part->site_times[site]);
    }
    uint64_t address = cn_call_ids_address(&part->ids, rec, key);
    return address ? cn_call_ids_of(&task->ids, rec, CN_NONE, address) : key;
}

/* By node of the part: the node of the task, to be released with free(). */
static cn_cct_id *join_trees(struct cn_cct_task *task, const struct cn_cct_task *part)
{
    const struct cn_call_stack *stack = &task->follow.stack;
    uint32_t depth = part->guess->depth, unknown = depth - stack->count;
    cn_cct_id *nodes = cn_alloc(part->tree.count, sizeof(*nodes));

    for (size_t i = 1; i < part->tree.count; i++) {
        const struct cn_tree_link *link = &part->tree.links[i];

        if (i <= depth)
            nodes[i] = i <= unknown ? 0 : stack->frames[i - 1 - unknown].mark;
        else
            nodes[i] = cn_tree_child(&task->tree, nodes[link->parent],
                                     translate_key(task, part, link->key));
    }
    return nodes;
}

static void count_return(void *arg, const struct cn_call *call)
{
    struct cn_cct_task *task = arg;
    const struct cn_call_batch none = {0};

    (void)cn_cct_task_follow(task, &task->follow, call, &none, true);
}

/* Count the returns of guessed calls, then set the state of the task to the end of the
 * part. */
static void join_follow(struct cn_cct_task *task, const struct cn_cct_task *part,
                        const cn_cct_id *nodes)
{
    struct cn_cct_follow *follow = &task->follow;
    const struct cn_cct_follow *from = &part->follow;
    uint64_t ahead_ns = cn_call_guess_ahead_ns(part->guess, &follow->clock);
    uint64_t last_ns = from->last_ns - ahead_ns;
    uint32_t first = cn_call_guess_join(part->guess, &from->stack, &follow->stack,
                                        ahead_ns, count_return, task);

    for (uint32_t i = first; i < follow->stack.count; i++)
        follow->stack.frames[i].mark = nodes[follow->stack.frames[i].mark];
    follow->node = nodes[from->node];
    follow->site = from->site;
    follow->has_site = from->has_site;
    if (last_ns > follow->last_ns)
        follow->last_ns = last_ns;
    follow->clock = cn_call_guess_clock(&from->clock, ahead_ns);
}

/* Append the samples of the part, at nodes of the task. */
static void join_samples(struct cn_cct_task *task, const struct cn_cct_task *part,
                         const cn_cct_id *nodes)
{
    cn_thinner_coarsen(&task->thinner, part->thinner.resolution_ns);
    for (size_t i = 0; i < part->thinner.count; i++) {
        struct cn_sample sample = part->thinner.list[i];

        /* As when it is read as a whole, time does not run backwards. */
        if (sample.time_ns < task->seen_ns)
            sample.time_ns = task->seen_ns;
        sample.context = nodes[sample.context];
        cn_thinner_put(&task->thinner, sample);
    }
    if (part->seen_ns > task->seen_ns)
        task->seen_ns = part->seen_ns;
}

cn_cct_id *cn_cct_task_join(struct cn_cct_task *task, const struct cn_cct_task *part)
{
    bool is_empty = part->record_count == 0;
    cn_cct_id *nodes;

    if (!is_empty && !fits(task, part->guess))
        return NULL;
    task->is_cut = part->is_cut;
    if (part->is_damaged)
        cn_cct_task_note_damage(task, &part->damage);
    if (is_empty)
        return cn_alloc(1, sizeof(*nodes));
    nodes = join_trees(task, part);
    join_follow(task, part, nodes);
    join_samples(task, part, nodes);
    task->record_count += part->record_count;
    task->sample_count += part->sample_count;
    task->lost_count += part->lost_count;
    return nodes;
}

void cn_cct_shared_costs_init(struct cn_cct_shared_costs *shared)
{
    *shared = (struct cn_cct_shared_costs){0};
    for (size_t i = 0; i < CN_CCT_SHARE_COUNT; i++)
        cn_lock_init(&shared->shares[i].lock);
}

void cn_cct_shared_costs_add(struct cn_cct_shared_costs *shared,
                             const struct cn_cct_task *part, cn_cct_id *nodes)
{
    size_t count = part->record_count > 0 ? part->tree.count : 0;

    for (size_t i = part->guess->depth + 1; i < count; i++) {
        struct cn_cct_share *share = &shared->shares[nodes[i] % CN_CCT_SHARE_COUNT];

        cn_lock_take(&share->lock);
        cn_cct_costs_join(&share->costs, nodes[i] / CN_CCT_SHARE_COUNT, &part->costs,
                          (cn_cct_id)i);
        cn_lock_release(&share->lock);
    }
    free(nodes);
}

void cn_cct_shared_costs_end(struct cn_cct_shared_costs *shared, struct cn_cct_task *task)
{
    for (size_t i = 0; i < CN_CCT_SHARE_COUNT; i++) {
        struct cn_cct_share *share = &shared->shares[i];

        for (size_t k = 0; k < share->costs.count; k++)
            cn_cct_costs_join(&task->costs, (cn_cct_id)(k * CN_CCT_SHARE_COUNT + i),
                              &share->costs, (cn_cct_id)k);
        cn_cct_costs_done(&share->costs);
        cn_lock_done(&share->lock);
    }
}

/* Counts a later part; the first counts in its task. */
struct later_part {
    struct cn_cct_task task;
    cn_cct_id *nodes; /* once it is joined */
};

struct long_tasks {
    struct cn_cct_member *members;
    struct cn_part_jobs jobs;
    struct later_part *later;            /* by job */
    struct cn_cct_shared_costs **shared; /* by member; NULL: it is not long */
    const struct cn_progress *progress;
    struct cn_failures failures;
};

static struct cn_cct_task *task_of(const struct long_tasks *l, size_t number)
{
    return &l->members[l->jobs.list[number].owner].task;
}

static uint64_t length(const struct cn_cct_member *member)
{
    const struct cn_cct_task_options *options = &member->task.options;

    return options->query->rec->tasks[options->task].data_len;
}

/* As many parts as workers: each builds a tree of its own. The result does not depend on
 * the parts. */
static uint64_t part_len(uint64_t all_len, unsigned workers)
{
    uint64_t even = all_len / workers + 1, most = 4 * (uint64_t)CN_CALL_PART_LEN;

    return even < CN_CALL_PART_LEN ? CN_CALL_PART_LEN : even < most ? even : most;
}

static void count_run(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;
    const struct cn_part_job *job = &l->jobs.list[number];
    struct cn_cct_task *task =
        job->number == 0 ? task_of(l, number) : &l->later[number].task;
    struct cn_call_span span = {&job->part, 0, UINT64_MAX};

    if (cn_failures_stopped(&l->failures, worker))
        return;
    if (job->number > 0)
        cn_cct_part_init(task, &task_of(l, number)->options);
    if (!cn_cct_task_count(task, &span, l->progress, false,
                           cn_failures_error(&l->failures, worker)))
        cn_failures_note(&l->failures, worker, number);
}

/* Nothing is read after a cut. */
static bool join(const struct long_tasks *l, size_t number, struct cn_error *err)
{
    const struct cn_part_job *job = &l->jobs.list[number];
    struct cn_cct_task *task = task_of(l, number);
    struct later_part *part = &l->later[number];
    struct cn_call_span before = {&job->part, 0, 0}, rest = {&job->part, 0, UINT64_MAX};

    if (task->is_cut && job->number > 0)
        return true;
    if (job->number == 0) {
        /* It is counted already, and its start state is empty. */
        task->starts = cn_alloc(1, sizeof(*task->starts));
        task->parts = cn_alloc(1, sizeof(*task->parts));
        task->parts[0] = job->part;
        task->part_count = 1;
        return true;
    }
    cn_cct_task_mark(task, &job->part);
    before.end = rest.first = part->task.guess->left_out;
    if (!cn_cct_task_count(task, &before, l->progress, false, err))
        return false;
    part->nodes = cn_cct_task_join(task, &part->task);
    return part->nodes || cn_cct_task_count(task, &rest, l->progress, false, err);
}

static void join_take(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;
    struct cn_error *err = cn_failures_error(&l->failures, worker);

    if (!cn_failures_share(&l->failures, worker))
        return;
    if (!join(l, number, err) ||
        !cn_progress_report(l->progress, "reading calls", number + 1, l->jobs.count,
                            "parts", err))
        cn_failures_note(&l->failures, worker, number);
}

static void add_finish(void *arg, size_t number, unsigned worker)
{
    const struct long_tasks *l = arg;
    const struct cn_part_job *job = &l->jobs.list[number];
    struct later_part *part = &l->later[number];

    (void)worker;
    if (part->nodes)
        cn_cct_shared_costs_add(l->shared[job->owner], &part->task, part->nodes);
    if (job->number > 0)
        cn_cct_task_done(&part->task);
}

static void end_run(void *arg, size_t member, unsigned worker)
{
    const struct long_tasks *l = arg;

    (void)worker;
    if (!l->shared[member])
        return;
    cn_cct_shared_costs_end(l->shared[member], &l->members[member].task);
    free(l->shared[member]);
}

bool cn_cct_long_tasks_count(struct cn_cct_member *members, size_t count,
                             unsigned workers, const struct cn_progress *progress,
                             struct cn_error *err)
{
    struct long_tasks l = {.members = members, .progress = progress};
    struct cn_jobs jobs = {0, &l, count_run, join_take, add_finish};
    struct cn_jobs ends = {.count = count, .arg = &l, .run = end_run};
    uint64_t all_len = 0;

    if (workers < 2)
        return true;

    for (size_t i = 0; i < count; i++)
        all_len += length(&members[i]);
    l.shared = cn_alloc(count, sizeof(*l.shared));
    for (size_t i = 0; i < count; i++) {
        const struct cn_cct_task_options *options = &members[i].task.options;

        if (!cn_call_task_is_long(length(&members[i]), all_len, workers) ||
            !cn_cct_task_is_divisible(options) ||
            cn_part_jobs_add(&l.jobs, i, options->query->rec, options->task,
                             part_len(all_len, workers)) == 0)
            continue;
        l.shared[i] = cn_alloc(1, sizeof(**l.shared));
        cn_cct_shared_costs_init(l.shared[i]);
    }
    l.later = cn_alloc(l.jobs.count, sizeof(*l.later));
    jobs.count = l.jobs.count;
    cn_failures_init(&l.failures, workers);
    cn_pool_run(&jobs, workers);
    bool ok = cn_failures_result(&l.failures, err);
    cn_failures_done(&l.failures);
    cn_pool_run(&ends, workers);
    free(l.later);
    free(l.shared);
    cn_part_jobs_done(&l.jobs);
    return ok;
}
