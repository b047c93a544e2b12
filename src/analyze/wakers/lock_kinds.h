/* What kind of lock a thread waits for, from the names of the functions that it waits in.
 *
 * Threads: any.
 */
#ifndef CN_ANALYZE_WAKERS_LOCK_KINDS_H
#define CN_ANALYZE_WAKERS_LOCK_KINDS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_frames;

enum cn_lock_kind {
    CN_LOCK_FUTEX, /* a word of memory; what it is for is not known */
    CN_LOCK_MUTEX,
    CN_LOCK_RWLOCK,
    CN_LOCK_CONDITION,
    CN_LOCK_SEMAPHORE,
    CN_LOCK_BARRIER,
    CN_LOCK_ONCE, /* an initialisation that is done once */
    CN_LOCK_JOIN, /* the end of a thread: no lock */
    CN_LOCK_KINDS,
};

/* The word for a kind: "mutex", "condition". */
extern const char *const cn_lock_kind_names[CN_LOCK_KINDS];

/* True if one thread has it, and lets others go on by giving it back. */
static inline bool cn_lock_is_held(enum cn_lock_kind kind)
{
    return kind == CN_LOCK_MUTEX || kind == CN_LOCK_RWLOCK;
}

/* The kind that a function is of; CN_LOCK_FUTEX: it tells nothing. */
enum cn_lock_kind cn_lock_kind_of(const char *function);

/* By frame, of the innermost function that tells it; to be released with free(). */
uint8_t *cn_lock_kinds(const struct cn_frames *frames);

#endif
