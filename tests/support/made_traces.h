/* Traces that tests make up: trace `i` is always the same, and no two are alike.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_MADE_TRACES_H
#define CN_TEST_MADE_TRACES_H

#include "model/traces/trace.h"

/* Trace `i` with 3 to 40 calls of a few methods, spoken in `words`. It has a span with the id
 * i + 1, the attributes "request.id" (the text "r<i>") and "status" (a number), a list, and in
 * every fifth an exception whose message is "no item <i>". Every third has a nested span. */
void cn_made_trace(struct cn_trace *trace, struct cn_words *words, uint32_t i);

/* Whether two traces are the same in all that matters, whatever words they speak. The message
 * says what differs first. */
bool cn_same_trace(const struct cn_trace *a, const struct cn_trace *b,
                   struct cn_error *err);

#endif
