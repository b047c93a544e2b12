/* Running out of memory, where the process must survive it.
 *
 * An allocation that fails (alloc.h) ends the process with a message, unless the thread is in a
 * scope: then the scope is entered a second time.
 *
 *     struct cn_memory_scope scope;
 *
 *     cn_memory_scope_begin(&scope);
 *     if (setjmp(scope.start) == 0)
 *         ... work ...
 *     else
 *         ... there was no memory ...
 *     cn_memory_scope_end(&scope);
 *
 * What the work has allocated until then is not freed. What it holds is released: locks, and
 * files under a temporary name. What was half changed under a lock is not used again: the lock
 * is broken (run/lock.h).
 * Threads: each thread has its own scopes, which nest; the workers of a pool fail as the thread
 * that started them.
 */
#ifndef CN_BASE_MEMORY_H
#define CN_BASE_MEMORY_H

#include <setjmp.h>
#include <stdbool.h>

/* Something to release, part of the object that is held. It must not move meanwhile. */
struct cn_held {
    struct cn_held *next;
    void (*release)(struct cn_held *held); /* NULL: not held in a scope */
};

struct cn_memory_scope {
    jmp_buf start;
    struct cn_memory_scope *outer;
    struct cn_held *held;
    bool has_failed; /* there was no memory */
    bool has_broken; /* and something that others share is broken */
};

void cn_memory_scope_begin(struct cn_memory_scope *scope);
void cn_memory_scope_end(struct cn_memory_scope *scope);
bool cn_memory_is_scoped(void);

/* As if an allocation had failed. */
_Noreturn void cn_memory_fail(void);

/* The same where a library could not allocate an object: NULL. */
static inline void *cn_memory_need(void *object)
{
    if (!object)
        cn_memory_fail();
    return object;
}

/* In a scope, hold something until it is dropped. `release` may not fail, and may be called on
 * the way out of a scope only. */
void cn_memory_hold(struct cn_held *held, void (*release)(struct cn_held *held));
void cn_memory_drop(struct cn_held *held);

/* Note in the innermost scope that something is broken that others share. */
void cn_memory_note_broken(void);

#endif
