/* The numbers that views show: columns over the metrics of a database, for a context or for
 * any grouping of contexts.
 *
 * A column is a formula over inputs; an input is one metric in one scope, summed over the
 * selected threads. Sums over all threads come from the summary profile, everything else from
 * the profiles of the threads. With a statistic other than the sum, the column is evaluated in
 * each thread and the statistic taken over the threads that have a value.
 *
 * Set up with cn_costs_init(), select threads, add columns, cn_costs_ready(); then ask for
 * single contexts (cn_costs_of_context) or fill groups of contexts in one pass (cn_costs_fill).
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_COSTS_H
#define CN_ANALYZE_VIEWS_COSTS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/durations/histogram.h"
#include "analyze/views/context_index.h"
#include "analyze/waits.h"
#include "base/arena.h"
#include "base/run/progress.h"
#include "model/contexts/database.h"

enum cn_cost_side { CN_TOTAL, CN_SELF };

/* Over threads. */
enum cn_cost_stat {
    CN_STAT_SUM,
    CN_STAT_MEAN,
    CN_STAT_MIN,
    CN_STAT_MAX,
    CN_STAT_STDDEV,
    CN_STAT_COUNT, /* of threads that have a value */
};

struct cn_cost_input {
    int prop_id; /* in threads' profiles; CN_NO_ID when it exists in the summary only */
    int stat_id; /* of all threads in the summary profile, or CN_NO_ID */
    uint32_t profile; /* the only thread that counts; CN_NONE: all selected ones */
    enum cn_cost_side side;
    enum cn_combine combine; /* values of contexts and threads: most add up */
};

struct cn_cost_column {
    const char *metric;                     /* as it is presented: "CPUTIME (sec)" */
    const char *name;                       /* snake_case: "cputime_sec_inclusive" */
    const char *title;                      /* "total CPUTIME (sec)" */
    const struct cn_formula *formula;       /* over inputs */
    const struct cn_formula *total_formula; /* the whole, for percentages; or NULL */
    enum cn_cost_side side;
    enum cn_cost_stat stat;
    bool has_percent;
    bool is_hidden;  /* decides which rows are shown, but is not shown itself */
    double total;    /* value of total_formula for the whole program; NAN when unknown */
    double fraction; /* of a percentile of latencies, which has no formula; else 0 */
};

/* An input that counts the calls of one bucket. */
struct cn_cost_latency {
    uint32_t input;
    struct cn_bucket_range range;
};

enum { CN_COST_INPUT_MAX = 1024, CN_COST_COLUMN_MAX = 256 };

struct cn_cost_routes;

struct cn_costs {
    struct cn_database *db;
    struct cn_arena arena;
    struct cn_cost_input inputs[CN_COST_INPUT_MAX];
    size_t input_count;
    struct cn_cost_column columns[CN_COST_COLUMN_MAX];
    size_t column_count;
    struct cn_cost_latency *latencies; /* ascending; NULL without percentiles */
    size_t latency_count;
    uint32_t min_input, max_input; /* the extremes of latencies; CN_NONE: unknown */
    uint64_t resolution_ns; /* of latencies: no percentile is shorter (time_base.h) */
    bool counts_waits;      /* the default metric counts waiting */
    bool *is_selected;      /* by profile; NULL: all threads */
    bool has_all_threads;   /* none was left out: set by cn_costs_ready() */
    /* Of costs_blocks.h: one selected thread in so many is read, and stands for the others;
     * 0: all are read. */
    uint32_t thread_step;
    struct cn_cost_routes *summary_routes, *thread_routes; /* set by cn_costs_ready() */
};

/* What to add as a column. */
struct cn_cost_request {
    const char *metric; /* name or unique prefix; NULL: the default metric */
    const char *scope; /* NULL: as the metric presents itself; else this scope's values */
    enum cn_cost_side side; /* when scope is NULL */
    enum cn_cost_stat stat;
    uint32_t profile; /* CN_NONE: over the selected threads */
    bool is_hidden;
};

void cn_costs_init(struct cn_costs *costs, struct cn_database *db);
void cn_costs_done(struct cn_costs *costs);

/* Let only matching threads count; several calls add up. Fails with CN_ERR_NOT_FOUND when no
 * thread matches. */
CN_CHECK bool cn_costs_select(struct cn_costs *costs, const char *filter,
                              struct cn_error *err);

static inline bool cn_costs_is_selected(const struct cn_costs *costs, uint32_t profile)
{
    return !costs->is_selected || costs->is_selected[profile];
}

/* The metrics that can be asked for, in the taxonomy's order: name `i`, or NULL. */
const struct cn_presented_metric *cn_costs_metric_at(const struct cn_database *db,
                                                     size_t i);

/* The metrics of a view for which none is chosen: the first that is visible and has values
 * (NULL). Where that is time by state (analyze/waits.h), it is running time, or with
 * `counts_waits` all time and that of each kind of waiting. Where GPUs worked, the time of their
 * operations follows. Returns how many. */
enum { CN_COST_DEFAULT_MAX = 2 + CN_WAIT_KINDS };
size_t cn_costs_default_metrics(const struct cn_costs *costs,
                                const char *names[CN_COST_DEFAULT_MAX]);

/* The total of a metric over the selected threads; 0 if there is none. */
CN_CHECK bool cn_costs_total(const struct cn_costs *costs, const char *metric,
                             double *out, struct cn_error *err);

/* The time of the selected threads by state, in seconds: time_s is the sum of the others. */
struct cn_cost_states {
    double time_s, cpu_s, wait_s[CN_WAIT_KINDS];
};

/* CN_ERR_NOT_FOUND when the database does not have time by state. */
CN_CHECK bool cn_costs_states(const struct cn_costs *costs, struct cn_cost_states *out,
                              struct cn_error *err);

/* Add a column. CN_ERR_NOT_FOUND when there is no such metric, scope or side; the text
 * lists what there is. */
CN_CHECK bool cn_costs_add(struct cn_costs *costs, const struct cn_cost_request *request,
                           struct cn_error *err);

/* Add a column with a percentile of the durations of calls, in seconds: 0.99 called "p99".
 * CN_ERR_NOT_FOUND when the database has no durations. */
CN_CHECK bool cn_costs_add_percentile(struct cn_costs *costs, double fraction,
                                      const char *name, struct cn_error *err);

/* Add those that are shown: cn_percentile_names. */
CN_CHECK bool cn_costs_add_percentiles(struct cn_costs *costs, struct cn_error *err);

/* Add columns, total and self, that a formula of other metrics computes: "NAME=FORMULA"
 * or "NAME [UNIT]=FORMULA", see cn_formula_parse_named(). They are no shares of a whole.
 * CN_ERR_USAGE for a mistake in the text, CN_ERR_NOT_FOUND when there
 * is no such metric. */
CN_CHECK bool cn_costs_add_derived(struct cn_costs *costs, const char *text,
                                   struct cn_error *err);

/* Name a column after one side of a metric. */
void cn_cost_column_name(struct cn_costs *costs, struct cn_cost_column *column,
                         const char *metric, enum cn_cost_side side);

/* Call it after the last column was added and before the first value is asked for: works
 * out the columns' totals. */
CN_CHECK bool cn_costs_ready(struct cn_costs *costs, struct cn_error *err);

/* All columns for one context, NAN where there is no value. */
CN_CHECK bool cn_costs_of_context(struct cn_costs *costs, uint32_t context,
                                  double *values, struct cn_error *err);

/* With percentiles, the calls of one context by duration: fills `out`, which has room for
 * latency_count buckets, and `count`. */
CN_CHECK bool cn_costs_latencies(struct cn_costs *costs, uint32_t context,
                                 struct cn_bucket_calls *out, size_t *count,
                                 struct cn_error *err);

/* The column of one side of a metric, percentiles excepted; the column count if there is
 * none. */
size_t cn_cost_column_find(const struct cn_costs *costs, const char *metric,
                           enum cn_cost_side side);

/* True if a database has the durations of calls. */
bool cn_database_has_latencies(const struct cn_database *db);

/* A value as a share of the whole, in percent; NAN when it has none. */
double cn_cost_percent(const struct cn_cost_column *column, double value);

/* Which rows the values of a context count for: entries `start[node]` up to
 * `start[node + 1]` of `list`, where node numbers come from a context index. A zeroed one
 * means: every node is its own row. */
struct cn_cost_target {
    uint32_t row_and_sides; /* the latter in the lowest bits, by enum cn_cost_side */
};

static inline struct cn_cost_target cn_cost_target_of(uint32_t row, uint32_t sides)
{
    assert(row < 1U << 30);
    return (struct cn_cost_target){row << 2 | sides};
}
struct cn_cost_targets {
    const uint32_t *start;
    const struct cn_cost_target *list;
};

struct cn_cost_tally {
    double count, sum, squares, min, max;
};

/* The numbers of many rows, filled in one pass. */
struct cn_cost_rows {
    size_t row_count;
    double *inputs;                /* [row][input], NAN where absent */
    struct cn_cost_tally *tallies; /* [row][column]; NULL when all columns are sums */
};

CN_CHECK bool cn_costs_fill(struct cn_costs *costs, const struct cn_context_index *index,
                            const struct cn_cost_targets *targets, size_t row_count,
                            const struct cn_progress *progress, struct cn_cost_rows *out,
                            struct cn_error *err);
void cn_cost_rows_done(struct cn_cost_rows *rows);

/* The same from known costs of contexts. */
struct cn_context_costs;
void cn_costs_fill_known(struct cn_costs *costs, const struct cn_context_index *index,
                         const struct cn_cost_targets *targets, size_t row_count,
                         const struct cn_context_costs *known, struct cn_cost_rows *out);

/* With percentiles, the calls of one row by duration, ascending: fills `out`, which has room for
 * latency_count buckets, and returns how many have calls. */
size_t cn_cost_rows_latencies(const struct cn_costs *costs,
                              const struct cn_cost_rows *rows, size_t row,
                              struct cn_bucket_calls *out);

/* All columns of one row. */
void cn_cost_rows_values(const struct cn_costs *costs, const struct cn_cost_rows *rows,
                         size_t row, double *values);

#endif
