/* Source files as they can be read on this machine, by the names that debug
 * information has for them.
 *
 * A zeroed one finds files where their names say they are.
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
    struct cn_names found; /* paths handed out */
    struct cn_arena arena;
};

/* "FROM=TO": what is below FROM is looked for below TO. The one added last is tried
 * first. */
CN_CHECK bool cn_sources_move(struct cn_sources *sources, const char *spec,
                              struct cn_error *err);

/* The regular file that `path` is, borrowed; NULL when there is none that can be
 * read. */
const char *cn_sources_find(struct cn_sources *sources, const char *path);
void cn_sources_done(struct cn_sources *sources);

#endif
