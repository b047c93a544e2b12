/* The calls in which threads wait most: functions of the program, and the function of the C library
 * that they wait in. What the kernel and the C library do in between makes a thread wait, but does
 * not say why: `pthread_cond_wait` of `worker`, not `schedule`.
 *
 * A list is released with cn_waiting_calls_done(), and is valid as long as the view.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_WAITING_CALLS_H
#define CN_ANALYZE_VIEWS_WAITING_CALLS_H

#include "analyze/views/view.h"
#include "base/arena.h"

struct cn_waiting_call {
    struct cn_row
        row; /* the function in which they wait, with the costs of these calls */
    const char *caller; /* of the C library's function `row`; NULL: it is none */
    const char *name;   /* of `row` */
    double wait;
};

struct cn_waiting_calls {
    struct cn_waiting_call *list; /* longest first */
    size_t count, capacity;
    struct cn_arena arena; /* of names and values */
};

/* `view` is bottom-up; `columns` are those of the kinds of waiting, self. On failure nothing is left
 * to release. */
CN_CHECK bool cn_waiting_calls_find(struct cn_waiting_calls *out, struct cn_view *view,
                                    const size_t columns[CN_WAIT_KINDS],
                                    struct cn_error *err);
void cn_waiting_calls_done(struct cn_waiting_calls *calls);

#endif
