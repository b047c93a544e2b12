/* Rows made from traces.
 *
 * Internal to the store. Threads: any thread.
 */
#ifndef CN_STORE_SEGMENT_SEGMENT_ROWS_H
#define CN_STORE_SEGMENT_SEGMENT_ROWS_H

#include "formats/zorka/record.h"
#include "model/traces/trace.h"
#include "store/index/row.h"

/* The row of the span that begins at `node`, without the place of its chunk; in_chunk_off is
 * relative to the record. */
struct cn_store_row cn_segment_row_of(const struct cn_trace *trace, uint32_t node,
                                      const struct cn_zorka_part *part);

#endif
