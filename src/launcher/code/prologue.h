/* The first instructions of a function: whether they can be moved, and how.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_CODE_PROLOGUE_H
#define CN_LAUNCHER_CODE_PROLOGUE_H

#include "launcher/code/code.h"
#include "record/shared.h"

/* Why a function is left alone. */
enum cn_code_left {
    CN_CODE_PATCHED,
    CN_CODE_TOO_SHORT,
    CN_CODE_JUMPED_INTO, /* something may jump between the moved instructions */
    CN_CODE_LOOP,        /* it jumps to its own beginning */
    CN_CODE_CALL,        /* one of them is a call */
    CN_CODE_FIXED,       /* one of them cannot be moved */
    CN_CODE_TABLE,       /* a jump table that cannot be read */
    CN_CODE_SHARED,      /* another symbol is between them */
    CN_CODE_NO_FRAME,    /* no unwind information, or not that of a function */
    CN_CODE_HANDLER,     /* exceptions may leave them */
    CN_CODE_START,       /* runs when a program starts, or returns twice */
    CN_CODE_WALKER,      /* of a runtime that reads return addresses from the stack */
    CN_CODE_BASE,        /* in a library that the recorder uses */
    CN_CODE_NO_HOOK,     /* without nops, in a file where others have them */
    CN_CODE_LEFT_COUNT,
};

enum { CN_CODE_STEPS_MAX = 5 };

/* A function to patch. */
struct cn_prologue {
    uint64_t entry, end;       /* of the function */
    struct cn_rec_patch patch; /* `at` is an address of the file */
    /* Offsets from `at` of the moved instructions but the first. */
    uint8_t steps[CN_CODE_STEPS_MAX];
    uint8_t step_count;
};

/* Both fill the patch. On x86_64, the caller checks jumps; it needs libcapstone. */
enum cn_code_left cn_prologue_x86_64(struct cn_prologue *prologue,
                                     const struct cn_code *code);
enum cn_code_left cn_prologue_aarch64(struct cn_prologue *prologue,
                                      const struct cn_code *code);

/* For x86_64, where several instructions are moved: */

/* Add the targets of short jumps in the instructions from `start`, up to `end`; where
 * instructions are unknown, or after `known_end`, of everything that may be one. */
struct cn_code_targets;
void cn_short_jumps_add(struct cn_code_targets *targets, const struct cn_code *code,
                        uint64_t start, uint64_t known_end, uint64_t end);

/* True if code of the function may jump to its beginning. */
bool cn_prologue_has_loop(const struct cn_prologue *prologue, const struct cn_code *code);

/* True if the function may compute the target of a jump from a jump table, or from the
 * address of some code of its own. */
enum cn_code_jumps { CN_CODE_NO_JUMPS, CN_CODE_TABLE_JUMPS, CN_CODE_OTHER_JUMPS };
enum cn_code_jumps cn_prologue_jumps(const struct cn_prologue *prologue,
                                     const struct cn_code *code);

/* True if the program was built with libcapstone. */
bool cn_prologue_is_known(unsigned machine);

#endif
