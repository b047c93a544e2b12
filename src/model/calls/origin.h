/* Where a recording comes from, of the facts that it has about itself.
 * Threads: any thread, each with an arena of its own.
 */
#ifndef CN_MODEL_CALLS_ORIGIN_H
#define CN_MODEL_CALLS_ORIGIN_H

#include "model/origin.h"

struct cn_recording;

/* Texts are in `arena`, or borrowed from the recording. */
struct cn_origin cn_recording_origin(const struct cn_recording *rec,
                                     struct cn_arena *arena);

#endif
