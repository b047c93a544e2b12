#include "base/files/cache_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool cn_cache_dir(const char *below, char path[static PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    /* A path that is not absolute is to be ignored, says the XDG specification. */
    if (cache && cache[0] == '/')
        return snprintf(path, PATH_MAX, "%s/cairn%s", cache, below) < PATH_MAX;
    return home && home[0] == '/' &&
           snprintf(path, PATH_MAX, "%s/.cache/cairn%s", home, below) < PATH_MAX;
}

void cn_cache_dir_make(char path[static PATH_MAX])
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}
