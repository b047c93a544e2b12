#include "analyze/views/costs.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/durations/percentile.h"
#include "analyze/time_base.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/gpu/metrics.h"

void cn_costs_init(struct cn_costs *costs, struct cn_database *db)
{
    *costs = (struct cn_costs){.db = db};
}

void cn_costs_done(struct cn_costs *costs)
{
    free(costs->is_selected);
    free(costs->latencies);
    free(costs->summary_routes);
    free(costs->thread_routes);
    cn_arena_done(&costs->arena);
    *costs = (struct cn_costs){0};
}

static bool mark_matching(struct cn_costs *costs, const struct cn_thread_filter *filter,
                          bool *found, struct cn_error *err)
{
    for (uint32_t i = 1; i < costs->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(costs->db, i, &profile, err))
            return false;
        if (profile.is_summary || !cn_thread_filter_matches(filter, i, &profile.identity))
            continue;
        costs->is_selected[i] = true;
        *found = true;
    }
    return true;
}

bool cn_costs_select(struct cn_costs *costs, const char *text, struct cn_error *err)
{
    struct cn_thread_filter filter;
    bool found = false;
    bool ok;

    if (!cn_thread_filter_parse(&filter, text, &costs->db->kinds, err))
        return false;
    if (!costs->is_selected)
        costs->is_selected = cn_alloc(costs->db->profile_count, sizeof(bool));
    ok = mark_matching(costs, &filter, &found, err);
    if (ok && !found)
        ok = cn_fail(err, CN_ERR_NOT_FOUND, "no thread matches '%s'", text);
    cn_thread_filter_done(&filter);
    return ok;
}

/* The variant whose inputs add up over threads: sums, or a ratio of sums. */
static const struct cn_variant *additive_variant(const struct cn_presented_metric *metric)
{
    for (size_t i = 0; i < metric->variant_count; i++) {
        const char *name = metric->variants[i].name;

        if (strcmp(name, "Sum") == 0 || name[0] == '\0')
            return &metric->variants[i];
    }
    return NULL;
}

static const struct cn_formula *formula_of(const struct cn_variant *variant,
                                           enum cn_cost_side side)
{
    const struct cn_cost_formulas *formulas =
        side == CN_TOTAL ? &variant->total : &variant->self;

    return formulas->custom ? formulas->custom : formulas->standard;
}

static bool can_be_shown(const struct cn_presented_metric *metric)
{
    const struct cn_variant *variant = additive_variant(metric);

    return variant && (formula_of(variant, CN_TOTAL) || formula_of(variant, CN_SELF));
}

/* Depth first; *i counts down over metrics that can be shown. Taxonomies are a few levels
 * deep: their reader limits the nesting. */
static const struct cn_presented_metric *
shown_metric(const struct cn_presented_metric *list, size_t count, size_t *i)
{
    for (size_t k = 0; k < count; k++) {
        if (can_be_shown(&list[k]) && (*i)-- == 0)
            return &list[k];
        const struct cn_presented_metric *found =
            shown_metric(list[k].children, list[k].child_count, i);
        if (found)
            return found;
    }
    return NULL;
}

const struct cn_presented_metric *cn_costs_metric_at(const struct cn_database *db,
                                                     size_t i)
{
    return shown_metric(db->taxonomy.roots, db->taxonomy.root_count, &i);
}

/* `what` is wrong with the name; those that begin with `start` may be meant. */
static bool fail_metric(const struct cn_database *db, const char *what, const char *name,
                        const char *start, struct cn_error *err)
{
    const struct cn_presented_metric *metric;
    struct cn_text text = {0};

    for (size_t i = 0; (metric = cn_costs_metric_at(db, i)) != NULL; i++)
        if (strncasecmp(metric->name, start, strlen(start)) == 0)
            cn_text_printf(&text, "%s'%s'", text.len > 0 ? ", " : "", metric->name);
    (void)cn_fail(err, CN_ERR_NOT_FOUND, "%s metric '%s'; there are: %s", what, name,
                  cn_text_str(&text));
    cn_text_done(&text);
    return false;
}

/* An exact match, or the only metric that has this name before its unit, or that begins with it. */
static bool find_metric(const struct cn_database *db, const char *name,
                        const struct cn_presented_metric **out, struct cn_error *err)
{
    const struct cn_presented_metric *metric, *prefixed = NULL, *without_unit = NULL;
    unsigned prefixed_count = 0, without_unit_count = 0;

    for (size_t i = 0; (metric = cn_costs_metric_at(db, i)) != NULL; i++) {
        if (strcmp(metric->name, name) == 0) {
            *out = metric;
            return true;
        }
        if (strncasecmp(metric->name, name, strlen(name)) == 0) {
            prefixed = metric;
            prefixed_count++;
            if (strncmp(metric->name + strlen(name), " (", 2) == 0) {
                without_unit = metric;
                without_unit_count++;
            }
        }
    }
    if (without_unit_count == 1)
        prefixed = without_unit;
    else if (prefixed_count != 1)
        return prefixed ? fail_metric(db, "more than one", name, name, err)
                        : fail_metric(db, "no", name, "", err);
    *out = prefixed;
    return true;
}

/* Other columns over the selected threads. */
static struct cn_costs *probe_new(const struct cn_costs *costs)
{
    struct cn_costs *probe = cn_alloc(1, sizeof(*probe));

    cn_costs_init(probe, costs->db);
    probe->is_selected = costs->is_selected;
    return probe;
}

static void probe_free(struct cn_costs *probe)
{
    probe->is_selected = NULL;
    cn_costs_done(probe);
    free(probe);
}

/* Whether the program as a whole has a value of this metric in the selected threads. */
static bool has_values(const struct cn_costs *costs,
                       const struct cn_presented_metric *metric)
{
    struct cn_costs *probe = probe_new(costs);
    struct cn_cost_request request = {.metric = metric->name, .profile = CN_NONE};
    double values[2] = {NAN, NAN};
    struct cn_error err;

    for (int side = CN_TOTAL; side <= CN_SELF; side++) {
        request.side = (enum cn_cost_side)side;
        (void)!cn_costs_add(probe, &request, &err);
    }
    bool found =
        probe->column_count > 0 && cn_costs_ready(probe, &err) &&
        cn_costs_of_context(probe, 0, values, &err) &&
        (!isnan(values[0]) || !isnan(values[1]) || !isnan(probe->columns[0].total));
    probe_free(probe);
    return found;
}

/* The first metric that is meant to be seen and has values; else the first of all. Of time
 * by state, the one to show. */
static bool default_metric(const struct cn_costs *costs,
                           const struct cn_presented_metric **out, struct cn_error *err)
{
    const struct cn_presented_metric *first = cn_costs_metric_at(costs->db, 0), *metric;

    if (!first)
        return cn_fail(err,
                       cn_warning_damage(costs->db->warnings) ? CN_ERR_FORMAT
                                                              : CN_ERR_NOT_FOUND,
                       "the database has no metrics");
    *out = first;
    for (size_t i = 0; (metric = cn_costs_metric_at(costs->db, i)) != NULL; i++) {
        if (!metric->is_visible || !has_values(costs, metric))
            continue;
        *out = metric;
        break;
    }
    if (strcmp((*out)->name, CN_TIME_NAME) != 0 ||
        !cn_metrics_have_waits(&costs->db->metrics))
        return true;
    return find_metric(costs->db, cn_shown_time(costs->counts_waits), out, err);
}

/* The time of GPU operations, if it has values and is not shown anyway. */
static const char *gpu_metric(const struct cn_costs *costs,
                              const struct cn_presented_metric *shown)
{
    const struct cn_presented_metric *metric;
    struct cn_error err;

    if (cn_metrics_find(&costs->db->metrics, cn_gpu_metric_name(CN_GPU_OP_TIME)) ==
            CN_NO_ID ||
        !find_metric(costs->db, cn_gpu_metric_name(CN_GPU_OP_TIME), &metric, &err) ||
        metric == shown || !has_values(costs, metric))
        return NULL;
    return metric->name;
}

size_t cn_costs_default_metrics(const struct cn_costs *costs,
                                const char *names[CN_COST_DEFAULT_MAX])
{
    const struct cn_presented_metric *metric = NULL;
    struct cn_error err;
    size_t count = 0;

    names[count++] = NULL;
    if (!default_metric(costs, &metric, &err))
        return count;
    if (costs->counts_waits && cn_metrics_have_waits(&costs->db->metrics) &&
        strcmp(metric->name, CN_TIME_NAME) == 0)
        for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
            if (cn_metrics_find(&costs->db->metrics, cn_wait_names[i]) != CN_NO_ID)
                names[count++] = cn_wait_names[i];
    names[count] = gpu_metric(costs, metric);
    return count + (names[count] != NULL);
}

bool cn_costs_total(const struct cn_costs *costs, const char *metric, double *out,
                    struct cn_error *err)
{
    struct cn_cost_request request = {.metric = metric, .profile = CN_NONE};
    struct cn_costs *probe;
    double value;

    *out = 0;
    if (cn_metrics_find(&costs->db->metrics, metric) == CN_NO_ID)
        return true;
    probe = probe_new(costs);
    bool ok = cn_costs_add(probe, &request, err) && cn_costs_ready(probe, err) &&
              cn_costs_of_context(probe, 0, &value, err);
    probe_free(probe);
    if (ok && !isnan(value))
        *out = value;
    return ok;
}

bool cn_costs_states(const struct cn_costs *costs, struct cn_cost_states *out,
                     struct cn_error *err)
{
    enum { TIME, CPU, WAIT };
    const char *names[WAIT + CN_WAIT_KINDS] = {CN_TIME_NAME, CN_CPU_TIME_NAME};
    double values[WAIT + CN_WAIT_KINDS];
    struct cn_costs *probe = probe_new(costs);
    bool ok = true;

    for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
        names[WAIT + i] = cn_wait_names[i];
    for (size_t i = 0; ok && i < sizeof(names) / sizeof(*names); i++)
        ok = cn_costs_add(
            probe, &(struct cn_cost_request){.metric = names[i], .profile = CN_NONE},
            err);
    ok = ok && cn_costs_ready(probe, err) && cn_costs_of_context(probe, 0, values, err);
    probe_free(probe);
    if (!ok)
        return false;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        if (isnan(values[i]))
            values[i] = 0;
    *out = (struct cn_cost_states){.time_s = values[TIME], .cpu_s = values[CPU]};
    memcpy(out->wait_s, values + WAIT, sizeof(out->wait_s));
    return true;
}

static bool same_input(const struct cn_cost_input *a, const struct cn_cost_input *b)
{
    return a->prop_id == b->prop_id && a->stat_id == b->stat_id &&
           a->profile == b->profile && a->side == b->side;
}

static bool add_input(struct cn_costs *costs, const struct cn_cost_input *input,
                      uint32_t *out, struct cn_error *err)
{
    size_t i = 0;

    while (i < costs->input_count && !same_input(&costs->inputs[i], input))
        i++;
    if (i == CN_COST_INPUT_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d different values to show",
                       CN_COST_INPUT_MAX);
    if (i == costs->input_count)
        costs->inputs[costs->input_count++] = *input;
    *out = (uint32_t)i;
    return true;
}

static enum cn_cost_side side_of_scope(const struct cn_metrics *metrics, int scope)
{
    return metrics->scopes[scope].type == CN_SCOPE_EXECUTION ? CN_TOTAL : CN_SELF;
}

/* The input for one metric in one scope, summed over threads. */
static bool scope_input(struct cn_costs *costs, int metric, int scope, uint32_t profile,
                        uint32_t *out, struct cn_error *err)
{
    const struct cn_metrics *metrics = &costs->db->metrics;
    const struct cn_metric *m = &metrics->list[metric];
    struct cn_cost_input input = {
        .prop_id = cn_metric_prop_id(m, (unsigned)scope),
        .stat_id = cn_metric_stat_id(m, (unsigned)scope, "$$", CN_COMBINE_SUM),
        .profile = profile,
        .side = side_of_scope(metrics, scope),
    };

    if (input.prop_id == CN_NO_ID)
        return cn_fail(err, CN_ERR_NOT_FOUND, "metric '%s' has no values in scope '%s'",
                       m->name, metrics->scopes[scope].name);
    return add_input(costs, &input, out, err);
}

/* Whether a metric is the smallest or largest of something, which never adds up. */
static bool is_extreme(const struct cn_metric *metric, int scope,
                       const struct cn_input *wanted)
{
    return strcmp(wanted->formula, "$$") == 0 &&
           (wanted->combine == CN_COMBINE_MIN || wanted->combine == CN_COMBINE_MAX) &&
           cn_metric_stat_id(metric, (unsigned)scope, "$$", CN_COMBINE_SUM) == CN_NO_ID;
}

/* What a taxonomy's input stands for here. Statistics other than plain sums exist in the
 * summary only. */
static bool add_taxonomy_input(struct cn_costs *costs, uint32_t index,
                               const struct cn_cost_request *request, uint32_t *out,
                               struct cn_error *err)
{
    const struct cn_metrics *metrics = &costs->db->metrics;
    const struct cn_input *wanted = &costs->db->taxonomy.inputs[index];
    int metric = cn_metrics_find(metrics, wanted->metric);
    int scope = cn_metrics_find_scope(metrics, wanted->scope);
    struct cn_cost_input input = {.prop_id = CN_NO_ID, .profile = CN_NONE};

    if (metric == CN_NO_ID || scope == CN_NO_ID)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no metric '%s' in scope '%s'",
                       wanted->metric, wanted->scope);
    if (strcmp(wanted->formula, "$$") == 0 && wanted->combine == CN_COMBINE_SUM)
        return scope_input(costs, metric, scope, request->profile, out, err);
    input.side = side_of_scope(metrics, scope);
    if (is_extreme(&metrics->list[metric], scope, wanted)) {
        input.prop_id = cn_metric_prop_id(&metrics->list[metric], (unsigned)scope);
        input.profile = request->profile;
        input.combine = (enum cn_combine)wanted->combine;
    }
    input.stat_id = cn_metric_stat_id(&metrics->list[metric], (unsigned)scope,
                                      wanted->formula, (enum cn_combine)wanted->combine);
    if (input.prop_id == CN_NO_ID &&
        (input.stat_id == CN_NO_ID || costs->is_selected || request->profile != CN_NONE ||
         request->stat != CN_STAT_SUM))
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "statistic %s(%s) of '%s' exists for all threads together only",
                       cn_combine_name(wanted->combine), wanted->formula, wanted->metric);
    return add_input(costs, &input, out, err);
}

/* A taxonomy's formula, renumbered to our inputs. Formulas nest at most
 * CN_FORMULA_DEPTH_MAX deep. */
static const struct cn_formula *import_formula(struct cn_costs *costs,
                                               const struct cn_formula *formula,
                                               const struct cn_cost_request *request,
                                               struct cn_error *err)
{
    uint32_t input;

    if (formula->op == CN_FORMULA_NUMBER)
        return formula;
    if (formula->op == CN_FORMULA_INPUT)
        return add_taxonomy_input(costs, formula->input, request, &input, err)
                   ? cn_formula_input(&costs->arena, input)
                   : NULL;
    const struct cn_formula **args =
        cn_arena_alloc(&costs->arena, formula->arg_count, sizeof(const void *));
    for (size_t i = 0; i < formula->arg_count; i++) {
        args[i] = import_formula(costs, formula->args[i], request, err);
        if (!args[i])
            return NULL;
    }
    return cn_formula_new(&costs->arena, formula->op, args, formula->arg_count);
}

/* "CPUTIME (sec)" -> "cputime_sec". */
static void add_snake_case(struct cn_text *text, const char *name)
{
    bool is_gap = false;

    for (; *name; name++) {
        if (!isalnum((unsigned char)*name)) {
            is_gap = text->len > 0;
            continue;
        }
        if (is_gap)
            cn_text_char(text, '_');
        is_gap = false;
        cn_text_char(text, (char)tolower((unsigned char)*name));
    }
}

/* Append who a thread is in as few words as possible: " RANK 0 THREAD 1". Physical ids
 * tell machines apart, not columns. */
static void add_thread_title(const struct cn_database *db,
                             const struct cn_profile *profile, uint32_t number,
                             struct cn_text *text)
{
    size_t before = text->len;

    for (size_t i = 0; i < profile->identity.count; i++) {
        const struct cn_identity *id = &profile->identity.ids[i];

        if (!id->is_physical && id->kind < db->kinds.count)
            cn_text_printf(text, " %s %" PRIu32, db->kinds.list[id->kind], id->logical);
    }
    if (text->len == before)
        cn_text_printf(text, " #%" PRIu32, number);
}

static void name_column(struct cn_costs *costs, struct cn_cost_column *column,
                        const char *metric, const char *side, const char *side_title,
                        uint32_t profile)
{
    static const char *const stats[] = {"", "mean", "min", "max", "stddev", "threads"};
    static const char *const stat_titles[] = {"",     "mean ",   "min ",
                                              "max ", "stddev ", "threads with "};
    const char *stat = stats[column->stat];
    struct cn_profile thread;
    struct cn_text text = {0};
    struct cn_error err;

    add_snake_case(&text, metric);
    cn_text_printf(&text, "_%s%s%s", side, *stat ? "_" : "", stat);
    if (profile != CN_NONE)
        cn_text_printf(&text, "_profile_%" PRIu32, profile);
    column->name = cn_arena_strdup(&costs->arena, cn_text_str(&text));
    cn_text_clear(&text);
    cn_text_printf(&text, "%s%s %s", stat_titles[column->stat], side_title, metric);
    if (profile != CN_NONE && cn_database_profile(costs->db, profile, &thread, &err))
        add_thread_title(costs->db, &thread, profile, &text);
    column->title = cn_arena_strdup(&costs->arena, cn_text_str(&text));
    cn_text_done(&text);
}

static void name_side(struct cn_costs *costs, struct cn_cost_column *column,
                      const char *metric, enum cn_cost_side side, uint32_t profile)
{
    bool is_total = side == CN_TOTAL;

    name_column(costs, column, metric, is_total ? "inclusive" : "exclusive",
                is_total ? "total" : "self", profile);
}

void cn_cost_column_name(struct cn_costs *costs, struct cn_cost_column *column,
                         const char *metric, enum cn_cost_side side)
{
    name_side(costs, column, metric, side, CN_NONE);
}

static bool fail_unknown_scope(const struct cn_metrics *metrics, const char *name,
                               struct cn_error *err)
{
    struct cn_text text = {0};

    for (size_t i = 0; i < metrics->scope_count; i++)
        cn_text_printf(&text, "%s'%s'", i ? ", " : "", metrics->scopes[i].name);
    (void)cn_fail(err, CN_ERR_NOT_FOUND, "no scope '%s'; there are: %s", name,
                  cn_text_str(&text));
    cn_text_done(&text);
    return false;
}

/* The column of a scope as it stands. */
static bool fill_scope_column(struct cn_costs *costs,
                              const struct cn_cost_request *request,
                              const struct cn_presented_metric *metric,
                              struct cn_cost_column *column, struct cn_error *err)
{
    const struct cn_metrics *metrics = &costs->db->metrics;
    int m = cn_metrics_find(metrics, metric->name);
    int scope = cn_metrics_find_scope(metrics, request->scope);
    int whole = cn_metrics_find_scope_type(metrics, CN_SCOPE_EXECUTION);
    uint32_t input, total;

    if (m == CN_NO_ID)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "'%s' is derived from other metrics and has no scopes",
                       metric->name);
    if (scope == CN_NO_ID)
        return fail_unknown_scope(metrics, request->scope, err);
    if (!scope_input(costs, m, scope, request->profile, &input, err))
        return false;
    column->side = side_of_scope(metrics, scope);
    column->formula = cn_formula_input(&costs->arena, input);
    if (whole != CN_NO_ID && scope_input(costs, m, whole, request->profile, &total, err))
        column->total_formula = cn_formula_input(&costs->arena, total);
    column->has_percent = true;
    name_column(costs, column, metric->name, request->scope, request->scope,
                request->profile);
    return true;
}

/* Whether a formula is the smallest or largest of something. It does not add up: total and
 * self are the same number, and files have it once. */
static bool is_extreme_input(const struct cn_database *db,
                             const struct cn_formula *formula)
{
    return formula && formula->op == CN_FORMULA_INPUT &&
           db->taxonomy.inputs[formula->input].combine != CN_COMBINE_SUM;
}

/* The column as the metric presents itself. */
static bool fill_presented_column(struct cn_costs *costs,
                                  const struct cn_cost_request *request,
                                  const struct cn_presented_metric *metric,
                                  struct cn_cost_column *column, struct cn_error *err)
{
    const struct cn_variant *variant = additive_variant(metric);
    const struct cn_formula *formula = formula_of(variant, request->side);
    bool is_total = request->side == CN_TOTAL;

    if (!formula && is_extreme_input(costs->db, formula_of(variant, CN_SELF)))
        formula = formula_of(variant, CN_SELF);
    if (!formula)
        return cn_fail(err, CN_ERR_NOT_FOUND, "metric '%s' has no %s values",
                       metric->name, is_total ? "total" : "self");
    column->side = request->side;
    column->formula = import_formula(costs, formula, request, err);
    if (!column->formula)
        return false;
    column->has_percent = (variant->render & CN_RENDER_PERCENT) != 0;
    if (column->has_percent && variant->total.standard) {
        column->total_formula =
            import_formula(costs, variant->total.standard, request, err);
        if (!column->total_formula)
            return false;
    }
    name_side(costs, column, metric->name, request->side, request->profile);
    return true;
}

bool cn_costs_add(struct cn_costs *costs, const struct cn_cost_request *request,
                  struct cn_error *err)
{
    struct cn_cost_column column = {
        .stat = request->stat, .is_hidden = request->is_hidden, .total = NAN};
    const struct cn_presented_metric *metric = NULL;

    if (costs->column_count == CN_COST_COLUMN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d columns", CN_COST_COLUMN_MAX);
    if (!(request->metric ? find_metric(costs->db, request->metric, &metric, err)
                          : default_metric(costs, &metric, err)))
        return false;
    if (!(request->scope ? fill_scope_column(costs, request, metric, &column, err)
                         : fill_presented_column(costs, request, metric, &column, err)))
        return false;
    column.metric = metric->name;
    /* A share of the whole makes sense for what adds up to it. */
    if (request->stat != CN_STAT_SUM || request->profile != CN_NONE)
        column.has_percent = false;
    costs->columns[costs->column_count++] = column;
    return true;
}

/* The input of the shortest or the longest call; CN_NONE when the database has none. */
static bool add_extreme(struct cn_costs *costs, const char *name, enum cn_combine combine,
                        uint32_t *out, struct cn_error *err)
{
    int index = cn_metrics_find(&costs->db->metrics, name);

    *out = CN_NONE;
    if (index == CN_NO_ID || costs->db->metrics.list[index].instance_count == 0)
        return true;
    const struct cn_metric *metric = &costs->db->metrics.list[index];
    unsigned scope = metric->instances[0].scope;
    return add_input(costs,
                     &(struct cn_cost_input){
                         .prop_id = metric->instances[0].prop_id,
                         .stat_id = cn_metric_stat_id(metric, scope, "$$", combine),
                         .profile = CN_NONE,
                         .side = side_of_scope(&costs->db->metrics, (int)scope),
                         .combine = combine,
                     },
                     out, err);
}

/* Inputs for all buckets that the database has. */
static bool add_latencies(struct cn_costs *costs, struct cn_error *err)
{
    const struct cn_metrics *metrics = &costs->db->metrics;

    costs->latencies = cn_alloc(metrics->count, sizeof(*costs->latencies));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        struct cn_cost_latency latency;

        if (metric->instance_count == 0 ||
            !cn_bucket_name_parse(metric->name, &latency.range))
            continue;
        if (!scope_input(costs, (int)i, metric->instances[0].scope, CN_NONE,
                         &latency.input, err))
            return false;
        costs->latencies[costs->latency_count++] = latency;
    }
    costs->resolution_ns = cn_time_resolution_ns(costs->db);
    if (costs->latency_count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "no percentiles: the database does not know how long calls took");
    CN_SORT(costs->latencies, costs->latency_count,
            CN_UP(struct cn_cost_latency, range.low_ns));
    return add_extreme(costs, CN_LATENCY_MIN_NAME, CN_COMBINE_MIN, &costs->min_input,
                       err) &&
           add_extreme(costs, CN_LATENCY_MAX_NAME, CN_COMBINE_MAX, &costs->max_input,
                       err);
}

bool cn_costs_add_percentile(struct cn_costs *costs, double fraction, const char *name,
                             struct cn_error *err)
{
    struct cn_cost_column column = {
        .metric = name,
        .name = name,
        .title = name,
        .side = CN_SELF,
        .total = NAN,
        .fraction = fraction,
    };

    if (costs->column_count == CN_COST_COLUMN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d columns", CN_COST_COLUMN_MAX);
    if (!costs->latencies && !add_latencies(costs, err))
        return false;
    costs->columns[costs->column_count++] = column;
    return true;
}

bool cn_costs_add_percentiles(struct cn_costs *costs, struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < CN_PERCENTILES_SHOWN; i++)
        ok = cn_costs_add_percentile(costs, cn_percentile_fractions[i],
                                     cn_percentile_names[i], err);
    return ok;
}

double cn_cost_percent(const struct cn_cost_column *column, double value)
{
    return column->has_percent && column->total > 0 ? 100 * value / column->total : NAN;
}
