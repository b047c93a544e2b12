#include "analyze/calls/call_tally.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { SCHEDULE_KINDS = 2 };

void cn_call_tally_init(struct cn_call_tally *tally, const struct cn_recording *rec,
                        struct cn_call_report_options options)
{
    *tally = (struct cn_call_tally){
        .rec = rec,
        .slot_of_count = (size_t)rec->function_count + SCHEDULE_KINDS,
        .options = options,
    };
    tally->slot_of = cn_alloc(tally->slot_of_count, sizeof(*tally->slot_of));
}

static void histogram_free(struct cn_histogram *histogram)
{
    if (histogram)
        cn_histogram_done(histogram);
    free(histogram);
}

void cn_call_tally_done(struct cn_call_tally *tally)
{
    for (size_t i = 0; i < tally->slot_count; i++) {
        histogram_free(tally->slots[i].totals);
        histogram_free(tally->slots[i].selfs);
    }
    cn_call_ids_done(&tally->ids);
    free(tally->slot_of);
    free(tally->slots);
    *tally = (struct cn_call_tally){0};
}

static void make_room(struct cn_call_tally *tally, uint32_t id)
{
    size_t count = (size_t)id + 1 + CN_CALL_UNKNOWN_MAX / 16;

    tally->slot_of = cn_realloc(tally->slot_of, count, sizeof(*tally->slot_of));
    while (tally->slot_of_count < count)
        tally->slot_of[tally->slot_of_count++] = 0;
}

static struct cn_tally_slot *add_slot(struct cn_call_tally *tally, uint32_t id)
{
    struct cn_tally_slot *slot;

    tally->slots = cn_grow(tally->slots, tally->slot_count, &tally->slot_capacity,
                           sizeof(*tally->slots));
    slot = &tally->slots[tally->slot_count++];
    *slot = (struct cn_tally_slot){.id = id};
    slot->cost.total.min_ns = slot->cost.self.min_ns = UINT64_MAX;
    if (tally->options.with_histograms) {
        slot->totals = cn_alloc(1, sizeof(*slot->totals));
        slot->selfs = cn_alloc(1, sizeof(*slot->selfs));
    }
    tally->slot_of[id] = (uint32_t)tally->slot_count;
    return slot;
}

struct cn_tally_slot *cn_call_tally_slot(struct cn_call_tally *tally, uint32_t function,
                                         uint64_t address)
{
    uint32_t id = cn_call_ids_of(&tally->ids, tally->rec, function, address);

    if (id >= tally->slot_of_count)
        make_room(tally, id);
    return tally->slot_of[id] ? &tally->slots[tally->slot_of[id] - 1]
                              : add_slot(tally, id);
}

void cn_call_tally_enter(struct cn_call_tally *tally, const struct cn_call_stack *stack,
                         struct cn_call_frame *frame)
{
    struct cn_tally_slot *slot =
        cn_call_tally_slot(tally, frame->function, frame->address);
    uint32_t at = (uint32_t)(frame - stack->frames);
    uint32_t outer = slot->innermost;

    /* It may be from before a repair, or of another task: then it is not there. */
    if (outer > at || (outer > 0 && stack->frames[outer - 1].function != frame->function))
        outer = 0;
    frame->mark = outer;
    frame->slot = (uint32_t)(slot - tally->slots);
    slot->innermost = at + 1;
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

void cn_call_tally_leave(struct cn_call_tally *tally, const struct cn_call_end *ended)
{
    cn_call_tally_count(tally, &ended->frame, ended->total_ns, ended->self_ns);
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

void cn_call_cost_merge(struct cn_call_cost *into, const struct cn_call_cost *from)
{
    into->calls += from->calls;
    into->total_ns += from->total_ns;
    merge_times(&into->total, &from->total);
    merge_times(&into->self, &from->self);
    merge_squares(&into->total_squares, &from->total_squares);
    merge_squares(&into->self_squares, &from->self_squares);
}

uint64_t cn_call_times_mean(const struct cn_call_times *times, uint64_t calls)
{
    return calls ? times->sum_ns / calls : 0;
}

double cn_call_times_deviation(const struct cn_call_times *times,
                               const struct cn_call_squares *squares, uint64_t calls)
{
    double count = (double)calls;
    /* Whole nanoseconds, as uftrace has them: its digits are what people compare
     * with. */
    double mean = floor((double)times->sum_ns / count);
    double sum = ldexp((double)squares->high, 64) + (double)squares->low;
    double variance = floor(sum / count) - mean * mean;

    return 100 * sqrt((variance > 0 ? variance : 0) / count) / mean;
}
