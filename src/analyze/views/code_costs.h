/* The self costs of single instructions: of contexts that are instructions, or of samples
 * (model/contexts/points.h).
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_CODE_COSTS_H
#define CN_ANALYZE_VIEWS_CODE_COSTS_H

#include "analyze/views/costs.h"

struct cn_code_cost {
    uint64_t offset;   /* in the module */
    uint32_t function; /* that contains it, in all its contexts; CN_NONE: unknown */
    bool is_inlined;   /* the function is inlined there */
    double value;
};

struct cn_code_costs {
    struct cn_code_cost *list;
    size_t count, capacity;
};

/* Part of the code of a module. */
struct cn_code_range {
    uint32_t module;
    uint64_t begin, end; /* offsets */
};

/* True if the database knows costs of instructions. Databases with instructions among their contexts are
 * searched for the first. */
CN_CHECK bool cn_code_costs_exist(struct cn_database *db,
                                  const struct cn_context_index *index, bool *out,
                                  struct cn_error *err);

/* Sum up a column, which is a self cost, by instruction and function. Release it in any
 * case. */
CN_CHECK bool cn_code_costs_find(struct cn_code_costs *out, struct cn_costs *costs,
                                 const struct cn_context_index *index, size_t column,
                                 struct cn_code_range range, struct cn_error *err);
void cn_code_costs_done(struct cn_code_costs *costs);

#endif
