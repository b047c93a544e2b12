/* Costs being added up: by one worker of a report, then merged.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CALL_TALLY_H
#define CN_ANALYZE_CALLS_CALL_TALLY_H

#include "analyze/calls/call_ids.h"
#include "analyze/calls/call_report.h"

/* What one id cost so far. */
struct cn_tally_slot {
    uint32_t id;
    uint32_t innermost; /* 1 + the index of its innermost frame, if that is still open */
    uint64_t last_ns;   /* when it last ended */
    struct cn_call_cost cost;
    struct cn_histogram *totals, *selfs;
};

struct cn_call_tally {
    const struct cn_recording *rec;
    struct cn_call_ids ids;
    uint32_t *slot_of; /* by id: 1 + its slot; 0 when there is none */
    size_t slot_of_count;
    struct cn_tally_slot *slots;
    size_t slot_count, slot_capacity;
    struct cn_call_report_options options;
};

void cn_call_tally_init(struct cn_call_tally *tally, const struct cn_recording *rec,
                        struct cn_call_report_options options);
void cn_call_tally_done(struct cn_call_tally *tally);

struct cn_tally_slot *cn_call_tally_slot(struct cn_call_tally *tally, uint32_t function,
                                         uint64_t address);

/* Note in an entered frame its slot, and whether its function was open already. */
void cn_call_tally_enter(struct cn_call_tally *tally, const struct cn_call_stack *stack,
                         struct cn_call_frame *frame);

/* Count a call that ended. */
void cn_call_tally_leave(struct cn_call_tally *tally, const struct cn_call_end *ended);

void cn_call_squares_add(struct cn_call_squares *squares, uint64_t ns);

static inline void cn_call_times_add(struct cn_call_times *times, uint64_t ns)
{
    times->sum_ns += ns;
    if (ns < times->min_ns)
        times->min_ns = ns;
    if (ns > times->max_ns)
        times->max_ns = ns;
}

/* The same, inline. The frame has the slot that it got when it was entered, unless
 * something else ended in it, or it never was. */
static inline void cn_call_tally_count(struct cn_call_tally *tally,
                                       const struct cn_call_frame *frame,
                                       uint64_t total_ns, uint64_t self_ns)
{
    struct cn_tally_slot *slot =
        frame->slot < tally->slot_count && tally->slots[frame->slot].id == frame->function
            ? &tally->slots[frame->slot]
            : cn_call_tally_slot(tally, frame->function, frame->address);

    slot->cost.calls++;
    cn_call_times_add(&slot->cost.total, total_ns);
    cn_call_times_add(&slot->cost.self, self_ns);
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

void cn_call_cost_merge(struct cn_call_cost *into, const struct cn_call_cost *from);

#endif
