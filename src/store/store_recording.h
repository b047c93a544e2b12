/* Opens the traces of a store that match a query as a recording of calls.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_STORE_RECORDING_H
#define CN_STORE_STORE_RECORDING_H

#include "base/error.h"

struct cn_recording;

/* An empty query selects all traces; Java stores support no other. The caller closes the
 * recording. */
CN_CHECK bool cn_store_recording_open(struct cn_recording **out, const char *path,
                                      const char *query, struct cn_error *err);

#endif
