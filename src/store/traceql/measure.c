#include "store/traceql/measure.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/context.h"
#include "store/search/state.h"
#include "store/segment/index.h"
#include "store/traceql/measure_series.h"
#include "store/traceql/view.h"

static bool has_bucket(enum cn_tql_function function)
{
    return function == CN_TQL_QUANTILE_OVER_TIME ||
           function == CN_TQL_HISTOGRAM_OVER_TIME;
}

/* True if the value of a field is a text of a column, or no text. */
static bool is_of_column(const struct cn_tql_field *field)
{
    return !field->is_parent &&
           (field->intrinsic == CN_TQL_I_NAME || field->intrinsic == CN_TQL_I_KIND ||
            (field->scope == CN_TQL_OF_RESOURCE &&
             strcmp(field->name, "service.name") == 0));
}

/* Groups by few such fields are found by the places of their texts. */
static bool has_places(const struct cn_tql_measure *measure)
{
    for (size_t i = 0; i < measure->node->field_count; i++)
        if (!is_of_column(&measure->program->fields[measure->node->fields[i]]))
            return false;
    return measure->node->function != CN_TQL_COMPARE && measure->by_count <= 2;
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
        .by_count = node->field_count + has_bucket(node->function),
        .last = CN_NONE,
    };
    /* compare() groups by where a span belongs, a name and a value. */
    if (node->function == CN_TQL_COMPARE)
        measure->by_count = 3;
    measure->has_places = has_places(measure);
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
    cn_map_done(&measure->by_hash);
    *measure = (struct cn_tql_measure){0};
}

/* The interval of a time; SIZE_MAX outside of all. */
static size_t interval_of(const struct cn_tql_metrics *metrics, uint64_t time_ns)
{
    if (metrics->count == 1)
        return 0;
    if (time_ns <= metrics->begin_ns)
        return SIZE_MAX;
    uint64_t interval = (time_ns - metrics->begin_ns - 1) / metrics->step_ns;
    return interval < metrics->count ? (size_t)interval : SIZE_MAX;
}

static bool is_group(const struct cn_tql_measure *measure,
                     const struct cn_tql_group *group, const struct cn_tql_value *by)
{
    for (size_t i = 0; i < measure->by_count; i++)
        if (!cn_tql_same(&group->by[i], &by[i]))
            return false;
    return true;
}

static bool begins_with_nan(enum cn_tql_function function)
{
    return function >= CN_TQL_SUM_OVER_TIME && function <= CN_TQL_MAX_OVER_TIME;
}

static uint32_t add_group(struct cn_tql_measure *measure, const struct cn_tql_value *by)
{
    size_t count = measure->metrics->count;
    struct cn_tql_group group = {.values = cn_alloc(count, sizeof(double))};

    for (size_t i = 0; i < measure->by_count; i++)
        group.by[i] = cn_tql_keep(&measure->metrics->arena, &by[i]);
    if (begins_with_nan(measure->node->function))
        for (size_t i = 0; i < count; i++)
            group.values[i] = (double)NAN;
    if (measure->node->function == CN_TQL_AVG_OVER_TIME)
        group.weights = cn_alloc(count, sizeof(double));
    CN_PUSH(measure->groups, measure->group_count, measure->group_capacity, group);
    return (uint32_t)measure->group_count - 1;
}

/* The bits that two values of one place share: a number, or where a text is. */
static uint64_t bits_of(const struct cn_tql_value *value)
{
    uint64_t bits = (uint64_t)value->integer;

    if (value->type == CN_TQL_STRING)
        bits = (uint64_t)(uintptr_t)value->text.ptr;
    else if (value->type == CN_TQL_FLOAT)
        memcpy(&bits, &value->real, sizeof(bits));
    return value->type == CN_TQL_NIL ? 0 : bits;
}

static struct cn_tql_place *place_of(struct cn_tql_measure *measure,
                                     const struct cn_tql_value *by)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < measure->by_count; i++)
        hash = (hash ^ bits_of(&by[i])) * 0x9e3779b97f4a7c15;
    return &measure->places[hash >> 56];
}

static bool is_in_place(const struct cn_tql_measure *measure,
                        const struct cn_tql_place *place, const struct cn_tql_value *by)
{
    for (size_t i = 0; i < measure->by_count; i++)
        if (place->by[i].type != by[i].type || bits_of(&place->by[i]) != bits_of(&by[i]))
            return false;
    return place->group > 0;
}

static uint32_t find_group(struct cn_tql_measure *measure, const struct cn_tql_value *by);

/* The same as find_group(), which is asked once for each place. */
static uint32_t find_place(struct cn_tql_measure *measure, const struct cn_tql_value *by)
{
    struct cn_tql_place *place = place_of(measure, by);

    if (is_in_place(measure, place, by))
        return place->group - 1;
    uint32_t group = find_group(measure, by);
    for (size_t i = 0; i < measure->by_count; i++)
        place->by[i] = by[i];
    place->group = group == CN_NONE ? 0 : group + 1;
    return group;
}

/* The group of some values; CN_NONE if there are too many. */
static uint32_t find_group(struct cn_tql_measure *measure, const struct cn_tql_value *by)
{
    uint64_t key = 0;
    uint32_t *number;

    if (measure->last != CN_NONE &&
        is_group(measure, &measure->groups[measure->last], by))
        return measure->last;
    for (size_t i = 0; i < measure->by_count; i++)
        key = key * 0x9e3779b97f4a7c15 + cn_tql_hash(&by[i]);
    while (*(number = cn_map_at(&measure->by_hash, key, CN_NONE)) != CN_NONE &&
           !is_group(measure, &measure->groups[*number], by))
        key++;
    if (*number == CN_NONE) {
        measure->is_full = measure->group_count >= CN_TQL_SERIES_MAX;
        if (measure->is_full)
            return CN_NONE;
        *number = add_group(measure, by);
    }
    return measure->last = *number;
}

/* What a span is measured by, durations in seconds; NaN if it has no number. */
static bool measured(const struct cn_tql_measure *measure, struct cn_tql_view *view,
                     const struct cn_tql_span *span, struct cn_tql_value *value,
                     double *out, struct cn_error *err)
{
    *value = cn_tql_nil();
    *out = (double)NAN;
    if (measure->node->field == CN_NONE)
        return true;
    if (!cn_tql_span_field(view, span, &measure->program->fields[measure->node->field],
                           value, err))
        return false;
    if (value->type == CN_TQL_LIST && value->is_any)
        *value = value->list[0];
    *out = cn_tql_as_float(value);
    if (value->type == CN_TQL_DURATION)
        *out /= 1e9;
    return true;
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

    if (group->exemplar_count >= measure->exemplar_max)
        return;
    if (!group->exemplars) {
        group->exemplars = cn_alloc(measure->exemplar_max, sizeof(exemplar));
        group->exemplar_counts = cn_alloc(slices, 1);
    }
    slice = slice < slices ? slice : slices - 1;
    if (group->exemplar_counts[slice] >= EACH ||
        !cn_tql_view_trace_id(view, span->segment, span->row, &exemplar.trace_high,
                              &exemplar.trace_low, &ignored))
        return;
    exemplar.span_id = cn_tql_span_id(view, span);
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
    uint32_t number = find_group(comparing->measure, by);
    if (number != CN_NONE)
        comparing->measure->groups[number].values[comparing->interval] +=
            comparing->weight;
    by[0] = cn_tql_text(
        cn_bytes_of(comparing->is_selected ? "selection_total" : "baseline_total"));
    by[2] = cn_tql_nil();
    number = find_group(comparing->measure, by);
    if (number != CN_NONE)
        comparing->measure->groups[number].values[comparing->interval] +=
            comparing->weight;
}

bool cn_tql_measure_add(struct cn_tql_measure *measure, struct cn_tql_view *view,
                        const struct cn_tql_span *span, bool is_selected,
                        struct cn_error *err)
{
    const struct cn_tql_node *node = measure->node;
    size_t interval = interval_of(measure->metrics, span->time_ns);
    struct cn_tql_value by[CN_TQL_BY_MAX + 1], value;
    double number, weight;

    if (interval == SIZE_MAX)
        return true;
    if (!cn_tql_span_weight(view, span, &weight, err))
        return false;
    if (node->function == CN_TQL_COMPARE) {
        struct comparing comparing = {measure, interval, is_selected, weight};

        measure->metrics->span_count++;
        return cn_tql_span_each(view, span, compare_attribute, &comparing, err);
    }
    for (size_t i = 0; i < node->field_count; i++)
        if (!cn_tql_span_field(view, span, &measure->program->fields[node->fields[i]],
                               &by[i], err))
            return false;
    for (size_t i = 0; i < node->field_count; i++)
        if (by[i].type == CN_TQL_LIST && by[i].is_any)
            by[i] = by[i].list[0];
    if (!measured(measure, view, span, &value, &number, err))
        return false;
    if (has_bucket(node->function))
        by[node->field_count] = bucket_of(&value);
    if (node->field != CN_NONE &&
        (isnan(number) ||
         (has_bucket(node->function) && by[node->field_count].type == CN_TQL_NIL)))
        return true;
    uint32_t group =
        measure->has_places ? find_place(measure, by) : find_group(measure, by);
    if (group == CN_NONE)
        return true;
    measure->metrics->span_count++;
    add_value(measure, &measure->groups[group], interval, number, weight);
    if (measure->exemplar_max > 0)
        add_exemplar(measure, view, span, &measure->groups[group], number);
    return true;
}

/* The column that a field is the text of; see is_of_column(). */
static enum cn_store_field column_of(const struct cn_tql_field *field)
{
    return field->intrinsic == CN_TQL_I_NAME   ? CN_STORE_FIELD_method
           : field->intrinsic == CN_TQL_I_KIND ? CN_STORE_FIELD_type
                                               : CN_STORE_FIELD_service;
}

bool cn_tql_measure_is_of_columns(const struct cn_tql_measure *measure,
                                  const struct cn_tql_view *view, uint32_t segment)
{
    const struct cn_tql_node *node = measure->node;
    const struct cn_tql_field *field =
        node->field == CN_NONE ? NULL : &measure->program->fields[node->field];

    return measure->has_places &&
           (!field || (field->intrinsic == CN_TQL_I_DURATION && !field->is_parent)) &&
           view->segments[segment].index->joined.trace_count == 0;
}

/* Rows that are measured by columns. */
struct measured_rows {
    struct cn_tql_measure *measure;
    struct cn_tql_view *view;
    const struct cn_tql_segment *segment;
    uint32_t number; /* of the segment */
    size_t by_count; /* fields, without the bucket */
    /* Groups by words and bucket, for a first look. */
    struct row_place {
        uint64_t words[2];
        unsigned bucket;
        uint32_t group; /* + 1; 0: none */
    } places[256];
};

/* Values of the rows of a group of CN_COLUMN_GROUP_ROWS. */
struct row_values {
    uint64_t times[CN_COLUMN_GROUP_ROWS], durations[CN_COLUMN_GROUP_ROWS];
    uint64_t words[2][CN_COLUMN_GROUP_ROWS];
};

static void read_values(const struct measured_rows *rows, uint32_t first, uint64_t bits,
                        struct row_values *out)
{
    const struct cn_tql_measure *measure = rows->measure;
    const struct cn_store_column *columns = rows->segment->columns;

    if (measure->metrics->count > 1 || measure->exemplar_max > 0)
        cn_store_column_read_bits(&columns[CN_STORE_FIELD_time_ns], first, bits,
                                  out->times);
    if (measure->node->field != CN_NONE)
        cn_store_column_read_bits(&columns[CN_STORE_FIELD_duration_ns], first, bits,
                                  out->durations);
    for (size_t i = 0; i < rows->by_count; i++)
        cn_store_column_read_bits(
            &columns[column_of(&measure->program->fields[measure->node->fields[i]])],
            first, bits, out->words[i]);
}

/* The number of a bucket, as bucket_of() finds it: 0 if there is none, UINT_MAX if it is not known. */
static unsigned bucket_number(uint64_t duration_ns)
{
    enum { EXACT_BITS = 53 };

    if (duration_ns < 2 || duration_ns > INT64_MAX)
        return 0;
    return duration_ns >> EXACT_BITS ? UINT_MAX
                                     : 64 - (unsigned)__builtin_clzll(duration_ns - 1);
}

/* The group of a row, by the texts of its columns. */
static bool find_row_group(struct measured_rows *rows, const struct cn_tql_span *span,
                           uint32_t *group, struct cn_error *err)
{
    struct cn_tql_measure *measure = rows->measure;
    struct cn_tql_value by[CN_TQL_BY_MAX + 1];
    struct cn_tql_value duration = cn_tql_duration((int64_t)span->duration_ns);

    for (size_t i = 0; i < rows->by_count; i++)
        if (!cn_tql_span_field(rows->view, span,
                               &measure->program->fields[measure->node->fields[i]],
                               &by[i], err))
            return false;
    if (has_bucket(measure->node->function))
        by[rows->by_count] = bucket_of(&duration);
    *group = find_place(measure, by);
    return true;
}

/* The same by the words, first in the places. */
static bool find_row_place(struct measured_rows *rows, const struct row_values *values,
                           unsigned i, unsigned bucket, const struct cn_tql_span *span,
                           uint32_t *group, struct cn_error *err)
{
    uint64_t words[2] = {0}, hash = bucket;

    for (size_t k = 0; k < rows->by_count; k++) {
        words[k] = values->words[k][i];
        hash = (hash ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    struct row_place *place = &rows->places[(hash ^ hash >> 32 ^ hash >> 56) & 255];
    if (place->group == 0 || place->bucket != bucket || place->words[0] != words[0] ||
        place->words[1] != words[1] || bucket == UINT_MAX) {
        if (!find_row_group(rows, span, group, err))
            return false;
        *place = (struct row_place){
            {words[0], words[1]}, bucket, *group == CN_NONE ? 0 : *group + 1};
        return true;
    }
    *group = place->group - 1;
    return true;
}

static bool measure_row(struct measured_rows *rows, const struct row_values *values,
                        unsigned i, uint32_t row, struct cn_error *err)
{
    struct cn_tql_measure *measure = rows->measure;
    bool has_field = measure->node->field != CN_NONE;
    struct cn_tql_span span = {.segment = rows->number,
                               .row = row,
                               .duration_ns = has_field ? values->durations[i] : 0,
                               .parent = CN_NONE};
    unsigned bucket =
        has_bucket(measure->node->function) ? bucket_number(span.duration_ns) : 1;
    double number = (double)NAN;
    size_t interval = 0;
    uint32_t group;

    if (measure->metrics->count > 1 || measure->exemplar_max > 0)
        span.time_ns = values->times[i];
    if (measure->metrics->count > 1)
        interval = interval_of(measure->metrics, span.time_ns);
    if (interval == SIZE_MAX || bucket == 0)
        return true;
    if (!find_row_place(rows, values, i, bucket, &span, &group, err))
        return false;
    if (group == CN_NONE)
        return true;
    if (has_field)
        number = (double)(int64_t)span.duration_ns / 1e9;
    measure->metrics->span_count++;
    add_value(measure, &measure->groups[group], interval, number,
              rows->segment->weights.count > 0
                  ? cn_row_weight(&rows->segment->weights, row)
                  : 1);
    if (measure->exemplar_max > 0)
        add_exemplar(measure, rows->view, &span, &measure->groups[group], number);
    return true;
}

bool cn_tql_measure_rows(struct cn_tql_measure *measure, struct cn_tql_view *view,
                         uint32_t segment, const struct cn_rows *rows,
                         struct cn_error *err)
{
    struct measured_rows measured = {
        .measure = measure,
        .view = view,
        .segment = &view->segments[segment],
        .number = segment,
        .by_count = measure->node->field_count,
    };
    struct row_values values;

    for (size_t i = 0; i < cn_rows_word_count(rows); i++) {
        uint32_t first = (uint32_t)i * CN_COLUMN_GROUP_ROWS;
        uint64_t bits = rows->words[i];

        if (!bits)
            continue;
        read_values(&measured, first, bits, &values);
        for (unsigned k = 0; bits; bits &= bits - 1, k++)
            if (!measure_row(&measured, &values, k,
                             first + (uint32_t)__builtin_ctzll(bits), err))
                view->search->failures[segment] = *err;
    }
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
