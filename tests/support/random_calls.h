/* Made-up records of a task, as bytes of TID.dat: the same for the same seed.
 * Threads: any thread.
 */
#ifndef CN_TEST_RANDOM_CALLS_H
#define CN_TEST_RANDOM_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "formats/uftrace/format.h"

/* What may occur besides calls that are nested well. */
enum {
    CN_CALLS_PAYLOADS = 1, /* arguments, return values, events with data */
    CN_CALLS_ODDITIES = 2, /* losses, jumps of depth and time, exits of something else */
    CN_CALLS_GARBAGE = 4,  /* bytes that are no records */
    CN_CALLS_BIG_ENDIAN = 8, /* records, not payloads */
    CN_CALLS_DEEP = 16,      /* more levels than a depth can count */
};

/* About `count` records; free() releases them. */
uint8_t *cn_random_calls(size_t count, unsigned kinds, uint64_t seed, size_t *len);

/* The next number of a sequence that `state` is the place in. */
uint64_t cn_random_next(uint64_t *state);

/* How long payloads are, for the summary of little-endian records made here. */
bool cn_random_calls_measure(void *arg, struct cn_uft_record record, struct cn_bytes rest,
                             size_t *len);

#endif
