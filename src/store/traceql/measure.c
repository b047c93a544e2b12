#include "store/traceql/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/context.h"
#include "store/traceql/measure_series.h"
#include "store/traceql/view.h"

bool cn_tql_measure_has_bucket(const struct cn_tql_measure *measure)
{
    return measure->node->function == CN_TQL_QUANTILE_OVER_TIME ||
           measure->node->function == CN_TQL_HISTOGRAM_OVER_TIME;
}

void cn_tql_measure_init(struct cn_tql_measure *measure,
                         const struct cn_tql_program *program,
                         const struct cn_tql_node *node, struct cn_tql_metrics *metrics,
                         size_t exemplar_max)
{
    *measure = (struct cn_tql_measure){
        .program = program,
        .node = node,
        .metrics = metrics,
        .exemplar_max = exemplar_max,
    };
    measure->by_count = node->field_count + cn_tql_measure_has_bucket(measure);
    /* compare() groups by where a span belongs, a name and a value. */
    if (node->function == CN_TQL_COMPARE)
        measure->by_count = 3;
    measure->labels = (struct cn_tql_labels){
        .arena = &metrics->arena, .count = measure->by_count, .max = CN_TQL_SERIES_MAX};
}

void cn_tql_measure_done(struct cn_tql_measure *measure)
{
    for (size_t i = 0; i < measure->group_count; i++) {
        free(measure->groups[i].values);
        free(measure->groups[i].weights);
        free(measure->groups[i].exemplars);
        free(measure->groups[i].exemplar_counts);
    }
    free(measure->groups);
    cn_tql_labels_done(&measure->labels);
    *measure = (struct cn_tql_measure){0};
}

size_t cn_tql_interval_of(const struct cn_tql_metrics *metrics, uint64_t time_ns)
{
    if (metrics->count == 1)
        return 0;
    if (time_ns <= metrics->begin_ns)
        return SIZE_MAX;
    uint64_t interval = (time_ns - metrics->begin_ns - 1) / metrics->step_ns;
    return interval < metrics->count ? (size_t)interval : SIZE_MAX;
}

static bool begins_with_nan(enum cn_tql_function function)
{
    return function >= CN_TQL_SUM_OVER_TIME && function <= CN_TQL_MAX_OVER_TIME;
}

static void add_group(struct cn_tql_measure *measure, const struct cn_tql_value *by)
{
    size_t count = measure->metrics->count;
    struct cn_tql_group group = {.by = by, .values = cn_alloc(count, sizeof(double))};

    if (begins_with_nan(measure->node->function))
        for (size_t i = 0; i < count; i++)
            group.values[i] = (double)NAN;
    if (measure->node->function == CN_TQL_AVG_OVER_TIME)
        group.weights = cn_alloc(count, sizeof(double));
    CN_PUSH(measure->groups, measure->group_count, measure->group_capacity, group);
}

uint32_t cn_tql_measure_group(struct cn_tql_measure *measure,
                              const struct cn_tql_value *by)
{
    uint32_t number = cn_tql_labels_find(&measure->labels, by);

    if (number != CN_NONE && number == measure->group_count)
        add_group(measure, measure->labels.list[number]);
    return number;
}

/* The next power of two, in seconds for a duration; nil if the value is in no bucket. */
static struct cn_tql_value bucket_of(const struct cn_tql_value *value)
{
    double number = cn_tql_as_float(value);
    int exponent;

    if (value->type != CN_TQL_FLOAT && !(number >= 2))
        return cn_tql_nil();
    if (!(number > 0) || isinf(number))
        return cn_tql_nil();
    double fraction = frexp(number, &exponent);
    double bucket = ldexp(1, fraction == 0.5 ? exponent - 1 : exponent);
    return cn_tql_float(value->type == CN_TQL_DURATION ? bucket / 1e9 : bucket);
}

bool cn_tql_measure_value(const struct cn_tql_measure *measure,
                          const struct cn_tql_value *value, double *number,
                          struct cn_tql_value *bucket)
{
    *number = cn_tql_as_float(value);
    if (value->type == CN_TQL_DURATION)
        *number /= 1e9;
    if (!cn_tql_measure_has_bucket(measure))
        return !isnan(*number);
    *bucket = bucket_of(value);
    return !isnan(*number) && bucket->type != CN_TQL_NIL;
}

/* A span of a sampled trace stands for others, except where the least or most is asked for. */
static void add_value(const struct cn_tql_measure *measure, struct cn_tql_group *group,
                      size_t interval, double value, double weight)
{
    double *at = &group->values[interval];

    switch ((unsigned)measure->node->function) {
    case CN_TQL_SUM_OVER_TIME:
        *at = isnan(*at) ? value * weight : *at + value * weight;
        return;
    case CN_TQL_AVG_OVER_TIME:
        *at = isnan(*at) ? value * weight : *at + value * weight;
        group->weights[interval] += weight;
        return;
    case CN_TQL_MIN_OVER_TIME:
        *at = isnan(*at) || value < *at ? value : *at;
        return;
    case CN_TQL_MAX_OVER_TIME:
        *at = isnan(*at) || value > *at ? value : *at;
        return;
    default:
        *at += weight;
    }
}

/* Exemplars are spread over time: two for each slice. */
static void add_exemplar(const struct cn_tql_measure *measure, struct cn_tql_view *view,
                         const struct cn_tql_span *span, struct cn_tql_group *group,
                         double value)
{
    enum { EACH = 2 };
    size_t slices = (measure->exemplar_max + EACH - 1) / EACH;
    uint64_t begin_ns = measure->metrics->begin_ns;
    double share = (double)(span->time_ns - begin_ns) /
                   ((double)measure->metrics->step_ns * (double)measure->metrics->count);
    size_t slice = (size_t)(share * (double)slices);
    struct cn_tql_exemplar exemplar = {.time_ns = span->time_ns, .value = value};
    struct cn_error ignored;
    uint64_t parent_id;

    if (group->exemplar_count >= measure->exemplar_max)
        return;
    if (!group->exemplars) {
        group->exemplars = cn_alloc(measure->exemplar_max, sizeof(exemplar));
        group->exemplar_counts = cn_alloc(slices, 1);
    }
    slice = slice < slices ? slice : slices - 1;
    if (group->exemplar_counts[slice] >= EACH ||
        !cn_tql_view_trace_id(view, span->segment, span->row, &exemplar.trace_high,
                              &exemplar.trace_low, &ignored) ||
        !cn_tql_view_ids(view, span, &exemplar.span_id, &parent_id, &ignored))
        return;
    group->exemplar_counts[slice]++;
    group->exemplars[group->exemplar_count++] = exemplar;
}

/* A span being compared: its attributes are counted where it belongs. */
struct comparing {
    struct cn_tql_measure *measure;
    size_t interval;
    bool is_selected;
    double weight;
};

static void compare_attribute(void *arg, const char *name,
                              const struct cn_tql_value *value)
{
    struct comparing *comparing = arg;
    struct cn_tql_value by[3] = {
        cn_tql_text(cn_bytes_of(comparing->is_selected ? "selection" : "baseline")),
        cn_tql_text(cn_bytes_of(name)), *value};

    if (value->type == CN_TQL_DURATION)
        return;
    if (value->type == CN_TQL_LIST && value->is_any)
        by[2] = value->list[0];
    uint32_t number = cn_tql_measure_group(comparing->measure, by);
    if (number != CN_NONE)
        comparing->measure->groups[number].values[comparing->interval] +=
            comparing->weight;
    by[0] = cn_tql_text(
        cn_bytes_of(comparing->is_selected ? "selection_total" : "baseline_total"));
    by[2] = cn_tql_nil();
    number = cn_tql_measure_group(comparing->measure, by);
    if (number != CN_NONE)
        comparing->measure->groups[number].values[comparing->interval] +=
            comparing->weight;
}

/* Of the values of several events or links, the first. */
static bool first_value(struct cn_tql_view *view, const struct cn_tql_span *span,
                        const struct cn_tql_field *field, struct cn_tql_value *out,
                        struct cn_error *err)
{
    if (!cn_tql_span_field(view, span, field, out, err))
        return false;
    if (out->type == CN_TQL_LIST && out->is_any)
        *out = out->list[0];
    return true;
}

bool cn_tql_measure_span(const struct cn_tql_measure *measure, struct cn_tql_view *view,
                         const struct cn_tql_span *span, struct cn_tql_measured *out,
                         struct cn_error *err)
{
    const struct cn_tql_node *node = measure->node;
    const struct cn_tql_field *fields = measure->program->fields;
    struct cn_tql_value value;

    out->interval = cn_tql_interval_of(measure->metrics, span->time_ns);
    out->number = (double)NAN;
    if (out->interval == SIZE_MAX)
        return true;
    if (!cn_tql_span_weight(view, span, &out->weight, err))
        return false;
    for (size_t i = 0; i < node->field_count; i++)
        if (!first_value(view, span, &fields[node->fields[i]], &out->by[i], err))
            return false;
    if (node->field == CN_NONE)
        return true;
    if (!first_value(view, span, &fields[node->field], &value, err))
        return false;
    if (!cn_tql_measure_value(measure, &value, &out->number, &out->by[node->field_count]))
        out->interval = SIZE_MAX;
    return true;
}

void cn_tql_measure_count(struct cn_tql_measure *measure, struct cn_tql_view *view,
                          const struct cn_tql_span *span, uint32_t group, size_t interval,
                          double number, double weight)
{
    struct cn_tql_group *to = &measure->groups[group];

    measure->metrics->span_count++;
    add_value(measure, to, interval, number, weight);
    if (measure->exemplar_max > 0)
        add_exemplar(measure, view, span, to, number);
}

/* compare(): every attribute of the span counts. */
static bool compare_span(struct cn_tql_measure *measure, struct cn_tql_view *view,
                         const struct cn_tql_span *span, bool is_selected,
                         struct cn_error *err)
{
    struct comparing comparing = {
        measure, cn_tql_interval_of(measure->metrics, span->time_ns), is_selected, 1};

    if (comparing.interval == SIZE_MAX)
        return true;
    if (!cn_tql_span_weight(view, span, &comparing.weight, err))
        return false;
    measure->metrics->span_count++;
    return cn_tql_span_each(view, span, compare_attribute, &comparing, err);
}

bool cn_tql_measure_add(struct cn_tql_measure *measure, struct cn_tql_view *view,
                        const struct cn_tql_span *span, bool is_selected,
                        struct cn_error *err)
{
    struct cn_tql_measured measured;

    if (measure->node->function == CN_TQL_COMPARE)
        return compare_span(measure, view, span, is_selected, err);
    if (!cn_tql_measure_span(measure, view, span, &measured, err))
        return false;
    uint32_t group = measured.interval == SIZE_MAX
                         ? CN_NONE
                         : cn_tql_measure_group(measure, measured.by);
    if (group != CN_NONE)
        cn_tql_measure_count(measure, view, span, group, measured.interval,
                             measured.number, measured.weight);
    return true;
}

void cn_tql_measure_take(struct cn_tql_measure *measure, struct cn_tql_series_set *out)
{
    switch ((unsigned)measure->node->function) {
    case CN_TQL_QUANTILE_OVER_TIME:
        cn_tql_take_quantiles(measure, out);
        return;
    case CN_TQL_COMPARE:
        cn_tql_take_compared(measure, out);
        return;
    default:
        cn_tql_take_groups(measure, out);
    }
}
