/* Everything around braces: spansets, pipelines, scalars, metrics and their arithmetic. All of it is
 * parsed by the same binding of operators; what a side is decides what an operator means. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "store/traceql/condition.h"
#include "store/traceql/parse_calls.h"

bool cn_tql_fail(const struct cn_tql_parser *p, uint32_t at, const char *what)
{
    return cn_tql_fail_at(p->lexer.text, at, p->err, what);
}

bool cn_tql_fail_expected(const struct cn_tql_parser *p, const char *what)
{
    char text[200];

    if (p->token.kind == CN_TQL_T_END)
        (void)snprintf(text, sizeof(text), "expected %s, found the end of the query",
                       what);
    else
        (void)snprintf(text, sizeof(text), "expected %s, found '%.*s'", what,
                       (int)(p->token.len < 60 ? p->token.len : 60),
                       p->lexer.text + p->token.at);
    return cn_tql_fail(p, p->token.at, text);
}

bool cn_tql_next(struct cn_tql_parser *p)
{
    return cn_tql_lex(&p->lexer, &p->token);
}

bool cn_tql_expect(struct cn_tql_parser *p, char sign)
{
    char what[4] = {'\'', sign, '\'', '\0'};

    if (!cn_tql_is_sign(p, sign))
        return cn_tql_fail_expected(p, what);
    return cn_tql_next(p);
}

bool cn_tql_enter(struct cn_tql_parser *p)
{
    /* Each pair of parentheses enters twice. */
    return ++p->depth <= 2 * CN_TQL_DEPTH_MAX ||
           cn_tql_fail(p, p->token.at, "parentheses nest too deeply");
}

bool cn_tql_add_node(struct cn_tql_parser *p, const struct cn_tql_node *node,
                     struct cn_tql_node **out)
{
    struct cn_tql_node *copy = cn_arena_dup(&p->program->arena, node, 1, sizeof(*node));
    const struct cn_tql_node *below[] = {node->left, node->right, node->stages};

    copy->depth = 1;
    for (size_t i = 0; i < 3; i++)
        if (below[i] && below[i]->depth >= copy->depth)
            copy->depth = below[i]->depth + 1;
    if (++p->program->node_count > CN_TQL_NODES_MAX || copy->depth > 4 * CN_TQL_DEPTH_MAX)
        return cn_tql_fail(p, node->at, "the query has too many parts");
    *out = copy;
    return true;
}

static bool is_spanset(const struct cn_tql_node *node)
{
    return node->kind == CN_TQL_FILTER || node->kind == CN_TQL_SPANSET_OP ||
           node->kind == CN_TQL_PIPELINE;
}

static bool is_scalar(const struct cn_tql_node *node)
{
    return node->kind == CN_TQL_AGGREGATE || node->kind == CN_TQL_SCALAR ||
           node->kind == CN_TQL_SCALAR_OP;
}

static bool is_metrics(const struct cn_tql_node *node)
{
    return node->kind >= CN_TQL_METRICS;
}

/* A pipeline that ends with an aggregate is a number, too. */
static bool ends_with_number(const struct cn_tql_node *node)
{
    const struct cn_tql_node *stage = node->stages;

    if (node->kind == CN_TQL_SCALAR_OP)
        return ends_with_number(node->left);
    if (node->kind != CN_TQL_PIPELINE)
        return false;
    while (stage->next)
        stage = stage->next;
    return stage->kind == CN_TQL_AGGREGATE;
}

static bool is_spanset_op(enum cn_tql_op op)
{
    return op == CN_TQL_AND || op == CN_TQL_OR || op == CN_TQL_GT || op == CN_TQL_LT ||
           op == CN_TQL_NRE || op >= CN_TQL_DESCENDANT;
}

static bool is_series_op(enum cn_tql_op op)
{
    return op >= CN_TQL_ADD && op <= CN_TQL_DIV;
}

/* Numbers are computed at once; durations are not computed with. */
static bool fold(struct cn_tql_parser *p, enum cn_tql_op op, uint32_t at,
                 const struct cn_tql_node *left, const struct cn_tql_node *right,
                 struct cn_tql_node **out)
{
    struct cn_tql_node node = {.kind = CN_TQL_SCALAR, .at = left->at};

    if (left->value.type == CN_TQL_DURATION || right->value.type == CN_TQL_DURATION)
        return cn_tql_fail(p, at, "durations cannot be computed with here");
    if (!is_series_op(op))
        return cn_tql_fail(p, at, "numbers are combined with +, -, * and / here");
    node.value = cn_tql_apply(op, &left->value, &right->value, NULL);
    node.type = node.value.type;
    if (node.type == CN_TQL_NIL)
        return cn_tql_fail(p, at, "division by zero");
    return cn_tql_add_node(p, &node, out);
}

static bool combine_scalars(struct cn_tql_parser *p, enum cn_tql_op op, uint32_t at,
                            struct cn_tql_node *left, struct cn_tql_node *right,
                            struct cn_tql_node **out)
{
    struct cn_tql_node node = {.kind = CN_TQL_SCALAR_OP,
                               .op = op,
                               .left = left,
                               .right = right,
                               .at = at,
                               .type = left->type};

    if (!cn_tql_types_meet(left->type, right->type) || !cn_tql_op_takes(op, left->type) ||
        !cn_tql_op_takes(op, right->type))
        return cn_tql_fail(p, at, "the operator does not fit the two sides");
    if (cn_tql_is_comparison(op))
        node.kind = CN_TQL_SCALAR_FILTER;
    else if (node.type == CN_TQL_ATTRIBUTE)
        node.type = right->type;
    return cn_tql_add_node(p, &node, out);
}

/* An operator between metrics, or between metrics and a number. */
static bool combine_metrics(struct cn_tql_parser *p, enum cn_tql_op op, uint32_t at,
                            struct cn_tql_node *left, struct cn_tql_node *right,
                            struct cn_tql_node **out)
{
    struct cn_tql_node node = {.op = op, .left = left, .at = at};
    const struct cn_tql_node *number = right;

    if (is_metrics(left) && is_metrics(right)) {
        node.kind = CN_TQL_MATH;
        node.right = right;
        if (!is_series_op(op))
            return cn_tql_fail(p, at, "metrics are combined with +, -, * and /");
        return cn_tql_add_node(p, &node, out);
    }
    if (is_metrics(right)) {
        number = left;
        node.left = right;
    }
    if (number->kind != CN_TQL_SCALAR || number->type == CN_TQL_NIL)
        return cn_tql_fail(p, at, "metrics are combined with metrics and numbers");
    node.number = cn_tql_as_float(&number->value);
    node.kind = number == left ? CN_TQL_MATH_LEFT : CN_TQL_MATH_RIGHT;
    if (cn_tql_is_comparison(op) && op < CN_TQL_RE && number == right) {
        node.kind = CN_TQL_SERIES_FILTER;
        if (number->type == CN_TQL_DURATION)
            node.number /= 1e9;
        return cn_tql_add_node(p, &node, out);
    }
    if (number->type == CN_TQL_DURATION)
        return cn_tql_fail(p, at, "a duration cannot be combined with metrics");
    if (!is_series_op(op))
        return cn_tql_fail(p, at, "metrics and numbers are combined with +, -, * and /");
    return cn_tql_add_node(p, &node, out);
}

static bool combine(struct cn_tql_parser *p, enum cn_tql_op op, uint32_t at,
                    struct cn_tql_node *left, struct cn_tql_node *right,
                    struct cn_tql_node **out)
{
    struct cn_tql_node node = {
        .kind = CN_TQL_SPANSET_OP, .op = op, .left = left, .right = right, .at = at};
    bool is_left_number = ends_with_number(left),
         is_right_number = ends_with_number(right);

    if (is_metrics(left) || is_metrics(right))
        return combine_metrics(p, op, at, left, right, out);
    if (left->kind == CN_TQL_SCALAR && right->kind == CN_TQL_SCALAR &&
        !cn_tql_is_comparison(op))
        return fold(p, op, at, left, right, out);
    if (is_left_number && (is_right_number || right->kind == CN_TQL_SCALAR))
        return combine_scalars(p, op, at, left, right, out);
    if (is_spanset(left) && is_spanset(right) && !is_left_number && !is_right_number &&
        is_spanset_op(op))
        return cn_tql_add_node(p, &node, out);
    if (is_scalar(left) && is_scalar(right) && !is_left_number && !is_right_number &&
        (left->kind != CN_TQL_SCALAR || right->kind != CN_TQL_SCALAR))
        return combine_scalars(p, op, at, left, right, out);
    return cn_tql_fail(p, at, "the operator does not fit the two sides");
}

static bool parse_filter(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    struct cn_tql_node node = {.kind = CN_TQL_FILTER, .at = p->token.at};

    return cn_tql_parse_braces(p, &node.expr, &node.filter) &&
           cn_tql_add_node(p, &node, out);
}

/* What stands in parentheses: whatever a query can be, without hints. */
static bool parse_group(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    if (!cn_tql_enter(p) || !cn_tql_next(p) || !cn_tql_parse_piped(p, out) ||
        !cn_tql_expect(p, ')'))
        return false;
    p->depth--;
    return true;
}

static bool parse_number(struct cn_tql_parser *p, bool is_negative,
                         struct cn_tql_node **out)
{
    struct cn_tql_node node = {.kind = CN_TQL_SCALAR,
                               .value = p->token.value,
                               .type = p->token.value.type,
                               .at = p->token.at};

    if (p->token.kind != CN_TQL_T_VALUE || !cn_tql_is_numeric(node.type))
        return cn_tql_fail_expected(p, "'{', '(', a function or a number");
    if (is_negative)
        node.value = cn_tql_apply_unary(CN_TQL_NEGATE, &node.value);
    return cn_tql_next(p) && cn_tql_add_node(p, &node, out);
}

static bool parse_negative(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    uint32_t at = p->token.at;

    if (!cn_tql_enter(p) || !cn_tql_next(p))
        return false;
    bool is_nested = cn_tql_is_sign(p, '('), ok;
    if (p->token.kind == CN_TQL_T_OP && p->token.op == CN_TQL_SUB)
        ok = parse_negative(p, out);
    else
        ok = is_nested ? parse_group(p, out) : parse_number(p, true, out);
    p->depth--;
    if (!ok)
        return false;
    if ((*out)->kind != CN_TQL_SCALAR)
        return cn_tql_fail(p, at, "only a number can be negative here");
    if (is_nested)
        (*out)->value = cn_tql_apply_unary(CN_TQL_NEGATE, &(*out)->value);
    return true;
}

static bool parse_operand(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    if (cn_tql_is_sign(p, '{'))
        return parse_filter(p, out);
    if (cn_tql_is_sign(p, '('))
        return parse_group(p, out);
    if (p->token.kind == CN_TQL_T_WORD || p->token.kind == CN_TQL_T_NAME)
        return cn_tql_parse_call(p, out);
    if (p->token.kind == CN_TQL_T_OP && p->token.op == CN_TQL_SUB)
        return parse_negative(p, out);
    return parse_number(p, false, out);
}

static bool parse_operators(struct cn_tql_parser *p, unsigned lowest,
                            struct cn_tql_node **out)
{
    struct cn_tql_node *right;

    if (!cn_tql_enter(p) || !parse_operand(p, out))
        return false;
    /* Functions of metrics stand at the end of a pipeline: what follows is about that. */
    while ((*out)->kind != CN_TQL_BY && (*out)->kind != CN_TQL_COALESCE &&
           (*out)->kind != CN_TQL_SELECT &&
           !((*out)->kind == CN_TQL_METRICS && !(*out)->stages) &&
           p->token.kind == CN_TQL_T_OP && cn_tql_binding(p->token.op) >= lowest) {
        enum cn_tql_op op = p->token.op;
        unsigned binding = cn_tql_binding(op);
        uint32_t at = p->token.at;

        if (!cn_tql_next(p) ||
            !parse_operators(p, op == CN_TQL_POW ? binding : binding + 1, &right) ||
            !combine(p, op, at, *out, right, out))
            return false;
    }
    p->depth--;
    return true;
}

/* A stage of a pipeline that can follow `before`, NULL for the first. */
static bool check_stage(const struct cn_tql_parser *p, const struct cn_tql_node *before,
                        const struct cn_tql_node *stage)
{
    bool is_plain = stage->kind == CN_TQL_FILTER || stage->kind == CN_TQL_SPANSET_OP ||
                    stage->kind == CN_TQL_SCALAR_FILTER || stage->kind == CN_TQL_BY ||
                    stage->kind == CN_TQL_SELECT ||
                    (stage->kind == CN_TQL_PIPELINE && !ends_with_number(stage));

    if (before && before->kind == CN_TQL_AGGREGATE)
        return cn_tql_fail(p, stage->at, "nothing can follow an aggregate: compare it");
    if (is_plain ||
        (before && (stage->kind == CN_TQL_COALESCE || stage->kind == CN_TQL_AGGREGATE ||
                    (stage->kind == CN_TQL_METRICS && !stage->stages))))
        return true;
    return cn_tql_fail(p, stage->at,
                       before ? "this cannot be a stage of a pipeline"
                              : "a pipeline cannot begin with this");
}

/* Operators after a function of metrics compare its series with a number. */
static bool parse_series_filters(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    while (p->token.kind == CN_TQL_T_OP && cn_tql_is_comparison(p->token.op)) {
        struct cn_tql_node *number;
        enum cn_tql_op op = p->token.op;
        uint32_t at = p->token.at;

        if (!cn_tql_next(p) || !parse_operators(p, 3, &number) ||
            !combine_metrics(p, op, at, *out, number, out))
            return false;
    }
    return true;
}

/* Functions over series, after metrics: "| topk(5)". */
static bool parse_series_stages(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    if (!parse_series_filters(p, out))
        return false;
    while (cn_tql_is_sign(p, '|')) {
        struct cn_tql_node *stage;

        if (!cn_tql_next(p) || !cn_tql_parse_call(p, &stage))
            return false;
        if (stage->kind != CN_TQL_TOPK && stage->kind != CN_TQL_BOTTOMK)
            return cn_tql_fail(p, stage->at, "only topk() and bottomk() follow metrics");
        stage->left = *out;
        struct cn_tql_node node = *stage;
        if (!cn_tql_add_node(p, &node, out) || !parse_series_filters(p, out))
            return false;
    }
    return true;
}

static bool parse_stages(struct cn_tql_parser *p, struct cn_tql_node *first,
                         struct cn_tql_node **out)
{
    struct cn_tql_node pipeline = {
        .kind = CN_TQL_PIPELINE, .stages = first, .at = first->at};
    struct cn_tql_node *last = first, *stage;

    if (!check_stage(p, NULL, first))
        return false;
    while (cn_tql_is_sign(p, '|')) {
        if (!cn_tql_next(p) || !parse_operators(p, 1, &stage) ||
            !check_stage(p, last, stage))
            return false;
        /* The same node may not be in two lists. */
        if (stage->kind == CN_TQL_METRICS) {
            struct cn_tql_node metrics = *stage;

            metrics.stages = first;
            return cn_tql_add_node(p, &metrics, out) && parse_series_stages(p, out);
        }
        last->next = stage;
        last = stage;
        if (stage->depth > first->depth)
            first->depth = stage->depth;
    }
    pipeline.type = last->type;
    return cn_tql_add_node(p, &pipeline, out);
}

bool cn_tql_parse_piped(struct cn_tql_parser *p, struct cn_tql_node **out)
{
    if (!parse_operators(p, 1, out))
        return false;
    if (is_metrics(*out) && ((*out)->stages || (*out)->kind != CN_TQL_METRICS))
        return parse_series_stages(p, out);
    /* Numbers in parentheses, and what is no stage by itself, stay what they are. */
    if (!cn_tql_is_sign(p, '|') && (*out)->kind != CN_TQL_BY &&
        (*out)->kind != CN_TQL_SELECT && (*out)->kind != CN_TQL_SCALAR_FILTER)
        return true;
    return parse_stages(p, *out, out);
}

static bool check_root(const struct cn_tql_parser *p, const struct cn_tql_node *root)
{
    if (is_metrics(root) && (root->stages || root->kind != CN_TQL_METRICS))
        return true;
    if (ends_with_number(root) || is_scalar(root))
        return cn_tql_fail(p, root->at, "a number is no answer: compare it");
    return is_spanset(root) || cn_tql_fail(p, root->at, "a query cannot be this alone");
}

/* compare() has no series that other functions understand. */
static bool check_compare(const struct cn_tql_parser *p, const struct cn_tql_node *node,
                          bool is_alone)
{
    if (!node)
        return true;
    if (node->kind == CN_TQL_METRICS)
        return is_alone || node->function != CN_TQL_COMPARE ||
               cn_tql_fail(p, node->at, "compare() cannot be combined with anything");
    return check_compare(p, node->left, false) && check_compare(p, node->right, false);
}

static bool parse_root(struct cn_tql_parser *p)
{
    struct cn_tql_node *root;

    if (!cn_tql_next(p) || !cn_tql_parse_piped(p, &root))
        return false;
    while (p->token.kind == CN_TQL_T_WORD && strcmp(p->token.word, "with") == 0)
        if (!cn_tql_parse_hints(p))
            return false;
    if (p->token.kind != CN_TQL_T_END)
        return cn_tql_fail_expected(p, "the end of the query");
    p->program->root = root;
    p->program->is_metrics = is_metrics(root);
    return check_root(p, root) && check_compare(p, root, true);
}

bool cn_tql_parse(struct cn_tql_program **out, const char *text, struct cn_error *err)
{
    size_t len = strlen(text);

    if (len > CN_TQL_LEN_MAX)
        return cn_fail(err, CN_ERR_USAGE, "the query has %zu bytes, the limit is %d", len,
                       CN_TQL_LEN_MAX);
    struct cn_tql_program *program = cn_alloc(1, sizeof(*program));
    program->text = cn_arena_strdup(&program->arena, text);
    struct cn_tql_parser p = {
        .program = program,
        .lexer = {.arena = &program->arena, .text = program->text, .err = err},
        .err = err,
    };
    if (!parse_root(&p)) {
        cn_tql_program_free(program);
        return false;
    }
    cn_tql_conditions(program);
    *out = program;
    return true;
}

void cn_tql_program_free(struct cn_tql_program *program)
{
    if (!program)
        return;
    for (size_t i = 0; i < program->step_count; i++)
        cn_regex_free(program->steps[i].regex);
    free(program->fields);
    free(program->steps);
    free(program->filters);
    free(program->hints);
    cn_arena_done(&program->arena);
    free(program);
}

const struct cn_tql_value *cn_tql_hint(const struct cn_tql_program *program,
                                       const char *name)
{
    for (size_t i = 0; i < program->hint_count; i++)
        if (strcmp(program->hints[i].name, name) == 0)
            return &program->hints[i].value;
    return NULL;
}

bool cn_tql_field_parse(struct cn_tql_field *out, struct cn_arena *arena,
                        const char *text, struct cn_error *err)
{
    const char *copy = cn_arena_strdup(arena, text);
    struct cn_tql_lexer lexer = {.arena = arena, .text = copy, .err = err};
    struct cn_tql_token token, end;

    if (!cn_tql_lex(&lexer, &token) || !cn_tql_lex(&lexer, &end))
        return false;
    if (token.kind != CN_TQL_T_FIELD || end.kind != CN_TQL_T_END)
        return cn_fail(err, CN_ERR_USAGE, "'%.100s' is not an attribute or intrinsic",
                       text);
    *out = token.field;
    return true;
}
