/* Records of spans as OpenTelemetry sends them, made up at random.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_MADE_SPANS_H
#define CN_TEST_MADE_SPANS_H

#include "model/traces/trace.h"

/* The next random number. */
uint64_t cn_made_number(uint64_t *seed);

/* A trace of 1 to 12 whole spans, with every field that the store has for spans, and words that are
 * not in a dictionary. */
void cn_made_spans(struct cn_trace *trace, uint64_t *seed);

#endif
