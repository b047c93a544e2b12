/* A small jitdump, for tests that read or damage it.
 * Threads: any thread.
 */
#ifndef CN_TEST_JIT_FILES_H
#define CN_TEST_JIT_FILES_H

#include <stddef.h>
#include <stdint.h>

/* "first" at 0x5000 from 100 ns on with lines 11 and 12 of a.js, "second" in its place from
 * 200 ns on, and "first" moved to 0x7000 at 300 ns. To be released with free(). */
uint8_t *cn_test_jitdump(size_t *len);

#endif
