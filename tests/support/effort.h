/* How much a test tries, chosen by the environment: CAIRN_SEED=N repeats or varies a random
 * test, CAIRN_THOROUGH=1 tries everything where a part is usually enough.
 */
#ifndef CN_SUPPORT_EFFORT_H
#define CN_SUPPORT_EFFORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The seed of a random test, which is also printed. */
uint64_t cn_test_seed(uint64_t usual);

bool cn_test_is_thorough(void);

/* How many of the first `all` seeds a test of random data tries: one of five, or all. */
uint32_t cn_test_seeds(uint32_t all);

/* The distance between the bits that are flipped: every bit, or one of three bytes. */
size_t cn_test_bit_step(void);

#endif
