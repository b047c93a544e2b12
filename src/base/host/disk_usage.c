#include "base/host/disk_usage.h"

#include <fts.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"

struct cn_disk_usage cn_disk_usage(const char *path)
{
    char *copy = cn_strdup(path); /* fts takes no constant strings */
    char *roots[] = {copy, NULL};
    struct cn_disk_usage usage = {0};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;

    while (tree && (entry = fts_read(tree))) {
        if (entry->fts_info != FTS_F)
            continue;
        usage.file_count++;
        usage.bytes += (uint64_t)entry->fts_statp->st_size;
    }
    if (tree)
        (void)fts_close(tree);
    free(copy);
    return usage;
}
