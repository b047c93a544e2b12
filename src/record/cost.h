/* What recording a call costs on this machine, so that readers can take it off.
 *
 * Measured when the program starts, once for all programs of a recording: functions that
 * do nothing are called a thousand times, and what was recorded is dropped again.
 * Threads: one thread at a time.
 */
#ifndef CN_RECORD_COST_H
#define CN_RECORD_COST_H

struct cn_rec_thread;

/* Measure each kind of call into the shared memory, unless that was done before, or calls
 * are filtered: then they cost whatever the filters make of them. */
void cn_rec_cost_measure(struct cn_rec_thread *self);

#endif
