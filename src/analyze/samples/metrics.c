#include "analyze/samples/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { ID_LIMIT = 32768, COUNT_MAX = 32768 };

/* Recursion is limited by CN_FORMULA_DEPTH_MAX. */
static void mark_inputs(const struct cn_formula *formula, bool *are_used)
{
    if (formula->op == CN_FORMULA_INPUT)
        are_used[formula->input] = true;
    for (size_t i = 0; i < formula->arg_count; i++)
        mark_inputs(formula->args[i], are_used);
}

/* hpcprof has the count before the sum, unless a formula uses the sum. */
static void choose_statistics(struct cn_measured_metric *metric, unsigned wanted,
                              bool is_in_formula)
{
    static const uint8_t usual[] = {CN_SAMPLED_COUNT, CN_SAMPLED_SUM, CN_SAMPLED_SQUARES,
                                    CN_SAMPLED_MIN, CN_SAMPLED_MAX};
    static const uint8_t sum_first[] = {CN_SAMPLED_SUM, CN_SAMPLED_COUNT,
                                        CN_SAMPLED_SQUARES, CN_SAMPLED_MIN,
                                        CN_SAMPLED_MAX};
    const uint8_t *order = is_in_formula ? sum_first : usual;

    for (size_t i = 0; i < CN_SAMPLED_STATISTIC_COUNT; i++) {
        bool is_sum = order[i] == CN_SAMPLED_SUM;

        if (is_sum || (metric->show != CN_SHOW_NEVER && (wanted >> order[i] & 1)))
            metric->statistics[metric->statistic_count++] = order[i];
    }
}

/* The formulas of a table over its metrics, NULL for measured metrics, and the metrics they
 * use. */
struct formulas {
    const struct cn_formula **list;
    bool *are_used;
};

static bool parse_formulas(struct cn_sampled_metrics *metrics,
                           const struct cn_sampled_profile *profile, struct formulas *out,
                           struct cn_error *err)
{
    size_t count = profile->metric_count;

    out->list = cn_arena_alloc(&metrics->arena, count, sizeof(*out->list));
    out->are_used = cn_arena_alloc(&metrics->arena, count, sizeof(*out->are_used));
    for (size_t i = 0; i < count; i++) {
        if (profile->metrics[i].formula.len == 0)
            continue;
        if (!cn_sampled_formula_parse(&out->list[i], profile->metrics[i].formula,
                                      (uint32_t)count, &metrics->arena, err))
            return cn_fail_in(err, "metric %zu", i);
        mark_inputs(out->list[i], out->are_used);
    }
    for (size_t i = 0; i < count; i++)
        if (out->list[i] && out->are_used[i])
            return cn_fail(err, CN_ERR_FORMAT,
                           "a formula uses metric %zu, which is a formula", i);
    return true;
}

static uint32_t find(struct cn_sampled_metrics *metrics,
                     const struct cn_sampled_metric *from)
{
    struct cn_text key = {0};

    cn_text_add(&key, (const char *)from->name.ptr, from->name.len);
    cn_text_char(&key, '\n');
    cn_text_add(&key, (const char *)from->description.ptr, from->description.len);
    uint32_t number = cn_names_add(&metrics->names, cn_text_str(&key));
    cn_text_done(&key);
    return number;
}

static const char *copy(struct cn_sampled_metrics *metrics, struct cn_bytes text)
{
    return cn_arena_copy(&metrics->arena, (const char *)text.ptr, text.len);
}

static void add_metric(struct cn_sampled_metrics *metrics,
                       const struct cn_sampled_metric *from, size_t position,
                       const struct cn_formula *formula, bool is_input)
{
    struct cn_measured_metric metric = {
        .name = copy(metrics, from->name),
        .description = copy(metrics, from->description),
        .format = from->format.len > 0 ? copy(metrics, from->format) : NULL,
        .formula = formula,
        .position = (uint32_t)position,
        .show = from->show,
        .shows_percent = from->shows_percent,
    };

    if (!formula) {
        choose_statistics(&metric, metrics->wanted, is_input);
        metric.first_id = (uint16_t)metrics->next_id;
        metrics->next_id += CN_SAMPLED_SCOPE_COUNT * (uint32_t)metric.statistic_count;
    }
    if (!metrics->list)
        metrics->list = cn_alloc(COUNT_MAX, sizeof(*metrics->list));
    metrics->list[metrics->count++] = metric;
}

static bool is_mapped(const struct cn_sampled_metrics *metrics, struct cn_bytes id)
{
    return metrics->map && metrics->mapped_id.len == id.len &&
           (id.len == 0 || memcmp(metrics->mapped_id.chars, id.ptr, id.len) == 0);
}

static bool check_ids(const struct cn_sampled_metrics *metrics,
                      const struct cn_sampled_profile *profile, struct cn_error *err)
{
    uint64_t most = CN_SAMPLED_SCOPE_COUNT;

    for (unsigned i = 0; i < CN_SAMPLED_STATISTIC_COUNT; i++)
        if (i != CN_SAMPLED_SUM && (metrics->wanted >> i & 1))
            most += CN_SAMPLED_SCOPE_COUNT;
    if (profile->metric_count > COUNT_MAX - metrics->count)
        return cn_fail(err, CN_ERR_LIMIT, "%zu metrics after %zu others: can read %d",
                       profile->metric_count, metrics->count, COUNT_MAX);
    if (metrics->next_id + most * profile->metric_count <= ID_LIMIT)
        return true;
    return cn_fail(err, CN_ERR_LIMIT, "%zu metrics after %zu others: ids end at %d",
                   profile->metric_count, metrics->count, ID_LIMIT);
}

/* Add the metrics; formulas are translated to metrics of the list. */
static void add_all(struct cn_sampled_metrics *metrics,
                    const struct cn_sampled_profile *profile,
                    const struct formulas *formulas)
{
    size_t count = profile->metric_count;
    const struct cn_formula **inputs =
        cn_arena_alloc(&metrics->arena, count, sizeof(*inputs));

    for (size_t i = 0; i < count; i++) {
        metrics->map[i] = find(metrics, &profile->metrics[i]);
        inputs[i] = cn_formula_input(&metrics->arena, metrics->map[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct cn_formula *formula = formulas->list[i];

        if (metrics->map[i] < metrics->count)
            continue;
        if (formula)
            formula = cn_sampled_formula_replace(formula, inputs, &metrics->arena);
        add_metric(metrics, &profile->metrics[i], i, formula, formulas->are_used[i]);
    }
}

bool cn_sampled_metrics_add(struct cn_sampled_metrics *metrics,
                            const struct cn_sampled_profile *profile,
                            struct cn_error *err)
{
    struct formulas formulas;

    if (is_mapped(metrics, profile->metrics_id))
        return true;
    if (!check_ids(metrics, profile, err) ||
        !parse_formulas(metrics, profile, &formulas, err))
        return false;
    CN_GROW_TO(metrics->map, profile->metric_count + 1, metrics->map_capacity);
    metrics->map_count = profile->metric_count;
    add_all(metrics, profile, &formulas);
    cn_text_clear(&metrics->mapped_id);
    cn_text_add(&metrics->mapped_id, (const char *)profile->metrics_id.ptr,
                profile->metrics_id.len);
    return true;
}

void cn_sampled_metrics_done(struct cn_sampled_metrics *metrics)
{
    cn_names_done(&metrics->names);
    free(metrics->list);
    cn_text_done(&metrics->mapped_id);
    free(metrics->map);
    cn_arena_done(&metrics->arena);
}
