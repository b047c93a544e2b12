#include "model/contexts/taxonomy.h"

#include <string.h>

/* The scopes of costs, as indices into the scopes of the metrics, or CN_NO_ID. */
struct cost_scopes {
    int total, self, self_custom;
    int point; /* instead of `self` for metrics without it */
};

struct taxonomy_builder {
    const struct cn_metrics *metrics;
    struct cost_scopes scopes;
    struct cn_arena *arena;
    struct cn_input *inputs;
    size_t input_count;
};

/* The statistics of one scope; NULL if the metric does not have it. */
struct basic {
    const struct cn_formula *count, *sum, *squares, *min, *max;
};

static bool has_statistics(const struct cn_metric *metric, int scope)
{
    for (size_t i = 0; i < metric->statistic_count; i++)
        if (metric->statistics[i].scope == scope)
            return true;
    return false;
}

static struct cost_scopes find_cost_scopes(const struct cn_metrics *metrics)
{
    int function = cn_metrics_find_scope(metrics, "function");

    if (function == CN_NO_ID)
        function = cn_metrics_find_scope_type(metrics, CN_SCOPE_TRANSITIVE);
    return (struct cost_scopes){
        .total = cn_metrics_find_scope_type(metrics, CN_SCOPE_EXECUTION),
        .self = function,
        .self_custom = cn_metrics_find_scope(metrics, "lex_aware"),
        .point = cn_metrics_find_scope_type(metrics, CN_SCOPE_POINT),
    };
}

static void set_basic(struct basic *basic, const struct cn_statistic *statistic,
                      const struct cn_formula *input)
{
    bool is_plain = strcmp(statistic->formula, "$$") == 0;

    if (is_plain && statistic->combine == CN_COMBINE_SUM)
        basic->sum = input;
    else if (is_plain && statistic->combine == CN_COMBINE_MIN)
        basic->min = input;
    else if (is_plain && statistic->combine == CN_COMBINE_MAX)
        basic->max = input;
    else if (statistic->combine != CN_COMBINE_SUM)
        return;
    else if (strcmp(statistic->formula, "1") == 0)
        basic->count = input;
    else if (strcmp(statistic->formula, "($$^2)") == 0)
        basic->squares = input;
}

static struct basic add_inputs(struct taxonomy_builder *b, const struct cn_metric *metric,
                               int scope)
{
    struct basic basic = {0};

    for (size_t i = 0; scope != CN_NO_ID && i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];

        if (statistic->scope != scope || statistic->combine > CN_COMBINE_MAX)
            continue;
        b->inputs[b->input_count] = (struct cn_input){
            .metric = metric->name,
            .scope = b->metrics->scopes[scope].name,
            .formula = statistic->formula,
            .combine = statistic->combine,
        };
        set_basic(&basic, statistic,
                  cn_formula_input(b->arena, (uint32_t)b->input_count));
        b->input_count++;
    }
    return basic;
}

enum { SUM, MEAN, DEVIATION, VARIATION, MIN, MAX, VARIANTS };
static const char *const variant_names[VARIANTS] = {"Sum",   "Mean", "StdDev",
                                                    "CfVar", "Min",  "Max"};

/* The formulas of all variants; NULL for those that lack a statistic. */
static void make_variants(const struct basic *basic, struct cn_arena *arena,
                          const struct cn_formula *out[VARIANTS])
{
    const struct cn_formula *mean =
        cn_formula_binary(arena, CN_FORMULA_DIV, basic->sum, basic->count);
    const struct cn_formula *mean_of_squares =
        cn_formula_binary(arena, CN_FORMULA_DIV, basic->squares, basic->count);
    const struct cn_formula *square_of_mean =
        cn_formula_binary(arena, CN_FORMULA_POW, mean, cn_formula_number(arena, 2));
    const struct cn_formula *variance =
        cn_formula_binary(arena, CN_FORMULA_SUB, mean_of_squares, square_of_mean);

    out[SUM] = basic->sum;
    out[MEAN] = mean;
    out[DEVIATION] =
        variance ? cn_formula_new(arena, CN_FORMULA_SQRT, &variance, 1) : NULL;
    out[VARIATION] = cn_formula_binary(arena, CN_FORMULA_DIV, out[DEVIATION], mean);
    out[MIN] = basic->min;
    out[MAX] = basic->max;
}

static struct cn_presented_metric present(struct taxonomy_builder *b,
                                          const struct cn_metric *metric)
{
    const struct cost_scopes *scopes = &b->scopes;
    bool has_self = has_statistics(metric, scopes->self);
    struct basic total = add_inputs(b, metric, scopes->total);
    struct basic custom = add_inputs(b, metric, scopes->self_custom);
    struct basic self = add_inputs(b, metric, has_self ? scopes->self : scopes->point);
    const struct cn_formula *totals[VARIANTS], *customs[VARIANTS], *selves[VARIANTS];
    struct cn_variant *variants = cn_arena_alloc(b->arena, VARIANTS, sizeof(*variants));
    size_t count = 0;

    make_variants(&total, b->arena, totals);
    make_variants(&custom, b->arena, customs);
    make_variants(&self, b->arena, selves);
    for (size_t i = 0; i < VARIANTS; i++)
        if (totals[i] || selves[i])
            variants[count++] = (struct cn_variant){
                .name = variant_names[i],
                .render = CN_RENDER_NUMBER | (i == SUM ? CN_RENDER_PERCENT : 0),
                .total.standard = totals[i],
                .self = {selves[i], customs[i]},
            };
    return (struct cn_presented_metric){
        .name = metric->name,
        .description = metric->name,
        .is_visible = true,
        .variants = variants,
        .variant_count = count,
    };
}

void cn_taxonomy_build(struct cn_taxonomy *out, const struct cn_metrics *metrics,
                       struct cn_arena *arena)
{
    struct taxonomy_builder b = {
        .metrics = metrics,
        .scopes = find_cost_scopes(metrics),
        .arena = arena,
    };
    struct cn_presented_metric *roots =
        cn_arena_alloc(arena, metrics->count, sizeof(*roots));
    size_t statistic_count = 0, root_count = 0;

    for (size_t i = 0; i < metrics->count; i++)
        statistic_count += metrics->list[i].statistic_count;
    b.inputs = cn_arena_alloc(arena, statistic_count, sizeof(*b.inputs));
    for (size_t i = 0; i < metrics->count; i++) {
        struct cn_presented_metric root = present(&b, &metrics->list[i]);

        if (root.variant_count > 0)
            roots[root_count++] = root;
    }
    *out = (struct cn_taxonomy){
        .inputs = b.inputs,
        .roots = roots,
        .input_count = b.input_count,
        .root_count = root_count,
    };
}

struct cn_presented_metric
cn_taxonomy_category(const char *name, const struct cn_presented_metric *children,
                     size_t count, struct cn_arena *arena)
{
    struct cn_variant *variant = cn_arena_alloc(arena, 1, sizeof(*variant));

    *variant = (struct cn_variant){.name = "Sum", .render = CN_RENDER_HIDDEN};
    return (struct cn_presented_metric){
        .name = name,
        .description = name,
        .is_visible = true,
        .variants = variant,
        .variant_count = 1,
        .children = children,
        .child_count = count,
    };
}

static const struct cn_presented_metric *find_in(const struct cn_presented_metric *list,
                                                 size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
        const struct cn_presented_metric *found =
            find_in(list[i].children, list[i].child_count, name);
        if (found)
            return found;
    }
    return NULL;
}

const struct cn_presented_metric *cn_taxonomy_find(const struct cn_taxonomy *taxonomy,
                                                   const char *name)
{
    return find_in(taxonomy->roots, taxonomy->root_count, name);
}
