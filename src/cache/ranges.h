/* A file on disk that caches bytes from elsewhere: mapped whole, filled block by block where it is
 * needed.
 *
 *   u32 per block: CRC-32C of its bytes | u32: 1 if the block is there -> padding to a block ->
 *   blocks of CN_RANGE_BLOCK_LEN bytes
 *
 * A block is written before its checksum, and checked when a process first uses it: what a crash
 * left, or a disk damaged, is fetched again. Several processes may share a file; they write the
 * same bytes. While it is open, cn_cache_dir_limit() does not remove it.
 *
 *     cn_range_cache_open(&cache, path, len, fetch, arg, err)
 *     cn_range_cache_need(cache, &part, 1, err)        part of cn_range_cache_bytes(cache)
 *
 * Threads: any thread may ask; one thread at a time fetches.
 */
#ifndef CN_CACHE_RANGES_H
#define CN_CACHE_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

enum { CN_RANGE_BLOCK_LEN = 1 << 16 };

/* Bytes to fetch: `len` of them, from `off` on, to `out`. */
struct cn_range {
    uint64_t off, len;
    uint8_t *out;
};

/* Fetch all ranges, which are whole blocks, except at the end of the file. */
typedef bool (*cn_range_fetch)(void *arg, const struct cn_range *ranges, size_t count,
                               struct cn_error *err);

struct cn_range_cache;

/* Open or create the file, for `len` bytes. The directory must exist. */
CN_CHECK bool cn_range_cache_open(struct cn_range_cache **out, const char *path,
                                  uint64_t len, cn_range_fetch fetch, void *arg,
                                  struct cn_error *err);
void cn_range_cache_close(struct cn_range_cache *cache); /* NULL is fine */

/* All bytes; zero where no block was needed so far. */
struct cn_bytes cn_range_cache_bytes(const struct cn_range_cache *cache);

/* Fetch the blocks of all parts that are missing, together. */
CN_CHECK bool cn_range_cache_need(struct cn_range_cache *cache,
                                  const struct cn_bytes *parts, size_t count,
                                  struct cn_error *err);

#endif
