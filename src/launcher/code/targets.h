/* The addresses in x86_64 code that something may refer to: jumps and calls, addresses that
 * code computes or data contains, jump tables, handlers of exceptions.
 *
 * Short jumps need the boundaries of instructions and are not included. Everything else is
 * found at any byte: what may be a reference counts as one.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_CODE_TARGETS_H
#define CN_LAUNCHER_CODE_TARGETS_H

#include "launcher/code/code.h"

struct cn_code_targets {
    uint64_t low, high;  /* of all code */
    uint8_t *bits;       /* one for each address */
    uint8_t *table_bits; /* of those that jump tables and data contain */
    bool is_incomplete;  /* a jump table could not be read */
};

/* Find them all. False when the code is too large. */
bool cn_code_targets_find(struct cn_code_targets *targets, const struct cn_code *code);
void cn_code_targets_done(struct cn_code_targets *targets);

void cn_code_targets_add(struct cn_code_targets *targets, uint64_t address);
bool cn_code_targets_has(const struct cn_code_targets *targets, uint64_t address);

/* True if data refers to an address from `low` to below `high`. */
bool cn_code_targets_has_table(const struct cn_code_targets *targets, uint64_t low,
                               uint64_t high);

#endif
