/* Symbols of files that many programs load, kept between recordings by build-id:
 * libraries are the same each time, and reading them is what starting a recording takes
 * longest.
 *
 * A file of the cache begins with a line that says how long the rest is and what it
 * hashes to; one that does not fit is as good as none. Files are put in place as a whole,
 * and the oldest go when there are too many.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_SYMBOL_CACHE_H
#define CN_LAUNCHER_SYMBOL_CACHE_H

#include <stdbool.h>

#include "base/text.h"

/* Append what is kept under this build-id, which is not empty. False when nothing is. */
bool cn_symbol_cache_find(const char *build_id, struct cn_text *text);

/* Keep a text; that it cannot be kept does no harm. */
void cn_symbol_cache_add(const char *build_id, const struct cn_text *text);

#endif
