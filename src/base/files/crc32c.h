/* CRC-32C (Castagnoli): the checksum of the store's own files, by the processor's
 * instruction where it has one.
 * Threads: any thread.
 */
#ifndef CN_BASE_FILES_CRC32C_H
#define CN_BASE_FILES_CRC32C_H

#include <stdint.h>

#include "base/bytes/bytes.h"

uint32_t cn_crc32c(struct cn_bytes bytes);

/* The same, continued: `crc` is that of the bytes before; of none it is 0. */
uint32_t cn_crc32c_add(uint32_t crc, struct cn_bytes bytes);

/* The checksum of two parts one after the other, from theirs and the length of the second. */
uint32_t cn_crc32c_join(uint32_t left, uint32_t right, uint64_t right_len);

#endif
