/* Calling conventions: the registers and stack slots of arguments and results, by the
 * System V ABI for x86_64 and the procedure call standard for aarch64.
 *
 * Begin with the type of the result, then ask for the parameters in order.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_CALLING_H
#define CN_LAUNCHER_RULES_CALLING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/shared.h"
#include "symbols/program/value_type.h"

enum cn_calling_machine { CN_CALLING_X86_64, CN_CALLING_AARCH64 };

struct cn_calling {
    enum cn_calling_machine machine;
    uint32_t integers, vectors; /* registers in use */
    uint64_t stack_len;
    bool is_lost; /* a type was unknown, so later parameters are too */
};

void cn_calling_begin(struct cn_calling *calling, enum cn_calling_machine machine,
                      const struct cn_value_type *result);

/* Set the pieces of the next parameter, or of the result. False when they are unknown. */
bool cn_calling_next(struct cn_calling *calling, const struct cn_value_type *type,
                     struct cn_rec_value *out);
bool cn_calling_result(enum cn_calling_machine machine, const struct cn_value_type *type,
                       struct cn_rec_value *out);

/* The register or stack slot of the n-th argument (from 0) of a function whose arguments
 * are all integers, or all floating-point numbers. */
bool cn_calling_nth(enum cn_calling_machine machine, bool is_float, uint32_t n,
                    struct cn_rec_piece *out);

/* The register or stack slot of a name such as "rdi", "xmm0" or "stack+1". */
bool cn_calling_register(enum cn_calling_machine machine, const char *name,
                         struct cn_rec_piece *out);

#endif
