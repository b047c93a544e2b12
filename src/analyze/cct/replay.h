/* The timeline of a counted task: its records, or those of one of its parts, are followed
 * again, at their recorded times.
 *
 *     cn_cct_replay_open(&replay, &task, &tree, part, err)
 *     cn_cct_replay_next(&replay, samples, count, err)
 *     cn_cct_replay_close(&replay);
 *
 * Zero-initialised means "not open". The task must not change before the close.
 * Threads: one thread at a time for each replay; a task may have several.
 */
#ifndef CN_ANALYZE_CCT_REPLAY_H
#define CN_ANALYZE_CCT_REPLAY_H

#include "analyze/cct/task.h"

struct cn_cct_replay {
    bool is_open;
    struct cn_cct_task task; /* a copy that owns only its tree, a view */
    struct cn_cct_follow follow;
    struct cn_call_feed feed;
    struct cn_call_batch batch;
    size_t next;         /* in the batch */
    uint64_t done_count; /* samples, with those of the parts before */
};

/* `tree` is the task's, or a copy if that was spilled. `part` is below the task's
 * part_count, or 0. */
CN_CHECK bool cn_cct_replay_open(struct cn_cct_replay *replay,
                                 const struct cn_cct_task *task,
                                 const struct cn_tree *tree, size_t part,
                                 struct cn_error *err);

/* The next `count` samples: the times at which the task entered a node; node 0: it waits, or
 * is in no call. Fails when there are fewer, because the recording has changed. */
CN_CHECK bool cn_cct_replay_next(struct cn_cct_replay *replay, struct cn_sample *out,
                                 size_t count, struct cn_error *err);
void cn_cct_replay_close(struct cn_cct_replay *replay);

#endif
