/* Memory that does not fail: a small allocation that cannot be served ends the process
 * with a message, or what the thread does (memory.h). Nothing has changed then. Sizes that
 * come from input are checked against a limit first.
 * Threads: any thread.
 */
#ifndef CN_BASE_ALLOC_H
#define CN_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory, released with free(). Zero elements give NULL. */
void *cn_alloc(size_t count, size_t size);

/* Resize an array; new elements are not initialised. */
void *cn_realloc(void *array, size_t count, size_t size);

/* Append an element to a list. It may be in terms of `count`, which counts it afterwards. */
#define CN_PUSH(list, count, capacity, ...)                                 \
    (CN_GROW(list, count, capacity), (void)((list)[count] = (__VA_ARGS__)), \
     (void)(count)++)

/* Room for one more element in a list, which doubles as it fills. */
#define CN_GROW(list, count, capacity) \
    ((size_t)(count) < (capacity)      \
         ? (void)0                     \
         : (void)((list) = cn_grow((list), (count), &(capacity), sizeof(*(list)))))
void *cn_grow(void *array, size_t count, size_t *capacity, size_t size);

/* Room for `needed` elements, in steps of at least half the capacity. */
#define CN_GROW_TO(list, needed, capacity) \
    ((void)((list) = cn_grow_to((list), (needed), &(capacity), sizeof(*(list)))))
void *cn_grow_to(void *array, size_t needed, size_t *capacity, size_t size);

/* Room for exactly `needed` elements, whose contents are undefined. */
#define CN_RENEW(list, needed, capacity) \
    ((void)((list) = cn_renew((list), (needed), &(capacity), sizeof(*(list)))))
void *cn_renew(void *array, size_t needed, size_t *capacity, size_t size);

char *cn_strdup(const char *text);

/* Return freed memory of all threads to the system: after work that needed much more than
 * what follows. */
void cn_alloc_trim(void);

#endif
