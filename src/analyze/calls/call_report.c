#include "analyze/calls/call_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_ids.h"
#include "analyze/calls/call_stack.h"
#include "base/alloc.h"

/* The costs of one function so far. */
struct slot {
    uint32_t id;
    uint32_t innermost; /* 1 + the index of its innermost frame, if that is still open */
    uint64_t last_ns;   /* when it last ended */
    struct cn_call_cost cost;
    struct cn_histogram *totals, *selfs;
};

/* Costs by function, of one worker. */
struct tally {
    const struct cn_recording *rec;
    struct cn_call_ids ids;
    uint32_t *slot_of; /* by id: 1 + its slot; 0 when there is none */
    size_t slot_of_count, slot_of_capacity;
    struct slot *slots;
    size_t slot_count, slot_capacity;
    struct cn_call_report_options options;
};

struct task {
    struct cn_call_stack stack;
    bool is_on; /* its own switch, unless tasks share one */
    uint64_t last_ns;
    uint64_t lost_count; /* records */
};

struct build {
    const struct cn_call_query *query;
    struct tally *tallies; /* one per worker; in the order of time: one per task */
    struct task *tasks;    /* by slot of the query */
    bool is_on;            /* the switch that tasks share */
};

void cn_call_squares_add(struct cn_call_squares *squares, uint64_t ns)
{
    uint64_t low = ns & UINT32_MAX, high = ns >> 32;
    uint64_t middle = low * high;
    uint64_t square = low * low;

    /* (2^32 high + low)^2, carried by hand. */
    squares->high += high * high + (middle >> 31);
    middle <<= 33;
    square += middle;
    squares->high += square < middle;
    squares->low += square;
    squares->high += squares->low < square;
}

static void histogram_free(struct cn_histogram *histogram)
{
    if (histogram)
        cn_histogram_done(histogram);
    free(histogram);
}

static void tally_done(struct tally *tally)
{
    for (size_t i = 0; i < tally->slot_count; i++) {
        histogram_free(tally->slots[i].totals);
        histogram_free(tally->slots[i].selfs);
    }
    cn_call_ids_done(&tally->ids);
    free(tally->slot_of);
    free(tally->slots);
}

static struct slot *add_slot(struct tally *tally, uint32_t id)
{
    struct slot *slot;

    tally->slot_of = cn_grow_to(tally->slot_of, (size_t)id + 1, &tally->slot_of_capacity,
                                sizeof(*tally->slot_of));
    while (tally->slot_of_count <= id)
        tally->slot_of[tally->slot_of_count++] = 0;
    tally->slots = cn_grow(tally->slots, tally->slot_count, &tally->slot_capacity,
                           sizeof(*tally->slots));
    slot = &tally->slots[tally->slot_count++];
    *slot = (struct slot){.id = id};
    slot->cost.total.min_ns = slot->cost.self.min_ns = UINT64_MAX;
    if (tally->options.with_histograms) {
        slot->totals = cn_alloc(1, sizeof(*slot->totals));
        slot->selfs = cn_alloc(1, sizeof(*slot->selfs));
    }
    tally->slot_of[id] = (uint32_t)tally->slot_count;
    return slot;
}

static struct slot *find_slot(struct tally *tally, uint32_t function, uint64_t address)
{
    uint32_t id = cn_call_ids_of(&tally->ids, tally->rec, function, address);

    return id < tally->slot_of_count && tally->slot_of[id]
               ? &tally->slots[tally->slot_of[id] - 1]
               : add_slot(tally, id);
}

/* Note in an entered frame its slot, and whether its function was open already. */
static void tally_enter(struct tally *tally, const struct cn_call_stack *stack,
                        struct cn_call_frame *frame)
{
    struct slot *slot = find_slot(tally, frame->function, frame->address);
    uint32_t at = (uint32_t)(frame - stack->frames);
    uint32_t outer = slot->innermost;

    /* It may be from before a repair, or of another task: then it is not open. */
    if (outer > at || (outer > 0 && stack->frames[outer - 1].function != frame->function))
        outer = 0;
    frame->mark = outer;
    frame->slot = (uint32_t)(slot - tally->slots);
    slot->innermost = at + 1;
}

static inline void add_time(struct cn_call_times *times, uint64_t ns)
{
    times->sum_ns += ns;
    if (ns < times->min_ns)
        times->min_ns = ns;
    if (ns > times->max_ns)
        times->max_ns = ns;
}

/* Count a call that ended. The frame has the slot that it got when it was entered, unless
 * another function ended in it, or it was never entered. */
static inline void tally_end(struct tally *tally, const struct cn_call_frame *frame,
                             uint64_t total_ns, uint64_t self_ns)
{
    struct slot *slot =
        frame->slot < tally->slot_count && tally->slots[frame->slot].id == frame->function
            ? &tally->slots[frame->slot]
            : find_slot(tally, frame->function, frame->address);

    slot->cost.calls++;
    add_time(&slot->cost.total, total_ns);
    add_time(&slot->cost.self, self_ns);
    if (frame->mark == 0)
        slot->cost.total_ns += total_ns;
    slot->innermost = frame->mark;
    if (frame->enter_ns + total_ns > slot->last_ns)
        slot->last_ns = frame->enter_ns + total_ns;
    if (tally->options.with_squares) {
        cn_call_squares_add(&slot->cost.total_squares, total_ns);
        cn_call_squares_add(&slot->cost.self_squares, self_ns);
    }
    if (slot->totals) {
        cn_histogram_add(slot->totals, total_ns);
        cn_histogram_add(slot->selfs, self_ns);
    }
}

static void tally_shown(struct tally *tally, const struct cn_call_end *ended)
{
    if (ended->frame.flags & CN_FRAME_SHOWN)
        tally_end(tally, &ended->frame, ended->total_ns, ended->self_ns);
}

static void count_call(struct tally *tally, struct task *task, const struct cn_call *call,
                       const struct cn_call_batch *batch)
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
            tally_enter(tally, stack, frame);
        break;
    case CN_CALL_EXIT:
        frame = cn_call_stack_leave_top(stack, call, &total_ns, &self_ns);
        if (frame) {
            tally_end(tally, frame, total_ns, self_ns);
            break;
        }
        cn_call_stack_leave(stack, call, &ended);
        tally_shown(tally, &ended);
        break;
    case CN_CALL_EVENT:
        if (call->address == CN_EVENT_SCHED_IN) {
            if (cn_call_stack_wake(stack, call, &ended))
                tally_shown(tally, &ended);
        } else if (cn_call_stack_may_sleep(stack, call)) {
            (void)cn_call_stack_sleep(stack, call);
        }
        break;
    case CN_CALL_LOST:
        task->lost_count += call->address;
        break;
    }
}

static void count_batch(void *arg, uint32_t slot, unsigned worker,
                        const struct cn_call_batch *batch)
{
    const struct build *build = arg;
    struct tally *tally =
        &build->tallies[build->query->filter->has_switches ? slot : worker];

    for (size_t i = 0; i < batch->count; i++)
        count_call(tally, &build->tasks[slot], &batch->calls[i], batch);
}

/* Calls that never returned, or not within the time range, end with the last record of their
 * task there. The marks of frames are valid as long as their stack. */
static void end_open_calls(struct build *build, struct tally *tally)
{
    const struct cn_call_query *query = build->query;
    struct cn_call_end ended;

    for (uint32_t i = 0; i < query->task_count; i++)
        while (build->tasks[i].stack.count > 0) {
            cn_call_stack_cut(&build->tasks[i].stack, build->tasks[i].last_ns, &ended);
            if (!(ended.frame.flags & (CN_FRAME_SCHEDULE | CN_FRAME_EXEC)))
                tally_shown(tally, &ended);
        }
    /* The shortest call of a function is one that returned, if any did. */
    for (size_t i = 0; i < tally->slot_count; i++)
        tally->slots[i].cost.total.min_ns = tally->slots[i].cost.self.min_ns = UINT64_MAX;
}

static void merge_times(struct cn_call_times *into, const struct cn_call_times *from)
{
    into->sum_ns += from->sum_ns;
    if (from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
}

static void merge_squares(struct cn_call_squares *into,
                          const struct cn_call_squares *from)
{
    into->low += from->low;
    into->high += from->high + (into->low < from->low);
}

static void merge_costs(struct cn_call_cost *into, const struct cn_call_cost *from)
{
    into->calls += from->calls;
    into->total_ns += from->total_ns;
    merge_times(&into->total, &from->total);
    merge_times(&into->self, &from->self);
    merge_squares(&into->total_squares, &from->total_squares);
    merge_squares(&into->self_squares, &from->self_squares);
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
static void merge_tally(struct cn_call_report *report, const struct tally *tally,
                        size_t *capacity)
{
    const struct cn_recording *rec = tally->rec;

    for (size_t i = 0; i < tally->slot_count; i++) {
        const struct slot *slot = &tally->slots[i];
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
        merge_costs(&row->cost, &slot->cost);
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

bool cn_call_report_build(struct cn_call_report *report,
                          const struct cn_call_query *query, unsigned workers,
                          struct cn_call_report_options options, struct cn_error *err)
{
    bool is_ordered = query->filter->has_switches;
    unsigned tally_count = (is_ordered ? query->task_count : workers) + 1;
    struct build build = {
        .query = query,
        .tallies = cn_alloc(tally_count, sizeof(*build.tallies)),
        .tasks = cn_alloc(query->task_count, sizeof(*build.tasks)),
        .is_on = !query->filter->is_off,
    };
    struct cn_call_visit visit = {query, is_ordered, workers, count_batch, &build};
    size_t capacity = 0;
    bool ok;

    *report = (struct cn_call_report){0};
    for (unsigned i = 0; i < tally_count; i++)
        build.tallies[i] = (struct tally){.rec = query->rec, .options = options};
    for (uint32_t i = 0; i < query->task_count; i++) {
        build.tasks[i].is_on = build.is_on;
        cn_call_stack_init(&build.tasks[i].stack, query->rec, query->filter,
                           query->tasks[i], query->range.first_ns > 0,
                           is_ordered ? &build.is_on : &build.tasks[i].is_on);
    }
    ok = cn_call_visit_run(&visit, &report->damages, err);
    if (ok)
        end_open_calls(&build, &build.tallies[tally_count - 1]);
    for (unsigned i = 0; i < tally_count; i++) {
        if (ok)
            merge_tally(report, &build.tallies[i], &capacity);
        tally_done(&build.tallies[i]);
    }
    for (uint32_t i = 0; i < query->task_count; i++) {
        report->lost_count += build.tasks[i].lost_count;
        cn_call_stack_done(&build.tasks[i].stack);
    }
    free(build.tallies);
    free(build.tasks);
    for (size_t i = 0; i < report->row_count; i++) {
        struct cn_call_cost *cost = &report->rows[i].cost;

        report->rows[i].name = report->names.list[i];
        if (cost->total.min_ns == UINT64_MAX) {
            cost->total.min_ns = cost->total.max_ns;
            cost->self.min_ns = cost->self.max_ns;
        }
    }
    if (report->row_count > 0)
        qsort(report->rows, report->row_count, sizeof(*report->rows), compare_names);
    return ok;
}

void cn_call_report_done(struct cn_call_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        histogram_free(report->rows[i].totals);
        histogram_free(report->rows[i].selfs);
    }
    free(report->rows);
    cn_names_done(&report->names);
    cn_call_damages_done(&report->damages);
}

uint64_t cn_call_times_mean(const struct cn_call_times *times, uint64_t calls)
{
    return calls ? times->sum_ns / calls : 0;
}

double cn_call_times_deviation(const struct cn_call_times *times,
                               const struct cn_call_squares *squares, uint64_t calls)
{
    double count = (double)calls;
    /* Whole nanoseconds like uftrace, so that all digits agree. */
    double mean = floor((double)times->sum_ns / count);
    double sum = ldexp((double)squares->high, 64) + (double)squares->low;
    double variance = floor(sum / count) - mean * mean;

    return 100 * sqrt((variance > 0 ? variance : 0) / count) / mean;
}
