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

#include "base/error.h"

struct cn_library_symbol {
    const char *name;
    void *to; /* a pointer to a function */
};

/* Set all pointers. Returns the name of the first function that the library lacks, or NULL. */
const char *cn_library_find(void *library, const struct cn_library_symbol *symbols,
                            size_t count);

/* The shared libraries that belong to cairn, found from the path of the running program. */

/* The path of library `name`: next to the program (in a build folder) or in the library
 * folder of the installation. Release it with free(). CN_ERR_NOT_FOUND if there is none. */
CN_CHECK bool cn_own_library_find(const char *name, char **out, struct cn_error *err);

/* The same for programs of another processor, whose libraries are in folders `triplet`:
 * next to the program, or where Debian installs them. */
CN_CHECK bool cn_own_library_find_for(const char *triplet, const char *name, char **out,
                                      struct cn_error *err);

#endif
