#include "analyze/calls/visit.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"

enum {
    PARTS_PER_WORKER = 8,
    PART_LEN_MIN = 1 << 20,
};

struct task_end {
    bool is_damaged;
    struct cn_error err;
};

struct visit_run {
    const struct cn_call_visit *visit;
    struct task_end *ends; /* by slot */
    uint32_t *orders;      /* by slot: of its first walk */
    uint32_t *whole;       /* slots of the tasks that are counted as a whole */
    size_t whole_count;
    struct cn_part_jobs jobs;
    struct cn_task_walk **walks; /* by job: that of a later part */
    struct cn_task_walk **tasks; /* by slot: that of a task in parts */
    uint64_t *part_lens;         /* by slot: bytes of records in a part, on average */
    uint64_t len, done_len;      /* bytes of records: all, and those of finished jobs */
};

static bool is_stopped(const struct cn_call_query *query)
{
    const struct cn_progress *progress = query->progress;

    return progress && progress->is_stopped && progress->is_stopped(progress->arg);
}

static struct cn_task_walk *walk_new(const struct cn_call_visit *visit, uint32_t slot,
                                     uint32_t order, bool *is_on)
{
    const struct cn_call_query *query = visit->query;
    struct cn_task_walk *walk = cn_alloc(1, visit->visitor->walk_size);

    walk->slot = slot;
    walk->order = order;
    walk->is_on = !query->filter->is_off;
    walk->clock.rec = query->rec;
    cn_call_stack_init(&walk->stack, query->rec, query->filter, query->tasks[slot],
                       query->range.first_ns > 0, is_on ? is_on : &walk->is_on);
    if (visit->visitor->begin)
        visit->visitor->begin(visit->arg, walk);
    return walk;
}

static void walk_free(const struct cn_call_visit *visit, struct cn_task_walk *walk)
{
    if (!walk)
        return;
    visit->visitor->done(visit->arg, walk);
    cn_call_stack_done(&walk->stack);
    cn_call_guess_free(walk->guess);
    free(walk);
}

static void note_damage(struct cn_task_walk *walk, const struct cn_error *err)
{
    if (!walk->is_damaged)
        walk->damage = *err;
    walk->is_damaged = true;
}

/* Count a task, or with `span` some calls of it. */
static void count(const struct cn_call_visit *visit, struct cn_task_walk *walk,
                  const struct cn_call_span *span)
{
    const struct cn_call_query *query = visit->query;
    uint32_t task = query->tasks[walk->slot];
    struct cn_call_guess *guess = walk->guess;
    const struct cn_call_clock *clock = guess ? NULL : &walk->clock;
    struct cn_call_feed feed = {0};
    struct cn_call_batch batch;
    enum cn_step step = CN_FAIL;
    struct cn_error err;

    if (span ? cn_call_feed_open_span(&feed, query, task, span, clock, &err)
             : cn_call_feed_open(&feed, query, task, &err))
        while (!(guess && guess->is_wrong) && !is_stopped(query) &&
               (step = cn_call_feed_next(&feed, &batch, &err)) == CN_ITEM) {
            if (guess && !guess->has_begun) {
                cn_call_guess_begin(guess, &walk->stack, &feed);
                walk->last_ns = guess->begin_ns;
            }
            visit->visitor->count(visit->arg, walk, &batch);
        }
    walk->is_cut = step == CN_FAIL && !cn_call_feed_is_whole(&feed);
    if (step == CN_FAIL)
        note_damage(walk, &err);
    walk->clock = feed.clock;
    if (guess)
        guess->left_out = feed.left_out;
    cn_call_feed_close(&feed);
}

static void end_walk(const struct cn_call_visit *visit, struct cn_task_walk *walk,
                     unsigned worker)
{
    if (visit->visitor->end)
        visit->visitor->end(visit->arg, walk, worker);
    visit->visitor->merge(visit->arg, walk, worker);
}

/* A task was counted to its end, or to its damage. */
static void finish_task(const struct visit_run *run, struct cn_task_walk *walk,
                        unsigned worker)
{
    const struct cn_call_visit *visit = run->visit;

    end_walk(visit, walk, worker);
    run->ends[walk->slot] = (struct task_end){walk->is_damaged, walk->damage};
    walk_free(visit, walk);
}

/* In `take`, which the pool serialises: `len` more bytes of records were read. */
static void report_done(struct visit_run *run, uint64_t len)
{
    const struct cn_progress *progress = run->visit->query->progress;

    run->done_len += len;
    if (progress)
        (void)progress->report(progress->arg, "reading calls", run->done_len, run->len,
                               "bytes");
}

static void whole_run(void *arg, size_t number, unsigned worker)
{
    const struct visit_run *run = arg;
    uint32_t slot = run->whole[number];
    struct cn_task_walk *walk = walk_new(run->visit, slot, run->orders[slot], NULL);

    count(run->visit, walk, NULL);
    finish_task(run, walk, worker);
}

static uint64_t length(const struct cn_call_query *query, uint32_t slot)
{
    return query->rec->tasks[query->tasks[slot]].data_len;
}

static void whole_take(void *arg, size_t number, unsigned worker)
{
    struct visit_run *run = arg;

    (void)worker;
    report_done(run, length(run->visit->query, run->whole[number]));
}

static void part_run(void *arg, size_t number, unsigned worker)
{
    const struct visit_run *run = arg;
    const struct cn_part_job *job = &run->jobs.list[number];
    uint32_t order = run->orders[job->owner] + 2 * job->number;
    struct cn_task_walk *walk = walk_new(run->visit, (uint32_t)job->owner, order, NULL);
    struct cn_call_span span = {&job->part, 0, UINT64_MAX};

    (void)worker;
    if (job->number == 0) {
        run->tasks[job->owner] = walk;
    } else {
        run->walks[number] = walk;
        walk->guess = cn_alloc(1, sizeof(*walk->guess));
        walk->order++;
    }
    count(run->visit, walk, &span);
}

/* The calls that are open in the task. The functions of those that returned are known. Times
 * do not run backwards at the start of the part. */
static bool fits(const struct cn_task_walk *walk, const struct cn_task_walk *part)
{
    const struct cn_call_guess *guess = part->guess;
    const struct cn_call_stack *stack = &walk->stack;

    if (!cn_call_guess_fits(guess, stack, &walk->clock) ||
        (stack->count < guess->depth && stack->count == guess->return_count) ||
        walk->last_ns != guess->begin_ns - cn_call_guess_ahead_ns(guess, &walk->clock))
        return false;
    for (size_t i = 0; i < guess->return_count; i++) {
        const struct cn_call *call = &guess->returns[i].call;
        const struct cn_call_frame *frame = &stack->frames[stack->count - 1 - i];

        if (frame->function != call->function || frame->address != call->address)
            return false;
    }
    return true;
}

struct leaving {
    const struct cn_call_visit *visit;
    struct cn_task_walk *walk;
};

static void count_return(void *arg, const struct cn_call *call)
{
    const struct leaving *leaving = arg;
    struct cn_call_batch batch = {.calls = call, .count = 1};

    leaving->visit->visitor->count(leaving->visit->arg, leaving->walk, &batch);
}

/* False, with nothing changed, when the guess was wrong. */
static bool join(const struct cn_call_visit *visit, struct cn_task_walk *walk,
                 struct cn_task_walk *part)
{
    struct leaving leaving = {visit, walk};

    if (!fits(walk, part))
        return false;
    part->ahead_ns = cn_call_guess_ahead_ns(part->guess, &walk->clock);
    visit->visitor->join(visit->arg, walk, part);
    uint32_t first = cn_call_guess_join(part->guess, &part->stack, &walk->stack,
                                        part->ahead_ns, count_return, &leaving);
    for (uint32_t i = first; i < walk->stack.count; i++)
        visit->visitor->resume(visit->arg, walk, part, &walk->stack.frames[i]);
    if (part->last_ns - part->ahead_ns > walk->last_ns)
        walk->last_ns = part->last_ns - part->ahead_ns;
    walk->clock = cn_call_guess_clock(&part->clock, part->ahead_ns);
    walk->is_cut = part->is_cut;
    if (part->is_damaged)
        note_damage(walk, &part->damage);
    return true;
}

/* Calls that a part left out come before those it counted. Nothing is read after a cut. A
 * part that was not joined is released. */
static void part_take(void *arg, size_t number, unsigned worker)
{
    struct visit_run *run = arg;
    const struct cn_part_job *job = &run->jobs.list[number];
    struct cn_task_walk *walk = run->tasks[job->owner], *part = run->walks[number];
    struct cn_call_span before = {&job->part, 0, 0}, rest = {&job->part, 0, UINT64_MAX};
    bool is_joined = false;

    (void)worker;
    report_done(run, run->part_lens[job->owner]);
    if (job->number == 0)
        return;
    if (!walk->is_cut) {
        walk->order = part->order - 1;
        before.end = rest.first = part->guess->left_out;
        count(run->visit, walk, &before);
        is_joined = join(run->visit, walk, part);
        if (!is_joined)
            count(run->visit, walk, &rest);
    }
    if (!is_joined) {
        walk_free(run->visit, part);
        run->walks[number] = NULL;
    }
}

static void part_finish(void *arg, size_t number, unsigned worker)
{
    const struct visit_run *run = arg;
    const struct cn_part_job *job = &run->jobs.list[number];
    struct cn_task_walk *part = run->walks[number];

    if (part)
        run->visit->visitor->merge(run->visit->arg, part, worker);
    walk_free(run->visit, part);
    if (job->is_last)
        finish_task(run, run->tasks[job->owner], worker);
}

/* Divide long tasks, and list the others. */
static void divide(struct visit_run *run)
{
    const struct cn_call_visit *visit = run->visit;
    const struct cn_call_query *query = visit->query;
    uint64_t all_len = 0, part_len = visit->part_len;
    uint32_t order = 0;
    unsigned workers = visit->workers > 0 ? visit->workers : 1;
    bool may_divide = visit->visitor->join && cn_call_query_is_divisible(query);

    for (uint32_t i = 0; i < query->task_count; i++)
        all_len += length(query, i);
    if (part_len == 0) {
        part_len = all_len / workers / PARTS_PER_WORKER;
        if (part_len < PART_LEN_MIN)
            part_len = PART_LEN_MIN;
        if (part_len > CN_CALL_PART_LEN)
            part_len = CN_CALL_PART_LEN;
    }
    for (uint32_t i = 0; i < query->task_count; i++) {
        /* Parts cost little: divide tasks that are a third of a worker's share. */
        bool is_long =
            visit->part_len > 0 ||
            (workers > 1 && cn_call_task_is_long(length(query, i), all_len, 2 * workers));
        size_t count = 0;

        if (is_long && may_divide)
            count =
                cn_part_jobs_add(&run->jobs, i, query->rec, query->tasks[i], part_len);
        run->part_lens[i] = count > 0 ? length(query, i) / count : 0;
        if (count == 0)
            run->whole[run->whole_count++] = i;
        run->orders[i] = order;
        order += 2 * (uint32_t)count + 1;
    }
}

static bool visit_tasks(const struct cn_call_visit *visit,
                        struct cn_call_damages *damages, struct cn_error *err)
{
    const struct cn_call_query *query = visit->query;
    struct visit_run run = {
        .visit = visit,
        .ends = cn_alloc(query->task_count, sizeof(*run.ends)),
        .orders = cn_alloc(query->task_count, sizeof(*run.orders)),
        .whole = cn_alloc(query->task_count, sizeof(*run.whole)),
        .part_lens = cn_alloc(query->task_count, sizeof(*run.part_lens)),
        .tasks = cn_alloc(query->task_count, sizeof(struct cn_task_walk *)),
    };

    divide(&run);
    for (uint32_t i = 0; i < query->task_count; i++)
        run.len += length(query, i);
    run.walks = cn_alloc(run.jobs.count, sizeof(struct cn_task_walk *));
    cn_pool_run(&(struct cn_jobs){run.jobs.count, &run, part_run, part_take, part_finish},
                visit->workers);
    cn_pool_run(&(struct cn_jobs){run.whole_count, &run, whole_run, whole_take, NULL},
                visit->workers);
    for (uint32_t i = 0; i < query->task_count; i++)
        if (run.ends[i].is_damaged)
            cn_call_damages_add(damages, query->tasks[i], &run.ends[i].err);
    cn_part_jobs_done(&run.jobs);
    free(run.walks);
    free(run.tasks);
    free(run.whole);
    free(run.part_lens);
    free(run.orders);
    free(run.ends);
    return cn_progress_check(query->progress, "reading calls", err);
}

static bool visit_merged(const struct cn_call_visit *visit,
                         struct cn_call_damages *damages, struct cn_error *err)
{
    const struct cn_call_query *query = visit->query;
    bool is_on = !query->filter->is_off;
    struct cn_call_merge merge;
    struct cn_merged_call next;

    if (!cn_call_merge_open(&merge, query, err))
        return false;
    struct cn_task_walk **walks =
        cn_alloc(query->task_count, sizeof(struct cn_task_walk *));
    for (uint32_t i = 0; i < query->task_count; i++)
        walks[i] = walk_new(visit, i, i, &is_on);
    while (!is_stopped(query) && cn_call_merge_next(&merge, &next)) {
        struct cn_call_batch batch = *next.batch;

        if (batch.recorded)
            batch.recorded += next.call - batch.calls;
        batch.calls = next.call;
        batch.count = 1;
        visit->visitor->count(visit->arg, walks[next.slot], &batch);
    }
    for (uint32_t i = 0; i < query->task_count; i++) {
        end_walk(visit, walks[i], 0);
        walk_free(visit, walks[i]);
    }
    free(walks);
    *damages = merge.damages;
    merge.damages = (struct cn_call_damages){0};
    cn_call_merge_close(&merge);
    return cn_progress_check(query->progress, "reading calls", err);
}

bool cn_call_visit_run(const struct cn_call_visit *visit, struct cn_call_damages *damages,
                       struct cn_error *err)
{
    return visit->is_ordered ? visit_merged(visit, damages, err)
                             : visit_tasks(visit, damages, err);
}
