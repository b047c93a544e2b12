/* What each function cost: calls, total and self time with their distribution, over all
 * tasks.
 *
 * Functions of the same name are one row. The total of a recursive function, or of functions of
 * one name that call each other, counts outermost calls only; average, minimum, maximum and
 * deviation are over all calls. Calls that are open at the end of the recording end there.
 *
 * Tasks are read in parallel; the result does not depend on the number of workers.
 * Threads: one thread at a time; starts `workers` threads of its own.
 */
#ifndef CN_ANALYZE_CALLS_REPORT_H
#define CN_ANALYZE_CALLS_REPORT_H

#include "analyze/calls/merge.h"
#include "analyze/calls/processors.h"
#include "analyze/durations/histogram.h"
#include "analyze/durations/percentile.h"
#include "base/map.h"

/* Total or self times of a function. */
struct cn_call_times {
    uint64_t sum_ns; /* of all calls */
    uint64_t min_ns, max_ns;
};

/* A sum of squares, 128 bits. */
struct cn_call_squares {
    uint64_t low, high;
};

void cn_call_squares_add(struct cn_call_squares *squares, uint64_t ns);
void cn_call_squares_merge(struct cn_call_squares *into,
                           const struct cn_call_squares *from);
double cn_call_squares_sum(const struct cn_call_squares *squares);

/* What every call changes comes first, within a cache line. */
struct cn_call_cost {
    uint64_t calls;
    uint64_t total_ns; /* of outermost calls */
    struct cn_call_times total, self;
    struct cn_call_squares total_squares, self_squares; /* 0 unless with_squares */
};

/* Add the calls of another one. */
void cn_call_cost_merge(struct cn_call_cost *into, const struct cn_call_cost *from);

/* The mean in whole nanoseconds, and its standard error in percent of the mean. */
uint64_t cn_call_times_mean(const struct cn_call_times *times, uint64_t calls);
double cn_call_times_deviation(const struct cn_call_times *times,
                               const struct cn_call_squares *squares, uint64_t calls);

/* When the shortest and the longest call began, by total and by self time. */
enum cn_call_moment {
    CN_MOMENT_TOTAL_MIN,
    CN_MOMENT_TOTAL_MAX,
    CN_MOMENT_SELF_MIN,
    CN_MOMENT_SELF_MAX,
    CN_MOMENT_COUNT,
};
struct cn_call_moments {
    struct cn_call_moment_of {
        uint64_t begin_ns, time_ns; /* begin, as recorded; total or self time */
        uint32_t task;
        bool has_call; /* false while there is none */
    } list[CN_MOMENT_COUNT];
};

/* Note a call of a task that began then, and add what another list notes, which may be
 * NULL. */
void cn_call_moments_note(struct cn_call_moments *moments, uint32_t task,
                          uint64_t begin_ns, uint64_t total_ns, uint64_t self_ns);
void cn_call_moments_merge(struct cn_call_moments **into,
                           const struct cn_call_moments *from);

struct cn_call_row {
    const char *name;
    uint32_t function; /* the one of that name that ended last; from rec->function_count
                        * on: no function */
    uint64_t last_ns;  /* when it ended */
    struct cn_call_cost cost;
    struct cn_histogram *totals, *selfs; /* NULL unless with_histograms */
    struct cn_call_moments *moments;     /* NULL unless with_moments */
    struct cn_processors processors; /* on which it ran; empty unless with_processors */
    uint64_t
        resolution_ns; /* durations of single calls that are shorter are not told apart */
};

/* A percentile of total or of self times, not shorter than the resolution; false without
 * histograms. */
bool cn_call_row_percentile(const struct cn_call_row *row, bool is_self,
                            enum cn_percentile which, uint64_t *out_ns);

struct cn_call_report {
    struct cn_call_row *rows; /* by name */
    size_t row_count;
    uint64_t call_count;
    uint64_t lost_count; /* records that the recorder lost */
    struct cn_call_damages damages;
    struct cn_names names;
};

/* Optional columns that take time. */
struct cn_call_report_options {
    bool with_squares; /* for deviations */
    bool with_histograms;
    bool with_moments;
    bool with_processors;
    uint64_t part_len; /* bytes of records in a part of a task; 0: as suits the workers */
};

/* The report is to be released either way. */
CN_CHECK bool cn_call_report_build(struct cn_call_report *report,
                                   const struct cn_call_query *query, unsigned workers,
                                   struct cn_call_report_options options,
                                   struct cn_error *err);
void cn_call_report_done(struct cn_call_report *report);

#endif
