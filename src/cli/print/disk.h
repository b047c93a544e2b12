/* What lies on disk under a path.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_DISK_H
#define CN_CLI_PRINT_DISK_H

#include <stdint.h>

struct cn_disk_usage {
    uint64_t file_count;
    uint64_t bytes;
};

/* Regular files at and below `path`; links are not followed. What cannot be read counts
 * nothing. */
struct cn_disk_usage cn_disk_usage(const char *path);

#endif
