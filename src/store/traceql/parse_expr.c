/* Expressions inside of braces: parsed by the binding of operators into steps in postfix order, with
 * the types that are known checked, and what no span is needed for computed. */

#include "store/traceql/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "base/suggest.h"
#include "store/traceql/pattern.h"

unsigned cn_tql_binding(enum cn_tql_op op)
{
    if (op == CN_TQL_AND || op == CN_TQL_OR)
        return 1;
    if (cn_tql_is_comparison(op) || op >= CN_TQL_DESCENDANT)
        return 2;
    if (op == CN_TQL_ADD || op == CN_TQL_SUB)
        return 3;
    if (op == CN_TQL_MUL || op == CN_TQL_DIV || op == CN_TQL_MOD)
        return 5;
    return op == CN_TQL_POW ? 6 : 0;
}

static enum cn_tql_type type_of_field(const struct cn_tql_field *field)
{
    switch (field->intrinsic) {
    case CN_TQL_I_DURATION:
    case CN_TQL_I_EVENT_TIME:
    case CN_TQL_I_TRACE_DURATION:
        return CN_TQL_DURATION;
    case CN_TQL_I_STATUS:
        return CN_TQL_STATUS;
    case CN_TQL_I_KIND:
        return CN_TQL_KIND;
    case CN_TQL_I_CHILD_COUNT:
    case CN_TQL_I_NESTED_LEFT:
    case CN_TQL_I_NESTED_RIGHT:
    case CN_TQL_I_NESTED_PARENT:
        return CN_TQL_INT;
    case CN_TQL_I_NAME:
    case CN_TQL_I_STATUS_MESSAGE:
    case CN_TQL_I_SPAN_ID:
    case CN_TQL_I_PARENT_ID:
    case CN_TQL_I_TRACE_ID:
    case CN_TQL_I_EVENT_NAME:
    case CN_TQL_I_LINK_TRACE:
    case CN_TQL_I_LINK_SPAN:
    case CN_TQL_I_ROOT_NAME:
    case CN_TQL_I_ROOT_SERVICE:
        return CN_TQL_STRING;
    case CN_TQL_NO_INTRINSIC:
    case CN_TQL_I_SCOPE_NAME:
    case CN_TQL_I_SCOPE_VERSION:
        break;
    }
    return CN_TQL_ATTRIBUTE;
}

static bool add_step(struct cn_tql_parser *p, const struct cn_tql_step *step, uint32_t at)
{
    struct cn_tql_program *program = p->program;

    if (program->step_count == CN_TQL_STEPS_MAX)
        return cn_tql_fail(p, at, "the query has too many conditions");
    CN_PUSH(program->steps, program->step_count, program->step_capacity, *step);
    return true;
}

/* Forget the steps from `first` on. */
static void rewind_to(struct cn_tql_program *program, uint32_t first)
{
    while (program->step_count > first)
        cn_regex_free(program->steps[--program->step_count].regex);
}

static bool is_same(const struct cn_tql_field *a, const struct cn_tql_field *b)
{
    return a->scope == b->scope && a->intrinsic == b->intrinsic &&
           a->is_parent == b->is_parent && strcmp(a->name, b->name) == 0;
}

static uint32_t add_field(struct cn_tql_program *program,
                          const struct cn_tql_field *field)
{
    size_t i = 0;

    while (i < program->field_count && !is_same(&program->fields[i], field))
        i++;
    if (i == program->field_count)
        CN_PUSH(program->fields, program->field_count, program->field_capacity, *field);
    return (uint32_t)i;
}

bool cn_tql_parse_field(struct cn_tql_parser *p, uint32_t *number)
{
    if (p->token.kind != CN_TQL_T_FIELD)
        return cn_tql_fail_expected(p, "an attribute or intrinsic");
    *number = add_field(p->program, &p->token.field);
    return cn_tql_next(p);
}

static bool push_value(struct cn_tql_parser *p, const struct cn_tql_value *value,
                       uint32_t at, struct cn_tql_operand *out)
{
    struct cn_tql_step step = {.kind = CN_TQL_PUSH, .value = *value};

    *out = (struct cn_tql_operand){
        .expr = {(uint32_t)p->program->step_count, 1}, .type = value->type, .at = at};
    return add_step(p, &step, at);
}

/* The value of an operand that no span is needed for; NULL if one is. */
static const struct cn_tql_value *value_of(const struct cn_tql_parser *p,
                                           const struct cn_tql_operand *operand)
{
    const struct cn_tql_step *step = &p->program->steps[operand->expr.first];

    return operand->expr.count == 1 && step->kind == CN_TQL_PUSH ? &step->value : NULL;
}

static const char *type_name(enum cn_tql_type type)
{
    static const char *const names[] = {
        [CN_TQL_NIL] = "nil",         [CN_TQL_INT] = "a number",
        [CN_TQL_FLOAT] = "a number",  [CN_TQL_STRING] = "a text",
        [CN_TQL_BOOL] = "a boolean",  [CN_TQL_DURATION] = "a duration",
        [CN_TQL_STATUS] = "a status", [CN_TQL_KIND] = "a kind",
        [CN_TQL_LIST] = "a list",     [CN_TQL_ATTRIBUTE] = "an attribute",
    };

    return names[type];
}

static bool fail_types(const struct cn_tql_parser *p, uint32_t at, enum cn_tql_op op,
                       const struct cn_tql_operand *a, const struct cn_tql_operand *b)
{
    char what[100];

    (void)snprintf(what, sizeof(what), "%s cannot be used with %s and %s",
                   cn_tql_op_sign(op), type_name(a->type), type_name(b->type));
    return cn_tql_fail(p, at, what);
}

/* An intrinsic, or the name of the service, always has a value. */
static bool check_not_exists(const struct cn_tql_parser *p,
                             const struct cn_tql_operand *a)
{
    const struct cn_tql_step *step = &p->program->steps[a->expr.first];
    const struct cn_tql_field *field = &p->program->fields[step->field];

    if (a->expr.count != 1 || step->kind != CN_TQL_FIELD || field->is_parent)
        return true;
    if (field->intrinsic == CN_TQL_NO_INTRINSIC &&
        (field->scope != CN_TQL_OF_RESOURCE || strcmp(field->name, "service.name") != 0))
        return true;
    return cn_tql_fail(p, a->at, "this is never nil");
}

static bool apply_unary(struct cn_tql_parser *p, enum cn_tql_op op, uint32_t at,
                        struct cn_tql_operand *a)
{
    struct cn_tql_step step = {.kind = CN_TQL_UNARY, .op = op};
    bool is_existence = op == CN_TQL_EXISTS || op == CN_TQL_NOT_EXISTS;
    const struct cn_tql_value *value = value_of(p, a);
    char what[80];

    if (!is_existence && !cn_tql_op_takes(op, a->type)) {
        (void)snprintf(what, sizeof(what), "%s cannot be used with %s",
                       cn_tql_op_sign(op), type_name(a->type));
        return cn_tql_fail(p, at, what);
    }
    if (op == CN_TQL_NOT_EXISTS && !check_not_exists(p, a))
        return false;
    if (value) {
        struct cn_tql_value result = cn_tql_apply_unary(op, value);

        rewind_to(p->program, a->expr.first);
        return push_value(p, &result, a->at, a);
    }
    a->expr.count++;
    if (is_existence || op == CN_TQL_NOT)
        a->type = CN_TQL_BOOL;
    return add_step(p, &step, at);
}

/* Leading zeros of a trace id do not matter. */
static void trim_trace_id(struct cn_tql_parser *p, const struct cn_tql_operand *field,
                          const struct cn_tql_operand *other)
{
    const struct cn_tql_step *step = &p->program->steps[field->expr.first];
    struct cn_tql_value *value = &p->program->steps[other->expr.first].value;

    if (field->expr.count != 1 || step->kind != CN_TQL_FIELD ||
        p->program->fields[step->field].intrinsic != CN_TQL_I_TRACE_ID ||
        !value_of(p, other) || value->type != CN_TQL_STRING)
        return;
    while (value->text.len > 0 && value->text.ptr[0] == '0')
        (void)cn_bytes_from(value->text, 1, &value->text);
}

static bool set_pattern(struct cn_tql_parser *p, const struct cn_tql_operand *right,
                        struct cn_tql_step *step)
{
    const struct cn_tql_value *value = value_of(p, right);

    if (!value || value->type != CN_TQL_STRING)
        return cn_tql_fail(p, right->at, "=~ and !~ need a pattern as text");
    return cn_tql_pattern(&p->program->arena, value->text, &step->regex, &step->pattern,
                          p->err) ||
           cn_fail_in(p->err, "query, column %u", right->at + 1);
}

static enum cn_tql_type type_of_result(enum cn_tql_op op, const struct cn_tql_operand *a,
                                       const struct cn_tql_operand *b)
{
    if (cn_tql_is_comparison(op) || op == CN_TQL_AND || op == CN_TQL_OR)
        return CN_TQL_BOOL;
    return a->type != CN_TQL_ATTRIBUTE ? a->type : b->type;
}

/* Add an operator after the steps of its operands; `a` becomes the result. */
static bool apply_binary(struct cn_tql_parser *p, enum cn_tql_op op, uint32_t at,
                         struct cn_tql_operand *a, const struct cn_tql_operand *b)
{
    struct cn_tql_step step = {.kind = CN_TQL_BINARY, .op = op};
    struct cn_tql_value result;

    if (!cn_tql_types_meet(a->type, b->type) || !cn_tql_op_takes(op, a->type) ||
        !cn_tql_op_takes(op, b->type))
        return fail_types(p, at, op, a, b);
    trim_trace_id(p, a, b);
    trim_trace_id(p, b, a);
    if ((op == CN_TQL_RE || op == CN_TQL_NRE) && !set_pattern(p, b, &step))
        return false;
    if (value_of(p, a) && value_of(p, b)) {
        result = cn_tql_apply(op, value_of(p, a), value_of(p, b), step.regex);
        cn_regex_free(step.regex);
        rewind_to(p->program, a->expr.first);
        return push_value(p, &result, a->at, a);
    }
    a->type = type_of_result(op, a, b);
    a->reads_span |= b->reads_span;
    if (!add_step(p, &step, at)) {
        cn_regex_free(step.regex);
        return false;
    }
    a->expr.count = (uint32_t)p->program->step_count - a->expr.first;
    if (op == CN_TQL_AND || op == CN_TQL_OR)
        p->program->steps[b->expr.first - 1].target = (uint32_t)p->program->step_count;
    return true;
}

static bool parse_operators(struct cn_tql_parser *p, unsigned lowest,
                            struct cn_tql_operand *out);

/* "nil" is an operand of = and != alone. */
static bool parse_nil(struct cn_tql_parser *p, struct cn_tql_operand *out)
{
    uint32_t at = p->token.at;
    struct cn_tql_value no = cn_tql_bool(false);

    if (!cn_tql_next(p))
        return false;
    bool is_equal = p->token.kind == CN_TQL_T_OP && p->token.op == CN_TQL_EQ;
    if (!is_equal && !(p->token.kind == CN_TQL_T_OP && p->token.op == CN_TQL_NE))
        return cn_tql_fail_expected(p, "= or != after nil");
    if (!cn_tql_next(p))
        return false;
    if (p->token.kind == CN_TQL_T_NIL)
        return cn_tql_next(p) && push_value(p, &no, at, out);
    return parse_operators(p, 3, out) &&
           apply_unary(p, is_equal ? CN_TQL_NOT_EXISTS : CN_TQL_EXISTS, at, out);
}

static bool fail_unknown(const struct cn_tql_parser *p)
{
    struct cn_suggestion near = {.typed = p->token.word};
    char what[256];

    for (size_t i = 0; cn_tql_word(i); i++)
        cn_suggestion_offer(&near, cn_tql_word(i));
    (void)snprintf(what, sizeof(what),
                   "unknown name '%.60s'%s%s; an attribute is .%.60s or span.%.60s",
                   p->token.word, near.best ? "; did you mean " : "",
                   near.best ? near.best : "", p->token.word, p->token.word);
    return cn_tql_fail(p, p->token.at, what);
}

static bool push_field(struct cn_tql_parser *p, struct cn_tql_operand *out)
{
    struct cn_tql_step step = {.kind = CN_TQL_FIELD};
    uint32_t at = p->token.at;

    *out = (struct cn_tql_operand){.expr = {(uint32_t)p->program->step_count, 1},
                                   .type = type_of_field(&p->token.field),
                                   .reads_span = true,
                                   .at = at};
    return cn_tql_parse_field(p, &step.field) && add_step(p, &step, at);
}

static bool parse_operand(struct cn_tql_parser *p, struct cn_tql_operand *out)
{
    struct cn_tql_token token = p->token;
    bool is_sign =
        token.kind == CN_TQL_T_OP && (token.op == CN_TQL_SUB || token.op == CN_TQL_NOT);

    if (token.kind == CN_TQL_T_VALUE)
        return cn_tql_next(p) && push_value(p, &token.value, token.at, out);
    if (token.kind == CN_TQL_T_FIELD)
        return push_field(p, out);
    if (token.kind == CN_TQL_T_NIL)
        return parse_nil(p, out);
    if (token.kind == CN_TQL_T_NAME)
        return fail_unknown(p);
    if (!is_sign && !cn_tql_is_sign(p, '('))
        return cn_tql_fail_expected(p, "an attribute, an intrinsic or a value");
    if (!cn_tql_enter(p) || !cn_tql_next(p))
        return false;
    /* A minus binds as between operands, "!" a little tighter: -a * b is -(a * b). */
    bool ok =
        is_sign ? parse_operators(p, token.op == CN_TQL_SUB ? 4 : 5, out) &&
                      apply_unary(p, token.op == CN_TQL_SUB ? CN_TQL_NEGATE : CN_TQL_NOT,
                                  token.at, out)
                : parse_operators(p, 1, out) && cn_tql_expect(p, ')');
    p->depth--;
    return ok;
}

/* The operator and its right side, for the left side in `out`. */
static bool parse_right(struct cn_tql_parser *p, struct cn_tql_operand *out)
{
    enum cn_tql_op op = p->token.op;
    uint32_t at = p->token.at;
    unsigned binding = cn_tql_binding(op);
    struct cn_tql_step skip = {.kind = CN_TQL_SKIP, .op = op};
    struct cn_tql_operand right;

    if (!cn_tql_next(p))
        return false;
    if ((op == CN_TQL_EQ || op == CN_TQL_NE) && p->token.kind == CN_TQL_T_NIL)
        return cn_tql_next(p) &&
               apply_unary(p, op == CN_TQL_EQ ? CN_TQL_NOT_EXISTS : CN_TQL_EXISTS, at,
                           out);
    if (binding == 1 && !add_step(p, &skip, at))
        return false;
    return parse_operators(p, op == CN_TQL_POW ? binding : binding + 1, &right) &&
           apply_binary(p, op, at, out, &right);
}

static bool parse_operators(struct cn_tql_parser *p, unsigned lowest,
                            struct cn_tql_operand *out)
{
    if (!cn_tql_enter(p) || !parse_operand(p, out))
        return false;
    while (p->token.kind == CN_TQL_T_OP && cn_tql_binding(p->token.op) >= lowest &&
           p->token.op < CN_TQL_NOT) {
        if (!parse_right(p, out))
            return false;
    }
    p->depth--;
    return true;
}

bool cn_tql_parse_expr(struct cn_tql_parser *p, struct cn_tql_operand *out)
{
    return parse_operators(p, 1, out);
}
