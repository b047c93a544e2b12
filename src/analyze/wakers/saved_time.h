/* How much running time threads save if that below some contexts is multiplied.
 *
 *     cn_saved_time_build(&saved, db, &frames, shares, err)
 *     ns = cn_saved_until(&saved, profile, time_ns) - cn_saved_until(&saved, profile, begin_ns);
 *     cn_saved_time_done(&saved);
 *
 * A thread runs in the context of its samples; while it is pre-empted, in that of the switch.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_WAKERS_SAVED_TIME_H
#define CN_ANALYZE_WAKERS_SAVED_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_frames;

/* It ends when the time until the next one is saved. */
struct cn_saving {
    uint64_t begin_ns;
    int64_t before_ns; /* saved until it begins */
    double share;      /* of its time that is saved */
};

struct cn_saved_time {
    struct cn_saving
        *list; /* by profile, then in the order of time; the last of each is none */
    size_t count, capacity;
    size_t *first_of; /* by profile: in the list; one more than there are profiles */
};

/* `shares`: by frame, how much of its time is left, 0 to 1. */
CN_CHECK bool cn_saved_time_build(struct cn_saved_time *out, struct cn_database *db,
                                  const struct cn_frames *frames, const double *shares,
                                  struct cn_error *err);
void cn_saved_time_done(struct cn_saved_time *saved); /* a zeroed one is fine */

/* What a thread saves from its begin to a time. */
int64_t cn_saved_until(const struct cn_saved_time *saved, uint32_t profile,
                       uint64_t time_ns);

#endif
