/* Which calls are recorded: patterns and triggers, found once for every function of the
 * program, then looked up at each call.
 * Threads: any thread, its own calls.
 */
#ifndef CN_RECORD_FILTER_H
#define CN_RECORD_FILTER_H

#include <stdbool.h>

#include <stdint.h>

struct cn_rec_frame;
struct cn_rec_registers;
struct cn_rec_thread;

/* Find out whether there is anything to filter in this program. */
void cn_rec_filter_begin(void);

/* Decide about a call just pushed, and record its entry or not. The registers are NULL
 * where nobody saved them. */
void cn_rec_filter_enter(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers);

/* A call returns: record its exit, and its entry if that was held back. */
void cn_rec_filter_leave(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers);

#endif
