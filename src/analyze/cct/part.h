/* A task read in parts by several threads, joined in order. The result is that of reading it
 * as a whole.
 *
 * Calls that are open at the start of a later part are guessed (analyze/calls/part.h); each gets a node
 * that stands for it.
 *
 *     cn_cct_part_init(&part, &options);
 *     cn_cct_task_count(&part, &span, progress, false, err)
 *
 * when all parts before are in `task`:
 *
 *     before.end = rest.first = part.guess->left_out;
 *     cn_cct_task_count(&task, &before, progress, false, err)
 *     nodes = cn_cct_task_join(&task, &part);
 *     if (!nodes)
 *         cn_cct_task_count(&task, &rest, progress, false, err)
 *
 * and at any time after that, also for several parts at once:
 *
 *     cn_cct_shared_costs_add(&shared, &part, nodes);
 *     cn_cct_task_done(&part);
 *
 * and when all parts are:
 *
 *     cn_cct_shared_costs_end(&shared, &task);
 *
 * Threads: one thread at a time for each task, any for cn_cct_shared_costs_add();
 * cn_cct_long_tasks_count() starts threads of its own.
 */
#ifndef CN_ANALYZE_CCT_PART_H
#define CN_ANALYZE_CCT_PART_H

#include "analyze/cct/members.h"
#include "base/run/lock.h"

/* True if a task can be read in parts: filters and collapsed recursion depend on the past. */
bool cn_cct_task_is_divisible(const struct cn_cct_task_options *options);

/* A task that counts a later part. */
void cn_cct_part_init(struct cn_cct_task *part,
                      const struct cn_cct_task_options *options);

/* Store the state of the task as the start of the next part. */
void cn_cct_task_mark(struct cn_cct_task *task, const struct cn_call_part *next);

/* Append a part to the task, except for its costs; the task was counted up to the end of what
 * the part left out. Returns the nodes of the task by node of the part, for the costs; NULL, with
 * nothing changed, when the guess was wrong. */
cn_cct_id *cn_cct_task_join(struct cn_cct_task *task, const struct cn_cct_task *part);

/* The costs of the parts of a task. Costs add up in any order, and joining them takes ten times
 * as long as joining the trees, which has to be done in order. */
enum { CN_CCT_SHARE_COUNT = 64 };

struct cn_cct_shared_costs {
    struct cn_cct_share {
        struct cn_lock lock;
        struct cn_cct_costs costs; /* of every CN_CCT_SHARE_COUNT-th node */
    } shares[CN_CCT_SHARE_COUNT];
};

void cn_cct_shared_costs_init(struct cn_cct_shared_costs *shared);

/* Add those of a joined part; releases `nodes`. */
void cn_cct_shared_costs_add(struct cn_cct_shared_costs *shared,
                             const struct cn_cct_task *part, cn_cct_id *nodes);

/* Add all of them to the task, and release them. */
void cn_cct_shared_costs_end(struct cn_cct_shared_costs *shared,
                             struct cn_cct_task *task);

/* Count those members that are too long for one worker, in parts on all workers; they have
 * parts afterwards. */
CN_CHECK bool cn_cct_long_tasks_count(struct cn_cct_member *members, size_t count,
                                      unsigned workers,
                                      const struct cn_progress *progress,
                                      struct cn_error *err);

#endif
