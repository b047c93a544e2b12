/* How long a run would take if functions or waits for locks were shorter, by replaying its wake-ups.
 *
 *     cn_what_if_parse("compress=50%", &changes[0], err)
 *     cn_what_if_replay(&answer, db, &graph, &frames, changes, count, profile, err)
 *
 * Each thread runs as it did, but its running time below a changed function, and the pre-emption in it, is
 * multiplied. A wait for a thread ends when that reaches the wake-up, or takes no time if that is before the
 * wait; other waits, and those for a processor, take as long as they did. Where wake-ups are missing, the
 * answer is a range: a wait of unknown cause ends at the time at which it ended, or earlier by as much as the
 * thread that gains most.
 *
 * Running time belongs to the samples around it. Where a thread ran so short that the only sample is that
 * of its next wait, the next piece with samples stands for it.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WAKERS_WHAT_IF_H
#define CN_ANALYZE_WAKERS_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_frames;
struct cn_text;
struct cn_wait_graph;

struct cn_what_if_change {
    const char *function; /* a part of the text that was parsed */
    size_t function_len;
    double share; /* of its time that is left: 0 to 1 */
    bool is_lock; /* only its waits for locks */
};

struct cn_what_if {
    uint64_t recorded_ns;
    uint64_t least_ns, most_ns; /* equal if all wake-ups that matter are known */
    size_t missing;             /* wake-ups */
    size_t inferred;            /* waits, taken for what is inferred */
};

/* "FUNCTION=50%", "lock:FUNCTION=0%". Borrows the text. */
CN_CHECK bool cn_what_if_parse(const char *text, struct cn_what_if_change *out,
                               struct cn_error *err);

/* How long the thread would take. Fails if a function is unknown, or has no waits for locks. */
CN_CHECK bool cn_what_if_replay(struct cn_what_if *out, struct cn_database *db,
                                const struct cn_wait_graph *graph,
                                const struct cn_frames *frames,
                                const struct cn_what_if_change *changes, size_t count,
                                uint32_t profile, struct cn_error *err);

/* Append "without compress, jobs would take 95 ms instead of 190 ms: -50.0 %". */
void cn_what_if_print(const struct cn_what_if *answer,
                      const struct cn_what_if_change *changes, size_t count,
                      const char *thread, struct cn_text *out);

/* Append what the answer assumes: "assumes that ...". */
void cn_what_if_print_assumptions(const struct cn_what_if *answer,
                                  const struct cn_what_if_change *changes, size_t count,
                                  struct cn_text *out);

#endif
