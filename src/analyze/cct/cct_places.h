/* Where code is in source files: what an analysis asks whoever knows.
 *
 * Strings are borrowed and must live as long as what was made with them.
 * Threads: asked from one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_CCT_PLACES_H
#define CN_ANALYZE_CCT_CCT_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct cn_call_module;

struct cn_cct_place {
    const char *file; /* NULL: unknown */
    uint32_t line;
};

/* A place in code that was inlined. */
struct cn_inlined_place {
    const char *function; /* NULL for the outermost, which is not inlined */
    struct cn_cct_place place;
};

enum { CN_PLACE_DEPTH_MAX = 32 };

struct cn_cct_places {
    void *arg;

    /* Where the function that starts at `offset` of a module is defined. */
    struct cn_cct_place (*function)(void *arg, const struct cn_call_module *module,
                                    uint64_t offset);

    /* Where the instruction at `offset` comes from: the place in the function
     * itself, then in each function inlined there, the innermost last. Returns how
     * many; 0: unknown. */
    size_t (*instruction)(void *arg, const struct cn_call_module *module, uint64_t offset,
                          struct cn_inlined_place out[CN_PLACE_DEPTH_MAX]);

    /* The file that can be read in place of `path`; NULL: there is none. */
    const char *(*source)(void *arg, const char *path);
};

#endif
