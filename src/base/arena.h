/* An arena: memory that is allocated in small parts and released all at once.
 *
 * A zeroed arena is ready for use. Nothing in it is freed on its own.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_ARENA_H
#define CN_BASE_ARENA_H

#include <stddef.h>

#include "base/error.h"

struct cn_arena_block;

struct cn_arena {
    struct cn_arena_block *blocks;
    size_t used, size; /* of the newest block */
};

/* Zeroed memory, aligned for any type. */
void *cn_arena_alloc(struct cn_arena *arena, size_t count, size_t size);

char *cn_arena_copy(struct cn_arena *arena, const char *text, size_t len);
char *cn_arena_strdup(struct cn_arena *arena, const char *text);
/* A copy of an array; `list` may be NULL when it is empty. */
void *cn_arena_dup(struct cn_arena *arena, const void *list, size_t count, size_t size);
CN_PRINTF(2, 3) char *cn_arena_printf(struct cn_arena *arena, const char *fmt, ...);

void cn_arena_done(struct cn_arena *arena); /* the arena is empty and usable again */

#endif
