/* What the launcher needs of an ELF file: its hooks, its build-id and its symbols.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_FILE_H
#define CN_LAUNCHER_ELF_FILE_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* The hooks by which calls of a file can be recorded, as a set. */
enum {
    CN_ELF_MCOUNT = 1,
    CN_ELF_FENTRY = 2,
    CN_ELF_INSTRUMENT = 4,
    CN_ELF_PATCHABLE = 8,
    CN_ELF_LIBCALLS = 16,
};

struct cn_elf_symbol {
    uint64_t address, size; /* relative to where the file is mapped */
    char kind;              /* as nm shows it: T, t, w, P, D, d */
    char *name;
};

struct cn_elf_file {
    unsigned hooks;   /* CN_ELF_* */
    unsigned machine; /* EM_* */
    uint8_t word_class, byte_order;
    bool is_static;
    char build_id[41];
    char *sanitizer;               /* a library that must be loaded first; may be NULL */
    char *loader;                  /* the path of its loader; NULL: none */
    struct cn_elf_symbol *symbols; /* sorted by address */
    size_t symbol_count, symbol_capacity;
};

/* Read a file; its symbols only with `with_symbols`. */
CN_CHECK bool cn_elf_file_open(struct cn_elf_file *elf, const char *path,
                               bool with_symbols, struct cn_error *err);
void cn_elf_file_close(struct cn_elf_file *elf);

/* Read the build-id only; "" when there is none. */
void cn_elf_build_id_read(const char *path, char build_id[static 41]);

/* Sort the symbols after some were added. */
void cn_elf_symbols_sort(struct cn_elf_file *elf);

/* Append the symbols in the format of NAME.sym, without the head. */
void cn_elf_symbols_print(const struct cn_elf_file *elf, struct cn_text *text);

#endif
