/* Names and paths that begin with, or match, one of a list.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_LENS_MATCHES_H
#define CN_ANALYZE_LENS_MATCHES_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/list.h"

static inline bool cn_begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static inline bool cn_begins_with_any(const char *text, const char *const *starts,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cn_begins_with(text, starts[i]))
            return true;
    return false;
}

static inline bool cn_matches_any(const char *text, const char *const *globs,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], text, 0) == 0)
            return true;
    return false;
}

#define CN_BEGINS_WITH_ANY(text, list) cn_begins_with_any(text, list, CN_COUNT_OF(list))
#define CN_MATCHES_ANY(text, list)     cn_matches_any(text, list, CN_COUNT_OF(list))

#endif
