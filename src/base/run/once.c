#include "base/run/once.h"

#include <stdatomic.h>

void cn_once_init(struct cn_once *once)
{
    cn_lock_init(&once->lock);
    atomic_store_explicit(&once->is_done, false, memory_order_relaxed);
}

void cn_once_done(struct cn_once *once)
{
    cn_lock_done(&once->lock);
}

void cn_once_run(struct cn_once *once, void (*work)(void *arg), void *arg)
{
    if (atomic_load_explicit(&once->is_done, memory_order_acquire))
        return;
    cn_lock_take(&once->lock);
    if (!atomic_load_explicit(&once->is_done, memory_order_relaxed)) {
        work(arg);
        atomic_store_explicit(&once->is_done, true, memory_order_release);
    }
    cn_lock_release(&once->lock);
}
