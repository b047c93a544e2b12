/* Packing the records of a task into chunks.
 *
 *     packer = cn_uft_packer_new(is_big_endian, method, level);
 *     for each record
 *         if (cn_uft_packer_is_full(packer))
 *             cn_uft_packer_take(packer, &chunk, err), store the chunk
 *         cn_uft_packer_add(packer, time_ns, word, payload);
 *     if (cn_uft_packer_has_items(packer))
 *         cn_uft_packer_take(...)
 *
 * Unpacking gives the same bytes, whatever they are.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_PACKED_ENCODE_H
#define CN_FORMATS_UFTRACE_PACKED_PACKED_ENCODE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/compress.h"

struct cn_uft_packer;

/* What cairn packs with; the alternatives are measured in docs/formats/packed.md. */
#define CN_UFT_PACK_METHOD CN_COMPRESSION_ZSTD
enum { CN_UFT_PACK_LEVEL = 1 };

struct cn_uft_packer *cn_uft_packer_new(bool is_big_endian, enum cn_compression method,
                                        int level);

/* What was packed by another packer before comes first, so many bytes of records. To be
 * called before anything is added. */
void cn_uft_packer_go_on(struct cn_uft_packer *packer, uint64_t unpacked_len);

uint64_t cn_uft_packer_unpacked_len(const struct cn_uft_packer *packer);
void cn_uft_packer_free(struct cn_uft_packer *packer); /* NULL is fine */

/* Nothing can be added before the chunk is taken. */
bool cn_uft_packer_is_full(const struct cn_uft_packer *packer);
bool cn_uft_packer_has_items(const struct cn_uft_packer *packer);

/* A record. `word` has its bits where little-endian recordings have them, and the magic.
 * `payload`, at most CN_UFT_PACKED_PIECE_MAX bytes, is what follows a record that has `more`
 * set, padding included; other records have none. */
void cn_uft_packer_add(struct cn_uft_packer *packer, uint64_t time_ns, uint64_t word,
                       struct cn_bytes payload);

/* The fast way for little-endian records: add those at the start of `records` that are calls
 * with nothing attached, nested as expected, until the chunk is full. Returns how many bytes
 * were used; the record after them needs cn_uft_packer_add(). */
size_t cn_uft_packer_add_calls(struct cn_uft_packer *packer, struct cn_bytes records);

/* Bytes that are no record, at most CN_UFT_PACKED_PIECE_MAX. */
void cn_uft_packer_add_verbatim(struct cn_uft_packer *packer, struct cn_bytes piece);

/* The chunk of what was added, borrowed until the next call; the next chunk begins. */
CN_CHECK bool cn_uft_packer_take(struct cn_uft_packer *packer, struct cn_bytes *chunk,
                                 struct cn_error *err);

#endif
