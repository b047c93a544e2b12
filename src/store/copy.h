/* Traces copied from one store into another.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_COPY_H
#define CN_STORE_COPY_H

#include "base/error.h"

struct cn_query;
struct cn_search;
struct cn_store_added;
struct cn_store_writer;

/* Add all traces that match, the oldest first. A failure leaves those added before it; damage of
 * the other store is such a failure, after all that can be read was added. */
CN_CHECK bool cn_store_copy(struct cn_store_writer *to, struct cn_search *search,
                            const struct cn_query *query, struct cn_store_added *out,
                            struct cn_error *err);

/* Write all traces that match to a new, sealed store at `path`, where it appears when it is complete:
 * other failures than damage of the other store, which is copied as far as it can be read, leave
 * nothing there. */
CN_CHECK bool cn_store_copy_new(const char *path, struct cn_search *search,
                                const struct cn_query *query, struct cn_store_added *out,
                                struct cn_error *err);

#endif
