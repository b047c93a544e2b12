/* Addresses of modules to places in source files, from the debug information of the
 * modules themselves or of the separate files that belong to them.
 *
 * A module is opened when it is first asked about and kept; one that cannot be read,
 * that has no debug information, or that is another build than the one that was
 * recorded knows nothing. Strings live as long as the resolver.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_RESOLVER_H
#define CN_SYMBOLS_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_resolver;

struct cn_source_place {
    const char *function; /* that was inlined there; NULL: nothing was */
    const char *file;
    uint32_t line;
};

struct cn_resolver *cn_resolver_new(void);
void cn_resolver_free(struct cn_resolver *resolver); /* NULL is fine */

/* Where the function around `offset` of a module is defined. `build_id` in
 * hexadecimal, "" when it is not known. False when nobody knows. */
bool cn_resolver_function(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t offset,
                          struct cn_source_place *out);

/* Where the instruction at `offset` comes from: the place in the function itself,
 * then in each function inlined there, the innermost last. Returns how many, at most
 * `most`; 0 when nobody knows. */
size_t cn_resolver_instruction(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_source_place *out, size_t most);

/* A function as the linker knows it. */
struct cn_symbol {
    const char *name; /* as it is stored, mangled */
    uint64_t offset;  /* in the module */
};

/* The symbol around `offset` of a module; debug information is not needed. */
bool cn_resolver_symbol(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t offset, struct cn_symbol *out);

/* Where byte `file_off` of a module's file lies in the module when it is loaded. */
bool cn_resolver_offset(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t file_off, uint64_t *out);

#endif
