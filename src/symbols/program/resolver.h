/* Addresses of modules to source locations, from the debug information of the modules or of
 * the separate files that belong to them.
 *
 * A module is opened at its first use and stays open. A module that cannot be read, that has no
 * debug information or that is another build resolves nothing. Strings live as long as the
 * resolver.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_RESOLVER_H
#define CN_SYMBOLS_PROGRAM_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_resolver;
struct cn_text;

struct cn_source_location {
    const char *function; /* inlined there; NULL: none */
    const char *mangled; /* its name with namespace and parameters; NULL if it has none */
    const char *file;
    uint32_t line;
};

struct cn_resolver *cn_resolver_new(void);
void cn_resolver_free(struct cn_resolver *resolver); /* NULL is fine */

/* Before the first question: also look for programs and debug files in these folders and those
 * below them, by build-id or, where that is unknown, by name; do not ask servers if `is_offline`.
 * Borrows the folders. */
void cn_resolver_look_in(struct cn_resolver *resolver, const char *const *folders,
                         size_t count, bool is_offline);

/* Append a line for each module asked about whose debug information cannot be read here, though it
 * is there: what to do. */
void cn_resolver_hint(const struct cn_resolver *resolver, struct cn_text *out);

/* In all functions, `build_id` is hexadecimal, or "" if it is unknown, and false or 0 means
 * that the address is unknown. */

/* The definition of the function that contains `offset` of a module; `function` is its name in the
 * debug information, NULL if it has none there. */
bool cn_resolver_function(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t offset,
                          struct cn_source_location *out);

/* The location of the instruction at `offset` in the function itself, then in each function
 * inlined there, innermost last. Returns the count, at most `most`. */
size_t cn_resolver_instruction(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_source_location *out, size_t most);

/* A function of the symbol table. */
struct cn_symbol {
    const char *name; /* mangled */
    uint64_t offset;  /* in the module */
    uint64_t len;     /* 0 if unknown */
};

/* The symbol that contains `offset` of a module; needs no debug information. A function that has
 * none, of a stripped module, is named by its begin, "git+0x2a1500", if the tables for unwinding
 * tell it. */
bool cn_resolver_symbol(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t offset, struct cn_symbol *out);

/* The code of the function that contains `offset` of a module, borrowed from the resolver. */
struct cn_resolver_code {
    struct cn_symbol symbol;
    struct cn_bytes bytes;
    bool is_x86; /* else aarch64 */
};

/* CN_ERR_NOT_FOUND says why there is none. */
CN_CHECK bool cn_resolver_code(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_resolver_code *out, struct cn_error *err);

/* The first instructions of the loops around `offset` in a function, the outermost first, as
 * offsets in the module. Returns the count, at most CN_RESOLVER_LOOP_MAX. */
enum { CN_RESOLVER_LOOP_MAX = 16 };
size_t cn_resolver_loops(struct cn_resolver *resolver, const char *path,
                         const char *build_id, const struct cn_symbol *function,
                         uint64_t offset, uint64_t out[CN_RESOLVER_LOOP_MAX]);

/* The functions that all of a loop is in: the location of its first instruction in the function
 * itself, then in each function inlined there that contains the whole loop. As for
 * cn_resolver_instruction(). */
size_t cn_resolver_loop(struct cn_resolver *resolver, const char *path,
                        const char *build_id, const struct cn_symbol *function,
                        uint64_t head, struct cn_source_location *out, size_t most);

/* The offset in the loaded module of byte `file_off` of its file. */
bool cn_resolver_offset(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t file_off, uint64_t *out);

/* The variable that contains the byte `distance` after that of `file_off`, as it is loaded, and where in the
 * variable that is; without a symbol, "prog+0x4040". False if it is no data of the module. */
bool cn_resolver_variable(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t file_off, uint64_t distance,
                          struct cn_symbol *out, uint64_t *offset);

#endif
