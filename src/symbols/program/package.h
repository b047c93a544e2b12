/* The package of the system that a file belongs to, by the lists of dpkg.
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_PROGRAM_PACKAGE_H
#define CN_SYMBOLS_PROGRAM_PACKAGE_H

#include <stdbool.h>

struct cn_text;

/* Append the name of the package that installed the file at `path`; false if none did. Reads all lists:
 * for messages, not for each address. */
bool cn_package_find(const char *path, struct cn_text *out);

#endif
