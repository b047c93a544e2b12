/* Interface of an analysis to debug information: locations in source files.
 *
 * Strings are borrowed and must outlive the database that is made with them.
 * Threads: called from one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_LOCATIONS_H
#define CN_ANALYZE_CCT_LOCATIONS_H

#include <stddef.h>
#include <stdint.h>

struct cn_call_module;

struct cn_cct_location {
    const char *file; /* NULL: unknown */
    uint32_t line;
};

/* A location in an inlined function. */
struct cn_inlined_location {
    const char *function; /* NULL: the outermost one, which is not inlined */
    struct cn_cct_location location;
};

enum { CN_LOCATION_DEPTH_MAX = 32 };

struct cn_cct_locations {
    void *arg;

    /* The location of the function that starts at `offset` of a module. */
    struct cn_cct_location (*function)(void *arg, const struct cn_call_module *module,
                                       uint64_t offset);

    /* The locations of the instruction at `offset`: in the function itself, then in
     * each function inlined there, the innermost last. Returns how many; 0: unknown. */
    size_t (*instruction)(void *arg, const struct cn_call_module *module, uint64_t offset,
                          struct cn_inlined_location out[CN_LOCATION_DEPTH_MAX]);

    /* The file to read for the source file `path`; NULL: there is none. */
    const char *(*source)(void *arg, const char *path);
};

#endif
