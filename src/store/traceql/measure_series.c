#include "store/traceql/measure_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char *function_name(enum cn_tql_function function)
{
    static const char *const names[] = {
        [CN_TQL_RATE] = "rate",
        [CN_TQL_COUNT_OVER_TIME] = "count_over_time",
        [CN_TQL_SUM_OVER_TIME] = "sum_over_time",
        [CN_TQL_AVG_OVER_TIME] = "avg_over_time",
        [CN_TQL_MIN_OVER_TIME] = "min_over_time",
        [CN_TQL_MAX_OVER_TIME] = "max_over_time",
    };

    return names[function];
}

static void add_label(struct cn_tql_series *series, const char *name,
                      struct cn_tql_value value)
{
    series->labels[series->label_count++] = (struct cn_tql_label){name, value};
}

/* A series with the labels of a group and room for two more. */
static struct cn_tql_series series_of(const struct cn_tql_measure *measure,
                                      const struct cn_tql_group *group)
{
    const struct cn_tql_node *node = measure->node;
    struct cn_arena *arena = &measure->metrics->arena;
    struct cn_tql_series series = {
        .labels = cn_arena_alloc(arena, node->field_count + 2, sizeof(*series.labels)),
        .values = cn_arena_alloc(arena, measure->metrics->count, sizeof(double)),
    };

    for (size_t i = 0; i < node->field_count; i++)
        if (group->by[i].type != CN_TQL_NIL)
            add_label(&series, measure->program->fields[node->fields[i]].text,
                      group->by[i]);
    return series;
}

static void copy_exemplars(const struct cn_tql_measure *measure,
                           const struct cn_tql_group *group, struct cn_tql_series *series)
{
    const struct cn_tql_metrics *metrics = measure->metrics;

    series->exemplars = cn_arena_dup(&measure->metrics->arena, group->exemplars,
                                     group->exemplar_count, sizeof(*group->exemplars));
    series->exemplar_count = group->exemplar_count;
    for (size_t i = 0; i < group->exemplar_count; i++) {
        struct cn_tql_exemplar *exemplar = &series->exemplars[i];
        uint64_t since = exemplar->time_ns - metrics->begin_ns;

        if (isnan(exemplar->value))
            exemplar->value =
                series->values[metrics->count == 1 ? 0 : (since - 1) / metrics->step_ns];
    }
}

static double point_of(const struct cn_tql_measure *measure,
                       const struct cn_tql_group *group, size_t i)
{
    if (measure->node->function == CN_TQL_AVG_OVER_TIME)
        return group->values[i] / group->weights[i];
    if (measure->node->function == CN_TQL_RATE)
        return group->values[i] / ((double)measure->metrics->step_ns / 1e9);
    return group->values[i];
}

void cn_tql_take_groups(struct cn_tql_measure *measure, struct cn_tql_series_set *out)
{
    const struct cn_tql_node *node = measure->node;
    bool is_histogram = node->function == CN_TQL_HISTOGRAM_OVER_TIME;

    for (size_t g = 0; g < measure->group_count; g++) {
        const struct cn_tql_group *group = &measure->groups[g];
        struct cn_tql_series series = series_of(measure, group);

        if (is_histogram)
            add_label(&series, "__bucket", group->by[node->field_count]);
        else if (series.label_count == 0 && node->field_count > 0)
            add_label(&series, measure->program->fields[node->fields[0]].text,
                      cn_tql_nil());
        else if (series.label_count == 0)
            add_label(&series, "__name__",
                      cn_tql_text(cn_bytes_of(function_name(node->function))));
        for (size_t i = 0; i < measure->metrics->count; i++)
            series.values[i] = point_of(measure, group, i);
        copy_exemplars(measure, group, &series);
        CN_PUSH(out->list, out->count, out->capacity, series);
    }
}

/* By the fields, then by the bucket. */
static int by_fields(const void *a, const void *b, void *arg)
{
    const struct cn_tql_group *x = a, *y = b;
    const struct cn_tql_measure *measure = arg;

    for (size_t i = 0; i < measure->by_count; i++) {
        int order = cn_tql_order(&x->by[i], &y->by[i]);

        if (order != 0)
            return order;
    }
    return 0;
}

/* The value below which a share of what is in the buckets lies: between two powers of two it is
 * interpolated exponentially, as Tempo does. */
static double quantile(double share, const struct cn_tql_group *buckets, size_t count,
                       size_t field, size_t interval)
{
    double sum = 0, taken = 0;
    const struct cn_tql_group *before = NULL;

    for (size_t i = 0; i < count; i++)
        sum += buckets[i].values[interval];
    if (sum == 0)
        return 0;
    double wanted = ceil(share * sum);
    if (wanted < 1)
        wanted = 1;
    for (size_t i = 0; i < count; i++) {
        double here = buckets[i].values[interval], top = buckets[i].by[field].real;

        if (here == 0)
            continue;
        if (taken + here <= wanted) {
            taken += here;
            if (taken == wanted)
                return top;
            before = &buckets[i];
            continue;
        }
        double upper = log2(top);
        double lower = before ? log2(before->by[field].real) : upper - 1;
        return exp2(lower + (upper - lower) * (wanted - taken) / here);
    }
    return 0;
}

/* The quantile that an exemplar is nearest to, over all of the time. */
static size_t nearest(const double *quantiles, size_t count, double value)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (fabs(value - quantiles[i]) < fabs(value - quantiles[best]))
            best = i;
    return best;
}

static void share_exemplars(const struct cn_tql_measure *measure,
                            const struct cn_tql_group *groups, size_t count,
                            struct cn_tql_series *series)
{
    size_t quantile_count = measure->node->quantile_count, total = 0;
    double *whole = cn_alloc(quantile_count + 1, sizeof(*whole));

    for (size_t g = 0; g < count; g++)
        total += groups[g].exemplar_count;
    for (size_t q = 0; q < quantile_count; q++) {
        size_t points = 0;

        for (size_t i = 0; i < measure->metrics->count; i++)
            if (series[q].values[i] > 0) {
                whole[q] += series[q].values[i];
                points++;
            }
        whole[q] /= points > 0 ? (double)points : 1;
        series[q].exemplars = cn_arena_alloc(&measure->metrics->arena, total + 1,
                                             sizeof(*series[q].exemplars));
    }
    for (size_t g = 0; g < count; g++)
        for (size_t e = 0; e < groups[g].exemplar_count; e++) {
            struct cn_tql_series *one =
                &series[nearest(whole, quantile_count, groups[g].exemplars[e].value)];

            if (one->exemplar_count < measure->exemplar_max)
                one->exemplars[one->exemplar_count++] = groups[g].exemplars[e];
        }
    free(whole);
}

/* The series of groups that differ in their buckets alone. */
static void take_buckets(struct cn_tql_measure *measure,
                         const struct cn_tql_group *groups, size_t count,
                         struct cn_tql_series_set *out)
{
    const struct cn_tql_node *node = measure->node;
    size_t first = out->count;

    for (size_t q = 0; q < node->quantile_count; q++) {
        struct cn_tql_series series = series_of(measure, &groups[0]);

        add_label(&series, "p", cn_tql_float(node->quantiles[q]));
        for (size_t i = 0; i < measure->metrics->count; i++)
            series.values[i] =
                quantile(node->quantiles[q], groups, count, node->field_count, i);
        CN_PUSH(out->list, out->count, out->capacity, series);
    }
    share_exemplars(measure, groups, count, out->list + first);
}

static bool is_same_but_bucket(const struct cn_tql_measure *measure,
                               const struct cn_tql_group *a, const struct cn_tql_group *b)
{
    for (size_t i = 0; i + 1 < measure->by_count; i++)
        if (!cn_tql_same(&a->by[i], &b->by[i]))
            return false;
    return true;
}

void cn_tql_take_quantiles(struct cn_tql_measure *measure, struct cn_tql_series_set *out)
{
    size_t end;

    if (measure->group_count > 1)
        qsort_r(measure->groups, measure->group_count, sizeof(*measure->groups),
                by_fields, measure);
    for (size_t begin = 0; begin < measure->group_count; begin = end) {
        end = begin + 1;
        while (
            end < measure->group_count &&
            is_same_but_bucket(measure, &measure->groups[begin], &measure->groups[end]))
            end++;
        take_buckets(measure, &measure->groups[begin], end - begin, out);
    }
}

static double total_of(const struct cn_tql_measure *measure,
                       const struct cn_tql_group *group)
{
    double sum = 0;

    for (size_t i = 0; i < measure->metrics->count; i++)
        sum += group->values[i];
    return sum;
}

/* Of one attribute, the values with the most spans first. */
static int by_total(const void *a, const void *b, void *arg)
{
    const struct cn_tql_group *x = a, *y = b;
    double left = total_of(arg, x), right = total_of(arg, y);

    for (size_t i = 0; i < 2; i++) {
        int order = cn_tql_order(&x->by[i], &y->by[i]);

        if (order != 0)
            return order;
    }
    return left > right ? -1 : left < right ? 1 : cn_tql_order(&x->by[2], &y->by[2]);
}

void cn_tql_take_compared(struct cn_tql_measure *measure, struct cn_tql_series_set *out)
{
    int64_t rank = 0;

    if (measure->group_count > 1)
        qsort_r(measure->groups, measure->group_count, sizeof(*measure->groups), by_total,
                measure);
    for (size_t g = 0; g < measure->group_count; g++) {
        const struct cn_tql_group *group = &measure->groups[g];
        struct cn_tql_series series = series_of(measure, group);

        rank = g > 0 && is_same_but_bucket(measure, &measure->groups[g - 1], group)
                   ? rank + 1
                   : 0;
        if (rank >= measure->node->limit)
            continue;
        add_label(&series, "__meta_type", group->by[0]);
        add_label(&series,
                  cn_arena_copy(&measure->metrics->arena,
                                (const char *)group->by[1].text.ptr,
                                group->by[1].text.len),
                  group->by[2]);
        memcpy(series.values, group->values, measure->metrics->count * sizeof(double));
        CN_PUSH(out->list, out->count, out->capacity, series);
    }
}
