/* Traces from one store into another.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_STORE_COPY_H
#define CN_CLI_STORE_STORE_COPY_H

#include <stdint.h>

#include "base/error.h"

struct cn_store_query;
struct cn_store_writer;

struct cn_store_copied {
    uint64_t traces, known, records;
};

/* Add everything that matches, the oldest first. What the other store has already is counted as
 * known. */
CN_CHECK bool cn_store_copy(struct cn_store_writer *to, const struct cn_store_query *from,
                            struct cn_store_copied *out, struct cn_error *err);

#endif
