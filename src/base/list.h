/* Arrays of names.
 * Threads: any thread.
 */
#ifndef CN_BASE_LIST_H
#define CN_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The number of elements of an array that is not a parameter. */
#define CN_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The index of a name in a list; `count` if it is not there. */
static inline size_t cn_list_find(const char *const *list, size_t count, const char *name)
{
    size_t i = 0;

    while (i < count && strcmp(list[i], name) != 0)
        i++;
    return i;
}

static inline bool cn_list_has(const char *const *list, size_t count, const char *name)
{
    return cn_list_find(list, count, name) < count;
}

#endif
