#include "analyze/compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/function_name.h"
#include "analyze/recorder_cost.h"
#include "analyze/time_base.h"
#include "analyze/timeline/range_sums.h"
#include "analyze/views/costs.h"
#include "analyze/views/frames.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/memory/metrics.h"

/* The number of each place's name among ours. */
static uint32_t *number_names(struct cn_comparison *c, const struct cn_names *names)
{
    uint32_t *numbers = cn_alloc(names->count, sizeof(*numbers));
    struct cn_text text = {0};

    for (size_t i = 0; i < names->count; i++) {
        cn_text_clear(&text);
        cn_function_name_add(&text, names->list[i]);
        numbers[i] = cn_names_add(&c->names, cn_text_str(&text));
    }
    cn_text_done(&text);
    return numbers;
}

/* Nodes for all frames: by frame. Frame 0 is no context. */
static uint32_t *map_frames(struct cn_comparison *c, const struct cn_frames *frames,
                            const struct cn_compare_run *run)
{
    uint32_t *nodes = cn_alloc(frames->count, sizeof(*nodes));
    uint32_t *names = number_names(c, &frames->names);
    uint32_t entry = run->is_of_traces ? cn_names_add(&c->names, "<traces>") : CN_NONE;

    nodes[0] = CN_NONE;
    for (size_t i = 1; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];
        uint32_t parent = frame->parent == CN_NONE ? CN_NONE : nodes[frame->parent];

        nodes[i] = cn_comparison_node_add(
            c, parent,
            parent == CN_NONE && run->is_of_traces ? entry : names[frame->place]);
        c->nodes[nodes[i]].sides |= (uint8_t)(1U << run->side);
    }
    free(names);
    return nodes;
}

/* Contexts that begin a frame count for its node: their costs include those of the loops and
 * lines inside. */
static struct cn_cost_targets map_contexts(const struct cn_frames *frames,
                                           const uint32_t *nodes)
{
    size_t count = frames->index.count;
    uint32_t filled = 0, *start = cn_alloc(count + 1, sizeof(*start));
    struct cn_cost_target *list = cn_alloc(frames->count, sizeof(*list));

    for (size_t i = 0; i < count; i++) {
        uint32_t parent = frames->index.nodes[i].parent, frame = frames->of_node[i];

        start[i] = filled;
        if (parent == CN_NONE || frames->of_node[parent] != frame)
            list[filled++] =
                cn_cost_target_of(nodes[frame], 1U << CN_SELF | 1U << CN_TOTAL);
    }
    start[count] = filled;
    return (struct cn_cost_targets){start, list};
}

/* True if the formula of a sum of contexts is the sum of their formulas. */
static bool adds_up(const struct cn_formula *formula)
{
    size_t numbers = 0;

    if (formula->op == CN_FORMULA_INPUT)
        return true;
    for (size_t i = 0; i < formula->arg_count; i++) {
        if (formula->args[i]->op == CN_FORMULA_NUMBER)
            numbers++;
        else if (!adds_up(formula->args[i]))
            return false;
    }
    if (formula->op == CN_FORMULA_ADD || formula->op == CN_FORMULA_SUB ||
        formula->op == CN_FORMULA_NEG)
        return numbers == 0;
    if (formula->op == CN_FORMULA_MUL)
        return numbers + 1 == formula->arg_count;
    return formula->op == CN_FORMULA_DIV && formula->arg_count == 2 && numbers == 1 &&
           formula->args[1]->op == CN_FORMULA_NUMBER;
}

/* The columns of a run: total and self costs of the metric, and calls where the database has
 * them. Of sampled allocations, what their samples stand for. */
struct compared_columns {
    size_t total, self, calls;                     /* SIZE_MAX: none */
    size_t sampled, allocations, allocation_costs; /* SIZE_MAX: none */
};

static size_t add_column(struct cn_costs *costs, const char *metric,
                         enum cn_cost_side side, struct cn_error *err)
{
    struct cn_cost_request request = {.metric = metric, .side = side, .profile = CN_NONE};

    return cn_costs_add(costs, &request, err) ? costs->column_count - 1 : SIZE_MAX;
}

/* What an estimate of memory is made of: its error is that of values like it. */
static enum cn_heap_metric estimated_as(enum cn_heap_metric metric)
{
    if (cn_heap_metric_is_count(metric))
        return CN_HEAP_CALLS;
    return metric == CN_HEAP_LIFETIME ? metric : CN_HEAP_BYTES;
}

static size_t add_heap_column(struct cn_costs *costs, enum cn_heap_metric metric)
{
    const char *name = cn_heap_metric_name(metric);
    struct cn_error ignored;
    size_t at = add_column(costs, name, CN_SELF, &ignored);

    return at != SIZE_MAX && strcmp(costs->columns[at].metric, name) == 0 ? at : SIZE_MAX;
}

static void add_heap_columns(struct cn_costs *costs, struct compared_columns *out)
{
    enum cn_heap_metric metric = cn_heap_metric_find(costs->columns[0].metric);

    out->sampled = out->allocations = out->allocation_costs = SIZE_MAX;
    if (metric == CN_HEAP_METRIC_COUNT)
        return;
    out->allocations = add_heap_column(costs, CN_HEAP_CALLS);
    out->allocation_costs = add_heap_column(costs, estimated_as(metric));
    out->sampled = add_heap_column(costs, CN_HEAP_SAMPLES);
}

/* Both sides need the metric: that of the first one, if none was chosen. */
static bool fail_other_metric(bool is_chosen, struct cn_error *err)
{
    struct cn_error before = *err;

    if (is_chosen) {
        err->kind = CN_ERR_USAGE;
        return false;
    }
    return cn_fail(err, CN_ERR_USAGE,
                   "%s; measure both sides in the same way (cairn record, or cairn "
                   "sample), or choose a metric that both have",
                   before.text);
}

static bool add_columns(struct cn_comparison *c, struct cn_costs *costs,
                        const struct cn_compare_run *run, struct compared_columns *out,
                        struct cn_error *err)
{
    const char *defaults[CN_COST_DEFAULT_MAX];
    const char *metric = run->metric ? run->metric : c->metric;
    struct cn_error other;

    costs->counts_waits = run->counts_waits;
    for (size_t i = 0; i < run->threads_count; i++)
        if (!cn_costs_select(costs, run->threads[i], err))
            return false;
    if (!metric && cn_costs_default_metrics(costs, defaults) > 0)
        metric = defaults[0];
    out->total = add_column(costs, metric, CN_TOTAL, err);
    out->self = add_column(costs, metric, CN_SELF, out->total == SIZE_MAX ? err : &other);
    if (costs->column_count == 0)
        return fail_other_metric(run->metric != NULL, err);
    if (c->metric && strcmp(c->metric, costs->columns[0].metric) != 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "its metric is '%s', not '%s'; choose one that all have with "
                       "--metric",
                       costs->columns[0].metric, c->metric);
    for (size_t i = 0; i < costs->input_count; i++)
        if (costs->inputs[i].combine != CN_COMBINE_SUM ||
            !adds_up(costs->columns[0].formula))
            return cn_fail(err, CN_ERR_USAGE, "metric '%s' does not add up over contexts",
                           costs->columns[0].metric);
    out->calls = add_column(costs, CN_CALLS_NAME, CN_SELF, &other);
    if (out->calls == SIZE_MAX ||
        strcmp(costs->columns[out->calls].metric, CN_CALLS_NAME) != 0)
        c->has_calls = false;
    add_heap_columns(costs, out);
    return cn_costs_ready(costs, err);
}

static bool count_threads(const struct cn_costs *costs, uint32_t *out,
                          struct cn_error *err)
{
    *out = 0;
    for (uint32_t i = 1; i < costs->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_costs_is_selected(costs, i))
            continue;
        if (!cn_database_profile(costs->db, i, &profile, err))
            return false;
        *out += !profile.is_summary;
    }
    return true;
}

static double finite_or_0(double value)
{
    return isfinite(value) ? value : 0;
}

/* A function's self cost is its total without those of its callees. Self costs of databases
 * are the same, except where they include inlined functions, which have rows of their own;
 * otherwise they are taken, because they are exact. */
static void correct_self(const struct cn_comparison *c, struct cn_compared_run *run,
                         const double *total)
{
    static const double rounding = 1e-9;
    double *rest = cn_alloc(run->count, sizeof(*rest));

    for (size_t i = run->count; i-- > 0;) {
        rest[i] += total[i];
        if (c->nodes[i].parent != CN_NONE)
            rest[c->nodes[i].parent] -= total[i];
        if (fabs(rest[i] - run->self[i]) > rounding * fabs(total[i]))
            run->self[i] = rest[i];
    }
    free(rest);
}

/* What a sample of a node stands for, as far as chance decides: of blocks that are nearly certain to
 * be sampled, next to nothing. NAN: it has no samples. */
static double weight_of(const struct compared_columns *columns, const double *values)
{
    double samples = values[columns->sampled], calls = values[columns->allocations];

    if (!(samples > 0) || !(calls > 0))
        return NAN;
    return values[columns->allocation_costs] / samples * fmax(1 - samples / calls, 0);
}

/* The values of all nodes; false if there are none. */
static bool take_values(const struct cn_comparison *c, const struct cn_costs *costs,
                        const struct compared_columns *columns,
                        const struct cn_cost_rows *rows, struct cn_compared_run *run)
{
    double values[CN_COST_COLUMN_MAX];
    double *total = NULL;
    bool has_value = false;

    if (columns->total != SIZE_MAX)
        total = cn_alloc(run->count, sizeof(*total));
    if (columns->sampled != SIZE_MAX && columns->allocations != SIZE_MAX &&
        columns->allocation_costs != SIZE_MAX)
        run->sample_weights = cn_alloc(run->count, sizeof(*run->sample_weights));
    for (size_t i = 0; i < run->count; i++) {
        cn_cost_rows_values(costs, rows, i, values);
        if (columns->self != SIZE_MAX)
            run->self[i] = finite_or_0(values[columns->self]);
        if (total)
            total[i] = finite_or_0(values[columns->total]);
        if (run->calls)
            run->calls[i] = finite_or_0(values[columns->calls]);
        if (run->sample_weights)
            run->sample_weights[i] = weight_of(columns, values);
    }
    if (total)
        correct_self(c, run, total);
    for (size_t i = 0; i < run->count; i++)
        has_value |= run->self[i] != 0;
    free(total);
    return has_value;
}

/* The calls of nodes by duration, of those with a share of the cost that may be tested. */
static bool read_durations(const struct cn_compare_run *asked,
                           const struct cn_context_index *index,
                           const struct cn_cost_targets *targets,
                           struct cn_compared_run *run, struct cn_error *err)
{
    static const double smallest = 0.0001;
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_bucket_calls *buckets = NULL;
    size_t capacity = 0, count;
    double whole = 0;
    bool ok;

    cn_costs_init(costs, asked->db);
    ok = cn_costs_add_percentiles(costs, err);
    for (size_t i = 0; i < asked->threads_count && ok; i++)
        ok = cn_costs_select(costs, asked->threads[i], err);
    ok = ok && cn_costs_ready(costs, err);
    if (ok)
        buckets = cn_alloc(costs->latency_count, sizeof(*buckets));
    for (size_t i = 0; i < run->count; i++)
        whole += fabs(run->self[i]);
    for (size_t i = 0; i < index->count && ok; i++) {
        uint32_t node = targets->start[i] < targets->start[i + 1]
                            ? targets->list[targets->start[i]].row_and_sides >> 2
                            : CN_NONE;

        if (node == CN_NONE || fabs(run->self[node]) < smallest * whole)
            continue;
        ok = cn_costs_latencies(costs, index->nodes[i].id, buckets, &count, err);
        for (size_t k = 0; k < count && ok; k++) {
            const struct cn_bucket_range *range = &buckets[k].range;

            CN_PUSH(run->durations, run->duration_count, capacity,
                    (struct cn_compared_duration){
                        node, ((double)range->low_ns + (double)range->high_ns) / 2,
                        (double)(range->high_ns - range->low_ns), buckets[k].calls});
        }
    }
    free(buckets);
    cn_costs_done(costs);
    free(costs);
    return ok;
}

/* Durations of calls are times: only these are compared with them. */
static bool wants_durations(const struct cn_compare_run *asked,
                            const struct cn_costs *costs)
{
    const char *metric = costs->columns[0].metric;

    return asked->has_durations && cn_database_has_latencies(asked->db) &&
           (strcmp(metric, CN_TIME_NAME) == 0 || strcmp(metric, CN_CPU_TIME_NAME) == 0);
}

/* The costs of all nodes. */
static bool fill_costs(struct cn_comparison *c, struct cn_costs *costs,
                       const struct cn_compare_run *asked,
                       const struct compared_columns *columns, struct cn_frames *frames,
                       const uint32_t *nodes, struct cn_compared_run *run,
                       const struct cn_progress *progress, bool *has_values,
                       struct cn_error *err)
{
    struct cn_cost_targets targets = map_contexts(frames, nodes);
    struct cn_cost_rows rows = {0};
    bool ok;

    free(frames->list);
    free(frames->of_node);
    frames->list = NULL;
    frames->of_node = NULL;
    ok = cn_costs_fill(costs, &frames->index, &targets, run->count, progress, &rows, err);
    if (ok) {
        run->self = cn_alloc(run->count, sizeof(*run->self));
        if (c->has_calls)
            run->calls = cn_alloc(run->count, sizeof(*run->calls));
        *has_values = take_values(c, costs, columns, &rows, run);
    }
    cn_cost_rows_done(&rows);
    if (ok && wants_durations(asked, costs))
        ok = read_durations(asked, &frames->index, &targets, run, err);
    free((void *)(uintptr_t)targets.start);
    free((void *)(uintptr_t)targets.list);
    return ok;
}

/* The selected threads that have a timeline, to be freed. */
static bool list_timelines(const struct cn_costs *costs, uint32_t **out, size_t *count,
                           struct cn_error *err)
{
    *out = cn_alloc(costs->db->profile_count, sizeof(**out));
    *count = 0;
    for (uint32_t i = 0; i < costs->db->profile_count; i++) {
        struct cn_profile profile;
        struct cn_timeline timeline;

        if (!cn_costs_is_selected(costs, i))
            continue;
        if (!cn_database_profile(costs->db, i, &profile, err) ||
            !cn_timeline_open(costs->db, i, &timeline, err)) {
            free(*out);
            return false;
        }
        if (!profile.is_summary && timeline.count > 0)
            (*out)[(*count)++] = i;
    }
    return true;
}

/* The times of all nodes in a range of time, from the samples. */
static bool fill_times(const struct cn_costs *costs, const struct cn_compare_run *asked,
                       const struct cn_frames *frames, const uint32_t *nodes,
                       struct cn_compared_run *run, const struct cn_progress *progress,
                       bool *has_values, struct cn_error *err)
{
    const struct cn_context_index *index = &frames->index;
    struct cn_range_request request = {.begin_ns = asked->begin_ns,
                                       .end_ns = asked->end_ns,
                                       .id_limit = index->id_limit};
    struct cn_range_sums sums;
    uint32_t *profiles;

    if (!list_timelines(costs, &profiles, &request.profile_count, err))
        return false;
    request.profiles = profiles;
    bool ok = cn_range_sums_build(&sums, costs->db, &request, progress, err);
    free(profiles);
    if (!ok)
        return false;
    run->self = cn_alloc(run->count, sizeof(*run->self));
    for (size_t i = 0; i < index->count; i++) {
        uint32_t id = index->nodes[i].id, node = nodes[frames->of_node[i]];

        if (index->node_of_id[id] == i && node != CN_NONE)
            run->self[node] += (double)sums.ns[id];
    }
    for (size_t i = 0; i < run->count; i++) {
        *has_values |= run->self[i] != 0;
        run->self[i] /= 1e9;
    }
    cn_range_sums_done(&sums);
    return true;
}

/* The greatest common divisor, give or take `rounding`. */
static double find_divisor(double a, double b, double rounding)
{
    while (b > rounding) {
        double rest = fmod(a, b);

        a = b;
        b = b - rest <= rounding ? 0 : rest;
    }
    return a;
}

/* Allocations that were sampled say so; where they are all recorded, no value is an estimate. Nodes
 * without samples of their own, which freed blocks of others, have the weight of all. */
static bool find_heap_weights(struct cn_compared_run *run, const struct cn_costs *costs,
                              enum cn_heap_metric metric, struct cn_error *err)
{
    enum cn_heap_metric of = estimated_as(metric);
    double all = 0, samples = 0;

    run->sample_weight = 0;
    if (!cn_costs_total(costs, cn_heap_metric_name(of), &all, err) ||
        !cn_costs_total(costs, cn_heap_metric_name(CN_HEAP_SAMPLES), &samples, err))
        return false;
    if (samples > 0)
        run->sample_weight = all / samples;
    for (size_t i = 0; run->sample_weights && i < run->count; i++)
        if (isnan(run->sample_weights[i]))
            run->sample_weights[i] = run->sample_weight;
    return true;
}

/* The cost of one sample: what the costs of all functions are multiples of. Where they are not,
 * because samples have costs of their own, the least cost of a function. */
static bool find_weight(struct cn_compared_run *run, const struct cn_costs *costs,
                        const char *metric, struct cn_error *err)
{
    static const double precision = 1e-6, most_samples = 100;
    enum cn_heap_metric heap = cn_heap_metric_find(metric);
    double least = INFINITY, weight = 0;

    if (heap < CN_HEAP_METRIC_COUNT)
        return find_heap_weights(run, costs, heap, err);
    run->sample_weight = 1;
    if (strcmp(metric, "samples") == 0)
        return true;
    for (size_t i = 0; i < run->count; i++)
        if (run->self[i] > 0)
            least = fmin(least, run->self[i]);
    for (size_t i = 0; i < run->count; i++)
        if (run->self[i] > 0)
            weight = find_divisor(run->self[i], weight, precision * least);
    run->sample_weight = weight * most_samples < least ? least : weight;
    return true;
}

/* A trace has several outermost calls if callers are missing, so these are only counted where it is
 * unknown which traces the calls are of. */
static double count_traces(const struct cn_comparison *c,
                           const struct cn_compare_run *asked,
                           const struct cn_compared_run *run)
{
    double count = 0;

    if (asked->threads_count == 0 && asked->db->trace_count > 0)
        return (double)asked->db->trace_count;
    for (size_t i = 0; i < run->count; i++)
        if (c->nodes[i].parent != CN_NONE &&
            c->nodes[c->nodes[i].parent].parent == CN_NONE)
            count += run->calls[i];
    return count;
}

/* True if a metric without values is 0: where allocations were measured, nothing may be left of
 * them. */
static bool is_zero(const struct cn_costs *costs, const char *metric)
{
    const char *calls = cn_heap_metric_name(CN_HEAP_CALLS);

    return cn_heap_metric_find(metric) < CN_HEAP_METRIC_COUNT &&
           cn_metrics_find(&costs->db->metrics, calls) != CN_NO_ID;
}

static bool fill_run(struct cn_comparison *c, struct cn_costs *costs,
                     const struct cn_compare_run *asked,
                     const struct compared_columns *columns, const char *metric,
                     struct cn_compared_run *run, const struct cn_progress *progress,
                     struct cn_error *err)
{
    struct cn_frames frames;
    bool ok, has_values = false;

    if (!cn_frames_build(&frames, costs->db, progress, err))
        return false;
    cn_database_forget(costs->db);
    uint32_t *nodes = map_frames(c, &frames, asked);
    run->count = c->node_count;
    ok = asked->has_range
             ? fill_times(costs, asked, &frames, nodes, run, progress, &has_values, err)
             : fill_costs(c, costs, asked, columns, &frames, nodes, run, progress,
                          &has_values, err);
    cn_frames_done(&frames);
    cn_database_forget(costs->db);
    has_values = has_values || is_zero(costs, metric);
    if (ok && has_values && !asked->is_derived && !cn_database_has_latencies(costs->db) &&
        cn_metrics_find(&costs->db->metrics, CN_CALLS_NAME) == CN_NO_ID)
        ok = find_weight(run, costs, metric, err);
    if (ok && !has_values && !asked->may_be_empty)
        ok = asked->has_range || asked->threads_count > 0
                 ? cn_fail(err, CN_ERR_USAGE, "nothing was measured in this selection")
                 : cn_fail(err, CN_ERR_USAGE, "metric '%s' has no values", metric);
    if (ok && asked->is_of_traces && run->calls)
        run->trace_count = count_traces(c, asked, run);
    free(nodes);
    return ok;
}

/* A range of time has one metric, which the samples of timelines have: time. */
static bool select_time(struct cn_comparison *c, struct cn_costs *costs,
                        const struct cn_compare_run *run, const char **metric,
                        struct cn_error *err)
{
    const struct cn_database *db = run->db;

    if (!db->has_timelines || db->end_ns <= db->begin_ns)
        return cn_fail(err, CN_ERR_USAGE,
                       "it has no timelines: no range of time can be selected");
    for (size_t i = 0; i < run->threads_count; i++)
        if (!cn_costs_select(costs, run->threads[i], err))
            return false;
    *metric = cn_metrics_have_waits(&db->metrics) ? CN_CPU_TIME_NAME : CN_TIME_NAME;
    if (run->metric && strncmp(run->metric, *metric, strlen(run->metric)) != 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "metric '%s': a range of time has '%s' only, from the timelines",
                       run->metric, *metric);
    if (c->metric && strcmp(c->metric, *metric) != 0)
        return cn_fail(err, CN_ERR_USAGE, "its metric is '%s', not '%s'", *metric,
                       c->metric);
    c->has_calls = false;
    return true;
}

static const char *base_of(const struct cn_compare_run *run, const char *metric)
{
    struct cn_time_base base;

    if (run->has_range)
        return cn_time_base_name(cn_time_base_of_timeline(run->db));
    return cn_time_base_of(run->db, metric, &base) ? cn_time_base_name(base) : NULL;
}

bool cn_comparison_add(struct cn_comparison *c, const struct cn_compare_run *run,
                       const struct cn_progress *progress, struct cn_error *err)
{
    const struct cn_database *db = run->db;
    struct cn_compared_run made = {.side = run->side, .seconds = NAN};
    struct cn_compare_run whole = *run;
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct compared_columns columns = {0};
    const char *metric = NULL;
    bool ok;

    if (run->is_recorded && !run->has_range && db->has_timelines &&
        cn_time_base_of_durations(db).source == CN_TIME_CORRECTED) {
        whole.has_range = true;
        whole.begin_ns = db->begin_ns;
        whole.end_ns = db->end_ns;
        run = &whole;
    }
    if (!run->has_range)
        made.recorder = cn_recorder_cost_parse(db->description);
    if (run->has_range)
        made.seconds = (double)(run->end_ns - run->begin_ns) * 1e-9;
    else if (db->has_timelines && db->end_ns > db->begin_ns)
        made.seconds = (double)(db->end_ns - db->begin_ns) * 1e-9;
    cn_costs_init(costs, run->db);
    ok = run->has_range ? select_time(c, costs, run, &metric, err)
                        : add_columns(c, costs, run, &columns, err);
    if (ok && !metric)
        metric = costs->columns[0].metric;
    ok = ok && count_threads(costs, &made.thread_count, err) &&
         fill_run(c, costs, run, &columns, metric, &made, progress, err);
    if (ok && !c->metric) {
        c->metric_copy = cn_strdup(metric);
        c->metric = c->metric_copy;
    }
    if (ok)
        c->bases[run->side] = base_of(run, metric);
    cn_costs_done(costs);
    free(costs);
    if (!ok) {
        free(made.self);
        free(made.calls);
        free(made.sample_weights);
        free(made.durations);
        return false;
    }
    CN_PUSH(c->runs, c->run_count, c->run_capacity, made);
    c->side_runs[run->side]++;
    return true;
}

bool cn_comparison_add_threads(struct cn_comparison *c, const struct cn_compare_run *all,
                               const struct cn_progress *progress, struct cn_error *err)
{
    enum { THREADS_MAX = 256 };
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    size_t first = c->run_count;
    bool ok = true;

    cn_costs_init(costs, all->db);
    for (size_t i = 0; i < all->threads_count && ok; i++)
        ok = cn_costs_select(costs, all->threads[i], err);
    for (uint32_t i = 1; i < all->db->profile_count && ok; i++) {
        struct cn_compare_run run = *all;
        struct cn_profile profile;
        char number[16];
        const char *const list[] = {number};

        ok = cn_database_profile(all->db, i, &profile, err);
        if (!ok || profile.is_summary || !cn_costs_is_selected(costs, i))
            continue;
        if (c->run_count - first == THREADS_MAX)
            ok = cn_fail(err, CN_ERR_USAGE, "more than %d threads; select some of them",
                         THREADS_MAX);
        (void)snprintf(number, sizeof(number), "%u", i);
        run.threads = list;
        run.threads_count = 1;
        run.may_be_empty = true;
        ok = ok && cn_comparison_add(c, &run, progress, err);
    }
    cn_costs_done(costs);
    free(costs);
    if (ok && c->run_count - first < 2)
        ok = cn_fail(err, CN_ERR_USAGE, "--over threads needs at least two threads");
    for (size_t i = first; i < c->run_count && ok; i++)
        cn_comparison_scale(c, i, (double)(c->run_count - first));
    c->has_threads_as_runs = true;
    return ok;
}
