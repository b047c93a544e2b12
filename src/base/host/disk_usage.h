/* Number and size of the files below a path.
 * Threads: any thread.
 */
#ifndef CN_BASE_HOST_DISK_USAGE_H
#define CN_BASE_HOST_DISK_USAGE_H

#include <stdint.h>

struct cn_disk_usage {
    uint64_t file_count;
    uint64_t bytes;
};

/* Regular files at and below `path`. Symbolic links are not followed; files that cannot
 * be read are not counted. */
struct cn_disk_usage cn_disk_usage(const char *path);

#endif
