/* In which functions other tasks were during slow calls, and rarely during typical ones: who may
 * have made them wait.
 *
 * Reads the calls once more, looking at the middle of up to 200 calls of each group.
 * Threads: one thread at a time; starts `workers` threads of its own.
 */
#ifndef CN_ANALYZE_WHY_OTHERS_H
#define CN_ANALYZE_WHY_OTHERS_H

#include "analyze/why/signs.h"

/* At most one sign: the surest function. False if interrupted; the signs are to be released
 * either way. */
CN_CHECK bool cn_why_others_find(struct cn_signs *signs, const struct cn_why *why,
                                 const struct cn_call_query *query, unsigned workers,
                                 struct cn_error *err);

#endif
