/* Ids, statistics and taxonomy of sampled metrics, as hpcprof writes them. */
#include <stdlib.h>
#include <string.h>

#include "analyze/samples/metrics.h"
#include "base/alloc.h"

/* Only transitive scopes have a propagation bit; hpcprof writes 255 for the others. */
static const struct cn_scope scopes[CN_SAMPLED_SCOPE_COUNT] = {
    {"point", CN_SCOPE_POINT, 0},
    {"function", CN_SCOPE_TRANSITIVE, 0},
    {"lex_aware", CN_SCOPE_CUSTOM, 0},
    {"execution", CN_SCOPE_EXECUTION, 0},
};
static const struct cn_scope scopes_of_hpcprof[CN_SAMPLED_SCOPE_COUNT] = {
    {"point", CN_SCOPE_POINT, 255},
    {"function", CN_SCOPE_TRANSITIVE, 0},
    {"lex_aware", CN_SCOPE_CUSTOM, 255},
    {"execution", CN_SCOPE_EXECUTION, 255},
};

static const struct {
    const char *formula;
    uint8_t combine;
} statistics[CN_SAMPLED_STATISTIC_COUNT] = {
    [CN_SAMPLED_COUNT] = {"1", CN_COMBINE_SUM},
    [CN_SAMPLED_SUM] = {"$$", CN_COMBINE_SUM},
    [CN_SAMPLED_SQUARES] = {"($$^2)", CN_COMBINE_SUM},
    [CN_SAMPLED_MIN] = {"$$", CN_COMBINE_MIN},
    [CN_SAMPLED_MAX] = {"$$", CN_COMBINE_MAX},
};

/* The inputs of a metric, by scope and statistic; NULL: none. */
struct inputs {
    const struct cn_formula *of[CN_SAMPLED_SCOPE_COUNT][CN_SAMPLED_STATISTIC_COUNT];
};

struct describer {
    const struct cn_sampled_metrics *metrics;
    struct cn_arena *arena;
    struct cn_input *list;
    size_t count;
    struct inputs *inputs; /* by metric */
};

static void describe_metric(const struct cn_measured_metric *from, struct cn_arena *arena,
                            struct cn_metric *out)
{
    size_t most = (size_t)CN_SAMPLED_SCOPE_COUNT * from->statistic_count;
    struct cn_scope_instance *instances =
        cn_arena_alloc(arena, CN_SAMPLED_SCOPE_COUNT, sizeof(*instances));
    struct cn_statistic *list = cn_arena_alloc(arena, most, sizeof(*list));
    size_t instance_count = 0, statistic_count = 0;

    for (uint16_t scope = 0; scope < CN_SAMPLED_SCOPE_COUNT; scope++) {
        if (!cn_measured_metric_has(from, scope))
            continue;
        instances[instance_count++] =
            (struct cn_scope_instance){scope, (uint16_t)(from->first_id + scope)};
        for (uint16_t i = 0; i < from->statistic_count; i++)
            list[statistic_count++] = (struct cn_statistic){
                .scope = scope,
                .stat_id =
                    (uint16_t)(from->first_id + CN_SAMPLED_SCOPE_COUNT * i + scope),
                .combine = statistics[from->statistics[i]].combine,
                .formula = statistics[from->statistics[i]].formula,
            };
    }
    *out =
        (struct cn_metric){from->name, instances, list, instance_count, statistic_count};
}

static void add_inputs(struct describer *d, size_t index, enum cn_sampled_scope scope)
{
    const struct cn_measured_metric *metric = &d->metrics->list[index];

    if (!cn_measured_metric_has(metric, scope))
        return;
    for (size_t i = 0; i < metric->statistic_count; i++) {
        uint8_t statistic = metric->statistics[i];

        d->inputs[index].of[scope][statistic] =
            cn_formula_input(d->arena, (uint32_t)d->count);
        d->list[d->count++] = (struct cn_input){
            .metric = metric->name,
            .scope = scopes[scope].name,
            .formula = statistics[statistic].formula,
            .combine = statistics[statistic].combine,
        };
    }
}

/* hpcprof lists the inputs of totals, then those of self costs. */
static void add_all_inputs(struct describer *d)
{
    size_t most = (size_t)CN_SAMPLED_SCOPE_COUNT * CN_SAMPLED_STATISTIC_COUNT;

    d->list = cn_arena_alloc(d->arena, d->metrics->count * most, sizeof(*d->list));
    d->inputs = cn_alloc(d->metrics->count, sizeof(*d->inputs));
    for (size_t i = 0; i < d->metrics->count; i++) {
        const struct cn_measured_metric *metric = &d->metrics->list[i];

        if (metric->formula)
            continue;
        add_inputs(d, i, CN_SAMPLED_EXECUTION);
        add_inputs(d, i, CN_SAMPLED_LEX_AWARE);
        add_inputs(d, i,
                   cn_measured_metric_has(metric, CN_SAMPLED_FUNCTION)
                       ? CN_SAMPLED_FUNCTION
                       : CN_SAMPLED_POINT);
    }
}

enum taxonomy_variant {
    SUM,
    MEAN,
    DEVIATION,
    VARIATION,
    MINIMUM,
    MAXIMUM,
    VARIANT_COUNT
};

static const struct {
    const char *name;
    unsigned render;
} variants[VARIANT_COUNT] = {
    [SUM] = {"Sum", CN_RENDER_NUMBER | CN_RENDER_PERCENT},
    [MEAN] = {"Mean", CN_RENDER_NUMBER},
    [DEVIATION] = {"StdDev", CN_RENDER_NUMBER},
    [VARIATION] = {"CfVar", CN_RENDER_NUMBER},
    [MINIMUM] = {"Min", CN_RENDER_NUMBER},
    [MAXIMUM] = {"Max", CN_RENDER_NUMBER},
};

static const struct cn_formula *deviation(const struct cn_formula *const *of,
                                          const struct cn_formula *mean,
                                          struct cn_arena *arena)
{
    const struct cn_formula *squares = cn_formula_binary(
        arena, CN_FORMULA_DIV, of[CN_SAMPLED_SQUARES], of[CN_SAMPLED_COUNT]);
    const struct cn_formula *squared =
        cn_formula_binary(arena, CN_FORMULA_POW, mean, cn_formula_number(arena, 2));
    const struct cn_formula *variance =
        cn_formula_binary(arena, CN_FORMULA_SUB, squares, squared);

    return variance ? cn_formula_new(arena, CN_FORMULA_SQRT, &variance, 1) : NULL;
}

static const struct cn_formula *variant_formula(enum taxonomy_variant variant,
                                                const struct cn_formula *const *of,
                                                struct cn_arena *arena)
{
    const struct cn_formula *mean = cn_formula_binary(
        arena, CN_FORMULA_DIV, of[CN_SAMPLED_SUM], of[CN_SAMPLED_COUNT]);

    switch (variant) {
    case SUM:
        return of[CN_SAMPLED_SUM];
    case MEAN:
        return mean;
    case DEVIATION:
        return deviation(of, mean, arena);
    case VARIATION:
        return cn_formula_binary(arena, CN_FORMULA_DIV, deviation(of, mean, arena), mean);
    case MINIMUM:
        return of[CN_SAMPLED_MIN];
    case MAXIMUM:
        return of[CN_SAMPLED_MAX];
    case VARIANT_COUNT:
        break;
    }
    return NULL;
}

static void present_measured(const struct describer *d, size_t index,
                             struct cn_presented_metric *out)
{
    const struct inputs *inputs = &d->inputs[index];
    enum cn_sampled_scope self = inputs->of[CN_SAMPLED_FUNCTION][CN_SAMPLED_SUM]
                                     ? CN_SAMPLED_FUNCTION
                                     : CN_SAMPLED_POINT;
    struct cn_variant *list = cn_arena_alloc(d->arena, VARIANT_COUNT, sizeof(*list));
    size_t count = 0;

    for (enum taxonomy_variant i = 0; i < VARIANT_COUNT; i++) {
        struct cn_variant variant = {
            .name = variants[i].name,
            .render = variants[i].render,
            .total.standard =
                variant_formula(i, inputs->of[CN_SAMPLED_EXECUTION], d->arena),
            .self.custom = variant_formula(i, inputs->of[CN_SAMPLED_LEX_AWARE], d->arena),
            .self.standard = variant_formula(i, inputs->of[self], d->arena),
        };

        if (variant.total.standard || variant.self.standard)
            list[count++] = variant;
    }
    out->variants = list;
    out->variant_count = count;
    out->is_visible = d->metrics->list[index].show != CN_SHOW_HIDDEN;
}

/* The formula over the sums of its metrics in a scope. */
static const struct cn_formula *over_scope(const struct describer *d,
                                           const struct cn_formula *formula,
                                           enum cn_sampled_scope scope)
{
    const struct cn_formula **sums =
        cn_arena_alloc(d->arena, d->metrics->count, sizeof(*sums));

    for (size_t i = 0; i < d->metrics->count; i++) {
        sums[i] = d->inputs[i].of[scope][CN_SAMPLED_SUM];
        if (scope == CN_SAMPLED_FUNCTION && !sums[i])
            sums[i] = d->inputs[i].of[CN_SAMPLED_POINT][CN_SAMPLED_SUM];
    }
    return cn_sampled_formula_replace(formula, sums, d->arena);
}

static void present_formula(const struct describer *d,
                            const struct cn_measured_metric *metric,
                            struct cn_presented_metric *out)
{
    struct cn_variant *variant = cn_arena_alloc(d->arena, 1, sizeof(*variant));

    variant->name = "";
    variant->render = CN_RENDER_NUMBER | (metric->shows_percent ? CN_RENDER_PERCENT : 0);
    if (metric->show != CN_SHOW_SELF)
        variant->total.standard = over_scope(d, metric->formula, CN_SAMPLED_EXECUTION);
    if (metric->show != CN_SHOW_TOTAL)
        variant->self.custom = over_scope(d, metric->formula, CN_SAMPLED_LEX_AWARE);
    variant->self.standard = over_scope(d, metric->formula, CN_SAMPLED_FUNCTION);
    out->format = metric->format;
    out->is_visible = true;
    out->variants = variant;
    out->variant_count = 1;
}

static int compare_metrics(const void *left, const void *right)
{
    const struct cn_measured_metric *const *a = left, *const *b = right;

    if ((*a)->position != (*b)->position)
        return (*a)->position < (*b)->position ? -1 : 1;
    return strcmp((*a)->name, (*b)->name);
}

static void present_all(const struct describer *d, struct cn_taxonomy *out)
{
    size_t count = d->metrics->count, root_count = 0;
    const struct cn_measured_metric **order = cn_alloc(count, sizeof(*order));
    struct cn_presented_metric *roots = cn_arena_alloc(d->arena, count, sizeof(*roots));

    for (size_t i = 0; i < count; i++)
        order[i] = &d->metrics->list[i];
    if (count > 0)
        qsort(order, count, sizeof(*order), compare_metrics);
    for (size_t i = 0; i < count; i++) {
        struct cn_presented_metric *root = &roots[root_count];

        if (order[i]->show == CN_SHOW_NEVER)
            continue;
        root->name = cn_arena_strdup(d->arena, order[i]->name);
        root->description = cn_arena_strdup(d->arena, order[i]->description);
        if (order[i]->formula)
            present_formula(d, order[i], root);
        else
            present_measured(d, (size_t)(order[i] - d->metrics->list), root);
        root_count++;
    }
    out->roots = roots;
    out->root_count = root_count;
    free(order);
}

void cn_sampled_metrics_describe(const struct cn_sampled_metrics *metrics,
                                 bool with_roots, struct cn_arena *arena,
                                 struct cn_metrics *out, struct cn_taxonomy *taxonomy)
{
    struct cn_metric *list = cn_arena_alloc(arena, metrics->count, sizeof(*list));
    struct describer d = {.metrics = metrics, .arena = arena};
    size_t count = 0;

    for (size_t i = 0; i < metrics->count; i++)
        if (!metrics->list[i].formula)
            describe_metric(&metrics->list[i], arena, &list[count++]);
    *out =
        (struct cn_metrics){metrics->is_hpcprof_compatible ? scopes_of_hpcprof : scopes,
                            list, CN_SAMPLED_SCOPE_COUNT, count};
    add_all_inputs(&d);
    *taxonomy = (struct cn_taxonomy){.inputs = d.list, .input_count = d.count};
    if (with_roots)
        present_all(&d, taxonomy);
    free(d.inputs);
}
