#include "base/files/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

static bool parse(const char *name, uint64_t *out)
{
    size_t prefix_len = strlen(CN_RANK_PREFIX);
    char *end;

    if (strncmp(name, CN_RANK_PREFIX, prefix_len) != 0 || name[prefix_len] < '0' ||
        name[prefix_len] > '9')
        return false;
    errno = 0;
    *out = strtoull(name + prefix_len, &end, 10);
    return *end == '\0' && errno == 0;
}

uint64_t *cn_rank_files_list(const char *folder, size_t *count)
{
    DIR *listing = opendir(folder);
    uint64_t *numbers = NULL, number;
    size_t capacity = 0;
    struct dirent *entry;

    *count = 0;
    while (listing && (entry = readdir(listing))) {
        if (!parse(entry->d_name, &number))
            continue;
        CN_PUSH(numbers, *count, capacity, number);
    }
    if (listing)
        (void)closedir(listing);
    CN_SORT_VALUES(numbers, *count);
    return numbers;
}
