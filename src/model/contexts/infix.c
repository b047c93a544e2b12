#include "model/contexts/infix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void cn_infix_init(struct cn_infix *infix, struct cn_arena *arena)
{
    *infix = (struct cn_infix){.arena = arena};
}

void cn_infix_done(struct cn_infix *infix)
{
    free(infix->operands);
    free(infix->operators);
    *infix = (struct cn_infix){0};
}

static void push_operand(struct cn_infix *infix, const struct cn_formula *operand)
{
    CN_PUSH(infix->operands, infix->operand_count, infix->operand_capacity, operand);
}

static void push_operator(struct cn_infix *infix, enum cn_formula_op op)
{
    CN_PUSH(infix->operators, infix->operator_count, infix->operator_capacity, op);
}

static unsigned precedence(enum cn_formula_op op)
{
    if (op == CN_FORMULA_ADD || op == CN_FORMULA_SUB)
        return 1;
    if (op == CN_FORMULA_MUL || op == CN_FORMULA_DIV)
        return 2;
    return op == CN_FORMULA_NEG ? 3 : 4;
}

static bool takes_many(enum cn_formula_op op)
{
    return op == CN_FORMULA_ADD || op == CN_FORMULA_MUL;
}

static void reduce_top(struct cn_infix *infix)
{
    const enum cn_formula_op *top = &infix->operators[infix->operator_count - 1];
    enum cn_formula_op op = *top;
    size_t run = 1, arg_count;
    const struct cn_formula *result;

    /* Equal operators become one node: a+b+c is one sum. */
    while (takes_many(op) && run < infix->operator_count && *(top - run) == op)
        run++;
    arg_count = op == CN_FORMULA_NEG ? 1 : run + 1;
    const struct cn_formula **args = infix->operands + infix->operand_count - arg_count;

    if (op == CN_FORMULA_NEG && args[0]->op == CN_FORMULA_NUMBER)
        result = cn_formula_number(infix->arena, -args[0]->number);
    else
        result = cn_formula_new(infix->arena, op, args, arg_count);
    infix->operator_count -= run;
    infix->operand_count -= arg_count;
    push_operand(infix, result);
}

bool cn_infix_operand(struct cn_infix *infix, const struct cn_formula *operand,
                      struct cn_error *err)
{
    if (infix->after_operand)
        return cn_fail(err, CN_ERR_FORMAT, "no operator between two operands");
    push_operand(infix, operand);
    infix->after_operand = true;
    return true;
}

bool cn_infix_operator(struct cn_infix *infix, char operator_char, struct cn_error *err)
{
    const char name[] = {operator_char, '\0'};
    enum cn_formula_op op;

    if (!infix->after_operand) {
        if (operator_char != '-')
            return cn_fail(err, CN_ERR_FORMAT, "no operand before %c", operator_char);
        push_operator(infix, CN_FORMULA_NEG);
        return true;
    }
    if (!cn_formula_op_find(name, 2, &op))
        return cn_fail(err, CN_ERR_FORMAT, "unknown operator %c", operator_char);
    while (infix->operator_count > 0) {
        enum cn_formula_op top = infix->operators[infix->operator_count - 1];

        if ((takes_many(op) && top == op) || precedence(top) < precedence(op) ||
            (precedence(top) == precedence(op) && op == CN_FORMULA_POW))
            break;
        reduce_top(infix);
    }
    push_operator(infix, op);
    infix->after_operand = false;
    return true;
}

bool cn_infix_end(struct cn_infix *infix, const struct cn_formula **out,
                  struct cn_error *err)
{
    if (!infix->after_operand)
        return cn_fail(err, CN_ERR_FORMAT, "the formula ends without an operand");
    while (infix->operator_count > 0)
        reduce_top(infix);
    if (infix->operands[0]->depth > CN_FORMULA_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula nests %u deep, limit %d",
                       infix->operands[0]->depth, CN_FORMULA_DEPTH_MAX);
    *out = infix->operands[0];
    return true;
}

/* The parser recurses; CN_FORMULA_DEPTH_MAX limits the depth. */
struct infix_parser {
    const char *text;
    size_t at;
    struct cn_arena *arena;
    const struct cn_formula_names *names; /* NULL: there are none */
};

static bool parse_infix(struct infix_parser *p, unsigned depth,
                        const struct cn_formula **out, struct cn_error *err);

static void skip_space(struct infix_parser *p)
{
    p->at += strspn(p->text + p->at, " \t\r\n");
}

static bool accept(struct infix_parser *p, char c)
{
    skip_space(p);
    if (p->text[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool expect(struct infix_parser *p, char c, struct cn_error *err)
{
    if (accept(p, c))
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "no '%c' at character %zu", c, p->at + 1);
}

/* Function names are letters; "strict floor" has a space or an underscore inside. */
static size_t scan_name(const char *text, char *name, size_t room)
{
    size_t len = 0;

    while (isalpha((unsigned char)text[len]) ||
           (len > 0 && (text[len] == ' ' || text[len] == '_') &&
            isalpha((unsigned char)text[len + 1]))) {
        if (len + 1 == room)
            return 0;
        name[len] = text[len] == '_' ? ' ' : text[len];
        len++;
    }
    name[len] = '\0';
    return len;
}

struct argument_list {
    const struct cn_formula **items;
    size_t count, capacity;
};

static bool parse_arguments(struct infix_parser *p, unsigned depth,
                            struct argument_list *list, struct cn_error *err)
{
    const struct cn_formula *arg;

    do {
        if (!parse_infix(p, depth + 1, &arg, err))
            return false;
        CN_PUSH(list->items, list->count, list->capacity, arg);
    } while (accept(p, ','));
    return expect(p, ')', err);
}

static bool parse_call(struct infix_parser *p, unsigned depth,
                       const struct cn_formula **out, struct cn_error *err)
{
    char name[16];
    size_t start = p->at;
    struct argument_list list = {0};
    enum cn_formula_op op;
    bool ok;

    p->at += scan_name(p->text + p->at, name, sizeof(name));
    if (p->at == start)
        return cn_fail(err, CN_ERR_FORMAT, "no value at character %zu", start + 1);
    ok = expect(p, '(', err) && parse_arguments(p, depth, &list, err);
    if (ok && !cn_formula_op_find(name, list.count, &op))
        ok = cn_fail(err, CN_ERR_FORMAT, "no function %s of %zu arguments", name,
                     list.count);
    if (ok)
        *out = cn_formula_new(p->arena, op, list.items, list.count);
    free(list.items);
    return ok;
}

/* The length of the name at the cursor without quotes; 0 if there is none. */
static size_t scan_metric(const struct infix_parser *p, size_t *quotes)
{
    const char *text = p->text + p->at;
    const char *end = text[0] == '\'' ? strchr(text + 1, '\'') : NULL;
    size_t len = 0;

    *quotes = end != NULL;
    if (!p->names)
        return 0;
    if (end)
        return (size_t)(end - text - 1);
    while (isalnum((unsigned char)text[len]) || (text[len] && strchr("_.:", text[len])))
        len++;
    return text[len + strspn(text + len, " \t")] == '(' ? 0 : len;
}

static bool parse_name(struct infix_parser *p, size_t len, size_t quotes,
                       const struct cn_formula **out, struct cn_error *err)
{
    char *name = cn_alloc(len + 1, 1);

    memcpy(name, p->text + p->at + quotes, len);
    p->at += len + 2 * quotes;
    bool ok = p->names->find(p->names->arg, name, out, err);
    free(name);
    return ok;
}

static bool parse_operand(struct infix_parser *p, unsigned depth,
                          const struct cn_formula **out, struct cn_error *err)
{
    double number;
    size_t len = cn_formula_number_scan(p->text + p->at, &number), quotes, name_len;

    if (len > 0) {
        p->at += len;
        *out = cn_formula_number(p->arena, number);
        return true;
    }
    if (strncmp(p->text + p->at, "$$", 2) == 0) {
        p->at += 2;
        *out = cn_formula_input(p->arena, 0);
        return true;
    }
    if (accept(p, '('))
        return parse_infix(p, depth + 1, out, err) && expect(p, ')', err);
    name_len = scan_metric(p, &quotes);
    return name_len > 0 ? parse_name(p, name_len, quotes, out, err)
                        : parse_call(p, depth, out, err);
}

static bool feed_infix(struct infix_parser *p, unsigned depth, struct cn_infix *infix,
                       struct cn_error *err)
{
    for (skip_space(p); p->text[p->at] && !strchr("),", p->text[p->at]); skip_space(p)) {
        const struct cn_formula *operand;

        if (strchr("+-*/^", p->text[p->at])) {
            if (!cn_infix_operator(infix, p->text[p->at], err))
                return false;
            p->at++;
        } else if (!parse_operand(p, depth, &operand, err) ||
                   !cn_infix_operand(infix, operand, err)) {
            return false;
        }
    }
    return true;
}

static bool parse_infix(struct infix_parser *p, unsigned depth,
                        const struct cn_formula **out, struct cn_error *err)
{
    struct cn_infix infix;

    if (depth > CN_FORMULA_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula nests deeper than %d",
                       CN_FORMULA_DEPTH_MAX);
    cn_infix_init(&infix, p->arena);
    bool ok = feed_infix(p, depth, &infix, err) && cn_infix_end(&infix, out, err);
    cn_infix_done(&infix);
    return ok;
}

bool cn_formula_parse(const struct cn_formula **out, const char *text,
                      struct cn_arena *arena, struct cn_error *err)
{
    return cn_formula_parse_named(out, text, NULL, arena, err);
}

bool cn_formula_parse_named(const struct cn_formula **out, const char *text,
                            const struct cn_formula_names *names, struct cn_arena *arena,
                            struct cn_error *err)
{
    struct infix_parser p = {.text = text, .arena = arena, .names = names};
    const struct cn_formula *formula;
    size_t len = strnlen(text, CN_FORMULA_LEN_MAX + 1);

    if (len > CN_FORMULA_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula is longer than %d characters",
                       CN_FORMULA_LEN_MAX);
    if (!parse_infix(&p, 1, &formula, err))
        return cn_fail_in(err, "formula %.80s", text);
    if (text[p.at] != '\0')
        return cn_fail(err, CN_ERR_FORMAT,
                       "formula %.80s: unexpected '%c' at character %zu", text,
                       text[p.at], p.at + 1);
    *out = formula;
    return true;
}
