/* The line of cairn diff about what runs with wake-ups waited for: "critical path: waited 12 ms longer for
 * worker in compress".
 *
 *     cn_diff_waited_init(&waited, &sides);
 *     cn_sides_add(&c, &sides, args, cn_diff_waited_add, &waited, err)
 *     cn_diff_waited_print(&waited, args);
 *     cn_diff_waited_done(&waited);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DIFF_WAITED_H
#define CN_CLI_DIFF_WAITED_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/compare/comparison.h"

struct cn_args;
struct cn_sides;

struct cn_diff_waited {
    const struct cn_sides *sides;
    struct cn_comparison c; /* of the critical paths */
    size_t run_count;       /* so far */
    bool is_known;          /* of all of them */
};

void cn_diff_waited_init(struct cn_diff_waited *waited, const struct cn_sides *sides);
void cn_diff_waited_done(struct cn_diff_waited *waited);

/* Add a run, a cn_sides_visit; runs without wake-ups have no line. */
CN_CHECK bool cn_diff_waited_add(void *arg, struct cn_database *db,
                                 const struct cn_progress *progress,
                                 struct cn_error *err);

/* Print the largest changes that are no noise; nothing if there are none. */
void cn_diff_waited_print(struct cn_diff_waited *waited, const struct cn_args *args);

#endif
