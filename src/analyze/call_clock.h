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
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALL_CLOCK_H
#define CN_ANALYZE_CALL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_call;
struct cn_recording;

struct cn_call_clock {
    const struct cn_recording *rec;
    uint64_t behind_ps; /* what was taken off so far */
    uint64_t last_ns;   /* of the last call, corrected */
};

/* Whether the recording says what its recorder takes. */
bool cn_call_clock_is_needed(const struct cn_recording *rec);

/* The next calls of the task with their times corrected. */
void cn_call_clock_correct(struct cn_call_clock *clock, const struct cn_call *calls,
                           size_t count, struct cn_call *out);

#endif
