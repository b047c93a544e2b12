/* Recursion along nested nodes is at most CN_FORMULA_DEPTH_MAX deep. */

#include "formats/hpctoolkit/metrics_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/infix.h"

struct formula_reader {
    struct cn_yaml_budget *budget;
    struct cn_arena *arena;
};

static bool read_formula(struct formula_reader *r, const struct cn_yaml_node *node,
                         unsigned depth, const struct cn_formula **out,
                         struct cn_error *err);

bool cn_yaml_spend(struct cn_yaml_budget *budget, size_t count,
                   const struct cn_yaml_node *node, struct cn_error *err)
{
    if (count > budget->left)
        return cn_yaml_fail(node, err, CN_ERR_FORMAT, "aliases repeat too many nodes");
    budget->left -= count;
    return true;
}

bool cn_yaml_visit(struct cn_yaml_budget *budget, const struct cn_yaml_node *node,
                   struct cn_error *err)
{
    return cn_yaml_spend(budget, 1 + node->item_count, node, err);
}

static bool fail_at(const struct cn_yaml_node *node, struct cn_error *err)
{
    return cn_fail_in(err, "line %zu, column %zu", node->line, node->column);
}

/* Feed the numbers and operators of a text like "2 *". */
static bool feed_scalar(struct formula_reader *r, const struct cn_yaml_node *node,
                        struct cn_infix *infix, struct cn_error *err)
{
    const char *at = node->text + strspn(node->text, " \t\r\n");

    while (*at != '\0') {
        double number;
        size_t len = cn_formula_number_scan(at, &number);

        if (len > 0) {
            if (!cn_infix_operand(infix, cn_formula_number(r->arena, number), err))
                return fail_at(node, err);
        } else if (strchr("+-*/^", *at)) {
            len = 1;
            if (!cn_infix_operator(infix, *at, err))
                return fail_at(node, err);
        } else {
            return cn_yaml_fail(node, err, CN_ERR_FORMAT,
                                "'%.40s' is no number, operator or input", at);
        }
        at += len;
        at += strspn(at, " \t\r\n");
    }
    return true;
}

static bool feed_node(struct formula_reader *r, const struct cn_yaml_node *node,
                      unsigned depth, struct cn_infix *infix, struct cn_error *err)
{
    const struct cn_formula *operand;

    if (node->type == CN_YAML_SCALAR)
        return cn_yaml_visit(r->budget, node, err) && feed_scalar(r, node, infix, err);
    if (!read_formula(r, node, depth + 1, &operand, err))
        return false;
    return cn_infix_operand(infix, operand, err) || fail_at(node, err);
}

static bool read_infix(struct formula_reader *r, const struct cn_yaml_node *node,
                       unsigned depth, const struct cn_formula **out,
                       struct cn_error *err)
{
    struct cn_infix infix;
    bool ok;

    cn_infix_init(&infix, r->arena);
    ok = node->type != CN_YAML_SCALAR || feed_scalar(r, node, &infix, err);
    for (const struct cn_yaml_item *item = node->items; ok && item; item = item->next)
        ok = feed_node(r, item->node, depth, &infix, err);
    if (ok && !cn_infix_end(&infix, out, err))
        ok = fail_at(node, err);
    cn_infix_done(&infix);
    return ok;
}

static bool read_arguments(struct formula_reader *r, const struct cn_yaml_node *node,
                           unsigned depth, const struct cn_formula **args,
                           struct cn_error *err)
{
    if (node->type != CN_YAML_SEQUENCE)
        return read_formula(r, node, depth + 1, args, err);
    for (const struct cn_yaml_item *item = node->items; item; item = item->next)
        if (!read_formula(r, item->node, depth + 1, args++, err))
            return false;
    return true;
}

static bool read_operation(struct formula_reader *r, const struct cn_yaml_node *node,
                           unsigned depth, const struct cn_formula **out,
                           struct cn_error *err)
{
    enum cn_formula_op op;

    if (node->item_count != 2)
        return cn_yaml_fail(node, err, CN_ERR_FORMAT,
                            "a formula must be a mapping of one operation, not of %zu",
                            node->item_count / 2);
    const struct cn_yaml_node *name = node->items->node;
    const struct cn_yaml_node *value = node->items->next->node;
    size_t arg_count = value->type == CN_YAML_SEQUENCE ? value->item_count : 1;
    if (name->type != CN_YAML_SCALAR || !cn_formula_op_find(name->text, arg_count, &op))
        return cn_yaml_fail(name, err, CN_ERR_FORMAT,
                            "unknown operation '%.40s' of %zu arguments",
                            name->type == CN_YAML_SCALAR ? name->text : "...", arg_count);
    if (!cn_yaml_visit(r->budget, value, err))
        return false;
    const struct cn_formula **args = cn_alloc(arg_count, sizeof(*args));
    bool ok = read_arguments(r, value, depth, args, err);
    if (ok)
        *out = cn_formula_new(r->arena, op, args, arg_count);
    free(args);
    return ok;
}

static bool read_formula(struct formula_reader *r, const struct cn_yaml_node *node,
                         unsigned depth, const struct cn_formula **out,
                         struct cn_error *err)
{
    if (depth > CN_FORMULA_DEPTH_MAX)
        return cn_yaml_fail(node, err, CN_ERR_LIMIT, "formula nests deeper than %d",
                            CN_FORMULA_DEPTH_MAX);
    if (!cn_yaml_visit(r->budget, node, err))
        return false;
    if (node->mark > 0) {
        *out = cn_formula_input(r->arena, node->mark - 1);
        return true;
    }
    if (node->type == CN_YAML_MAPPING)
        return read_operation(r, node, depth, out, err);
    return read_infix(r, node, depth, out, err);
}

bool cn_yaml_formula_read(const struct cn_formula **out, const struct cn_yaml_node *node,
                          struct cn_yaml_budget *budget, struct cn_arena *arena,
                          struct cn_error *err)
{
    struct formula_reader r = {.budget = budget, .arena = arena};
    const struct cn_formula *formula;

    if (!read_formula(&r, node, 1, &formula, err))
        return false;
    if (formula->depth > CN_FORMULA_DEPTH_MAX)
        return cn_yaml_fail(node, err, CN_ERR_LIMIT, "formula nests %u deep, limit %d",
                            formula->depth, CN_FORMULA_DEPTH_MAX);
    *out = formula;
    return true;
}
