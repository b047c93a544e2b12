/* Formulas in YAML: an alias of an input, a number, {operation: [arguments]}, or an infix
 * expression as a sequence: [2 *, [*a, -, *b]].
 *
 * The mark of a node that is an input is the input's number + 1.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_YAML_FORMULA_H
#define CN_FORMATS_HPCTOOLKIT_YAML_FORMULA_H

#include "formats/hpctoolkit/yaml_tree.h"
#include "model/contexts/formula.h"

/* Nodes that may still be visited: aliases make a small text a large tree. */
struct cn_yaml_budget {
    size_t left;
};

/* Spend `count` steps at a node; fails with CN_ERR_FORMAT if fewer are left. */
CN_CHECK bool cn_yaml_spend(struct cn_yaml_budget *budget, size_t count,
                            const struct cn_yaml_node *node, struct cn_error *err);

/* Spend what visiting a node and listing its items costs. */
CN_CHECK bool cn_yaml_visit(struct cn_yaml_budget *budget,
                            const struct cn_yaml_node *node, struct cn_error *err);

CN_CHECK bool cn_yaml_formula_read(const struct cn_formula **out,
                                   const struct cn_yaml_node *node,
                                   struct cn_yaml_budget *budget, struct cn_arena *arena,
                                   struct cn_error *err);

#endif
