/* Cached entries of a manifest, in the cache of its bucket.
 *
 * Internal to store/bucket. Threads: any thread.
 */
#ifndef CN_STORE_BUCKET_ENTRY_CACHE_H
#define CN_STORE_BUCKET_ENTRY_CACHE_H

#include <stdint.h>

#include "store/bucket/bucket.h"

/* NULL if the entry is not cached, or damaged. The caller releases it. */
struct cn_manifest_entry *cn_entry_cache_read(const struct cn_bucket *bucket,
                                              uint32_t number);

/* An entry that cannot be cached is fetched again next time. */
void cn_entry_cache_write(const struct cn_bucket *bucket, uint32_t number,
                          struct cn_bytes bytes);

/* Fetch and cache merged entries. If they cannot be read, nothing is cached: each entry has an object
 * of its own. */
void cn_entry_cache_merged(struct cn_bucket *bucket, uint32_t first);

#endif
