/* Answers about ranges of time: each worked out by a chore, from many samples, and the last few
 * kept.
 *
 * Borrow the place of an answer, set it up when it is new, wait for its chore, give it back.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_SERVED_RANGES_H
#define CN_SERVER_SERVED_SERVED_RANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "server/served/chore.h"
#include "server/served/thread_list.h"

enum { CN_SERVED_RANGE_MAX = 8 };

struct cn_database;
struct cn_frames;

struct cn_served_range {
    /* Under the lock of the list. */
    char *key; /* what was asked for; NULL: free */
    uint64_t used_at;
    unsigned user_count;

    /* Set up under the lock, then the chore's until it is done. */
    struct cn_database *db;
    const struct cn_frames *frames;
    struct cn_thread_list threads;
    uint64_t begin_ns, end_ns;
    double min_share;
    struct cn_text answer; /* JSON */
    struct cn_chore chore;
};

struct cn_served_ranges {
    pthread_mutex_t lock;
    struct cn_chore_group *chores;
    struct cn_served_range list[CN_SERVED_RANGE_MAX];
    uint64_t use_count;
};

/* The group outlives it. */
void cn_served_ranges_init(struct cn_served_ranges *ranges,
                           struct cn_chore_group *chores);
void cn_served_ranges_done(struct cn_served_ranges *ranges);

/* The place of the answer to a question, which stays until it is given back; with `set_up`,
 * called once for a new one: false leaves the place free. Fails with CN_ERR_INTERRUPTED when
 * all places are in use. */
typedef bool (*cn_range_set_up_fn)(void *arg, struct cn_served_range *range,
                                   struct cn_error *err);
CN_CHECK bool cn_served_range_borrow(struct cn_served_ranges *ranges, const char *key,
                                     cn_range_set_up_fn set_up, void *arg,
                                     struct cn_served_range **out, struct cn_error *err);
void cn_served_range_return(struct cn_served_ranges *ranges,
                            struct cn_served_range *range);

#endif
