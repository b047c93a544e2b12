/* Measures the cost of recording a call, which readers subtract.
 *
 * Empty functions are called a thousand times when the first program of a recording
 * starts; their records are dropped.
 * Threads: one thread at a time.
 */
#ifndef CN_RECORD_CALLS_COST_H
#define CN_RECORD_CALLS_COST_H

struct cn_rec_thread;

/* Measure the cost of each kind of call and store it in the shared memory, unless another
 * process has done so. */
void cn_rec_cost_measure(struct cn_rec_thread *self);

#endif
