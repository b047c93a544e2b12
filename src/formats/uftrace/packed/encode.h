/* Packs the records of a task into chunks. Unpacking gives the same bytes.
 *
 * For each record: when cn_uft_packer_is_full(), store the chunk of cn_uft_packer_take();
 * then call cn_uft_packer_add(). At the end, take the last chunk. cn_uft_packer_fill() in
 * file.h does this for the bytes of TID.dat.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_ENCODE_H
#define CN_FORMATS_UFTRACE_PACKED_ENCODE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/compress.h"

struct cn_uft_packer;

/* The compression cairn uses; docs/formats/packed.md compares others. */
#define CN_UFT_PACK_METHOD CN_COMPRESSION_ZSTD
enum { CN_UFT_PACK_LEVEL = 1 };

struct cn_uft_packer *cn_uft_packer_new(bool is_big_endian, enum cn_compression method,
                                        int level);

/* Continue after `unpacked_len` bytes of records that another packer packed. Call this
 * before anything is added. */
void cn_uft_packer_resume(struct cn_uft_packer *packer, uint64_t unpacked_len);

uint64_t cn_uft_packer_unpacked_len(const struct cn_uft_packer *packer);
void cn_uft_packer_free(struct cn_uft_packer *packer); /* NULL is fine */

/* When full, take the chunk before adding more. */
bool cn_uft_packer_is_full(const struct cn_uft_packer *packer);

/* Add a record. `word` has the magic, and its bits in little-endian order. `payload`
 * follows a record with `more`, padding included, at most CN_UFT_PACKED_BYTES_MAX bytes;
 * it is empty for other records. */
void cn_uft_packer_add(struct cn_uft_packer *packer, uint64_t time_ns, uint64_t word,
                       struct cn_bytes payload);

/* Fast path for little-endian records: add calls without payload, nested as expected,
 * from the start of `records` until the chunk is full. Returns the bytes used; add the
 * next record with cn_uft_packer_add(). */
size_t cn_uft_packer_add_calls(struct cn_uft_packer *packer, struct cn_bytes records);

/* Add bytes that are not a record, at most CN_UFT_PACKED_BYTES_MAX. */
void cn_uft_packer_add_verbatim(struct cn_uft_packer *packer, struct cn_bytes bytes);

/* Finish the chunk and begin the next one. The chunk is borrowed until the next call. */
CN_CHECK bool cn_uft_packer_take(struct cn_uft_packer *packer, struct cn_bytes *chunk,
                                 struct cn_error *err);

#endif
