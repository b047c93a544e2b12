/* The code of a file, as far as it matters to patching: its bytes, what else is in it, and
 * where functions begin and end.
 *
 * All addresses are those of the file. Filled by launcher/rules/patch_plan.c from an ELF file.
 * Memory: lists belong to the code, bytes do not.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_CODE_CODE_H
#define CN_LAUNCHER_CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

struct cn_code_section {
    uint64_t address;
    struct cn_bytes bytes;
    bool is_code; /* else data */
};

/* A range of code with unwind information. */
struct cn_code_frame {
    uint64_t start, end;
    uint64_t handlers; /* address of its exception table; 0: none */
    bool is_entry;     /* at its start, the stack is as after a call */
};

struct cn_code_addresses {
    uint64_t *list;
    size_t count, capacity;
};

/* What a compiler left in functions to be patched. */
enum cn_code_hooks {
    CN_CODE_UNHOOKED,
    CN_CODE_NOPS,  /* -mnop-mcount */
    CN_CODE_SLEDS, /* -fxray-instrument */
};

struct cn_code {
    unsigned machine;                 /* EM_* */
    bool is_fixed;                    /* linked for a fixed address */
    bool has_pointers_in_data;        /* that are not listed */
    struct cn_code_section *sections; /* sorted by address */
    size_t section_count, section_capacity;
    struct cn_code_frame *frames; /* sorted by start */
    size_t frame_count, frame_capacity;
    struct cn_code_addresses labels;   /* symbols in code; sorted */
    struct cn_code_addresses pointers; /* that the loader stores in data */
    bool is_base;                      /* a library that the recorder uses */
    bool has_walker; /* a runtime that finds code by the return addresses on the stack */
    enum cn_code_hooks hooks;
    struct cn_code_addresses sleds; /* at entries of functions; sorted */
};

void cn_code_add_section(struct cn_code *code, const struct cn_code_section *section);
void cn_code_add_address(struct cn_code_addresses *addresses, uint64_t address);

/* Sort everything; to be called once, when all is added. */
void cn_code_sort(struct cn_code *code);

/* The section that an address lies in; NULL when there is none. */
const struct cn_code_section *cn_code_section_at(const struct cn_code *code,
                                                 uint64_t address);

/* The `len` bytes at an address; NULL when they are not all in one section. */
const uint8_t *cn_code_bytes(const struct cn_code *code, uint64_t address, uint64_t len);

/* The frame that contains an address; NULL when there is none. */
const struct cn_code_frame *cn_code_frame_at(const struct cn_code *code,
                                             uint64_t address);

/* The first one at or after an address; UINT64_MAX when there is none. */
uint64_t cn_code_next(const struct cn_code_addresses *addresses, uint64_t address);

void cn_code_done(struct cn_code *code);

#endif
