/* Between a store and the disk: everything goes to real files and is written down, so that
 * afterwards the disk can be shown as a power failure at any moment would have left it.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FORGETFUL_IO_H
#define CN_TEST_FORGETFUL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/disk.h"

/* What became of writes that were not synced when the power failed. */
enum cn_forget {
    CN_FORGET_ALL,    /* none reached the disk */
    CN_FORGET_NONE,   /* all did */
    CN_FORGET_LAST,   /* all but the last one */
    CN_FORGET_TEAR,   /* all, the last one by half */
    CN_FORGET_RANDOM, /* each one did, did not, or did by half */
    CN_FORGET_KINDS,
};

struct cn_forgetful_op;

struct cn_forgetful {
    struct cn_disk io;
    struct cn_forgetful_op *ops;
    size_t count, capacity;
};

void cn_forgetful_init(struct cn_forgetful *forgetful);
void cn_forgetful_done(struct cn_forgetful *forgetful);

/* False if an earlier kind leaves the same on the disk after the first `count` operations. */
bool cn_forgetful_differs(const struct cn_forgetful *forgetful, size_t count,
                          enum cn_forget kind);

/* Make `to` (which must not exist) what `from` was on the disk after the first `count`
 * operations. */
void cn_forgetful_replay(const struct cn_forgetful *forgetful, size_t count,
                         enum cn_forget kind, uint64_t seed, const char *from,
                         const char *to);

#endif
