/* Adds the calls of a function in a recording to a store, one trace per call, with arguments and
 * return values as attributes.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_CUT_RECORDING_H
#define CN_STORE_WRITE_CUT_RECORDING_H

#include "base/error.h"
#include "store/write/writer.h"

struct cn_recording;

/* `function` is the name in the recording; fails if there is none. A recursive call belongs to the
 * trace of the outermost one. */
CN_CHECK bool cn_store_cut_recording(struct cn_store_writer *writer,
                                     const struct cn_recording *recording,
                                     const char *function, struct cn_store_added *out,
                                     struct cn_error *err);

#endif
