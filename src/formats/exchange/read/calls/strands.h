/* Strands: calls of a track that overlap, without one being inside the other, are moved to
 * further tracks, so that none is cut.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALLS_STRANDS_H
#define CN_FORMATS_EXCHANGE_READ_CALLS_STRANDS_H

#include "formats/exchange/read/calls/recording.h"

/* Move overlapping calls of all tracks, whose items are sorted. Strands have the ids of their
 * track in the input, and its name. `item_count` is the number of items, `cut_count` that of
 * calls that end before their end in the input. */
CN_CHECK bool cn_call_strands_split(struct cn_call_tracks *tracks, uint64_t item_count,
                                    uint64_t *cut_count, struct cn_error *err);

#endif
