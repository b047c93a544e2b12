/* What goes with slowness: values of arguments, the return value and the task that slow calls have
 * far more often than typical ones (analyze/traits.h).
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WHY_SIGNS_H
#define CN_ANALYZE_WHY_SIGNS_H

#include "analyze/traits.h"
#include "analyze/why/why.h"

/* Where the values of a call come from; NULL: its arguments, return value and task. */
typedef void (*cn_why_values_fn)(void *arg, const struct cn_why_call *call,
                                 struct cn_traits *traits);

/* One sign per key; groups are those of enum cn_why_group, of sampled calls. */
void cn_why_signs_find(struct cn_signs *signs, const struct cn_why *why,
                       const struct cn_recording *rec, cn_why_values_fn values,
                       void *arg);

#endif
