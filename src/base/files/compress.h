/* Compression of whole buffers, and their checksum.
 *
 * A compressor or decompressor is made once and used for many buffers. Decompression gets
 * the length of the result and fails for any other: the caller first checks the length that
 * the input claims against its own limit.
 * Threads: one thread at a time for each compressor and decompressor; the rest any thread.
 */
#ifndef CN_BASE_FILES_COMPRESS_H
#define CN_BASE_FILES_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

/* The values are stored in files. */
enum cn_compression {
    CN_COMPRESSION_NONE = 0,
    CN_COMPRESSION_LZ4 = 1,     /* one LZ4 block */
    CN_COMPRESSION_DEFLATE = 2, /* raw deflate, without the header of zlib */
    CN_COMPRESSION_ZSTD = 4,    /* one frame */
};

struct cn_compressor;
struct cn_decompressor;

/* "lz4", "deflate"; NULL for any other value. */
const char *cn_compression_name(uint32_t method);

/* `level` as the method counts them; 0 is its default. */
struct cn_compressor *cn_compressor_new(enum cn_compression method, int level);
void cn_compressor_free(struct cn_compressor *compressor); /* NULL is fine */

/* Deflate that is flushed and never finished, as Java's Deflater leaves it: without a final
 * block, ending in 00 00 ff ff. */
struct cn_compressor *cn_compressor_new_unfinished(int level);

/* One zstd stream that is flushed after each buffer and never finished: buffers are compressed
 * with the knowledge of those before, and are only readable after them. */
struct cn_compressor *cn_compressor_new_stream(int level);

/* The most bytes that `len` bytes can become. */
size_t cn_compressor_bound(const struct cn_compressor *compressor, size_t len);

/* Compress `in` to `out`, which has room for cn_compressor_bound(compressor, in.len)
 * bytes. */
CN_CHECK bool cn_compress(struct cn_compressor *compressor, struct cn_bytes in,
                          uint8_t *out, size_t *out_len, struct cn_error *err);

/* Any method. */
struct cn_decompressor *cn_decompressor_new(void);
void cn_decompressor_free(struct cn_decompressor *decompressor); /* NULL is fine */

/* Decompress `in` to exactly `out_len` bytes. After a failure the contents of `out` are undefined. A deflate
 * stream need not have a final block: it ends with its bytes. */
CN_CHECK bool cn_decompress(struct cn_decompressor *decompressor,
                            enum cn_compression method, struct cn_bytes in, uint8_t *out,
                            size_t out_len, struct cn_error *err);

/* CRC-32 as in zlib, gzip and PNG. */
uint32_t cn_crc32(struct cn_bytes bytes);

/* The same, continued: `crc` is that of the bytes before; of none it is 0. */
uint32_t cn_crc32_add(uint32_t crc, struct cn_bytes bytes);

#endif
