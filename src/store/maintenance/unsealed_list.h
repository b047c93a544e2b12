/* Collectors, and their fresh segments: those that the manifest of its store in object storage does not
 * name, for readers of that store (store/bucket/unsealed.h).
 * Threads: any thread.
 */
#ifndef CN_STORE_MAINTENANCE_UNSEALED_LIST_H
#define CN_STORE_MAINTENANCE_UNSEALED_LIST_H

#include <stdint.h>

#include "base/bytes/cbor.h"
#include "base/error.h"
#include "store/bucket/manifest.h"

struct cn_bucket;

/* The id of the collector with this store, in its file "collector", which is made if needed. */
CN_CHECK bool cn_collector_id(const char *base, char id[CN_MANIFEST_ID_LEN + 1],
                              struct cn_error *err);

/* Remove the registration of a collector that was stopped, unless it has something that is not
 * uploaded: readers report it as missing then. */
CN_CHECK bool cn_collector_sign_off(struct cn_bucket *bucket, const char *base,
                                    struct cn_error *err);

/* Append the list. The lengths of the files of an open segment are those of a moment: what a file
 * refers to is in the others. */
CN_CHECK bool cn_fresh_list(const char *base, const char *label, struct cn_cbor_out *out,
                            struct cn_error *err);

/* Open a file of a segment: one that lists have. `len` receives its length. */
CN_CHECK bool cn_fresh_open(const char *base, uint32_t number, const char *name, int *fd,
                            uint64_t *len, struct cn_error *err);

#endif
