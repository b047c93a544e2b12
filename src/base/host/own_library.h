/* The shared libraries that belong to cairn, found from the path of the running program.
 * Threads: any thread.
 */
#ifndef CN_BASE_HOST_OWN_LIBRARY_H
#define CN_BASE_HOST_OWN_LIBRARY_H

#include "base/error.h"

/* The path of library `name`: next to the program (in a build folder) or in the library
 * folder of the installation. Release it with free(). CN_ERR_NOT_FOUND if there is none. */
CN_CHECK bool cn_own_library_find(const char *name, char **out, struct cn_error *err);

/* The same for programs of another processor, whose libraries are in folders `triplet`:
 * next to the program, or where Debian installs them. */
CN_CHECK bool cn_own_library_find_for(const char *triplet, const char *name, char **out,
                                      struct cn_error *err);

#endif
