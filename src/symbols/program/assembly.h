/* The machine code of a function as text, with its source lines and jumps. Needs libcapstone, for
 * x86_64 (in the syntax of AT&T, as objdump) and aarch64.
 *
 * Strings live as long as the resolver and the assembly.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_ASSEMBLY_H
#define CN_SYMBOLS_PROGRAM_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_resolver;

enum { CN_ASSEMBLY_CODE_MAX = 1 << 20 }; /* bytes of a function */

struct cn_assembly_line {
    uint64_t offset; /* in the module */
    uint32_t len;
    const char *text;    /* "ldr x0, [x1]"; "(bad)" for bytes that are no instruction */
    uint64_t target;     /* offset in the module that it may jump to or calls; 0: none */
    uint32_t jump;       /* the instruction at the target of a jump; CN_NO_JUMP: none */
    const char *callee;  /* the other function at the target; NULL: none or unknown */
    const char *inlined; /* the function inlined there; NULL: none */
    const char *file;    /* NULL if unknown */
    uint32_t line;
};

#define CN_NO_JUMP UINT32_MAX

struct cn_assembly {
    const char *function;  /* name in the symbol table, mangled */
    uint64_t offset, size; /* of the function in the module, in bytes */
    struct cn_assembly_line *list;
    size_t count, capacity;
    struct cn_arena arena;
};

/* The function that contains `offset` of a module. `build_id` is hexadecimal, or "" if it is
 * unknown. CN_ERR_NOT_FOUND, with the reason: the file is missing or another build, there is no symbol,
 * no code, no libcapstone. Release it in any case. */
CN_CHECK bool cn_assembly_open(struct cn_assembly *assembly, struct cn_resolver *resolver,
                               const char *path, const char *build_id, uint64_t offset,
                               struct cn_error *err);

/* Decode code that is at `assembly->offset`: text and jumps. */
CN_CHECK bool cn_assembly_decode(struct cn_assembly *assembly, struct cn_bytes code,
                                 bool is_x86, struct cn_error *err);

/* The instruction that contains an offset of the module; CN_NO_JUMP: none. */
uint32_t cn_assembly_find(const struct cn_assembly *assembly, uint64_t offset);

void cn_assembly_done(struct cn_assembly *assembly);

#endif
