/* Locks between threads of different priority: one that waits lends its priority to the one that
 * has the lock, so that it does not wait for others of lower priority.
 * Threads: any thread.
 */
#ifndef CN_BASE_HOST_LENDING_LOCK_H
#define CN_BASE_HOST_LENDING_LOCK_H

struct cn_lock;

/* In the place of cn_lock_init(). */
void cn_lending_lock_init(struct cn_lock *lock);

#endif
