/* Corrected times of a task: recorded times minus the recorder's own cost.
 *
 * The recorder runs twice per call and stores a time in the middle of each run. The cost
 * between the two times (`inner`) is subtracted from the call itself, the whole cost (`call`)
 * from its callers:
 *
 *     entry    its time minus all costs so far; then adds `inner` to the costs
 *     exit     the same; then adds the rest of `call`
 *
 * Where less time passed than the recorder usually takes, the difference is due: subtracted
 * from what follows, up to the cost of 16 calls. Each time between two records pays at most
 * a quarter of the cost of a call, or an eighth of itself, and one nanosecond remains:
 * single calls are off by a few nanoseconds, none takes no time, and sums are right.
 *
 * Costs are fractions of nanoseconds, times are not. The rounding of a cost depends only on
 * the time of its record, so two clocks of a task that agree on what is due differ by a
 * constant from there on, wherever they were started (cn_call_clock_settle()).
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CLOCK_H
#define CN_ANALYZE_CALLS_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_call;
struct cn_recording;
struct cn_text;

/* Zeroed except for `rec`: at the start of the task. */
struct cn_call_clock {
    const struct cn_recording *rec;
    uint64_t seen_ns; /* the latest time of a record */
    uint64_t now_ns;  /* of the last call, corrected */
    uint64_t cost_ns; /* of the recorder after the last call */
    uint64_t
        due_ns; /* of the calls before it, to be subtracted from the following times */
};

/* True if the recording contains the cost of its recorder. */
bool cn_call_clock_is_needed(const struct cn_recording *rec);

/* Append lines about costs of recording that corrected times still contain; mostly none. */
void cn_call_clock_explain(const struct cn_recording *rec, struct cn_text *out);

/* Copy the next calls of the task, with corrected times. */
void cn_call_clock_correct(struct cn_call_clock *clock, const struct cn_call *calls,
                           size_t count, struct cn_call *out);

/* A clock that starts in the middle of a task, where `due_ns` is unknown: two clocks, with
 * the least and the most that can be due. */
struct cn_call_settling {
    struct cn_call_clock least, most;
    bool has_begun;
};

/* Process one more call. True once both clocks agree: from then on `least` differs from the
 * clock of the whole task by a constant. */
bool cn_call_clock_settle(struct cn_call_settling *settling, const struct cn_call *call);

#endif
