/* Columns computed from metrics by a formula of the user. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "analyze/views/costs.h"
#include "base/text.h"
#include "model/contexts/formula.h"

/* One side of the metrics that a formula names. */
struct derive_side {
    struct cn_costs *costs;
    enum cn_cost_side side;
};

/* The formula of a metric over inputs: that of a column, which is taken back. */
static bool find_metric(void *arg, const char *name, const struct cn_formula **out,
                        struct cn_error *err)
{
    const struct derive_side *side = arg;
    struct cn_cost_request request = {
        .metric = name, .side = side->side, .profile = CN_NONE};

    if (!cn_costs_add(side->costs, &request, err))
        return false;
    *out = side->costs->columns[--side->costs->column_count].formula;
    return true;
}

static bool parse_side(struct cn_costs *costs, enum cn_cost_side side, const char *text,
                       const struct cn_formula **out, struct cn_error *err)
{
    struct derive_side arg = {costs, side};
    struct cn_formula_names names = {find_metric, &arg};

    if (cn_formula_parse_named(out, text, &names, &costs->arena, err))
        return true;
    /* The text is an option of the user, not data of a file. */
    if (err->kind != CN_ERR_NOT_FOUND)
        err->kind = CN_ERR_USAGE;
    return false;
}

/* "per call [ns]" is printed as "per call (ns)". */
static const char *print_name(struct cn_costs *costs, const char *text, size_t len)
{
    struct cn_text name = {0};

    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    while (len > 0 && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    for (size_t i = 0; i < len; i++)
        cn_text_char(&name, text[i] == '[' ? '(' : text[i] == ']' ? ')' : text[i]);
    const char *out = cn_arena_strdup(&costs->arena, cn_text_str(&name));
    cn_text_done(&name);
    return out;
}

static void add_column(struct cn_costs *costs, const char *metric, enum cn_cost_side side,
                       const struct cn_formula *formula, const struct cn_formula *whole)
{
    struct cn_cost_column *column = &costs->columns[costs->column_count++];

    *column = (struct cn_cost_column){
        .metric = metric,
        .formula = formula,
        .total_formula = whole,
        .side = side,
        .total = NAN,
    };
    cn_cost_column_name(costs, column, metric, side);
}

bool cn_costs_add_derived(struct cn_costs *costs, const char *text, struct cn_error *err)
{
    const char *equals = strchr(text, '=');
    const struct cn_formula *formulas[] = {NULL, NULL};
    struct cn_error failure;

    if (!equals || equals == text)
        return cn_fail(err, CN_ERR_USAGE, "derived metric '%.80s' is not NAME=FORMULA",
                       text);
    if (costs->column_count + 2 > CN_COST_COLUMN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d columns", CN_COST_COLUMN_MAX);
    const char *name = print_name(costs, text, (size_t)(equals - text));
    /* A metric may have one side alone. */
    if (!parse_side(costs, CN_TOTAL, equals + 1, &formulas[CN_TOTAL], &failure) &&
        failure.kind != CN_ERR_NOT_FOUND) {
        *err = failure;
        return cn_fail_in(err, "derived metric '%.80s'", name);
    }
    if (!parse_side(costs, CN_SELF, equals + 1, &formulas[CN_SELF], err) &&
        !formulas[CN_TOTAL])
        return cn_fail_in(err, "derived metric '%.80s'", name);
    for (int side = CN_TOTAL; side <= CN_SELF; side++)
        if (formulas[side])
            add_column(costs, name, (enum cn_cost_side)side, formulas[side],
                       formulas[CN_TOTAL] ? formulas[CN_TOTAL] : formulas[CN_SELF]);
    return true;
}
