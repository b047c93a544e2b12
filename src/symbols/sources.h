/* Source files on this machine, by their paths in debug information.
 *
 * A zeroed struct looks files up at their own paths.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_SOURCES_H
#define CN_SYMBOLS_SOURCES_H

#include "base/error.h"
#include "base/map.h"

struct cn_source_move {
    const char *from, *to;
    size_t from_len;
};

struct cn_sources {
    struct cn_source_move *moves;
    size_t count, capacity;
    struct cn_names found; /* results of cn_sources_find() */
    struct cn_arena arena;
};

/* "FROM=TO": look for files below FROM also below TO. Moves added last are tried first. */
CN_CHECK bool cn_sources_move(struct cn_sources *sources, const char *spec,
                              struct cn_error *err);

/* The path of the regular file `path` on this machine, borrowed; NULL if none is readable. */
const char *cn_sources_find(struct cn_sources *sources, const char *path);
void cn_sources_done(struct cn_sources *sources);

#endif
