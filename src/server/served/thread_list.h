/* The threads of a database that have timelines.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_THREAD_LIST_H
#define CN_SERVER_SERVED_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_question_list;

/* Profiles in the order of their identities. */
struct cn_thread_list {
    uint32_t *profiles;
    size_t count, capacity;
};

/* The threads that `selections` match, all of them if it is empty; with `needs_samples`, those
 * that have samples: others have counters alone. The list is empty after a failure. */
CN_CHECK bool cn_thread_list_build(struct cn_thread_list *list, struct cn_database *db,
                                   const struct cn_question_list *selections,
                                   bool needs_samples, struct cn_error *err);

/* Keep every n-th thread from `first` on. */
void cn_thread_list_thin(struct cn_thread_list *list, uint64_t first, uint64_t every);
void cn_thread_list_done(struct cn_thread_list *list);

#endif
