/* The layout of objects with commits: store/maintenance/replica.h.
 *
 * Internal to the care of stores. Threads: any thread.
 */
#ifndef CN_STORE_MAINTENANCE_COMMIT_OBJECT_H
#define CN_STORE_MAINTENANCE_COMMIT_OBJECT_H

#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/bytes/cbor.h"
#include "base/error.h"

#define CN_COMMITS "commits/"

struct cn_commit_object {
    uint64_t text_off, data_off;
    struct cn_bytes text, data; /* of text.log and traces.dat, borrowed */
    struct cn_bytes config;     /* config.props */
};

void cn_commit_object_encode(const struct cn_commit_object *commit,
                             struct cn_cbor_out *out);
CN_CHECK bool cn_commit_object_decode(struct cn_bytes bytes, struct cn_commit_object *out,
                                      struct cn_error *err);

#endif
