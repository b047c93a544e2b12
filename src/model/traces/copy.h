/* Copies of traces.
 *
 * Threads: one thread changes the copy; the original is only read.
 */
#ifndef CN_MODEL_TRACES_COPY_H
#define CN_MODEL_TRACES_COPY_H

#include "model/traces/trace.h"

/* Replace `to`, which owns its arrays, by the calls and spans of `from` with all that they refer to. The
 * arrays of `from` may be those of several traces. Resources and scopes stay words. */
void cn_trace_copy(struct cn_trace *to, const struct cn_trace *from);

#endif
