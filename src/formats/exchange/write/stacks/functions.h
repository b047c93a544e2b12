/* Costs of functions and of caller-callee pairs, summed over all stacks.
 *
 * Totals count each moment once, even if a function is on the stack several times.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_STACKS_FUNCTIONS_H
#define CN_FORMATS_EXCHANGE_WRITE_STACKS_FUNCTIONS_H

#include "formats/exchange/write/stacks/stacks.h"

struct cn_function_cost {
    double self, total;
    uint64_t calls;
    uint32_t first_edge; /* to a function it calls; CN_NONE: none */
    bool is_used;        /* called, or with a cost */
};

struct cn_call_edge {
    uint32_t from, to; /* functions of the stacks */
    uint32_t next;     /* from the same function */
    uint64_t calls;
    double total;
};

struct cn_functions {
    struct cn_stacks stacks;
    struct cn_function_cost *costs; /* by function */
    struct cn_call_edge *edges;     /* in the order of the stacks */
    size_t edge_count, edge_capacity;
    double total; /* of everything */
};

/* The functions of the source of an export; reports the losses. Nothing is left to release
 * on failure. */
CN_CHECK bool cn_functions_of(struct cn_functions *functions, struct cn_export *x,
                              struct cn_error *err);
void cn_functions_done(struct cn_functions *functions);

#endif
