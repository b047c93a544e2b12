/* Metric taxonomies in YAML: metrics/default.yaml and the files next to it.
 *
 * Read one file with cn_hpc_metrics_yaml_read(), add further ones with
 * cn_hpc_metrics_yaml_append(), write with cn_hpc_metrics_yaml_write(). Results live in the
 * caller's arena; none refers to the text.
 *
 * Files are hostile: nesting, nodes and the work of following aliases are limited. Unknown
 * keys are ignored; an unknown operator fails with its line and column.
 * Threads: any thread, each with an arena of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_METRICS_YAML_H
#define CN_FORMATS_HPCTOOLKIT_METRICS_YAML_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/yaml_tree.h"
#include "model/contexts/formula.h"
#include "model/contexts/taxonomy.h"

/* On failure *out is untouched; the arena may have grown. */
CN_CHECK bool cn_hpc_metrics_yaml_read(struct cn_bytes text, struct cn_taxonomy *out,
                                       struct cn_arena *arena, struct cn_error *err);

/* Append the roots of another file, and the inputs that the taxonomy lacks. A failure
 * leaves the taxonomy unchanged. */
CN_CHECK bool cn_hpc_metrics_yaml_append(struct cn_bytes text,
                                         struct cn_taxonomy *taxonomy,
                                         struct cn_arena *arena, struct cn_error *err);

/* Append the taxonomy as a complete file, in the style of hpcprof. */
void cn_hpc_metrics_yaml_write(const struct cn_taxonomy *taxonomy, struct cn_text *out);

/* Formulas in YAML: an alias of an input, a number, {operation: [arguments]}, or an infix
 * expression as a sequence: [2 *, [*a, -, *b]].
 *
 * The mark of a node that is an input is the input's number + 1. */

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
