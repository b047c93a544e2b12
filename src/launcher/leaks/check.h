/* The check for leaks at the end of recorded programs (record --memory --leaks): a program that ends asks
 * for it and waits (struct cn_rec_leaks); its threads are stopped, the blocks that are live are those
 * of its records, and what is not reached (scan.h) is added to its TID.mem when the recording ends.
 *
 * Owns its list; borrows the rest. Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_LEAKS_CHECK_H
#define CN_LAUNCHER_LEAKS_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_drain;

struct cn_leak_check {
    struct cn_drain *drain;
    struct cn_leak_result *results;
    size_t count, capacity;
    uint64_t checked_count;            /* processes */
    uint64_t leaked_count, live_count; /* blocks */
    double leaked_bytes, live_bytes;
    char failure[sizeof(((struct cn_error *)0)->text)]; /* the first; "": none */
    uint64_t failed_count;
};

/* Check the program that asks, if one does. */
void cn_leak_check_answer(struct cn_leak_check *check);

/* Write what was found: once, when all records are written. */
CN_CHECK bool cn_leak_check_write(const struct cn_leak_check *check,
                                  struct cn_error *err);
void cn_leak_check_done(struct cn_leak_check *check);

#endif
