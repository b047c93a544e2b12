/* A task read in parts by several threads, joined in order. The result is that of reading it
 * as a whole.
 *
 * Calls that are open at the start of a later part are guessed (call_part.h); each gets a node
 * that stands for it.
 *
 *     cn_cct_part_init(&part, &options);
 *     cn_cct_task_count(&part, &span, progress, false, err)
 *
 * when all parts before are in `task`:
 *
 *     before.end = rest.first = part.guess->left_out;
 *     cn_cct_task_count(&task, &before, progress, false, err)
 *     if (!cn_cct_task_join(&task, &part))
 *         cn_cct_task_count(&task, &rest, progress, false, err)
 *     cn_cct_task_done(&part);
 *
 * Threads: one thread at a time for each task; cn_cct_long_tasks_count() starts threads of
 * its own.
 */
#ifndef CN_ANALYZE_CCT_CCT_PART_H
#define CN_ANALYZE_CCT_CCT_PART_H

#include "analyze/cct/cct_members.h"

/* True if a task can be read in parts: filters and collapsed recursion depend on the past. */
bool cn_cct_task_is_divisible(const struct cn_cct_task_options *options);

/* A task that counts a later part. */
void cn_cct_part_init(struct cn_cct_task *part,
                      const struct cn_cct_task_options *options);

/* Store the state of the task as the start of the next part. */
void cn_cct_task_mark(struct cn_cct_task *task, const struct cn_call_part *next);

/* Append a part to the task, which was counted up to the end of what the part left out.
 * False, with nothing changed, when the guess was wrong. */
bool cn_cct_task_join(struct cn_cct_task *task, const struct cn_cct_task *part);

/* Count those members that are too long for one worker, in parts on all workers; they have
 * parts afterwards. */
CN_CHECK bool cn_cct_long_tasks_count(struct cn_cct_member *members, size_t count,
                                      unsigned workers,
                                      const struct cn_progress *progress,
                                      struct cn_error *err);

#endif
