/* Which blocks of a stopped process can be reached by a pointer: from its registers, stacks and data,
 * and from blocks that are reached.
 *
 *     struct cn_leak_scan scan = {.stopped = &stopped, .blocks = blocks, .count = count, ...};
 *     cn_leak_scan_run(&scan, err)      sets `is_reached` of the blocks
 *
 * Any word that has the address of a byte of a block counts as a pointer to it, so a block that is not
 * reached is leaked, unless the program hides its pointers; one that is reached may be leaked all the
 * same.
 * Borrows everything. Threads: that which stopped the process.
 */
#ifndef CN_LAUNCHER_LEAKS_SCAN_H
#define CN_LAUNCHER_LEAKS_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cn_map;
struct cn_stopped;

struct cn_leak_block {
    uint64_t address, size;
    bool is_reached;
};

struct cn_leak_scan {
    const struct cn_stopped *stopped;
    struct cn_leak_block *blocks; /* sorted by address, without overlap */
    size_t count;
    const struct cn_map
        *held; /* by page: the allocator gave blocks of it, so that it may contain
                                * pointers of blocks that were freed; NULL: unknown */
    ino_t
        skipped_file; /* of a mapping that is no part of the program, which must be there; 0: none */
    uint64_t deadline_ns; /* of the monotonic clock */
};

CN_CHECK bool cn_leak_scan_run(struct cn_leak_scan *scan, struct cn_error *err);

#endif
