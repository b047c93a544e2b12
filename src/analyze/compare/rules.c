#include "analyze/compare/rules.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/call_evidence.h"
#include "analyze/compare/function_name.h"
#include "analyze/durations/percentile.h"
#include "analyze/views/costs.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "base/duration.h"

static const char *const quantities[] = {"total", "self", "calls", "p50",
                                         "p90",   "p99",  "new",   "gone"};
static const char *const operators[] = {"<=", "<", ">=", ">", "=="};

enum {
    QUANTITY_COUNT = sizeof(quantities) / sizeof(*quantities),
    OPERATOR_COUNT = sizeof(operators) / sizeof(*operators),
};

static bool is_about_names(const struct cn_rule *rule)
{
    return rule->quantity == CN_RULE_NEW || rule->quantity == CN_RULE_GONE;
}

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static bool parse_quantity(struct cn_rule *rule, const char **at, struct cn_error *err)
{
    size_t len = strcspn(*at, "( \t");

    for (size_t i = 0; i < QUANTITY_COUNT; i++)
        if (strlen(quantities[i]) == len && memcmp(quantities[i], *at, len) == 0) {
            rule->quantity = (enum cn_rule_quantity)i;
            *at = skip_blanks(*at + len);
            if (**at == '(')
                return true;
        }
    return cn_fail(err, CN_ERR_USAGE,
                   "expected total(NAME), self(NAME), calls(NAME), p50, p90, p99(NAME), "
                   "new(NAME) or gone(NAME)");
}

/* Names may contain parentheses: the one that closes the first one counts. */
static bool parse_pattern(struct cn_rule *rule, const char **at, struct cn_error *err)
{
    const char *begin = *at + 1, *end = begin;
    size_t open = 1;

    for (; *end; end++) {
        open += *end == '(';
        open -= *end == ')';
        if (open == 0)
            break;
    }
    if (open > 0 || end == begin)
        return cn_fail(err, CN_ERR_USAGE, "expected a name of functions in parentheses");
    char *pattern = cn_alloc((size_t)(end - begin) + 1, 1);
    memcpy(pattern, begin, (size_t)(end - begin));
    bool ok = cn_name_filter_add(&rule->filter, pattern, CN_MATCH_GLOB, err);
    free(pattern);
    *at = skip_blanks(end + 1);
    return ok;
}

static bool parse_unit(struct cn_rule *rule, const char *unit, struct cn_error *err)
{
    double ns = cn_duration_unit_ns(unit);

    if (*unit && ns == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "unknown unit '%s'; there are: %%, " CN_DURATION_UNITS, unit);
    rule->is_time = ns > 0;
    rule->limit *= ns > 0 ? ns / 1e9 : 1;
    return true;
}

static bool parse_limit(struct cn_rule *rule, const char *at, struct cn_error *err)
{
    bool has_sign = *at == '+' || *at == '-';
    char *end;

    if (strcmp(at, "same") == 0) {
        rule->limit_kind = CN_LIMIT_ADDED;
        return true;
    }
    rule->limit = strtod(at, &end);
    if (end == at || !isfinite(rule->limit))
        return cn_fail(
            err, CN_ERR_USAGE,
            "expected a limit: same, a number as in 20ms, or a change as in +5%%");
    rule->limit_kind = has_sign ? CN_LIMIT_ADDED : CN_LIMIT_FIXED;
    at = skip_blanks(end);
    if (strcmp(at, "%") != 0)
        return parse_unit(rule, at, err);
    if (!has_sign)
        return cn_fail(err, CN_ERR_USAGE, "a percentage needs a sign: +5%% or -5%%");
    rule->limit_kind = CN_LIMIT_PERCENT;
    return true;
}

static bool parse_condition(struct cn_rule *rule, const char *at, struct cn_error *err)
{
    if (is_about_names(rule))
        return strcmp(at, "none") == 0 ||
               cn_fail(err, CN_ERR_USAGE, "expected 'none' after %s(...)",
                       quantities[rule->quantity]);
    for (size_t i = 0; i < OPERATOR_COUNT; i++)
        if (strncmp(at, operators[i], strlen(operators[i])) == 0) {
            rule->op = (enum cn_rule_operator)i;
            return parse_limit(rule, skip_blanks(at + strlen(operators[i])), err);
        }
    return cn_fail(err, CN_ERR_USAGE, "expected <=, <, >=, > or == after %s(...)",
                   quantities[rule->quantity]);
}

bool cn_rule_parse(struct cn_rule *out, const char *text, struct cn_error *err)
{
    struct cn_rule rule = {.text = cn_strdup(skip_blanks(text))};
    const char *at = rule.text;
    size_t len = strlen(rule.text);

    while (len > 0 && isspace((unsigned char)rule.text[len - 1]))
        rule.text[--len] = '\0';
    if (!parse_quantity(&rule, &at, err) || !parse_pattern(&rule, &at, err) ||
        !parse_condition(&rule, at, err)) {
        (void)cn_fail_in(err, "rule '%s'", rule.text);
        cn_rule_done(&rule);
        return false;
    }
    *out = rule;
    return true;
}

void cn_rule_done(struct cn_rule *rule)
{
    free(rule->text);
    cn_name_filter_done(&rule->filter);
    *rule = (struct cn_rule){0};
}

double cn_rule_fraction(const struct cn_rule *rule)
{
    return rule->quantity >= CN_RULE_P50 && rule->quantity <= CN_RULE_P99
               ? cn_percentile_fractions[rule->quantity - CN_RULE_P50]
               : 0;
}

/* Which names match: by number. */
static bool *match_names(const struct cn_rule *rule, const struct cn_names *names,
                         bool normalises)
{
    bool *matches = cn_alloc(names->count, sizeof(*matches));
    struct cn_text text = {0};

    for (size_t i = 0; i < names->count; i++) {
        cn_text_clear(&text);
        if (normalises)
            cn_function_name_add(&text, names->list[i]);
        else
            cn_text_str_add(&text, names->list[i]);
        matches[i] = cn_name_filter_matches(&rule->filter, cn_text_str(&text));
    }
    cn_text_done(&text);
    return matches;
}

/* Contexts that begin a frame of a matching function count for row 0. */
static struct cn_cost_targets map_matching(const struct cn_frames *frames,
                                           const bool *matches)
{
    size_t count = frames->index.count;
    uint32_t filled = 0, *start = cn_alloc(count + 1, sizeof(*start));
    struct cn_cost_target *list = cn_alloc(count + 1, sizeof(*list));

    for (size_t i = 0; i < count; i++) {
        uint32_t parent = frames->index.nodes[i].parent, frame = frames->of_node[i];

        start[i] = filled;
        if (matches[frames->list[frame].place] &&
            (parent == CN_NONE || frames->of_node[parent] != frame))
            list[filled++] = cn_cost_target_of(0, 1U << CN_SELF | 1U << CN_TOTAL);
    }
    start[count] = filled;
    return (struct cn_cost_targets){start, list};
}

bool cn_rule_percentile(const struct cn_rule *rule, struct cn_database *db,
                        const struct cn_progress *progress, double *out,
                        struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_targets targets;
    struct cn_cost_rows rows = {0};
    struct cn_frames frames;
    double values[CN_COST_COLUMN_MAX];
    bool *matches;
    bool ok;

    cn_costs_init(costs, db);
    ok = cn_costs_add_percentile(costs, cn_rule_fraction(rule),
                                 quantities[rule->quantity], err) &&
         cn_costs_ready(costs, err) && cn_frames_build(&frames, db, progress, err);
    if (ok) {
        matches = match_names(rule, &frames.names, true);
        targets = map_matching(&frames, matches);
        ok = cn_costs_fill(costs, &frames.index, &targets, 1, progress, &rows, err);
        if (ok)
            cn_cost_rows_values(costs, &rows, 0, values);
        free(matches);
        free((void *)(uintptr_t)targets.start);
        free((void *)(uintptr_t)targets.list);
        cn_cost_rows_done(&rows);
        cn_frames_done(&frames);
    }
    cn_costs_done(costs);
    free(costs);
    if (ok)
        *out = values[0];
    return ok;
}

/* True if the function has one of its names on a side. */
static bool node_matches(const struct cn_compared *node, const bool *matches)
{
    return matches[node->name] ||
           (node->how == CN_RENAMED && node->other != CN_NONE && matches[node->other]);
}

/* The values of a rule in all runs; false if no function matches on a side. `error` is that of
 * single runs. */
static void add_up(const struct cn_rule *rule, const struct cn_comparison *c,
                   double *values, bool is_there[CN_SIDES], struct cn_cost_error *error)
{
    bool *matches = match_names(rule, &c->names, false);
    bool *is_inside = cn_alloc(c->node_count, sizeof(*is_inside));

    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], parent = c->nodes[node].parent;
        bool is_match = node_matches(&c->nodes[node], matches);

        is_inside[node] = is_match || (rule->quantity == CN_RULE_TOTAL &&
                                       parent != CN_NONE && is_inside[parent]);
        for (int side = 0; side < CN_SIDES; side++)
            is_there[side] |=
                is_match && cn_compared_on(&c->nodes[node], (enum cn_side)side);
        for (size_t r = 0; r < c->run_count && is_inside[node]; r++)
            values[r] += rule->quantity == CN_RULE_CALLS ? c->runs[r].calls[node]
                                                         : c->runs[r].self[node];
        if (is_inside[node] && c->errors[CN_SIDE_A])
            cn_cost_error_add(error, c, node);
    }
    free(matches);
    free(is_inside);
}

/* Whether a value is beyond a limit in the direction that the operator forbids. */
static bool is_beyond(enum cn_rule_operator op, double value, double limit)
{
    double rounding = 1e-12 * fmax(fabs(value), fabs(limit));

    switch (op) {
    case CN_RULE_AT_MOST:
        return value > limit + rounding;
    case CN_RULE_BELOW:
        return value >= limit;
    case CN_RULE_AT_LEAST:
        return value < limit - rounding;
    case CN_RULE_ABOVE:
        return value <= limit;
    case CN_RULE_EQUAL:
        return fabs(value - limit) > rounding;
    }
    return true;
}

/* The chance that the values of the runs differ as much from the limits of the runs. With one
 * run on a side, noise is unknown: NAN. */
static double chance_of_runs(const double *limits, size_t limit_count,
                             const double *values, size_t count)
{
    struct cn_moments a = cn_moments_of(limits, limit_count);
    struct cn_moments b = cn_moments_of(values, count);
    double least, p;

    if (limit_count < 2 || count < 2)
        return NAN;
    p = cn_rank_test(limits, limit_count, values, count, &least);
    return p <= fmax(0.05, least * (1 + 1e-9)) ? cn_mean_test(&a, &b).p : 1;
}

static double limit_of(const struct cn_rule *rule, double base)
{
    return rule->limit_kind == CN_LIMIT_FIXED   ? rule->limit
           : rule->limit_kind == CN_LIMIT_ADDED ? base + rule->limit
                                                : base * (1 + rule->limit / 100);
}

/* True if single runs tell the noise of a quantity. Numbers of calls have none, and that of
 * percentiles is unknown: every difference counts. */
static bool has_error(const struct cn_rule *rule, const struct cn_comparison *c)
{
    return c->errors[CN_SIDE_A] &&
           (rule->quantity == CN_RULE_TOTAL || rule->quantity == CN_RULE_SELF);
}

/* The chance that the values of single runs differ as much from the limit; NAN: unknown. */
static double chance_of_one(const struct cn_rule *rule, const struct cn_comparison *c,
                            const struct cn_cost_error *error,
                            const struct cn_rule_result *result)
{
    double factor = rule->limit_kind == CN_LIMIT_FIXED     ? 0
                    : rule->limit_kind == CN_LIMIT_PERCENT ? 1 + rule->limit / 100
                                                           : 1;
    double more = rule->limit_kind == CN_LIMIT_PERCENT ? 0 : rule->limit;
    struct cn_difference found =
        cn_cost_error_test(error, c, result->value, factor, more);

    return isnan(found.half_width) ? NAN : found.p;
}

static void check_values(const struct cn_rule *rule, const struct cn_comparison *c,
                         const double *values, const struct cn_cost_error *error,
                         struct cn_rule_result *out)
{
    double *list[CN_SIDES], *limits = cn_alloc(c->run_count, sizeof(*limits));
    struct cn_moments moments[CN_SIDES];
    size_t count[CN_SIDES] = {0, 0}, limit_count = 0;

    for (int side = 0; side < CN_SIDES; side++)
        list[side] = cn_alloc(c->run_count, sizeof(*list[side]));
    for (size_t r = 0; r < c->run_count; r++) {
        enum cn_side side = c->runs[r].side;

        list[side][count[side]++] = values[r];
        if (side == CN_SIDE_A)
            limits[limit_count++] = limit_of(rule, values[r]);
    }
    if (rule->limit_kind == CN_LIMIT_FIXED) /* known for certain, as often as needed */
        for (limit_count = 0; limit_count < count[CN_SIDE_B]; limit_count++)
            limits[limit_count] = rule->limit;
    for (int side = 0; side < CN_SIDES; side++) {
        moments[side] = cn_moments_of(list[side], count[side]);
        out->value[side] = moments[side].mean;
    }
    out->half_width = cn_mean_test(&moments[CN_SIDE_A], &moments[CN_SIDE_B]).half_width;
    if (has_error(rule, c))
        out->half_width = cn_cost_error_test(error, c, out->value, 1, 0).half_width;
    out->limit = cn_moments_of(limits, limit_count).mean;
    out->p = has_error(rule, c)
                 ? chance_of_one(rule, c, error, out)
                 : chance_of_runs(limits, limit_count, list[CN_SIDE_B], count[CN_SIDE_B]);
    if (is_beyond(rule->op, out->value[CN_SIDE_B], out->limit))
        out->verdict = CN_RULE_BROKEN;
    else if (!isnan(out->p))
        out->p = 1;
    for (int side = 0; side < CN_SIDES; side++)
        free(list[side]);
    free(limits);
}

/* Functions that one side has alone, also if they were renamed. */
static void check_names(const struct cn_rule *rule, const struct cn_comparison *c,
                        struct cn_rule_result *out)
{
    enum { SHOWN = 10 };
    enum cn_side only = rule->quantity == CN_RULE_NEW ? CN_SIDE_B : CN_SIDE_A;
    bool *matches = match_names(rule, &c->names, false);

    for (size_t i = 0; i < c->names.count; i++) {
        if (!matches[i] || c->name_sides[i] != 1U << only)
            continue;
        if (out->name_count++ < SHOWN)
            cn_text_printf(&out->names, "%s%s", out->names.len ? ", " : "",
                           c->names.list[i]);
    }
    if (out->name_count > SHOWN)
        cn_text_printf(&out->names, " and %zu more", out->name_count - SHOWN);
    out->verdict = out->name_count > 0 ? CN_RULE_BROKEN : CN_RULE_KEPT;
    free(matches);
}

bool cn_rule_check(const struct cn_rule *rule, const struct cn_comparison *c,
                   const double *percentiles, struct cn_rule_result *out,
                   struct cn_error *err)
{
    bool is_there[CN_SIDES] = {false, false};
    struct cn_cost_error error = {0};

    *out = (struct cn_rule_result){
        .value = {NAN, NAN}, .limit = NAN, .half_width = NAN, .p = NAN};
    if (rule->quantity == CN_RULE_CALLS && !c->has_calls)
        return cn_fail(err, CN_ERR_USAGE, "rule '%s': a side does not count calls",
                       rule->text);
    if (is_about_names(rule)) {
        check_names(rule, c, out);
        return true;
    }
    double *values = cn_alloc(c->run_count, sizeof(*values));
    add_up(rule, c, values, is_there, &error);
    if (percentiles)
        memcpy(values, percentiles, c->run_count * sizeof(*values));
    if (is_there[CN_SIDE_A] || is_there[CN_SIDE_B])
        check_values(rule, c, values, &error, out);
    else
        out->verdict = CN_RULE_BROKEN; /* a rule about nothing protects nothing */
    for (int side = 0; side < CN_SIDES; side++)
        if (!is_there[side])
            out->value[side] = NAN;
    free(values);
    return true;
}

void cn_rules_judge(struct cn_rule_result *results, size_t count)
{
    double *p = cn_alloc(count, sizeof(*p)), limit;
    size_t tested = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(results[i].p))
            p[tested++] = results[i].p;
    limit = cn_significant_p(p, tested, 0.01);
    for (size_t i = 0; i < count; i++)
        if (results[i].verdict == CN_RULE_BROKEN && results[i].p > limit)
            results[i].verdict = CN_RULE_NOISE;
    free(p);
}

void cn_rule_result_done(struct cn_rule_result *result)
{
    cn_text_done(&result->names);
}
