/* The rows of a critical path in fewer words: what ran, by thread and function of the program, whatever
 * that called; and what was waited for, by kind.
 *
 *     cn_wait_causes_list(&causes, &sums);
 *     ... causes.list[0] is what took most of the time ...
 *     cn_wait_causes_done(&causes);
 *
 * Borrows the sums. Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_WAKERS_CAUSES_H
#define CN_ANALYZE_WAKERS_CAUSES_H

#include <stddef.h>
#include <stdint.h>

struct cn_text;
struct cn_wait_sums;

struct cn_wait_cause {
    size_t row;                    /* one of its rows, in the sums */
    uint64_t time_ns, inferred_ns; /* inferred: part of the time */
};

struct cn_wait_causes {
    struct cn_wait_cause *list; /* with the most time first */
    size_t count;
};

void cn_wait_causes_list(struct cn_wait_causes *out, const struct cn_wait_sums *path);
void cn_wait_causes_done(struct cn_wait_causes *causes);

/* Append "in compress", "worker in compress", "for the disk". What the thread called `thread` ran
 * itself has no name. */
void cn_wait_cause_print(const struct cn_wait_sums *path, size_t row, const char *thread,
                         struct cn_text *out);

/* Append how much longer or shorter the cause with this name takes: "waited 12 ms longer for worker in
 * compress", "ran 3 ms shorter in report". */
void cn_wait_cause_print_change(const char *name, int64_t change_ns, struct cn_text *out);

/* Append "main took 2 s: 1.5 s worker in compress, 0.5 s for the disk (inferred)", at most `most` causes. */
void cn_wait_causes_print(const struct cn_wait_causes *causes,
                          const struct cn_wait_sums *path, const char *thread,
                          size_t most, struct cn_text *out);

#endif
