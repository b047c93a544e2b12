/* A cache of symbols by build-id, in the user's cache folder. Reading the symbols of
 * libraries is most of the time that starting a recording takes.
 *
 * A cached file begins with a line with the length and the hash of the rest; a file that
 * does not match is ignored. Files are renamed into place, and the oldest is evicted when
 * there are too many.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_ELF_SYMBOL_CACHE_H
#define CN_LAUNCHER_ELF_SYMBOL_CACHE_H

#include <stdbool.h>

#include "base/text.h"

/* Append the cached symbols of this build-id, which is not empty. False when there are
 * none. */
bool cn_symbol_cache_find(const char *build_id, struct cn_text *text);

/* Cache the symbols of this build-id, if possible. */
void cn_symbol_cache_add(const char *build_id, const struct cn_text *text);

#endif
