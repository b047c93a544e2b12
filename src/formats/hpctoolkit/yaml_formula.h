/* Formulas in YAML: an alias of an input, a number, {operation: [arguments]}, or a
 * sequence that holds an infix expression in pieces: [2 *, [*a, -, *b]].
 *
 * A node that stands for an input has that input's number + 1 as its mark.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_YAML_FORMULA_H
#define CN_FORMATS_HPCTOOLKIT_YAML_FORMULA_H

#include "formats/hpctoolkit/yaml_tree.h"
#include "model/contexts/formula.h"

/* How many more nodes may be visited: aliases make a small text a large tree. */
struct cn_yaml_budget {
    size_t left;
};

/* Pay for `count` steps at a node; CN_ERR_LIMIT when so many are not left. */
CN_CHECK bool cn_yaml_spend(struct cn_yaml_budget *budget, size_t count,
                            const struct cn_yaml_node *node, struct cn_error *err);

/* Pay for visiting a node and listing its items. */
CN_CHECK bool cn_yaml_visit(struct cn_yaml_budget *budget,
                            const struct cn_yaml_node *node, struct cn_error *err);

CN_CHECK bool cn_yaml_formula_read(const struct cn_formula **out,
                                   const struct cn_yaml_node *node,
                                   struct cn_yaml_budget *budget, struct cn_arena *arena,
                                   struct cn_error *err);

#endif
