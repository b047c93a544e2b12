/* What the launcher needs of an ELF file: its hooks, its build-id and its symbols.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_FILE_H
#define CN_LAUNCHER_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct cn_hook_calls;
struct cn_elf_file;

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

/* The call sites of hooks in functions of a file. Where the hook is not the first
 * instruction of a function, the locations of its arguments must be looked up at the
 * address after that call. */

/* NULL when the file has no such calls. */
struct cn_hook_calls *cn_hook_calls_open(const char *path);
void cn_hook_calls_close(struct cn_hook_calls *calls); /* NULL is fine */

/* The address after the first such call in the function at `offset`, relative to the
 * start of the file's mapping; 0 when there is none. */
uint64_t cn_hook_calls_find(const struct cn_hook_calls *calls, uint64_t offset,
                            uint64_t size);

/* Symbols from a folder of NAME.sym files, in place of those of a stripped file. */

/* Replace the symbols of the file at `path`, except its library calls, with those that the
 * folder has for its name; not if they are of another build. True if they were replaced.
 * Without a folder (NULL) nothing changes. */
bool cn_elf_symbols_replace(struct cn_elf_file *elf, const char *folder,
                            const char *path);

/* Probes of systemtap (SDT) in a file: .note.stapsdt. */

/* One instruction that does nothing until a tracer is interested. */
struct cn_sdt_probe {
    char *name;             /* "provider:probe"; several probes may have the same */
    uint64_t off;           /* in the file */
    uint64_t semaphore_off; /* of the counter of interested tracers; 0: none */
};

struct cn_sdt_file {
    char *path;
    struct cn_sdt_probe *probes;
    size_t count;
};

/* The probes of a program and of the libraries that its loader finds for it; it is not run. A file
 * that is not an ELF file of this machine has none. Damaged notes are skipped. The files are an
 * array, to be released with cn_sdt_files_free(). */
struct cn_sdt_file *cn_sdt_files_read(const char *program, size_t *count);
void cn_sdt_files_free(struct cn_sdt_file *files, size_t count);

/* A cache of symbols by build-id, in the user's cache folder. Reading the symbols of
 * libraries is most of the time that starting a recording takes.
 *
 * A cached file begins with a line with the length and the hash of the rest; a file that
 * does not match is ignored. Files are renamed into place, and the oldest is evicted when
 * there are too many. */

/* Append the cached symbols of this build-id, which is not empty. False when there are
 * none. */
bool cn_symbol_cache_find(const char *build_id, struct cn_text *text);

/* Cache the symbols of this build-id, if possible. */
void cn_symbol_cache_add(const char *build_id, const struct cn_text *text);

#endif
