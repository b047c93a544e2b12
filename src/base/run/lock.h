/* A lock whose waiters sleep.
 *
 * cn_lock_new() makes it, cn_lock_free() releases it.
 * Threads: acquire and release from any thread, in pairs.
 */
#ifndef CN_BASE_RUN_LOCK_H
#define CN_BASE_RUN_LOCK_H

struct cn_lock;

struct cn_lock *cn_lock_new(void);
void cn_lock_free(struct cn_lock *lock); /* NULL is fine */

void cn_lock_acquire(struct cn_lock *lock);
void cn_lock_release(struct cn_lock *lock);

#endif
