#include "base/alloc.h"

#include <features.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    HUGE_PAGE = 2 << 20,
    MANY_PAGES =
        4 << 20, /* bytes of an array from which on its pages cost more than using it */
};

static void *or_fail(void *memory, size_t count, size_t size)
{
    return count == 0 || size == 0 ? memory : cn_memory_need(memory);
}

/* Ask for large pages behind a large array that is about to be filled: most of the time that
 * such an array takes would go into its small ones. */
static void *with_large_pages(void *memory, size_t len)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)memory + len) & ~(uintptr_t)(HUGE_PAGE - 1);

    if (end > begin) /* where it is refused, the array has small pages */
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)len;
#endif
    return memory;
}

void *cn_alloc(size_t count, size_t size)
{
    void *memory = count ? or_fail(calloc(count, size), count, size) : NULL;

    return count > 0 && size > 0 && count >= MANY_PAGES / size
               ? with_large_pages(memory, count * size)
               : memory;
}

void *cn_realloc(void *array, size_t count, size_t size)
{
    if (count == 0) {
        free(array);
        return NULL;
    }
    return or_fail(reallocarray(array, count, size), count, size);
}

void *cn_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    enum { FIRST = 16 };
    size_t larger = *capacity < FIRST ? FIRST : *capacity * 2;

    if (count < *capacity)
        return array;
    array = cn_realloc(array, larger, size);
    *capacity = larger;
    return array;
}

void *cn_grow_to(void *array, size_t needed, size_t *capacity, size_t size)
{
    size_t larger = *capacity + *capacity / 2;

    if (needed <= *capacity)
        return array;
    larger = needed > larger ? needed : larger;
    array = cn_realloc(array, larger, size);
    *capacity = larger;
    return array;
}

void *cn_renew(void *array, size_t needed, size_t *capacity, size_t size)
{
    if (needed <= *capacity)
        return array;
    /* In a scope, the caller must not be left with an array that is freed. */
    if (!cn_memory_is_scoped()) {
        free(array);
        array = NULL;
    }
    void *fresh = cn_realloc(NULL, needed, size);
    free(array);
    *capacity = needed;
    return fresh;
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
