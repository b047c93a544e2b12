/* The traces of a store as a recording of calls, or one by one.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_RECORDING_H
#define CN_STORE_RECORDING_H

#include "model/format.h"

/* An empty query selects all traces; Java stores support no other. What is damaged is missing, and a
 * warning of the recording says so. The caller closes the recording. */
CN_CHECK bool cn_store_recording_open(struct cn_recording **out, const char *path,
                                      const char *query, struct cn_error *err);

/* Visit all traces, as walk_traces of a format: spans that were sent twice once. */
CN_CHECK bool cn_store_traces_walk(const char *path,
                                   const struct cn_trace_visitor *visitor,
                                   struct cn_error *err);

#endif
