/* Watch points: record the processor of a thread, and variables of the program, when a
 * recorded call begins or ends and they have changed.
 * Threads: any thread.
 */
#ifndef CN_RECORD_CALLS_WATCH_H
#define CN_RECORD_CALLS_WATCH_H

struct cn_rec_thread;

/* Find the variables in this process. */
void cn_rec_watch_begin(void);

/* Record what has changed; the first time, also the processor. */
void cn_rec_watch_check(struct cn_rec_thread *self);

#endif
