/* A file of checksummed blocks around any bytes, so that fuzz targets of what such files hold need
 * not guess checksums.
 * Threads: any thread.
 */
#ifndef CN_TEST_FUZZ_BLOCKS_H
#define CN_TEST_FUZZ_BLOCKS_H

#include "base/bytes/bytes.h"
#include "base/text.h"

/* Of a section, before the bytes: its id in a byte, its place and its length in two each. */
enum { CN_FUZZ_PLACE_LEN = 5 };

/* The input is the number of sections in a byte, their places in the file that is made, then the
 * bytes, which follow the header. */
void cn_fuzz_blocks_wrap(struct cn_bytes data, uint64_t magic, uint32_t version,
                         struct cn_text *out);

#endif
