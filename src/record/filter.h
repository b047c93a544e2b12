/* Which calls are recorded: patterns and triggers, found once for every function of the
 * program, then looked up at each call.
 * Threads: the table is constant after cn_rec_filter_begin().
 */
#ifndef CN_RECORD_FILTER_H
#define CN_RECORD_FILTER_H

#include <stdbool.h>

struct cn_rec_frame;
struct cn_rec_thread;

/* Decide about a call just pushed, and record its entry or not. */
void cn_rec_filter_enter(struct cn_rec_thread *self, struct cn_rec_frame *frame);

/* The innermost call returns. */
void cn_rec_filter_leave(struct cn_rec_thread *self, struct cn_rec_frame *frame);

#endif
