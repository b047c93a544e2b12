/* Call stacks from registers and a copy of the stack.
 *
 *     unwinder = cn_unwinder_new();
 *     space = cn_unwind_space_new(unwinder);                      for each process
 *     cn_unwind_space_map(space, begin, end, file_off, path, build_id);
 *     count = cn_unwind(space, &registers, stack_begin, stack, addresses, most, &end);
 *
 * A frame is undone by the call frame information of its module (.eh_frame, .debug_frame),
 * which becomes a table when the first address of the module is met. Tables are kept in
 * memory for all spaces, and in $XDG_CACHE_HOME/cairn/unwind by build-id. Code without such
 * information is undone by its frame pointer, if that is plausible.
 * The unwinder owns tables and strings and must outlive its spaces.
 * Threads: one thread at a time for an unwinder and all its spaces.
 */
#ifndef CN_UNWIND_UNWIND_H
#define CN_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

enum cn_unwind_machine { CN_UNWIND_NO_MACHINE, CN_UNWIND_X86_64, CN_UNWIND_AARCH64 };

/* The machine that this program runs on. */
enum cn_unwind_machine cn_unwind_machine_here(void);

/* Numbers of registers in DWARF. */
enum {
    CN_UNWIND_X86_RBP = 6,
    CN_UNWIND_X86_RSP = 7,
    CN_UNWIND_X86_RIP = 16,
    CN_UNWIND_ARM_FP = 29,
    CN_UNWIND_ARM_LR = 30,
    CN_UNWIND_ARM_SP = 31,
    CN_UNWIND_ARM_PC = 32,
    CN_UNWIND_ARM_RA_SIGN_STATE = 34,
    CN_UNWIND_REGISTER_MAX = 36,
};

struct cn_unwind_registers {
    enum cn_unwind_machine machine;
    uint64_t known;                         /* a bit for each register with a value */
    uint64_t value[CN_UNWIND_REGISTER_MAX]; /* by number in DWARF */
};

/* The registers to ask perf_event_open() for, as attr.sample_regs_user. */
uint64_t cn_unwind_perf_mask(enum cn_unwind_machine machine);

/* The bit of the register that has the first argument of a system call, and its number in `value`. */
unsigned cn_unwind_perf_argument(enum cn_unwind_machine machine);

/* From values of PERF_SAMPLE_REGS_USER after the ABI: one for each bit of `mask`, the lowest
 * first. False if there are fewer values, or no instruction or stack pointer. */
CN_CHECK bool cn_unwind_registers_decode(struct cn_unwind_registers *out,
                                         enum cn_unwind_machine machine, uint64_t mask,
                                         struct cn_bytes values);

struct cn_unwinder;
struct cn_unwinder *cn_unwinder_new(void);
void cn_unwinder_free(struct cn_unwinder *unwinder); /* after its spaces; NULL is fine */

/* Neither read nor write tables in the cache directory. */
void cn_unwinder_set_no_cache(struct cn_unwinder *unwinder);

struct cn_unwind_mapping {
    uint64_t begin, end;
    uint64_t file_off; /* of `begin` */
    const char *path, *build_id;
    struct cn_unwind_module *module;
};

/* The mappings of one process that contain code. */
struct cn_unwind_space;
struct cn_unwind_space *cn_unwind_space_new(struct cn_unwinder *unwinder);
void cn_unwind_space_free(struct cn_unwind_space *space); /* NULL is fine */

/* The same mappings for a forked process; takes the same time for any number of them. */
struct cn_unwind_space *cn_unwind_space_copy(const struct cn_unwind_space *space);

/* Remove all mappings: exec. */
void cn_unwind_space_clear(struct cn_unwind_space *space);

/* Add a mapping, which hides others where they overlap. `path` is a file as this process
 * can open it, "[vdso]", or any text for code without a file; `build_id` in hexadecimal, ""
 * if unknown. A file with another build-id than that has no table. */
void cn_unwind_space_map(struct cn_unwind_space *space, uint64_t begin, uint64_t end,
                         uint64_t file_off, const char *path, const char *build_id);

/* The newest mapping that contains an address, NULL if there is none; valid until the
 * space is cleared or freed. */
const struct cn_unwind_mapping *cn_unwind_space_find(const struct cn_unwind_space *space,
                                                     uint64_t address);

/* The mapping that begins last before an address, or at it; NULL if there is none. Of those that others hide in
 * part, what is left counts. */
const struct cn_unwind_mapping *
cn_unwind_space_before(const struct cn_unwind_space *space, uint64_t address);

/* Visit the mappings, the newest first, until a call returns false. */
void cn_unwind_space_each(const struct cn_unwind_space *space,
                          bool (*visit)(void *arg,
                                        const struct cn_unwind_mapping *mapping),
                          void *arg);

/* The table of a mapping's module; NULL if it has none, or is not yet built. */
const struct cn_unwind_table *
cn_unwind_mapping_table(const struct cn_unwind_mapping *mapping);

/* Where in its file a mapping's module has the code that returns from signal handlers. False if
 * its beginning has none; aarch64 alone, where no table describes it. */
CN_CHECK bool cn_unwind_mapping_trampoline(const struct cn_unwind_mapping *mapping,
                                           uint64_t *file_off);

/* A number that changes with the mappings, and with the tables that are built. */
uint64_t cn_unwind_space_version(const struct cn_unwind_space *space);

/* Read 8 bytes of the memory of a process. */
typedef bool (*cn_unwind_memory)(void *arg, uint64_t address, uint64_t *out);

/* Where expressions read memory that is not in the copy of the stack; without it they fail.
 * Return addresses that cairn's recorder has replaced are found like this. */
void cn_unwind_space_set_memory(struct cn_unwind_space *space, cn_unwind_memory read,
                                void *arg);

/* One frame of code that no table describes, as that of run-time compilers. */
struct cn_unwind_step {
    struct cn_unwind_registers registers; /* of the frame; then: of its caller */
    uint64_t stack_begin;
    struct cn_bytes stack;
    bool is_innermost; /* the program counter is no return address */
    bool has_rule;     /* tables can undo the frame */
    uint64_t frames[64];
    size_t frame_count; /* addresses for the stack instead of the program counter, the
                         * innermost first; 0: that stays */
};

/* True if the frame was undone: without a program counter the stack ends there as unknown,
 * with 0 it is whole. False if tables shall undo it; the addresses for the stack are used in
 * both cases. */
typedef bool (*cn_unwind_foreign)(void *arg, struct cn_unwind_step *step);

/* Is asked before the tables, for every frame, also of code that is in no mapping; NULL: not any more. Copies of the space do not
 * have it. */
void cn_unwind_space_set_foreign(struct cn_unwind_space *space, cn_unwind_foreign undo,
                                 void *arg);

enum cn_unwind_end {
    CN_UNWIND_WHOLE,   /* reached _start or the start of the thread */
    CN_UNWIND_CUT,     /* the copy of the stack ended, or `most` was reached */
    CN_UNWIND_UNKNOWN, /* code that can not be undone */
    CN_UNWIND_BAD,     /* the stack contradicts the tables */
};

/* Addresses of the stack, the innermost first: the instruction pointer, then return
 * addresses (after a signal: where it interrupted). Returns their number, at least 1 unless
 * `most` is 0. `stack` is a copy of the memory at `stack_begin`. */
size_t cn_unwind(struct cn_unwind_space *space,
                 const struct cn_unwind_registers *registers, uint64_t stack_begin,
                 struct cn_bytes stack, uint64_t *out, size_t most,
                 enum cn_unwind_end *end);

#endif
