/* Tables of src/unwind as the program in the kernel reads them.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_KERNEL_TABLES_H
#define CN_SAMPLER_KERNEL_TABLES_H

#include <stddef.h>

#include "base/map.h"
#include "sampler/kernel/shared.h"

struct cn_unwind_table;

/* The rules of all modules, each once; the first is unknown. */
struct cn_kernel_rules {
    struct cn_kernel_rule *list;
    size_t count, capacity;
    struct cn_map number_of; /* by a hash */
};

/* The tree of a module. */
struct cn_kernel_tree {
    struct cn_kernel_block *blocks;
    size_t count;
    uint32_t depth;
};

void cn_kernel_rules_done(struct cn_kernel_rules *rules);

/* Make the rule of a row, whose words are `words`. */
struct cn_kernel_rule cn_kernel_rule_of(const struct cn_unwind_table *table,
                                        const uint32_t *words);

/* Make the tree, and add its rules. Those that are too many are unknown. `trampoline` is the
 * address in the module of code that returns from signal handlers; 0: none. */
void cn_kernel_tree_build(struct cn_kernel_tree *tree, struct cn_kernel_rules *rules,
                          const struct cn_unwind_table *table, uint64_t trampoline);
void cn_kernel_tree_done(struct cn_kernel_tree *tree);

/* The rule of an offset, as the program finds it. */
uint32_t cn_kernel_tree_find(const struct cn_kernel_tree *tree, uint32_t off);

#endif
