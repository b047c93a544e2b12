/* Functions that take locks, give them back, wait and wake, by their names in recordings; and what of their
 * arguments is recorded for them (`cairn record --locks`).
 *
 * Threads: any.
 */
#ifndef CN_ANALYZE_WAKERS_LOCK_CALLS_H
#define CN_ANALYZE_WAKERS_LOCK_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/wakers/lock_kinds.h"

enum cn_lock_action {
    CN_LOCK_TAKES,        /* the first argument, alone */
    CN_LOCK_TAKES_SHARED, /* with others that share it */
    CN_LOCK_TRIES,        /* takes it if its result is 0 */
    CN_LOCK_TRIES_SHARED,
    CN_LOCK_GIVES, /* back */
    CN_LOCK_SLEEPS, /* until it is woken; gives the mutex in the second argument back meanwhile */
    CN_LOCK_AWAITS, /* a call of another thread that wakes */
    CN_LOCK_WAKES,
    CN_LOCK_MEETS, /* until the last thread calls it as well */
};

struct cn_lock_call {
    const char *function; /* demangled, without parameters */
    enum cn_lock_kind kind;
    enum cn_lock_action action;
};

/* NULL: another function. */
const struct cn_lock_call *cn_lock_call_find(const char *function);

/* The options that record what is needed of function `at`; false: there are no more. `result` is NULL if its
 * result does not matter. */
bool cn_lock_call_options(size_t at, const char **argument, const char **result);

#endif
