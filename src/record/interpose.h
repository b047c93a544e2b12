/* Functions of the C library that the recorder has to know about: threads that begin and
 * end, forks, jumps, unwinding.
 * Threads: cn_rec_interpose_begin() once, before the program runs.
 */
#ifndef CN_RECORD_INTERPOSE_H
#define CN_RECORD_INTERPOSE_H

/* Find the true functions and register what is called at forks and thread exits. */
void cn_rec_interpose_begin(void);

#endif
