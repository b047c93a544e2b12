/* The values behind columns: of one context, or of many rows in one pass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/durations/percentile.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"
#include "model/contexts/bucket.h"

bool cn_cost_input_is_summary(const struct cn_costs *costs,
                              const struct cn_cost_input *input)
{
    return (!costs->is_selected || costs->has_all_threads) && input->profile == CN_NONE &&
           input->stat_id != CN_NO_ID;
}

size_t cn_cost_column_find(const struct cn_costs *costs, const char *metric,
                           enum cn_cost_side side)
{
    size_t i = 0;

    while (i < costs->column_count &&
           (costs->columns[i].side != side || costs->columns[i].fraction != 0 ||
            strcmp(costs->columns[i].metric, metric) != 0))
        i++;
    return i;
}

bool cn_database_has_latencies(const struct cn_database *db)
{
    struct cn_bucket_range range;

    for (size_t i = 0; i < db->metrics.count; i++)
        if (cn_bucket_name_parse(db->metrics.list[i].name, &range))
            return true;
    return false;
}

bool cn_costs_need_tallies(const struct cn_costs *costs)
{
    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].stat != CN_STAT_SUM)
            return true;
    return false;
}

bool cn_costs_need_threads(const struct cn_costs *costs)
{
    for (size_t i = 0; i < costs->input_count; i++)
        if (!cn_cost_input_is_summary(costs, &costs->inputs[i]))
            return true;
    return cn_costs_need_tallies(costs);
}

/* Whether a formula uses any input that is there. Nesting is limited; see formula.h. */
static bool uses_any(const struct cn_formula *formula, const double *inputs)
{
    if (formula->op == CN_FORMULA_INPUT)
        return !isnan(inputs[formula->input]);
    for (size_t i = 0; i < formula->arg_count; i++)
        if (uses_any(formula->args[i], inputs))
            return true;
    return false;
}

/* A formula over inputs where absent ones are NAN: NAN when all that it uses are absent or
 * the result is not finite. */
static double evaluate(const struct cn_formula *formula, const double *inputs,
                       size_t input_count)
{
    double present[CN_COST_INPUT_MAX];
    double value;

    if (!uses_any(formula, inputs))
        return NAN;
    if (formula->op == CN_FORMULA_INPUT) {
        value = inputs[formula->input];
    } else {
        for (size_t i = 0; i < input_count; i++)
            present[i] = isnan(inputs[i]) ? 0 : inputs[i];
        value = cn_formula_eval(formula, present);
    }
    return isfinite(value) ? value : NAN;
}

void cn_cost_tally_thread(const struct cn_costs *costs, const double *thread_inputs,
                          struct cn_cost_tally *tallies)
{
    for (size_t i = 0; i < costs->column_count; i++) {
        struct cn_cost_tally *tally = &tallies[i];

        if (costs->columns[i].stat == CN_STAT_SUM)
            continue;
        double value =
            evaluate(costs->columns[i].formula, thread_inputs, costs->input_count);
        if (isnan(value))
            continue;
        tally->min = tally->count == 0 || value < tally->min ? value : tally->min;
        tally->max = tally->count == 0 || value > tally->max ? value : tally->max;
        tally->count++;
        tally->sum += value;
        tally->squares += value * value;
    }
}

static double statistic(enum cn_cost_stat stat, const struct cn_cost_tally *tally)
{
    if (tally->count == 0)
        return NAN;
    double mean = tally->sum / tally->count;
    double variance = tally->squares / tally->count - mean * mean;
    switch (stat) {
    case CN_STAT_MEAN:
        return mean;
    case CN_STAT_MIN:
        return tally->min;
    case CN_STAT_MAX:
        return tally->max;
    case CN_STAT_STDDEV:
        return variance > 0 ? sqrt(variance) : 0; /* rounding may leave it below 0 */
    case CN_STAT_COUNT:
        return tally->count;
    case CN_STAT_SUM:
        break;
    }
    return tally->sum;
}

/* The buckets that have calls; returns how many. */
static size_t list_latencies(const struct cn_costs *costs, const double *inputs,
                             struct cn_bucket_calls *out)
{
    size_t count = 0;

    for (size_t i = 0; i < costs->latency_count; i++) {
        double calls = inputs[costs->latencies[i].input];

        if (calls > 0)
            out[count++] = (struct cn_bucket_calls){costs->latencies[i].range, calls};
    }
    return count;
}

size_t cn_cost_rows_latencies(const struct cn_costs *costs,
                              const struct cn_cost_rows *rows, size_t row,
                              struct cn_bucket_calls *out)
{
    return list_latencies(costs, rows->inputs + row * costs->input_count, out);
}

/* In whole nanoseconds; what is absent is 0. */
static uint64_t extreme_ns(double seconds)
{
    return seconds > 0 && seconds < 9e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

/* In seconds; NAN without calls. */
static double percentile(const struct cn_costs *costs, double fraction,
                         const double *inputs)
{
    struct cn_bucket_calls buckets[CN_COST_INPUT_MAX];
    size_t count = list_latencies(costs, inputs, buckets);
    uint32_t min = costs->min_input, max = costs->max_input;
    uint64_t max_ns = max != CN_NONE ? extreme_ns(inputs[max]) : 0, ns;

    return cn_percentile_of_buckets(buckets, count, fraction,
                                    min != CN_NONE ? extreme_ns(inputs[min]) : 0,
                                    max_ns > 0 ? max_ns : UINT64_MAX, &ns)
               ? (double)cn_duration_resolved(ns, costs->resolution_ns) / 1e9
               : NAN;
}

double cn_cost_column_value(const struct cn_costs *costs, size_t column,
                            const double *inputs, const struct cn_cost_tally *tallies)
{
    const struct cn_cost_column *of = &costs->columns[column];

    if (of->fraction > 0)
        return percentile(costs, of->fraction, inputs);
    return of->stat == CN_STAT_SUM ? evaluate(of->formula, inputs, costs->input_count)
                                   : statistic(of->stat, &tallies[column]);
}

void cn_cost_columns(const struct cn_costs *costs, const double *inputs,
                     const struct cn_cost_tally *tallies, double *values)
{
    for (size_t i = 0; i < costs->column_count; i++)
        values[i] = cn_cost_column_value(costs, i, inputs, tallies);
}

static struct cn_cost_routes *new_routes(const struct cn_costs *costs, bool of_summary)
{
    struct cn_cost_routes *routes = cn_alloc(1, sizeof(*routes));

    memset(routes, 0xff, sizeof(*routes));
    for (size_t i = costs->input_count; i-- > 0;) {
        const struct cn_cost_input *input = &costs->inputs[i];
        int id = of_summary ? input->stat_id : input->prop_id;

        if (id == CN_NO_ID || (of_summary && !cn_cost_input_is_summary(costs, input)))
            continue;
        routes->next[i] = routes->first[id];
        routes->first[id] = (int16_t)i;
    }
    return routes;
}

/* The inputs of one context in one profile; values of other contexts do not occur. */
static bool read_inputs(struct cn_costs *costs, uint32_t profile, uint32_t context,
                        const struct cn_cost_routes *routes, double *inputs,
                        struct cn_error *err)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(costs->db, profile, context, context, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
        for (size_t v = 0; v < batch.count; v++)
            for (int i = routes->first[batch.values[v].metric]; i >= 0;
                 i = routes->next[i])
                cn_cost_add(&costs->inputs[i], &inputs[i], batch.values[v].value);
    return step == CN_END;
}

static bool counts_in(const struct cn_cost_input *input, uint32_t profile)
{
    return input->profile == CN_NONE || input->profile == profile;
}

/* What one thread adds: to sums that do not come from the summary, and to tallies. Of its
 * inputs, those that belong to another thread are taken out. */
static void add_thread(const struct cn_costs *costs, uint32_t profile,
                       double *thread_inputs, double *inputs,
                       struct cn_cost_tally *tallies)
{
    for (size_t i = 0; i < costs->input_count; i++) {
        if (!counts_in(&costs->inputs[i], profile))
            thread_inputs[i] = NAN;
        if (!isnan(thread_inputs[i]) &&
            !cn_cost_input_is_summary(costs, &costs->inputs[i]))
            cn_cost_add(&costs->inputs[i], &inputs[i], thread_inputs[i]);
    }
    if (tallies)
        cn_cost_tally_thread(costs, thread_inputs, tallies);
}

static void clear(double *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        inputs[i] = NAN;
}

/* All threads' values of a context, thread by thread. A context's plane comes sorted by
 * metric, so it is turned around first. */
static bool add_threads_by_plane(struct cn_costs *costs, uint32_t context, double *inputs,
                                 struct cn_cost_tally *tallies, struct cn_error *err)
{
    const struct cn_cost_routes *routes = costs->thread_routes;
    size_t width = costs->input_count;
    uint32_t profiles = costs->db->profile_count;
    double *by_thread = cn_alloc(profiles * width, sizeof(*by_thread));
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step = CN_FAIL;

    clear(by_thread, profiles * width);
    if (cn_context_values(costs->db, context, &cursor, err))
        while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
            for (size_t v = 0; v < batch.count; v++)
                if (batch.values[v].key < profiles)
                    for (int i = routes->first[batch.values[v].metric]; i >= 0;
                         i = routes->next[i])
                        by_thread[batch.values[v].key * width + (size_t)i] =
                            batch.values[v].value;
    for (uint32_t p = 1; p < profiles; p++)
        if (cn_costs_is_selected(costs, p))
            add_thread(costs, p, by_thread + p * width, inputs, tallies);
    free(by_thread);
    return step == CN_END;
}

/* The same without values by context: a search in each thread's profile. */
static bool add_threads_by_search(struct cn_costs *costs, uint32_t context,
                                  double *inputs, struct cn_cost_tally *tallies,
                                  struct cn_error *err)
{
    double thread_inputs[CN_COST_INPUT_MAX];

    for (uint32_t p = 1; p < costs->db->profile_count; p++) {
        struct cn_profile profile;

        if (!cn_costs_is_selected(costs, p))
            continue;
        clear(thread_inputs, costs->input_count);
        if (!cn_database_profile(costs->db, p, &profile, err) ||
            (!profile.is_summary &&
             !read_inputs(costs, p, context, costs->thread_routes, thread_inputs, err)))
            return false;
        add_thread(costs, p, thread_inputs, inputs, tallies);
    }
    return true;
}

/* The inputs of one context; tallies may be NULL when no column needs them. */
static bool context_inputs(struct cn_costs *costs, uint32_t context, double *inputs,
                           struct cn_cost_tally *tallies, struct cn_error *err)
{
    bool has_plane = costs->db->has_context_values && context < costs->db->context_limit;

    clear(inputs, costs->input_count);
    if (!read_inputs(costs, 0, context, costs->summary_routes, inputs, err))
        return false;
    if (!cn_costs_need_threads(costs))
        return true;
    return has_plane ? add_threads_by_plane(costs, context, inputs, tallies, err)
                     : add_threads_by_search(costs, context, inputs, tallies, err);
}

bool cn_costs_of_context(struct cn_costs *costs, uint32_t context, double *values,
                         struct cn_error *err)
{
    double inputs[CN_COST_INPUT_MAX];
    struct cn_cost_tally tallies[CN_COST_COLUMN_MAX] = {0};

    if (!context_inputs(costs, context, inputs, tallies, err))
        return false;
    cn_cost_columns(costs, inputs, tallies, values);
    return true;
}

bool cn_costs_latencies(struct cn_costs *costs, uint32_t context,
                        struct cn_bucket_calls *out, size_t *count, struct cn_error *err)
{
    double inputs[CN_COST_INPUT_MAX];
    struct cn_cost_tally tallies[CN_COST_COLUMN_MAX] = {0};

    if (!context_inputs(costs, context, inputs, tallies, err))
        return false;
    *count = list_latencies(costs, inputs, out);
    return true;
}

/* The whole program: the global context's values or, where a writer left them out, the sum
 * of the contexts at the top. */
static bool whole_inputs(struct cn_costs *costs, double *inputs, struct cn_error *err)
{
    double part[CN_COST_INPUT_MAX];
    struct cn_cost_tally tallies[CN_COST_COLUMN_MAX] = {0};
    struct cn_context_cursor list;
    struct cn_context top;
    enum cn_step step;

    if (!context_inputs(costs, 0, inputs, tallies, err))
        return false;
    for (size_t i = 0; i < costs->input_count; i++)
        if (!isnan(inputs[i]))
            return true;
    if (!cn_context_children(costs->db, NULL, &list, err))
        return false;
    while ((step = cn_context_next(costs->db, &list, &top, err)) == CN_ITEM) {
        if (!context_inputs(costs, top.id, part, tallies, err))
            return false;
        for (size_t i = 0; i < costs->input_count; i++)
            if (!isnan(part[i]))
                cn_cost_add(&costs->inputs[i], &inputs[i], part[i]);
    }
    return step == CN_END;
}

/* The summary has the sums over all threads, however they were selected. */
static bool note_all_threads(struct cn_costs *costs, struct cn_error *err)
{
    for (uint32_t i = 1; costs->is_selected && i < costs->db->profile_count; i++) {
        struct cn_profile profile;

        if (costs->is_selected[i])
            continue;
        if (!cn_database_profile(costs->db, i, &profile, err))
            return false;
        if (!profile.is_summary)
            return true;
    }
    costs->has_all_threads = true;
    return true;
}

bool cn_costs_ready(struct cn_costs *costs, struct cn_error *err)
{
    double inputs[CN_COST_INPUT_MAX];

    if (!note_all_threads(costs, err))
        return false;
    costs->summary_routes = new_routes(costs, true);
    costs->thread_routes = new_routes(costs, false);
    if (!whole_inputs(costs, inputs, err))
        return false;
    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].total_formula)
            costs->columns[i].total =
                evaluate(costs->columns[i].total_formula, inputs, costs->input_count);
    return true;
}
