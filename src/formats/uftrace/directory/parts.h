/* Division of a long task into parts that can be read in parallel. Parts are about
 * `part_len` bytes long and begin at a record or a packed chunk.
 *
 * In plain files nothing marks the start of a record. It is assumed where many records
 * without payload follow one another in the order of time. In recordings with arguments
 * there may be no such run: then a part is longer, or the task is one part.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_PARTS_H
#define CN_FORMATS_UFTRACE_DIRECTORY_PARTS_H

#include "model/calls/recording.h"

/* Implements `parts` of struct cn_recording_ops. */
size_t cn_uft_parts(const struct cn_recording *rec, uint32_t task, uint64_t part_len,
                    struct cn_call_part **out);

#endif
