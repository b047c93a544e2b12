/* Where functions find their arguments when they are called, and callers the result: the
 * rules of the System V ABI for x86_64 and of the procedure call standard for aarch64.
 *
 * Begin with the type of the result, then ask for one parameter after the other.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_CALLING_H
#define CN_LAUNCHER_CALLING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/shared.h"
#include "symbols/value_type.h"

enum cn_calling_machine { CN_CALLING_X86_64, CN_CALLING_AARCH64 };

struct cn_calling {
    enum cn_calling_machine machine;
    uint32_t integers, vectors; /* registers that are taken */
    uint64_t stack_len;
    bool is_lost; /* after a type whose place we do not know */
};

void cn_calling_begin(struct cn_calling *calling, enum cn_calling_machine machine,
                      const struct cn_value_type *result);

/* Set the pieces of the next parameter, or of the result. False when its place is not
 * known. */
bool cn_calling_next(struct cn_calling *calling, const struct cn_value_type *type,
                     struct cn_rec_value *out);
bool cn_calling_result(enum cn_calling_machine machine, const struct cn_value_type *type,
                       struct cn_rec_value *out);

/* The place of the n-th (from 0) integer or floating-point argument of a function whose
 * arguments are all of that kind. */
bool cn_calling_nth(enum cn_calling_machine machine, bool is_float, uint32_t n,
                    struct cn_rec_piece *out);

/* The number that DWARF gives a register, by name; its pieces lie there. */
bool cn_calling_register(enum cn_calling_machine machine, const char *name,
                         struct cn_rec_piece *out);

#endif
