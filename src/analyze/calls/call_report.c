#include "analyze/calls/call_report.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_stack.h"
#include "analyze/calls/call_tally.h"
#include "base/alloc.h"
#include "base/run/pool.h"

/* What a task left behind. */
struct remains {
    struct cn_call_stack stack;
    uint64_t last_ns;
    uint64_t lost_count; /* records */
    enum cn_step step;
    struct cn_error err;
};

struct build {
    const struct cn_call_query *query;
    struct cn_call_tally *tallies; /* one a worker; read in time order: one a task */
    struct remains *remains;       /* by slot of the query */
    bool is_on;
    bool *task_is_on; /* each task's own switch where they do not share one */
};

static void count_event(struct cn_call_tally *tally, struct cn_call_stack *stack,
                        const struct cn_call *call)
{
    struct cn_call_end ended;

    if (call->address == CN_EVENT_SCHED_IN) {
        if (cn_call_stack_wake(stack, call, &ended) &&
            (ended.frame.flags & CN_FRAME_SHOWN))
            cn_call_tally_leave(tally, &ended);
    } else if (cn_call_stack_may_sleep(stack, call)) {
        (void)cn_call_stack_sleep(stack, call);
    }
}

static void count_call(struct cn_call_tally *tally, struct remains *task,
                       const struct cn_call *call, const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &task->stack;
    struct cn_call_frame *frame;
    struct cn_call_end ended;
    uint64_t total_ns, self_ns;

    if (call->time_ns > task->last_ns)
        task->last_ns = call->time_ns;
    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        frame = cn_call_stack_enter_quick(stack, call, batch);
        if (frame->flags & CN_FRAME_SHOWN)
            cn_call_tally_enter(tally, stack, frame);
        break;
    case CN_CALL_EXIT:
        frame = cn_call_stack_leave_top(stack, call, &total_ns, &self_ns);
        if (frame) {
            cn_call_tally_count(tally, frame, total_ns, self_ns);
            break;
        }
        cn_call_stack_leave(stack, call, &ended);
        if (ended.frame.flags & CN_FRAME_SHOWN)
            cn_call_tally_leave(tally, &ended);
        break;
    case CN_CALL_EVENT:
        count_event(tally, stack, call);
        break;
    case CN_CALL_LOST:
        task->lost_count += call->address;
        break;
    }
}

/* A task at a time, on any worker. */
static void count_task(void *arg, size_t job, unsigned worker)
{
    struct build *build = arg;
    const struct cn_call_query *query = build->query;
    struct remains *task = &build->remains[job];
    struct cn_call_feed feed;
    struct cn_call_batch batch;

    task->step = CN_FAIL;
    if (!cn_call_feed_open(&feed, query->rec, query->filter, query->tasks[job],
                           query->range, &task->err))
        return;
    while ((task->step = cn_call_feed_next(&feed, &batch, &task->err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            count_call(&build->tallies[worker], task, &batch.calls[i], &batch);
    cn_call_feed_close(&feed);
}

/* All tasks in the order of time: triggers that switch the view on and off work
 * across tasks. */
static bool count_merged(struct build *build, struct cn_call_damages *damages,
                         struct cn_error *err)
{
    struct cn_call_merge merge;
    struct cn_merged_call next;

    if (!cn_call_merge_open(&merge, build->query, err))
        return false;
    while (cn_call_merge_next(&merge, &next))
        count_call(&build->tallies[next.slot], &build->remains[next.slot], next.call,
                   next.batch);
    for (size_t i = 0; i < merge.damages.count; i++)
        cn_call_damages_add(damages, merge.damages.list[i].task,
                            &merge.damages.list[i].err);
    cn_call_merge_close(&merge);
    return true;
}

/* The marks say where the same function was entered before; they hold as long as the
 * stack does. */
static void cut_task(struct cn_call_tally *tally, struct remains *task, uint64_t last_ns)
{
    struct cn_call_end ended;

    while (task->stack.count > 0) {
        cn_call_stack_cut(&task->stack, last_ns, &ended);
        if ((ended.frame.flags & CN_FRAME_SHOWN) &&
            !(ended.frame.flags & (CN_FRAME_SCHEDULE | CN_FRAME_EXEC)))
            cn_call_tally_leave(tally, &ended);
    }
}

/* Calls that never returned last until the end of the recording; when only a part of
 * it is looked at, nobody knows how long they last. */
static void cut_all(struct build *build, struct cn_call_tally *tally)
{
    const struct cn_call_query *query = build->query;
    uint64_t last_ns = 0;

    if (query->range.last_ns < UINT64_MAX)
        return;
    for (uint32_t i = 0; i < query->task_count; i++)
        if (build->remains[i].last_ns > last_ns)
            last_ns = build->remains[i].last_ns;
    for (uint32_t i = 0; i < query->task_count; i++)
        cut_task(tally, &build->remains[i], last_ns);
}

static void merge_histogram(struct cn_histogram **into, const struct cn_histogram *from)
{
    if (!from)
        return;
    if (!*into)
        *into = cn_alloc(1, sizeof(**into));
    cn_histogram_merge(*into, from);
}

/* Add the slots of a tally to the rows of their names. */
static void merge_tally(struct cn_call_report *report, const struct cn_call_tally *tally,
                        size_t *capacity)
{
    const struct cn_recording *rec = tally->rec;

    for (size_t i = 0; i < tally->slot_count; i++) {
        const struct cn_tally_slot *slot = &tally->slots[i];
        uint64_t address = cn_call_ids_address(&tally->ids, rec, slot->id);
        bool is_known = slot->id < rec->function_count + 2;
        char buffer[CN_CALL_NAME_MAX];
        struct cn_call_row *row;
        uint32_t at;

        if (slot->cost.calls == 0)
            continue;
        at = cn_names_add(&report->names, cn_call_name(rec, is_known ? slot->id : CN_NONE,
                                                       address, buffer));
        if (at == report->row_count) {
            report->rows = cn_grow(report->rows, at, capacity, sizeof(*report->rows));
            report->rows[report->row_count++] = (struct cn_call_row){
                .function = slot->id,
                .cost = {.total.min_ns = UINT64_MAX, .self.min_ns = UINT64_MAX},
            };
        }
        row = &report->rows[at];
        if (slot->last_ns > row->last_ns) {
            row->function = slot->id;
            row->last_ns = slot->last_ns;
        }
        cn_call_cost_merge(&row->cost, &slot->cost);
        merge_histogram(&row->totals, slot->totals);
        merge_histogram(&row->selfs, slot->selfs);
        report->call_count += slot->cost.calls;
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct cn_call_row *)a)->name,
                  ((const struct cn_call_row *)b)->name);
}

static void finish_rows(struct cn_call_report *report)
{
    for (size_t i = 0; i < report->row_count; i++)
        report->rows[i].name = report->names.list[i];
    if (report->row_count > 0)
        qsort(report->rows, report->row_count, sizeof(*report->rows), compare_names);
}

static bool count_all(struct build *build, unsigned tally_count,
                      struct cn_call_damages *damages, struct cn_error *err)
{
    const struct cn_call_query *query = build->query;
    struct cn_jobs jobs = {.count = query->task_count, .arg = build, .run = count_task};

    if (query->filter->has_switches)
        return count_merged(build, damages, err);
    cn_pool_run(&jobs, tally_count);
    for (uint32_t i = 0; i < query->task_count; i++)
        if (build->remains[i].step == CN_FAIL)
            cn_call_damages_add(damages, query->tasks[i], &build->remains[i].err);
    return true;
}

bool cn_call_report_build(struct cn_call_report *report,
                          const struct cn_call_query *query, unsigned workers,
                          struct cn_call_report_options options, struct cn_error *err)
{
    bool is_merged = query->filter->has_switches;
    unsigned tally_count = is_merged ? query->task_count : workers;
    struct build build = {
        .query = query,
        .tallies = cn_alloc(tally_count + 1, sizeof(*build.tallies)),
        .remains = cn_alloc(query->task_count, sizeof(*build.remains)),
        .is_on = !query->filter->is_off,
        .task_is_on = cn_alloc(query->task_count, sizeof(*build.task_is_on)),
    };
    size_t capacity = 0;
    bool ok;

    *report = (struct cn_call_report){0};
    for (unsigned i = 0; i <= tally_count; i++)
        cn_call_tally_init(&build.tallies[i], query->rec, options);
    for (uint32_t i = 0; i < query->task_count; i++) {
        build.task_is_on[i] = build.is_on;
        cn_call_stack_init(&build.remains[i].stack, query->rec, query->filter,
                           query->tasks[i], query->range.first_ns > 0,
                           is_merged ? &build.is_on : &build.task_is_on[i]);
    }
    ok = count_all(&build, tally_count, &report->damages, err);
    if (ok)
        cut_all(&build, &build.tallies[tally_count]);
    for (unsigned i = 0; i <= tally_count; i++) {
        if (ok)
            merge_tally(report, &build.tallies[i], &capacity);
        cn_call_tally_done(&build.tallies[i]);
    }
    for (uint32_t i = 0; i < query->task_count; i++) {
        report->lost_count += build.remains[i].lost_count;
        cn_call_stack_done(&build.remains[i].stack);
    }
    free(build.tallies);
    free(build.remains);
    free(build.task_is_on);
    finish_rows(report);
    return ok;
}

void cn_call_report_done(struct cn_call_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        if (report->rows[i].totals)
            cn_histogram_done(report->rows[i].totals);
        if (report->rows[i].selfs)
            cn_histogram_done(report->rows[i].selfs);
        free(report->rows[i].totals);
        free(report->rows[i].selfs);
    }
    free(report->rows);
    cn_names_done(&report->names);
    cn_call_damages_done(&report->damages);
}
