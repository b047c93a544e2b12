/* A task read in pieces by several threads, put together in order. The result is what
 * reading it in one go gives.
 *
 * Where the task is at the start of a later piece is not known yet. The first calls are
 * left out, up to the end of one, which tells how deep: the calls open there are guessed,
 * with a node each that stands for one of them, and what happens to them is remembered
 * instead of counted. Times are off by a constant if they are corrected (call_clock.h).
 *
 *     cn_cct_guess_init(&piece, &options);
 *     cn_cct_task_count(&piece, &span, progress, false, err)
 *
 * when everything before is in `task`:
 *
 *     before.end = rest.first = piece.guess->left_out;
 *     cn_cct_task_count(&task, &before, progress, false, err)
 *     if (!cn_cct_task_join(&task, &piece))
 *         cn_cct_task_count(&task, &rest, progress, false, err)
 *     cn_cct_task_done(&piece);
 *
 * Calls that do not nest as they should, where that concerns the guessed ones, make the
 * guess wrong.
 * Threads: one thread at a time for each task.
 */
#ifndef CN_ANALYZE_CCT_CCT_PART_H
#define CN_ANALYZE_CCT_CCT_PART_H

#include "analyze/cct/cct_task.h"

/* A guessed call that returned. */
struct cn_cct_return {
    struct cn_call call;
    uint64_t child_ns; /* spent in calls from it, in this piece */
};

struct cn_cct_guess {
    bool has_begun, is_wrong;
    uint64_t left_out;          /* calls */
    struct cn_call_clock clock; /* after these */
    uint32_t depth;             /* calls that were open then; their nodes are 1.. */
    uint32_t open_count;        /* of these, those that still are */
    struct cn_cct_return *returns;
    size_t return_count, return_capacity;
};

/* Whether a task can be read in pieces: nothing else depends on the past. */
bool cn_cct_task_is_divisible(const struct cn_cct_task_options *options);

/* A task that is a later piece of one. */
void cn_cct_guess_init(struct cn_cct_task *piece,
                       const struct cn_cct_task_options *options);
void cn_cct_guess_free(struct cn_cct_guess *guess); /* NULL is fine */

static inline bool cn_cct_guess_is_wrong(const struct cn_cct_guess *guess)
{
    return guess && guess->is_wrong;
}

/* Begin with what a feed hands out first; does nothing when the piece has begun, or is
 * none. */
void cn_cct_guess_begin(struct cn_cct_task *piece, const struct cn_call_feed *feed);

/* Look at a call of a piece before it is counted. True when it need not be: it is the
 * return of a guessed call, or the guess is wrong. */
bool cn_cct_guess_see(struct cn_cct_task *piece, const struct cn_call *call);

/* Remember how the task is at the start of its next piece. */
void cn_cct_task_mark(struct cn_cct_task *task, const struct cn_call_part *part);

/* Put a piece behind what was counted, which goes up to the end of what it left out.
 * False, with nothing changed, when it was guessed wrong. */
bool cn_cct_task_join(struct cn_cct_task *task, const struct cn_cct_task *piece);

#endif
