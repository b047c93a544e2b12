/* Where a long task can be cut so that its pieces can be read side by side: about every
 * so many bytes of records, at the start of a record or of a packed chunk.
 *
 * In plain files nothing marks the start of a record. One is believed where many
 * records without payload follow one another in the order of time; where there are none,
 * in recordings with arguments, a piece is longer, or the task is one piece.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_PARTS_H
#define CN_FORMATS_UFTRACE_DIRECTORY_PARTS_H

#include "model/calls/recording.h"

/* As the recording's `parts`. */
size_t cn_uft_parts(const struct cn_recording *rec, uint32_t task, uint64_t part_len,
                    struct cn_call_part **out);

#endif
