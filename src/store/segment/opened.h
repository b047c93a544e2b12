/* An open store.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_OPENED_H
#define CN_STORE_SEGMENT_OPENED_H

#include <stddef.h>

#include "base/error.h"

struct cn_bucket;
struct cn_segment;

/* Its segments are sorted by number. */
struct cn_store {
    struct cn_segment **segments;
    size_t count;
    struct cn_bucket *bucket; /* NULL: a local directory */
    void (*close_bucket)(struct cn_bucket *bucket);
    char **missing; /* collectors that did not answer */
    size_t missing_count;
    uint64_t look_ns; /* from one look to the next */
    bool (*look)(struct cn_bucket *bucket, bool *is_changed, struct cn_error *err);
};

/* Open all segments that the manifest of an address names, sharing those of an earlier snapshot, which
 * may be NULL; and the fresh segments of collectors. On failure `store` has to be closed. Defined in
 * store/segment/remote. */
CN_CHECK bool cn_remote_store_open(struct cn_store *store, const char *address,
                                   const struct cn_store *earlier, struct cn_error *err);

#endif
