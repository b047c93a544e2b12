#include "store/segments.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { NAME_LEN = 6 };

bool cn_segments_parse(const char *path, uint32_t *number)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (strlen(name) != NAME_LEN || strspn(name, "0123456789abcdef") != NAME_LEN)
        return false;
    *number = (uint32_t)strtoul(name, NULL, 16);
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

bool cn_segments_list(const char *base, uint32_t **numbers, size_t *count,
                      struct cn_error *err)
{
    DIR *dir = opendir(base);
    const struct dirent *entry;
    uint32_t *list = NULL;
    size_t n = 0, capacity = 0;

    if (!dir)
        return cn_fail_errno(err, "%s", base);
    while ((entry = readdir(dir))) {
        uint32_t number;

        if (!cn_segments_parse(entry->d_name, &number))
            continue;
        list = cn_grow(list, n, &capacity, sizeof(*list));
        list[n++] = number;
    }
    (void)closedir(dir);
    if (n > 0)
        qsort(list, n, sizeof(*list), by_number);
    *numbers = list;
    *count = n;
    return true;
}
