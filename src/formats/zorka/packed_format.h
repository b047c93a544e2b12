/* Packed records, byte by byte: what packing and unpacking share.
 *
 *   header    PACKED_HEADER
 *   soft      one zstd frame: the shapes, then the columns (formats/zorka/number_columns.h)
 *   hard      the bits of the columns
 *
 * Columns are in the order of enum packed_column, then one for each pair of a key and a kind in the
 * shapes, in the order of their first occurrence. A column has a value for each record, span, event or
 * link, as its name says, or for what its comment names. Signed numbers are zigzag.
 *
 * A shape is a list of attributes without their values. In `soft`, all numbers varints: shapes; of each:
 * attributes; of each: key, kind (enum cn_trace_value_kind).
 * Threads: immutable.
 */
#ifndef CN_FORMATS_ZORKA_PACKED_FORMAT_H
#define CN_FORMATS_ZORKA_PACKED_FORMAT_H

#include "base/bytes/record.h"

#define CN_PACKED_HEADER(F)                               \
    F(0x00, u32, record_count, "")                        \
    F(0x04, u32, nested_count, "values of column NESTED") \
    F(0x08, u32, soft_plain_len, "bytes")                 \
    F(0x0c, u32, soft_len, "compressed")
CN_RECORD(cn_packed_header, CN_PACKED_HEADER, 0x10);

enum packed_column {
    RECORD_ID_HIGH,
    RECORD_ID_LOW,
    RECORD_TIME, /* of its first span, signed: minus that of the record before */
    RECORD_CLOCK,
    RECORD_LEN, /* bytes of the record */
    RECORD_SPANS,
    SPAN_SHAPE,
    SPAN_UP, /* its index in the record minus that of its parent; of the first span 0 */
    SPAN_START, /* signed: minus that of its parent */
    SPAN_DURATION,
    SPAN_CALLS, /* signed: minus the spans in it, with itself */
    SPAN_MARKS, /* CN_TRACE_* */
    SPAN_METHOD,
    SPAN_TIME, /* signed: minus that of the first span and the start */
    SPAN_TYPE,
    SPAN_SERVICE,
    SPAN_ID,
    SPAN_PARENT, /* enum packed_parent */
    SPAN_STATUS,
    SPAN_MESSAGE,
    SPAN_STATE,
    SPAN_FLAGS,
    SPAN_RESOURCE,
    SPAN_SCOPE,
    SPAN_EVENTS,
    SPAN_LINKS,
    SPAN_DROPPED_ATTRIBUTES,
    SPAN_DROPPED_EVENTS,
    SPAN_DROPPED_LINKS,
    SPAN_MORE,  /* enum packed_more */
    PARENT_ID,  /* for each PACKED_PARENT_OTHER */
    END_TIME,   /* signed, for each PACKED_HAS_END: minus the time of the span */
    EVENT_TIME, /* signed: minus that of the span */
    EVENT_NAME,
    EVENT_DROPPED,
    EVENT_ANNOTATION,
    EVENT_SHAPE,
    LINK_HIGH,
    LINK_LOW,
    LINK_SPAN,
    LINK_STATE,
    LINK_FLAGS,
    LINK_DROPPED,
    LINK_SHAPE,
    NESTED, /* lists and maps: elements; of each: kind, then the value or its elements */
    PACKED_COLUMN_COUNT
};

enum packed_parent {
    PACKED_PARENT_NONE,
    PACKED_PARENT_OUTER, /* the span that it is in */
    PACKED_PARENT_OTHER,
};

enum packed_more { PACKED_HAS_END = 1, PACKED_HAS_NO_KIND = 2 };

#endif
