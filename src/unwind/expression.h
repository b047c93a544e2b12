/* Expressions of call frame information: a machine with a stack of numbers.
 * Threads: any thread.
 */
#ifndef CN_UNWIND_EXPRESSION_H
#define CN_UNWIND_EXPRESSION_H

#include "unwind/unwind.h"

/* Read 8 bytes of the memory of the program; false if they are not known. */
typedef bool (*cn_unwind_read)(const void *arg, uint64_t address, uint64_t *out);

/* The number on top of the stack at the end. `pushed` is on it at the beginning, unless it
 * is NULL. Stops after a limited number of steps. */
CN_CHECK bool cn_unwind_evaluate(struct cn_bytes expression,
                                 const struct cn_unwind_registers *registers,
                                 const uint64_t *pushed, cn_unwind_read read,
                                 const void *arg, uint64_t *out);

#endif
