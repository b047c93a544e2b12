/* Packed records while they are read: what unpacking (unpack.c) and skipping (unpack_skip.c) share.
 *
 * Others use formats/zorka/packed.h. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_ZORKA_UNPACKER_H
#define CN_FORMATS_ZORKA_UNPACKER_H

#include "base/map.h"
#include "formats/zorka/number_columns.h"
#include "formats/zorka/packed.h"
#include "formats/zorka/packed_format.h"
#include "formats/zorka/record.h"

/* A column that is read from front to back. */
struct unpack_column {
    struct cn_number_column numbers;
    size_t count, at;
    bool is_same;
    size_t hard_off; /* of a fixed column: of its bits in the packed bytes */
};

struct unpack_member {
    uint32_t key, kind, column;
};

struct unpack_shape {
    uint32_t first, count; /* in unpacker->members */
};

struct cn_zorka_unpacker {
    struct cn_decompressor *decompressor;
    uint8_t *soft;
    size_t soft_capacity;
    size_t plain_len; /* of all records */
    uint32_t record_count, nested_count;
    struct unpack_column fixed[PACKED_COLUMN_COUNT];
    struct unpack_column *columns; /* of values */
    size_t column_count, column_capacity, column_made;
    struct unpack_member *members;
    size_t member_count, member_capacity;
    struct unpack_shape *shapes;
    size_t shape_count, shape_capacity;
    struct cn_map by_pair;

    /* The next record. */
    uint32_t record;
    size_t off;
    uint64_t time_ns; /* of the first span of the record before */

    struct cn_trace trace;
    struct cn_trace_value *scratch;
    size_t scratch_count, scratch_capacity;
    struct cn_zorka_encoder encoder;
    struct cn_cbor_out out;
    size_t out_off;         /* where its record begins */
    size_t out_span;        /* number of its first span */
    bool has_out, is_short; /* a column had too few values */
};

static inline bool cn_zorka_unpack_fail(const char *what, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "packed records: %s", what);
}

static inline uint64_t cn_unpack_value_at(const struct unpack_column *column, size_t i)
{
    return column->numbers.values[column->is_same ? 0 : i];
}

static inline uint64_t cn_unpack_take_from(struct cn_zorka_unpacker *unpacker,
                                           struct unpack_column *column)
{
    if (column->at >= column->count) {
        unpacker->is_short = true;
        return 0;
    }
    return cn_unpack_value_at(column, column->at++);
}

static inline uint64_t cn_unpack_take(struct cn_zorka_unpacker *unpacker,
                                      enum packed_column column)
{
    return cn_unpack_take_from(unpacker, &unpacker->fixed[column]);
}

/* A value of a column of values, which is no list and no map. */
struct cn_trace_value cn_unpack_value(enum cn_trace_value_kind kind, uint64_t number);

/* Pass over the next record without making it. */
CN_CHECK bool cn_zorka_unpacker_skip(struct cn_zorka_unpacker *unpacker,
                                     struct cn_error *err);

#endif
