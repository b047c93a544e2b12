/* Functions of libraries that are loaded when they are first needed.
 *
 *     static const struct cn_library_symbol symbols[] = {{"curl_easy_init", &functions.init}, ...};
 *     missing = cn_library_find(dlopen(...), symbols, count);
 *
 * Threads: any thread, each with symbols of its own.
 */
#ifndef CN_BASE_HOST_LIBRARY_H
#define CN_BASE_HOST_LIBRARY_H

#include <stddef.h>

struct cn_library_symbol {
    const char *name;
    void *to; /* a pointer to a function */
};

/* Set all pointers. Returns the name of the first function that the library lacks, or NULL. */
const char *cn_library_find(void *library, const struct cn_library_symbol *symbols,
                            size_t count);

#endif
