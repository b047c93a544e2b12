#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { BLOCK_LEN = 64 * 1024 };

struct cn_arena_block {
    struct cn_arena_block *next;
    alignas(max_align_t) uint8_t memory[];
};

static void add_block(struct cn_arena *arena, size_t len)
{
    struct cn_arena_block *block = cn_alloc(1, sizeof(*block) + len);

    block->next = arena->blocks;
    arena->blocks = block;
    arena->used = 0;
    arena->size = len;
}

void *cn_arena_alloc(struct cn_arena *arena, size_t count, size_t size)
{
    assert(size == 0 || count <= SIZE_MAX / 2 / size);
    uint64_t len =
        (count * size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (len > arena->size - arena->used || !arena->blocks)
        add_block(arena, len > BLOCK_LEN ? (size_t)len : BLOCK_LEN);
    void *memory = arena->blocks->memory + arena->used;
    arena->used += (size_t)len;
    return memory;
}

char *cn_arena_copy(struct cn_arena *arena, const char *text, size_t len)
{
    char *copy = cn_arena_alloc(arena, len + 1, 1);

    if (len > 0)
        memcpy(copy, text, len);
    return copy;
}

void *cn_arena_dup(struct cn_arena *arena, const void *list, size_t count, size_t size)
{
    void *copy = cn_arena_alloc(arena, count, size);

    if (count > 0)
        memcpy(copy, list, count * size);
    return copy;
}

char *cn_arena_strdup(struct cn_arena *arena, const char *text)
{
    return cn_arena_copy(arena, text, strlen(text));
}

char *cn_arena_printf(struct cn_arena *arena, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    assert(len >= 0);
    char *text = cn_arena_alloc(arena, (size_t)len + 1, 1);
    (void)vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

void cn_arena_done(struct cn_arena *arena)
{
    while (arena->blocks) {
        struct cn_arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
    *arena = (struct cn_arena){0};
}
