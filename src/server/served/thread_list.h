/* The threads of a database that have timelines, in the order of their identities, and
 * the part of them that a request asks for.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_THREAD_LIST_H
#define CN_SERVER_SERVED_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_request;

struct cn_thread_list {
    uint32_t *profiles;
    size_t count, capacity;
};

/* Threads with samples; those that `thread` selects when it is given. */
CN_CHECK bool cn_thread_list_build(struct cn_thread_list *list, struct cn_database *db,
                                   const struct cn_request *request,
                                   struct cn_error *err);
void cn_thread_list_done(struct cn_thread_list *list);

/* The part of time between `begin` and `end`, nanoseconds from the start of the
 * timelines; all of it when they are not given. */
CN_CHECK bool cn_request_range(const struct cn_request *request,
                               const struct cn_database *db, uint64_t *begin_ns,
                               uint64_t *end_ns, struct cn_error *err);

#endif
