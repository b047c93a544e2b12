/* A row describes a stored span, so that its data need not be read.
 *
 * Rows are numbered from 0 in the order of arrival and have a fixed size. A span inside the
 * trace of its parent has a row of its own that points into the data of the parent, unless it
 * was also sent on its own.
 * Threads: any thread.
 */
#ifndef CN_STORE_INDEX_ROW_H
#define CN_STORE_INDEX_ROW_H

#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/bytes/record.h"

#define CN_STORE_ROW(F)                                                            \
    F(0x00, u64, trace_high, "id of the trace, upper half")                        \
    F(0x08, u64, trace_low, "lower half")                                          \
    F(0x10, u64, span_id, "0: none")                                               \
    F(0x18, u64, parent_id, "span that caused it; 0: none")                        \
    F(0x20, u64, time_ns, "start, since the epoch")                                \
    F(0x28, u64, duration_ns, "")                                                  \
    F(0x30, u64, calls, "method calls the agent saw")                              \
    F(0x38, u64, data_off, "of the chunk in traces.dat")                           \
    F(0x40, u32, data_len, "of the chunk with its header")                         \
    F(0x44, u32, in_chunk_off, "of the record in the plain bytes of the chunk")    \
    F(0x48, u32, in_chunk_len, "of the record; 0: to the end of the chunk")        \
    F(0x4c, u32, records, "method calls stored")                                   \
    F(0x50, u32, errors, "of these, with an error")                                \
    F(0x54, u32, flags, "CN_ROW_*")                                                \
    F(0x58, u32, method, "word: method description of the first record")           \
    F(0x5c, u32, type, "word; 0: none")                                            \
    F(0x60, u32, service, "word; 0: none")                                         \
    F(0x64, u32, part, "number of the part if the trace arrived in parts; from 0") \
    F(0x68, u64, part_off, "where the part begins in the logical trace (CH_OFFS)") \
    F(0x70, u32, part_len, "its logical length (CH_LEN)")                          \
    F(0x7c, u32, checksum, "CRC-32C of the bytes before it")
CN_RECORD(cn_store_row, CN_STORE_ROW, 0x80);

/* Bits of the flags of a row. */
enum {
    CN_ROW_ERROR = 1 << 0,    /* the span itself failed */
    CN_ROW_FIRST = 1 << 1,    /* the first part of its trace: has the root */
    CN_ROW_LAST = 1 << 2,     /* the last part: no call is open after it */
    CN_ROW_EMBEDDED = 1 << 3, /* inside the data of another row */
    CN_ROW_LOSSY = 1 << 4,    /* the agent dropped calls */
    CN_ROW_PINNED = 1 << 5,   /* never expires */
    CN_ROW_MORE = 1 << 6,     /* other rows of the same chunk follow */
};

/* The in_chunk_len of a row whose in_chunk_off is the number of its span in a packed chunk, from 0. */
#define CN_ROW_NUMBERED UINT32_MAX

/* True if a row stands for a whole trace: neither a span inside of another nor a later part. */
static inline bool cn_store_row_is_trace(const struct cn_store_row *row)
{
    return !(row->flags & CN_ROW_EMBEDDED) && row->part == 0;
}

struct cn_trace;
struct cn_trace_span;

/* True if a span inside of a trace may get a row: it has an id, and the agent did not send it on its
 * own. Agents that do not trace across processes give a copy another id. */
bool cn_store_span_has_row(const struct cn_trace *trace,
                           const struct cn_trace_span *span);

/* Encode with the checksum; `row->checksum` is ignored. */
void cn_store_row_put(const struct cn_store_row *row, uint8_t out[cn_store_row_size]);

/* Decode the row at the start of `in`. False if it is truncated or its checksum is wrong. */
bool cn_store_row_take(struct cn_bytes in, struct cn_store_row *out);

/* What a segment contains, in numbers. */

struct cn_segment_summary {
    uint64_t first_ns,
        last_ns; /* of its spans; the first is above the last without any */
    uint64_t spans, failed_spans;
    uint64_t traces, failed_traces;
    uint64_t records; /* stored calls */
    uint64_t words;
    uint64_t disk_len; /* bytes of its files */
};

#endif
