/* Numbers of a report that are not counted at each call. */
#include <math.h>

#include "analyze/calls/report.h"
#include "base/alloc.h"

/* The first of equally long calls counts. */
static void note_moment(struct cn_call_moments *moments, enum cn_call_moment which,
                        const struct cn_call_moment_of *call)
{
    struct cn_call_moment_of *known = &moments->list[which];
    bool wants_min = which == CN_MOMENT_TOTAL_MIN || which == CN_MOMENT_SELF_MIN;

    if (call->has_call &&
        (!known->has_call ||
         (wants_min ? call->time_ns < known->time_ns : call->time_ns > known->time_ns) ||
         (call->time_ns == known->time_ns && call->begin_ns < known->begin_ns)))
        *known = *call;
}

void cn_call_moments_note(struct cn_call_moments *moments, uint32_t task,
                          uint64_t begin_ns, uint64_t total_ns, uint64_t self_ns)
{
    for (int i = 0; i < CN_MOMENT_COUNT; i++) {
        bool is_total = i == CN_MOMENT_TOTAL_MIN || i == CN_MOMENT_TOTAL_MAX;

        note_moment(moments, (enum cn_call_moment)i,
                    &(struct cn_call_moment_of){begin_ns, is_total ? total_ns : self_ns,
                                                task, true});
    }
}

void cn_call_moments_merge(struct cn_call_moments **into,
                           const struct cn_call_moments *from)
{
    if (!from)
        return;
    if (!*into)
        *into = cn_alloc(1, sizeof(**into));
    for (int i = 0; i < CN_MOMENT_COUNT; i++)
        note_moment(*into, (enum cn_call_moment)i, &from->list[i]);
}

static void merge_times(struct cn_call_times *into, const struct cn_call_times *from)
{
    into->sum_ns += from->sum_ns;
    if (from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
}

void cn_call_squares_merge(struct cn_call_squares *into,
                           const struct cn_call_squares *from)
{
    into->low += from->low;
    into->high += from->high + (into->low < from->low);
}

double cn_call_squares_sum(const struct cn_call_squares *squares)
{
    return ldexp((double)squares->high, 64) + (double)squares->low;
}

void cn_call_cost_merge(struct cn_call_cost *into, const struct cn_call_cost *from)
{
    into->calls += from->calls;
    into->total_ns += from->total_ns;
    merge_times(&into->total, &from->total);
    merge_times(&into->self, &from->self);
    cn_call_squares_merge(&into->total_squares, &from->total_squares);
    cn_call_squares_merge(&into->self_squares, &from->self_squares);
}

bool cn_call_row_percentile(const struct cn_call_row *row, bool is_self,
                            enum cn_percentile which, uint64_t *out_ns)
{
    const struct cn_histogram *histogram = is_self ? row->selfs : row->totals;
    const struct cn_call_times *times = is_self ? &row->cost.self : &row->cost.total;

    if (!histogram ||
        !cn_percentile_of_histogram(histogram, cn_percentile_fractions[which],
                                    times->min_ns, times->max_ns, out_ns))
        return false;
    *out_ns = cn_duration_resolved(*out_ns, row->resolution_ns);
    return true;
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
    double variance = floor(cn_call_squares_sum(squares) / count) - mean * mean;

    return 100 * sqrt((variance > 0 ? variance : 0) / count) / mean;
}
