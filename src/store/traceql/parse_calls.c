#include "store/traceql/parse_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/suggest.h"
#include "model/contexts/context.h"

bool cn_tql_parse_braces(struct cn_tql_parser *p, struct cn_tql_expr *expr,
                         uint32_t *filter)
{
    struct cn_tql_program *program = p->program;
    struct cn_tql_operand operand = {.type = CN_TQL_BOOL};
    uint32_t at = p->token.at;

    if (!cn_tql_expect(p, '{'))
        return false;
    if (!cn_tql_is_sign(p, '}') && !cn_tql_parse_expr(p, &operand))
        return false;
    if (!cn_tql_is_sign(p, '}'))
        return cn_tql_fail_expected(p, "an operator or '}'");
    if (operand.type != CN_TQL_BOOL && operand.type != CN_TQL_ATTRIBUTE)
        return cn_tql_fail(p, operand.at, "braces need a condition, not a value");
    if (program->filter_count == CN_TQL_NODES_MAX)
        return cn_tql_fail(p, at, "the query has too many parts");
    *expr = operand.expr;
    *filter = (uint32_t)program->filter_count;
    CN_PUSH(program->filters, program->filter_count, program->filter_capacity,
            (struct cn_tql_filter){.expr = operand.expr, .condition = "", .doubt = ""});
    return cn_tql_next(p);
}

/* "(" expr ")". The text is that of the call, as Tempo writes it. */
static bool parse_argument(struct cn_tql_parser *p, const char *name,
                           struct cn_tql_node *node, struct cn_tql_operand *operand)
{
    uint32_t begin = p->token.at + 1;
    struct cn_text text = {0};

    if (!cn_tql_expect(p, '(') || !cn_tql_parse_expr(p, operand))
        return false;
    cn_text_printf(&text, "%s(%.*s)", name, (int)(p->token.at - begin),
                   p->lexer.text + begin);
    node->text = cn_arena_copy(&p->program->arena, cn_text_str(&text), text.len);
    cn_text_done(&text);
    node->expr = operand->expr;
    return cn_tql_expect(p, ')');
}

static bool parse_aggregate(struct cn_tql_parser *p, const char *name,
                            struct cn_tql_node *node)
{
    struct cn_tql_operand operand;

    node->kind = CN_TQL_AGGREGATE;
    if (node->function == CN_TQL_COUNT) {
        node->type = CN_TQL_INT;
        node->text = "count()";
        return cn_tql_expect(p, '(') && cn_tql_expect(p, ')');
    }
    if (!parse_argument(p, name, node, &operand))
        return false;
    node->type = operand.type;
    if (operand.type != CN_TQL_ATTRIBUTE && !cn_tql_is_numeric(operand.type))
        return cn_tql_fail(p, operand.at, "an aggregate needs numbers");
    return operand.reads_span ||
           cn_tql_fail(p, operand.at, "an aggregate needs a field of the span");
}

static bool parse_by(struct cn_tql_parser *p, struct cn_tql_node *node)
{
    struct cn_tql_operand operand;

    node->kind = CN_TQL_BY;
    return parse_argument(p, "by", node, &operand) &&
           (operand.reads_span ||
            cn_tql_fail(p, operand.at, "by() needs a field of the span"));
}

/* The fields up to the closing parenthesis, which is taken. */
static bool parse_fields(struct cn_tql_parser *p, struct cn_tql_node *node)
{
    uint32_t *list = NULL;
    size_t capacity = 0, count = 0;
    bool ok = true;

    do {
        uint32_t field;

        if (count > 0)
            ok = cn_tql_next(p);
        ok = ok && cn_tql_parse_field(p, &field);
        if (ok)
            CN_PUSH(list, count, capacity, field);
    } while (ok && cn_tql_is_sign(p, ','));
    node->fields = cn_arena_dup(&p->program->arena, list, count, sizeof(*list));
    node->field_count = count;
    free(list);
    return ok && cn_tql_expect(p, ')');
}

static bool parse_quantiles(struct cn_tql_parser *p, struct cn_tql_node *node)
{
    double *list = NULL;
    size_t capacity = 0, count = 0;
    bool ok = true;

    if (!cn_tql_is_sign(p, ','))
        return cn_tql_fail_expected(p, "',' and a quantile");
    while (ok && cn_tql_is_sign(p, ',')) {
        ok = cn_tql_next(p);
        double quantile = cn_tql_as_float(&p->token.value);
        bool is_number =
            p->token.kind == CN_TQL_T_VALUE &&
            (p->token.value.type == CN_TQL_INT || p->token.value.type == CN_TQL_FLOAT);

        if (ok && !(is_number && quantile >= 0 && quantile <= 1))
            ok = cn_tql_fail_expected(p, "a quantile from 0 to 1");
        if (ok) {
            CN_PUSH(list, count, capacity, quantile);
            ok = cn_tql_next(p);
        }
    }
    node->quantiles = cn_arena_dup(&p->program->arena, list, count, sizeof(*list));
    node->quantile_count = count;
    free(list);
    return ok;
}

static bool parse_whole_number(struct cn_tql_parser *p, int64_t *out)
{
    if (p->token.kind != CN_TQL_T_VALUE || p->token.value.type != CN_TQL_INT)
        return cn_tql_fail_expected(p, "a whole number");
    *out = p->token.value.integer;
    return cn_tql_next(p);
}

static bool parse_compare(struct cn_tql_parser *p, struct cn_tql_node *node)
{
    node->limit = 10;
    if (!cn_tql_parse_braces(p, &node->expr, &node->filter))
        return false;
    if (!cn_tql_is_sign(p, ','))
        return true;
    if (!cn_tql_next(p) || !parse_whole_number(p, &node->limit))
        return false;
    if (node->limit <= 0)
        return cn_tql_fail(p, node->at, "compare() needs a limit above 0");
    if (!cn_tql_is_sign(p, ','))
        return true;
    return cn_tql_next(p) && parse_whole_number(p, &node->first_ns) &&
           cn_tql_expect(p, ',') && parse_whole_number(p, &node->last_ns);
}

/* The fields of metrics are few: a series has a label for each. */
static bool parse_labels(struct cn_tql_parser *p, struct cn_tql_node *node)
{
    size_t most = node->function >= CN_TQL_QUANTILE_OVER_TIME ||
                          node->function == CN_TQL_AVG_OVER_TIME
                      ? CN_TQL_BY_MAX - 1
                      : CN_TQL_BY_MAX;
    char what[64];

    if (p->token.kind != CN_TQL_T_WORD || strcmp(p->token.word, "by") != 0 ||
        node->function == CN_TQL_COMPARE)
        return true;
    if (!cn_tql_next(p) || !cn_tql_expect(p, '(') || !parse_fields(p, node))
        return false;
    (void)snprintf(what, sizeof(what), "by() takes at most %zu fields here", most);
    return node->field_count <= most || cn_tql_fail(p, node->at, what);
}

static bool parse_metrics(struct cn_tql_parser *p, struct cn_tql_node *node)
{
    enum cn_tql_function function = node->function;

    node->kind = CN_TQL_METRICS;
    if (!cn_tql_expect(p, '('))
        return false;
    if (function == CN_TQL_COMPARE && !parse_compare(p, node))
        return false;
    if (function >= CN_TQL_SUM_OVER_TIME && function <= CN_TQL_HISTOGRAM_OVER_TIME &&
        !cn_tql_parse_field(p, &node->field))
        return false;
    if (function == CN_TQL_QUANTILE_OVER_TIME && !parse_quantiles(p, node))
        return false;
    return cn_tql_expect(p, ')') && parse_labels(p, node);
}

static bool parse_limit(struct cn_tql_parser *p, struct cn_tql_node *node)
{
    uint32_t at;

    if (!cn_tql_expect(p, '('))
        return false;
    at = p->token.at;
    if (!parse_whole_number(p, &node->limit))
        return false;
    if (node->limit <= 0)
        return cn_tql_fail(p, at, "the limit must be above 0");
    return cn_tql_expect(p, ')');
}

static const struct {
    const char *name;
    enum cn_tql_node_kind kind;
    enum cn_tql_function function;
} calls[] = {
    {"count", CN_TQL_AGGREGATE, CN_TQL_COUNT},
    {"sum", CN_TQL_AGGREGATE, CN_TQL_SUM},
    {"avg", CN_TQL_AGGREGATE, CN_TQL_AVG},
    {"min", CN_TQL_AGGREGATE, CN_TQL_MIN},
    {"max", CN_TQL_AGGREGATE, CN_TQL_MAX},
    {"by", CN_TQL_BY, 0},
    {"coalesce", CN_TQL_COALESCE, 0},
    {"select", CN_TQL_SELECT, 0},
    {"rate", CN_TQL_METRICS, CN_TQL_RATE},
    {"count_over_time", CN_TQL_METRICS, CN_TQL_COUNT_OVER_TIME},
    {"sum_over_time", CN_TQL_METRICS, CN_TQL_SUM_OVER_TIME},
    {"avg_over_time", CN_TQL_METRICS, CN_TQL_AVG_OVER_TIME},
    {"min_over_time", CN_TQL_METRICS, CN_TQL_MIN_OVER_TIME},
    {"max_over_time", CN_TQL_METRICS, CN_TQL_MAX_OVER_TIME},
    {"quantile_over_time", CN_TQL_METRICS, CN_TQL_QUANTILE_OVER_TIME},
    {"histogram_over_time", CN_TQL_METRICS, CN_TQL_HISTOGRAM_OVER_TIME},
    {"compare", CN_TQL_METRICS, CN_TQL_COMPARE},
    {"topk", CN_TQL_TOPK, 0},
    {"bottomk", CN_TQL_BOTTOMK, 0},
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static bool fail_unknown(const struct cn_tql_parser *p)
{
    struct cn_suggestion near = {.typed = p->token.word};
    char what[160];

    for (size_t i = 0; i < CALLS; i++)
        cn_suggestion_offer(&near, calls[i].name);
    (void)snprintf(what, sizeof(what), "there is no function '%.60s'%s%s", p->token.word,
                   near.best ? "; did you mean " : "", near.best ? near.best : "");
    return cn_tql_fail(p, p->token.at, what);
}

static bool parse_arguments(struct cn_tql_parser *p, const char *name,
                            struct cn_tql_node *node)
{
    switch ((int)node->kind) {
    case CN_TQL_AGGREGATE:
        return parse_aggregate(p, name, node);
    case CN_TQL_BY:
        return parse_by(p, node);
    case CN_TQL_COALESCE:
        return cn_tql_expect(p, '(') && cn_tql_expect(p, ')');
    case CN_TQL_SELECT:
        return cn_tql_expect(p, '(') && parse_fields(p, node);
    case CN_TQL_METRICS:
        return parse_metrics(p, node);
    default:
        return parse_limit(p, node);
    }
}

bool cn_tql_parse_call(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    struct cn_tql_node node = {.at = p->token.at, .field = CN_NONE};
    size_t i = 0;

    if (p->token.kind != CN_TQL_T_WORD && p->token.kind != CN_TQL_T_NAME)
        return cn_tql_fail_expected(p, "a function");
    while (i < CALLS && strcmp(calls[i].name, p->token.word) != 0)
        i++;
    if (i == CALLS)
        return fail_unknown(p);
    node.kind = calls[i].kind;
    node.function = calls[i].function;
    return cn_tql_next(p) && parse_arguments(p, calls[i].name, &node) &&
           cn_tql_add_node(p, &node, out);
}

static bool parse_hint(struct cn_tql_parser *p)
{
    struct cn_tql_program *program = p->program;
    struct cn_tql_hint hint = {.name = p->token.word};

    if (p->token.kind != CN_TQL_T_NAME)
        return cn_tql_fail_expected(p, "the name of a hint");
    if (!cn_tql_next(p))
        return false;
    if (p->token.kind != CN_TQL_T_OP || p->token.op != CN_TQL_EQ)
        return cn_tql_fail_expected(p, "'='");
    if (!cn_tql_next(p))
        return false;
    if (p->token.kind != CN_TQL_T_VALUE)
        return cn_tql_fail_expected(p, "a value");
    hint.value = p->token.value;
    CN_PUSH(program->hints, program->hint_count, program->hint_capacity, hint);
    return cn_tql_next(p);
}

bool cn_tql_parse_hints(struct cn_tql_parser *p)
{
    if (!cn_tql_next(p) || !cn_tql_expect(p, '(') || !parse_hint(p))
        return false;
    while (cn_tql_is_sign(p, ','))
        if (!cn_tql_next(p) || !parse_hint(p))
            return false;
    return cn_tql_expect(p, ')');
}
