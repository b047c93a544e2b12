/* Signals that switch recording on or off, or end it. The program does not notice: it sees
 * and changes its own handlers, which run as before.
 * Threads: any thread.
 */
#ifndef CN_RECORD_START_SIGNALS_H
#define CN_RECORD_START_SIGNALS_H

/* Catch the signals that have an action. */
void cn_rec_signals_begin(void);

#endif
