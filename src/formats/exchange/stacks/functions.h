/* Who calls whom, function by function: stacks with their paths forgotten.
 *
 * Total costs count each moment once, however often a function is on the stack.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_STACKS_FUNCTIONS_H
#define CN_FORMATS_EXCHANGE_STACKS_FUNCTIONS_H

#include "base/map.h"
#include "formats/exchange/stacks/stacks.h"

struct cn_function_cost {
    double self, total;
    uint64_t calls;
    uint32_t first_edge; /* to functions it calls; CN_NONE: none */
};

struct cn_call_edge {
    uint32_t from, to; /* places of the stacks */
    uint32_t next;     /* from the same function */
    uint64_t calls;
    double total;
};

struct cn_functions {
    struct cn_function_cost *list; /* by place */
    struct cn_call_edge *edges;    /* in the order of the stacks */
    size_t edge_count, edge_capacity;
    double total; /* of everything */
};

/* Roots are functions only `with_roots`. */
void cn_functions_build(struct cn_functions *functions, const struct cn_stacks *stacks,
                        bool with_roots);
void cn_functions_done(struct cn_functions *functions);

#endif
