#include "base/alloc.h"

#include <features.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *memory, size_t count, size_t size)
{
    if (memory || count == 0 || size == 0)
        return memory;
    (void)fprintf(stderr, "cairn: out of memory: %zu elements of %zu bytes\n", count,
                  size);
    exit(EXIT_FAILURE);
}

void *cn_alloc(size_t count, size_t size)
{
    return count ? or_die(calloc(count, size), count, size) : NULL;
}

void *cn_realloc(void *array, size_t count, size_t size)
{
    if (count == 0) {
        free(array);
        return NULL;
    }
    return or_die(reallocarray(array, count, size), count, size);
}

void *cn_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    enum { FIRST = 16 };

    if (count < *capacity)
        return array;
    *capacity = *capacity < FIRST ? FIRST : *capacity * 2;
    return cn_realloc(array, *capacity, size);
}

void *cn_grow_to(void *array, size_t needed, size_t *capacity, size_t size)
{
    size_t larger = *capacity + *capacity / 2;

    if (needed <= *capacity)
        return array;
    *capacity = needed > larger ? needed : larger;
    return cn_realloc(array, *capacity, size);
}

void *cn_renew(void *array, size_t needed, size_t *capacity, size_t size)
{
    if (needed <= *capacity)
        return array;
    free(array);
    *capacity = needed;
    return cn_realloc(NULL, needed, size);
}

char *cn_strdup(const char *text)
{
    size_t len = strlen(text) + 1;

    return memcpy(cn_alloc(len, 1), text, len);
}

void cn_alloc_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
