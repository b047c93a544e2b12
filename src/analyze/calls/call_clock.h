/* Time as it would have passed without the recorder, for one task.
 *
 * A recorded call takes longer than it would have: the recorder runs twice, and stores a
 * time in the middle of each run. What lies between the two times (`inner`) is taken off
 * the call itself, all of it (`call`) off those that it was called from:
 *
 *     entry    its time, less what was taken off so far; from then on `inner` more
 *     exit     the same; from then on the rest of `call` more
 *
 * Such times never run backwards. Where less passed than the recorder usually takes, the
 * difference is taken off what follows, as far as it is small: single calls are off by a
 * few nanoseconds either way, and only sums can tell.
 *
 * Costs are fractions of nanoseconds, times are not: how a cost is rounded depends on the
 * time of its record alone. So a clock that was started anywhere goes as fast as any
 * other, once they agree on what is still to be taken off (cn_call_clock_settle()).
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CALL_CLOCK_H
#define CN_ANALYZE_CALLS_CALL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_call;
struct cn_recording;

/* Zeroed but for `rec`, it starts with the task. */
struct cn_call_clock {
    const struct cn_recording *rec;
    uint64_t seen_ns; /* the latest time of a record */
    uint64_t now_ns;  /* of the last call, corrected */
    uint64_t due_ns;  /* to be taken off what comes next */
};

/* Whether the recording says what its recorder takes. */
bool cn_call_clock_is_needed(const struct cn_recording *rec);

/* The next calls of the task with their times corrected. */
void cn_call_clock_correct(struct cn_call_clock *clock, const struct cn_call *calls,
                           size_t count, struct cn_call *out);

/* A clock in the middle of a task. */
struct cn_call_settling {
    struct cn_call_clock least, most; /* nothing, or as much as possible, was due */
    bool has_begun;
};

/* See one more call. True once it does not matter any more what was due at the start:
 * from then on `least` goes as the clock of the whole task does, but for a constant. */
bool cn_call_clock_settle(struct cn_call_settling *settling, const struct cn_call *call);

#endif
