/* Threads of the program from their beginning on: pthread_create() of the program is this one.
 * Threads: any thread.
 */
#ifndef CN_SAMPLER_INSIDE_THREAD_H
#define CN_SAMPLER_INSIDE_THREAD_H

/* Called in each new thread before it runs; each library has its own. errno is restored after
 * it. */
void cn_inside_thread_begin(void);

#endif
