/* A file of checksummed blocks around any bytes, so that fuzz targets of what such files hold need
 * not guess checksums.
 * Threads: any thread.
 */
#ifndef CN_TEST_FUZZ_BLOCKS_H
#define CN_TEST_FUZZ_BLOCKS_H

#include "base/bytes/bytes.h"
#include "base/text.h"

/* Append the place of a section, as it stands before the bytes: its id in a byte, where it begins
 * and its length in two each. */
void cn_fuzz_blocks_place(struct cn_text *out, unsigned id, size_t off, size_t len);

/* The input is the number of sections in a byte, their places in the file that is made, then the
 * bytes, which follow the header. */
void cn_fuzz_blocks_wrap(struct cn_bytes data, uint64_t magic, uint32_t version,
                         struct cn_text *out);

#endif
