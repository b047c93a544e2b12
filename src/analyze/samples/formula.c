#include "analyze/samples/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "model/contexts/infix.h"

enum { ARGUMENT_MAX = 64 };

struct formula_parser {
    const char *at; /* NUL-terminated */
    uint32_t limit;
    struct cn_arena *arena;
    struct cn_error *err;
    unsigned depth; /* of parentheses */
};

/* Parse up to a ')' or ',' at this level, or the end. Recursion is limited by
 * CN_FORMULA_DEPTH_MAX. */
static bool parse_sum(struct formula_parser *p, const struct cn_formula **out);

static void skip_blanks(struct formula_parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static bool parse_input(struct formula_parser *p, const struct cn_formula **out)
{
    char *end;
    unsigned long number = strtoul(p->at + 1, &end, 10);

    if (end == p->at + 1 || number >= p->limit)
        return cn_fail(p->err, CN_ERR_FORMAT, "formula names metric '%.20s' of %u", p->at,
                       p->limit);
    p->at = end;
    *out = cn_formula_input(p->arena, (uint32_t)number);
    return true;
}

static bool parse_arguments(struct formula_parser *p, enum cn_formula_op op,
                            const struct cn_formula **out)
{
    const struct cn_formula *args[ARGUMENT_MAX];
    size_t count = 0;

    for (;;) {
        if (count == ARGUMENT_MAX)
            return cn_fail(p->err, CN_ERR_LIMIT, "formula with more than %d arguments",
                           ARGUMENT_MAX);
        if (!parse_sum(p, &args[count]))
            return false;
        count++;
        if (*p->at == ')')
            break;
        if (*p->at != ',')
            return cn_fail(p->err, CN_ERR_FORMAT, "formula lacks a ')'");
        p->at++;
    }
    p->at++;
    *out = count == 1 ? args[0] : cn_formula_new(p->arena, op, args, count);
    return true;
}

static bool parse_nested(struct formula_parser *p, const struct cn_formula **out)
{
    bool ok;

    if (++p->depth > CN_FORMULA_DEPTH_MAX)
        return cn_fail(p->err, CN_ERR_LIMIT, "formula nests deeper than %d",
                       CN_FORMULA_DEPTH_MAX);
    if (*p->at == '(') {
        p->at++;
        ok = parse_sum(p, out) &&
             (*p->at == ')' || cn_fail(p->err, CN_ERR_FORMAT, "formula lacks a ')'"));
        p->at += ok;
    } else {
        enum cn_formula_op op = p->at[1] == 'i' ? CN_FORMULA_MIN : CN_FORMULA_MAX;

        p->at += 4;
        ok = parse_arguments(p, op, out);
    }
    p->depth--;
    return ok;
}

static bool parse_operand(struct formula_parser *p, const struct cn_formula **out)
{
    double number;

    if (*p->at == '#')
        return parse_input(p, out);
    if (*p->at == '(' || strncmp(p->at, "min(", 4) == 0 || strncmp(p->at, "max(", 4) == 0)
        return parse_nested(p, out);
    size_t len = cn_formula_number_scan(p->at, &number);
    if (len == 0)
        return cn_fail(p->err, CN_ERR_FORMAT, "formula has '%.20s' instead of a value",
                       p->at);
    p->at += len;
    *out = cn_formula_number(p->arena, number);
    return true;
}

static bool parse_tokens(struct formula_parser *p, struct cn_infix *infix)
{
    for (skip_blanks(p); *p->at && *p->at != ')' && *p->at != ','; skip_blanks(p)) {
        const struct cn_formula *operand;

        if (strchr("+-*/^", *p->at)) {
            if (!cn_infix_operator(infix, *p->at++, p->err))
                return false;
            continue;
        }
        if (!parse_operand(p, &operand) || !cn_infix_operand(infix, operand, p->err))
            return false;
    }
    return true;
}

static bool parse_sum(struct formula_parser *p, const struct cn_formula **out)
{
    struct cn_infix infix;

    cn_infix_init(&infix, p->arena);
    bool ok = parse_tokens(p, &infix) && cn_infix_end(&infix, out, p->err);
    cn_infix_done(&infix);
    return ok;
}

bool cn_sampled_formula_parse(const struct cn_formula **out, struct cn_bytes text,
                              uint32_t limit, struct cn_arena *arena,
                              struct cn_error *err)
{
    struct formula_parser p = {.limit = limit, .arena = arena, .err = err};
    const struct cn_formula *formula;

    if (text.len > CN_FORMULA_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula of %zu characters", text.len);
    p.at = cn_arena_copy(arena, (const char *)text.ptr, text.len);
    if (!parse_sum(&p, &formula))
        return false;
    if (*p.at)
        return cn_fail(err, CN_ERR_FORMAT, "formula has '%.20s' after its end", p.at);
    if (formula->depth > CN_FORMULA_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula nests deeper than %d",
                       CN_FORMULA_DEPTH_MAX);
    *out = formula;
    return true;
}

/* Recursion is limited by CN_FORMULA_DEPTH_MAX. */
const struct cn_formula *
cn_sampled_formula_replace(const struct cn_formula *formula,
                           const struct cn_formula *const *inputs, struct cn_arena *arena)
{
    if (formula->op == CN_FORMULA_NUMBER)
        return formula;
    if (formula->op == CN_FORMULA_INPUT)
        return inputs[formula->input];
    const struct cn_formula **args =
        cn_arena_alloc(arena, formula->arg_count, sizeof(*args));
    for (size_t i = 0; i < formula->arg_count; i++) {
        args[i] = cn_sampled_formula_replace(formula->args[i], inputs, arena);
        if (!args[i])
            return NULL;
    }
    return cn_formula_new(arena, formula->op, args, formula->arg_count);
}
