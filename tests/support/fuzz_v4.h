/* What the fuzz targets of the HPCToolkit v4 reader share: a good database with one
 * file replaced, opened, read and dumped to the end.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FUZZ_V4_H
#define CN_TEST_FUZZ_V4_H

#include <stddef.h>
#include <stdint.h>

enum cn_fuzz_v4_file {
    CN_FUZZ_V4_META,
    CN_FUZZ_V4_PROFILE,
    CN_FUZZ_V4_CCT,
    CN_FUZZ_V4_TRACE,
};

/* Returns 0, or ends in a failed assertion. */
int cn_fuzz_v4_run(enum cn_fuzz_v4_file file, const uint8_t *data, size_t len);

/* That file of a few good databases: final, with grown records, and drafts. */
void cn_fuzz_v4_seeds(enum cn_fuzz_v4_file file,
                      void (*emit)(const uint8_t *data, size_t len));

#endif
