/* Calls as traces: a recording is cut at a function, and each of its calls becomes a stored
 * trace with the arguments as attributes.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_CUT_RECORDING_H
#define CN_STORE_WRITE_CUT_RECORDING_H

#include <stdint.h>

#include "base/error.h"
#include "store/write/writer.h"

struct cn_recording;

/* `function` is its name as the recording shows it. Fails when the recording has no such
 * function. Calls of it inside of a call of it belong to that. */
CN_CHECK bool cn_store_cut_recording(struct cn_store_writer *writer,
                                     const struct cn_recording *recording,
                                     const char *function, struct cn_store_added *out,
                                     struct cn_error *err);

#endif
