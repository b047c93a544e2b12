/* What goes with slowness: values of arguments, the return value, the task, and the time, that
 * slow calls have far more often than typical ones.
 *
 * Fisher's exact test of the counts of both groups, corrected for the number of values tried.
 * What is not significant is not listed.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_CALLS_CALL_WHY_SIGNS_H
#define CN_ANALYZE_CALLS_CALL_WHY_SIGNS_H

#include "analyze/calls/call_why.h"
#include "base/arena.h"

/* Adds a value of a call; it counts once per call. `number` is NULL unless it is a number. */
struct cn_why_facts;
void cn_why_facts_add(struct cn_why_facts *facts, const char *key, const char *value,
                      const double *number);

/* Where the values of a call come from; NULL: its arguments, return value and task. */
typedef void (*cn_why_values_fn)(void *arg, const struct cn_why_call *call,
                                 struct cn_why_facts *facts);

/* "arg1 = 42 in 31 of 33 slow calls and 2 of 1650 typical ones". */
struct cn_why_sign {
    const char *key;
    char relation; /* '=', '>' or '<' */
    const char *value;
    uint64_t has[CN_WHY_GROUPS], of[CN_WHY_GROUPS]; /* sampled calls */
    double log_p; /* natural logarithm of the corrected probability of chance */
};

struct cn_why_signs {
    struct cn_why_sign *list; /* the surest first; one per key */
    size_t count;
    struct cn_arena arena;
};

void cn_why_signs_find(struct cn_why_signs *signs, const struct cn_why *why,
                       const struct cn_recording *rec, cn_why_values_fn values,
                       void *arg);
void cn_why_signs_done(struct cn_why_signs *signs);

/* The natural logarithm of the probability that at least `hits` of `n` drawn from a
 * population of `all` with `marked` marked ones are marked. */
double cn_why_log_tail(uint64_t hits, uint64_t n, uint64_t marked, uint64_t all);

#endif
