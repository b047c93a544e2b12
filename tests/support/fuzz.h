/* What a fuzz target defines: tests/fuzz/fuzz_NAME.c holds these two functions and is
 * linked with libFuzzer in the fuzz preset, with fuzz_replay.c everywhere else.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FUZZ_H
#define CN_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Any bytes at all: returns 0, or the process ends in a failed assertion or a report of
 * a sanitizer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Hand valid inputs to `emit`, which copies them: where mutation starts from. */
void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len));

#endif
