#include "base/files/cache_dir.h"

#include <stdio.h>
#include <stdlib.h>

bool cn_cache_dir(char path[static PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    /* A path that is not absolute is to be ignored, says the XDG specification. */
    if (cache && cache[0] == '/')
        return snprintf(path, PATH_MAX, "%s/cairn", cache) < PATH_MAX;
    return home && home[0] == '/' &&
           snprintf(path, PATH_MAX, "%s/.cache/cairn", home) < PATH_MAX;
}
