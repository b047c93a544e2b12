/* Which functions can be patched, and how.
 *
 * A function is patched only if this is safe: its first instructions can be moved, nothing
 * jumps between them, and at its start the stack is as after a call. Others are left alone
 * and counted by reason.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_CODE_PLAN_H
#define CN_LAUNCHER_CODE_PLAN_H

#include "launcher/code/prologue.h"

struct cn_code_function {
    uint64_t address, size;
    const char *name;
};

struct cn_code_plan {
    struct cn_rec_patch *patches; /* `at` is an address of the file */
    size_t count, capacity;
    uint64_t left[CN_CODE_LEFT_COUNT]; /* functions by reason */
};

void cn_code_plan_make(struct cn_code_plan *plan, const struct cn_code *code,
                       const struct cn_code_function *functions, size_t count);
void cn_code_plan_done(struct cn_code_plan *plan);

/* A reason in a few words. */
const char *cn_code_left_text(enum cn_code_left left);

#endif
