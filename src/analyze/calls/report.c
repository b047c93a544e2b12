#include "analyze/calls/report.h"

#include <stdlib.h>

#include "analyze/calls/ids.h"
#include "analyze/calls/visit.h"
#include "analyze/time_base.h"
#include "base/alloc.h"
#include "base/sort.h"

/* The costs of one function so far. */
struct report_slot {
    uint32_t id;
    uint32_t group; /* the slot of all functions of its name: recursion is among these */
    uint32_t
        innermost; /* of a group: 1 + the index of its innermost open frame; 0: not open */
    uint64_t last_ns; /* when it last ended */
    struct cn_call_cost cost;
    struct cn_histogram *totals, *selfs;
    struct cn_call_moments *moments;
    struct cn_processors processors;
};

/* Costs by function. */
struct report_tally {
    const struct cn_recording *rec;
    const uint32_t
        *first_of_name; /* by function, the first one of its name; NULL: itself */
    uint32_t task;
    struct cn_call_ids ids;
    uint32_t *slot_of; /* by id: 1 + its slot; 0 when there is none */
    size_t slot_of_count, slot_of_capacity;
    struct report_slot *slots;
    size_t slot_count, slot_capacity;
    struct cn_call_report_options options;
};

struct report_walk {
    struct cn_task_walk base; /* first */
    struct report_tally tally;
    uint64_t lost_count; /* records */
    uint16_t processor;  /* 1 + the one that the task runs on; 0 while it is unknown */
};

struct report_worker {
    struct report_tally tally,
        open; /* calls that ended, and calls that were open at the end */
    uint64_t lost_count;
};

struct report_build {
    const struct cn_recording *rec;
    const struct cn_call_query *query;
    uint32_t *first_of_name;
    struct cn_call_report_options options;
    struct report_worker *workers;
};

static struct report_walk *walk_of(struct cn_task_walk *base)
{
    return (struct report_walk *)base;
}

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

static void tally_done(struct report_tally *tally)
{
    for (size_t i = 0; i < tally->slot_count; i++) {
        histogram_free(tally->slots[i].totals);
        histogram_free(tally->slots[i].selfs);
        free(tally->slots[i].moments);
        cn_processors_done(&tally->slots[i].processors);
    }
    cn_call_ids_done(&tally->ids);
    free(tally->slot_of);
    free(tally->slots);
}

static uint32_t new_slot(struct report_tally *tally, uint32_t id)
{
    struct report_slot *slot;

    CN_GROW_TO(tally->slot_of, (size_t)id + 1, tally->slot_of_capacity);
    while (tally->slot_of_count <= id)
        tally->slot_of[tally->slot_of_count++] = 0;
    CN_GROW(tally->slots, tally->slot_count, tally->slot_capacity);
    slot = &tally->slots[tally->slot_count++];
    *slot = (struct report_slot){.id = id, .group = (uint32_t)tally->slot_count - 1};
    slot->cost.total.min_ns = slot->cost.self.min_ns = UINT64_MAX;
    if (tally->options.with_histograms) {
        slot->totals = cn_alloc(1, sizeof(*slot->totals));
        slot->selfs = cn_alloc(1, sizeof(*slot->selfs));
    }
    if (tally->options.with_moments)
        slot->moments = cn_alloc(1, sizeof(*slot->moments));
    tally->slot_of[id] = (uint32_t)tally->slot_count;
    return (uint32_t)tally->slot_count - 1;
}

static struct report_slot *add_slot(struct report_tally *tally, uint32_t id)
{
    uint32_t at = new_slot(tally, id), first = id;

    if (tally->first_of_name && id < tally->rec->function_count)
        first = tally->first_of_name[id];
    if (first != id) {
        uint32_t known = first < tally->slot_of_count ? tally->slot_of[first] : 0;
        uint32_t group = known > 0 ? known - 1 : new_slot(tally, first);

        tally->slots[at].group = group;
    }
    return &tally->slots[at];
}

/* The slot of all functions that have the name of a slot's. */
static inline struct report_slot *group_of(const struct report_tally *tally,
                                           const struct report_slot *slot)
{
    return &tally->slots[slot->group];
}

static struct report_slot *find_slot(struct report_tally *tally, uint32_t function,
                                     uint64_t address)
{
    uint32_t id = cn_call_ids_of(&tally->ids, tally->rec, function, address);

    return id < tally->slot_of_count && tally->slot_of[id]
               ? &tally->slots[tally->slot_of[id] - 1]
               : add_slot(tally, id);
}

/* The slot of a frame: the one that it got when it was entered, unless another function ended
 * in it, or it was never entered. */
static inline struct report_slot *slot_of(struct report_tally *tally,
                                          const struct cn_call_frame *frame)
{
    return frame->slot < tally->slot_count &&
                   tally->slots[frame->slot].id == frame->function
               ? &tally->slots[frame->slot]
               : find_slot(tally, frame->function, frame->address);
}

/* Note in a frame where its call is in time: corrected times are right as differences. */
static inline void place(const struct report_tally *tally, struct cn_call_frame *frame,
                         const struct cn_call *call, const struct cn_call_batch *batch)
{
    if (tally->options.with_moments)
        frame->placed_ns = cn_call_recorded_ns(batch, call);
}

/* Note in a frame that was pushed its slot, and whether its function was open already. */
static inline void tally_enter(struct report_tally *tally,
                               const struct cn_call_stack *stack,
                               struct cn_call_frame *frame)
{
    struct report_slot *slot = find_slot(tally, frame->function, frame->address);
    struct report_slot *group = group_of(tally, slot);

    frame->mark = group->innermost;
    frame->slot = (uint32_t)(slot - tally->slots);
    group->innermost = (uint32_t)(frame - stack->frames) + 1;
}

/* The frames from `first` on will be popped. */
static void close_frames(struct report_tally *tally, const struct cn_call_stack *stack,
                         uint32_t first)
{
    for (uint32_t i = stack->count; i-- > first;) {
        const struct cn_call_frame *frame = &stack->frames[i];

        if ((frame->flags & (CN_FRAME_SHOWN | CN_FRAME_SCHEDULE)) == CN_FRAME_SHOWN)
            group_of(tally, slot_of(tally, frame))->innermost = frame->mark;
    }
}

static inline void add_time(struct cn_call_times *times, uint64_t ns)
{
    times->sum_ns += ns;
    if (ns < times->min_ns)
        times->min_ns = ns;
    if (ns > times->max_ns)
        times->max_ns = ns;
}

/* Count a call that ended. */
static inline void tally_end(const struct report_tally *tally, struct report_slot *slot,
                             const struct cn_call_frame *frame, uint64_t total_ns,
                             uint64_t self_ns)
{
    slot->cost.calls++;
    add_time(&slot->cost.total, total_ns);
    add_time(&slot->cost.self, self_ns);
    if (frame->mark == 0)
        group_of(tally, slot)->cost.total_ns += total_ns;
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
    if (slot->moments)
        cn_call_moments_note(slot->moments, tally->task, frame->placed_ns, total_ns,
                             self_ns);
}

static void tally_shown(struct report_tally *tally, const struct cn_call_end *ended)
{
    if (ended->frame.flags & CN_FRAME_SHOWN)
        tally_end(tally, slot_of(tally, &ended->frame), &ended->frame, ended->total_ns,
                  ended->self_ns);
}

/* Of a part: true if a call is not to be counted. The outermost calls of a guessed function
 * that was still open were none. */
static bool check_guess(struct report_walk *walk, const struct cn_call *call)
{
    struct cn_call_guess *guess = walk->base.guess;
    enum cn_guess_step step = CN_GUESS_INSIDE;

    if (guess)
        step = cn_call_guess_check(guess, &walk->base.stack, call);
    if (step == CN_GUESS_RETURN) {
        struct report_slot *slot = find_slot(&walk->tally, call->function, call->address);

        guess->returns[guess->return_count - 1].count =
            group_of(&walk->tally, slot)->cost.total_ns;
    }
    return step != CN_GUESS_INSIDE;
}

/* Entries and exits that are not the usual case. */

static void enter_slowly(struct report_walk *walk, const struct cn_call *call,
                         const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &walk->base.stack;

    if (check_guess(walk, call))
        return;
    close_frames(&walk->tally, stack, cn_call_stack_kept(stack, call));
    struct cn_call_frame *frame = cn_call_stack_enter(stack, call, batch, NULL);
    place(&walk->tally, frame, call, batch);
    if (frame->flags & CN_FRAME_SHOWN)
        tally_enter(&walk->tally, stack, frame);
}

static void leave_slowly(struct report_walk *walk, const struct cn_call *call,
                         const struct cn_call_batch *batch)
{
    struct cn_call_stack *stack = &walk->base.stack;
    struct cn_call_end ended;

    if (check_guess(walk, call))
        return;
    close_frames(&walk->tally, stack, cn_call_stack_kept(stack, call));
    cn_call_stack_leave(stack, call, &ended);
    if (!ended.has_time)
        place(&walk->tally, &ended.frame, call, batch);
    tally_shown(&walk->tally, &ended);
}

static inline void count_call(struct report_walk *walk, const struct cn_call *call,
                              const struct cn_call_batch *batch)
{
    struct report_tally *tally = &walk->tally;
    struct cn_call_stack *stack = &walk->base.stack;
    struct cn_call_frame *frame;
    struct cn_call_end ended;
    uint64_t total_ns, self_ns;
    struct report_slot *slot;

    if (call->time_ns > walk->base.last_ns)
        walk->base.last_ns = call->time_ns;
    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        frame = cn_call_stack_enter_top(stack, call);
        if (frame) {
            place(tally, frame, call, batch);
            tally_enter(tally, stack, frame);
        } else {
            enter_slowly(walk, call, batch);
        }
        break;
    case CN_CALL_EXIT:
        frame = cn_call_stack_leave_top(stack, call, &total_ns, &self_ns);
        if (!frame) {
            leave_slowly(walk, call, batch);
            break;
        }
        slot = slot_of(tally, frame);
        tally_end(tally, slot, frame, total_ns, self_ns);
        group_of(tally, slot)->innermost = frame->mark;
        break;
    case CN_CALL_EVENT:
        if (call->address == CN_EVENT_SCHED_IN) {
            if (cn_call_stack_wake(stack, call, &ended))
                tally_shown(tally, &ended);
        } else if (cn_call_stack_may_sleep(stack, call)) {
            place(tally, cn_call_stack_sleep(stack, call), call, batch);
        }
        break;
    case CN_CALL_LOST:
        walk->lost_count += call->address;
        break;
    }
}

static void walk_begin(void *arg, struct cn_task_walk *base)
{
    const struct report_build *build = arg;

    walk_of(base)->tally = (struct report_tally){
        .rec = build->rec,
        .first_of_name = build->first_of_name,
        .task = build->query->tasks[base->slot],
        .options = build->options,
    };
}

static void walk_done(void *arg, struct cn_task_walk *base)
{
    (void)arg;
    tally_done(&walk_of(base)->tally);
}

static void walk_count(void *arg, struct cn_task_walk *base,
                       const struct cn_call_batch *batch)
{
    (void)arg;
    for (size_t i = 0; i < batch->count; i++)
        count_call(walk_of(base), &batch->calls[i], batch);
}

static void note_open(struct report_walk *walk)
{
    const struct cn_call_stack *stack = &walk->base.stack;

    for (uint32_t i = 0; i < stack->count; i++) {
        const struct cn_call_frame *frame = &stack->frames[i];

        if ((frame->flags & (CN_FRAME_SHOWN | CN_FRAME_SCHEDULE)) == CN_FRAME_SHOWN)
            cn_processors_add(&slot_of(&walk->tally, frame)->processors,
                              walk->processor - 1);
    }
}

/* A task that stops running ran on that processor since it was switched in: if that was not
 * recorded, since the start. */
static void note_start(struct report_walk *walk)
{
    for (size_t i = 0; i < walk->tally.slot_count; i++)
        if (walk->tally.slots[i].id < cn_call_schedule_id(walk->tally.rec, false))
            cn_processors_add(&walk->tally.slots[i].processors, walk->processor - 1);
}

/* Note on which processor a call that was counted ran. */
static void note_processor(struct report_walk *walk, const struct cn_call *call)
{
    const struct cn_call_stack *stack = &walk->base.stack;
    const struct cn_call_frame *top =
        stack->count > 0 ? &stack->frames[stack->count - 1] : NULL;
    bool was_unknown = walk->processor == 0;

    if (call->kind == CN_CALL_ENTER && !was_unknown && top &&
        (top->flags & CN_FRAME_SHOWN)) {
        cn_processors_add(&slot_of(&walk->tally, top)->processors, walk->processor - 1);
    } else if (call->kind == CN_CALL_EVENT && call->depth > 0) {
        walk->processor = call->depth;
        if (call->address == CN_EVENT_SCHED_IN)
            note_open(walk);
        else if (was_unknown)
            note_start(walk);
    }
}

static void walk_count_processors(void *arg, struct cn_task_walk *base,
                                  const struct cn_call_batch *batch)
{
    (void)arg;
    for (size_t i = 0; i < batch->count; i++) {
        count_call(walk_of(base), &batch->calls[i], batch);
        note_processor(walk_of(base), &batch->calls[i]);
    }
}

/* A call of the part is not outermost while a guessed call of the same function is open. */
static void walk_join(void *arg, struct cn_task_walk *base, struct cn_task_walk *part)
{
    const struct cn_call_guess *guess = part->guess;
    const struct cn_call_stack *stack = &base->stack;

    (void)arg;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct cn_call_frame *frame = &stack->frames[i];
        uint32_t return_at = stack->count - 1 - i;
        struct report_slot *slot;

        if (frame->mark != 0)
            continue;
        slot = find_slot(&walk_of(part)->tally, frame->function, frame->address);
        slot = group_of(&walk_of(part)->tally, slot);
        slot->cost.total_ns -= return_at < guess->return_count
                                   ? guess->returns[return_at].count
                                   : slot->cost.total_ns;
    }
}

static void walk_resume(void *arg, struct cn_task_walk *base,
                        const struct cn_task_walk *part, struct cn_call_frame *frame)
{
    (void)arg;
    (void)part;
    if (!(frame->flags & CN_FRAME_SCHEDULE))
        tally_enter(&walk_of(base)->tally, &base->stack, frame);
}

/* Calls that never returned, or not within the time range, end with the last record of their
 * task there. */
static void walk_end(void *arg, struct cn_task_walk *base, unsigned worker)
{
    const struct report_build *build = arg;
    struct cn_call_end ended;

    while (base->stack.count > 0) {
        cn_call_stack_cut(&base->stack, base->last_ns, &ended);
        if (!(ended.frame.flags & (CN_FRAME_SCHEDULE | CN_FRAME_EXEC)))
            tally_shown(&build->workers[worker].open, &ended);
    }
}

static void merge_histogram(struct cn_histogram **into, const struct cn_histogram *from)
{
    if (!from)
        return;
    if (!*into)
        *into = cn_alloc(1, sizeof(**into));
    cn_histogram_merge(*into, from);
}

/* The function of an id, CN_NONE for an address outside all functions. */
static uint32_t function_of(const struct cn_recording *rec, uint32_t id)
{
    return id <= cn_call_schedule_id(rec, true) ? id : CN_NONE;
}

/* Add the slots of a walk to those of a worker. */
static void walk_merge(void *arg, const struct cn_task_walk *base, unsigned worker)
{
    const struct report_build *build = arg;
    const struct report_walk *walk = (const struct report_walk *)base;
    const struct report_tally *tally = &walk->tally;
    struct report_tally *into = &build->workers[worker].tally;

    build->workers[worker].lost_count += walk->lost_count;
    for (size_t i = 0; i < tally->slot_count; i++) {
        const struct report_slot *from = &tally->slots[i];

        if (from->cost.calls == 0 && from->cost.total_ns == 0)
            continue;
        struct report_slot *slot =
            find_slot(into, function_of(build->rec, from->id),
                      cn_call_ids_address(&tally->ids, build->rec, from->id));
        /* A group may have no calls of its own. */
        if (from->cost.calls > 0 && from->last_ns - base->ahead_ns > slot->last_ns)
            slot->last_ns = from->last_ns - base->ahead_ns;
        cn_call_cost_merge(&slot->cost, &from->cost);
        merge_histogram(&slot->totals, from->totals);
        merge_histogram(&slot->selfs, from->selfs);
        cn_call_moments_merge(&slot->moments, from->moments);
        cn_processors_merge(&slot->processors, &from->processors);
    }
}

/* Add the slots of a tally to the rows of their names. */
static void merge_tally(struct cn_call_report *report, const struct report_tally *tally,
                        size_t *capacity)
{
    const struct cn_recording *rec = tally->rec;

    for (size_t i = 0; i < tally->slot_count; i++) {
        const struct report_slot *slot = &tally->slots[i];
        uint64_t address = cn_call_ids_address(&tally->ids, rec, slot->id);
        char buffer[CN_CALL_NAME_MAX];

        if (slot->cost.calls == 0 && slot->cost.total_ns == 0)
            continue;
        uint32_t at =
            cn_names_add(&report->names,
                         cn_call_name(rec, function_of(rec, slot->id), address, buffer));
        if (at == report->row_count) {
            CN_GROW(report->rows, at, *capacity);
            report->rows[report->row_count++] = (struct cn_call_row){
                .function = slot->id,
                .cost = {.total.min_ns = UINT64_MAX, .self.min_ns = UINT64_MAX},
            };
        }
        struct cn_call_row *row = &report->rows[at];
        if (slot->last_ns > row->last_ns ||
            (slot->last_ns == row->last_ns && slot->id < row->function)) {
            row->function = slot->id;
            row->last_ns = slot->last_ns;
        }
        cn_call_cost_merge(&row->cost, &slot->cost);
        merge_histogram(&row->totals, slot->totals);
        merge_histogram(&row->selfs, slot->selfs);
        cn_call_moments_merge(&row->moments, slot->moments);
        cn_processors_merge(&row->processors, &slot->processors);
        report->call_count += slot->cost.calls;
    }
}

static const struct cn_call_visitor visitor = CN_CALL_VISITOR(report_walk);

/* Where the past of a task matters: tasks are not divided. */
static const struct cn_call_visitor processor_visitor = {
    .walk_size = sizeof(struct report_walk),
    .begin = walk_begin,
    .done = walk_done,
    .count = walk_count_processors,
    .end = walk_end,
    .merge = walk_merge,
};

/* Add what a worker counted, and release it. The shortest call of a function is one that
 * returned, if any did. */
static void merge_worker(struct cn_call_report *report, struct report_worker *worker,
                         size_t *capacity)
{
    struct report_tally *open = &worker->open;

    for (size_t i = 0; i < open->slot_count; i++) {
        struct cn_call_moments *moments = open->slots[i].moments;

        open->slots[i].cost.total.min_ns = open->slots[i].cost.self.min_ns = UINT64_MAX;
        if (moments)
            moments->list[CN_MOMENT_TOTAL_MIN].has_call =
                moments->list[CN_MOMENT_SELF_MIN].has_call = false;
    }
    merge_tally(report, &worker->tally, capacity);
    merge_tally(report, open, capacity);
    report->lost_count += worker->lost_count;
    tally_done(&worker->tally);
    tally_done(open);
}

bool cn_call_report_build(struct cn_call_report *report,
                          const struct cn_call_query *query, unsigned workers,
                          struct cn_call_report_options options, struct cn_error *err)
{
    unsigned worker_count = workers > 0 ? workers : 1;
    struct report_build build = {
        .rec = query->rec,
        .query = query,
        .first_of_name = cn_call_ids_first_of_name(query->rec),
        .options = options,
        .workers = cn_alloc(worker_count, sizeof(*build.workers)),
    };
    struct cn_call_visit visit = {
        .query = query,
        .is_ordered = query->filter->has_switches,
        .workers = worker_count,
        .part_len = options.part_len,
        .visitor = options.with_processors ? &processor_visitor : &visitor,
        .arg = &build,
    };
    size_t capacity = 0;

    *report = (struct cn_call_report){0};
    for (unsigned i = 0; i < worker_count; i++)
        build.workers[i].tally = build.workers[i].open = (struct report_tally){
            .rec = query->rec, .first_of_name = build.first_of_name, .options = options};
    bool ok = cn_call_visit_run(&visit, &report->damages, err);
    for (unsigned i = 0; i < worker_count; i++)
        merge_worker(report, &build.workers[i], &capacity);
    free(build.workers);
    free(build.first_of_name);
    for (size_t i = 0; i < report->row_count; i++) {
        struct cn_call_cost *cost = &report->rows[i].cost;

        struct cn_call_moments *moments = report->rows[i].moments;

        report->rows[i].name = report->names.list[i];
        report->rows[i].resolution_ns =
            cn_time_resolution_of_calls(query->rec, query->is_raw);
        if (moments && !moments->list[CN_MOMENT_TOTAL_MIN].has_call) {
            moments->list[CN_MOMENT_TOTAL_MIN] = moments->list[CN_MOMENT_TOTAL_MAX];
            moments->list[CN_MOMENT_SELF_MIN] = moments->list[CN_MOMENT_SELF_MAX];
        }
        if (cost->total.min_ns == UINT64_MAX) {
            cost->total.min_ns = cost->total.max_ns;
            cost->self.min_ns = cost->self.max_ns;
        }
    }
    CN_SORT(report->rows, report->row_count, CN_UP(struct cn_call_row, name));
    return ok;
}

void cn_call_report_done(struct cn_call_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        histogram_free(report->rows[i].totals);
        histogram_free(report->rows[i].selfs);
        free(report->rows[i].moments);
        cn_processors_done(&report->rows[i].processors);
    }
    free(report->rows);
    cn_names_done(&report->names);
    cn_call_damages_done(&report->damages);
}
