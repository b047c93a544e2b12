/* The columns of packed records (formats/zorka/packed_format.h) while they are collected.
 *
 * Only for those who write and check them; others use formats/zorka/packed.h.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_ZORKA_COLUMNS_H
#define CN_FORMATS_ZORKA_COLUMNS_H

#include "base/map.h"
#include "formats/zorka/number_columns.h"
#include "formats/zorka/packed.h"
#include "formats/zorka/packed_format.h"

/* An attribute without its value, and the column of its values. */
struct pack_member {
    uint32_t key, kind;
    uint32_t column;
};

struct pack_shape {
    uint32_t first, count; /* in columns->members */
    uint32_t next;         /* of the same hash; CN_NONE */
};

struct cn_zorka_columns {
    struct cn_number_column fixed[PACKED_COLUMN_COUNT];
    struct cn_number_column *values; /* by attribute */
    size_t value_count, value_capacity, value_made;
    struct pack_member *members;
    size_t member_count, member_capacity;
    struct pack_shape *shapes;
    size_t shape_count, shape_capacity;
    uint32_t last_shape[PACKED_COLUMN_COUNT]; /* of a column of shapes */
    struct cn_map by_hash, by_pair;           /* shapes; columns */
    uint64_t last_time_ns;                    /* of the first span of the record before */
    bool is_partial;                          /* a record could not be added */
};

/* True if the columns that were read are these: what is unpacked depends on them alone. */
bool cn_zorka_unpacker_has(const struct cn_zorka_unpacker *unpacker,
                           const struct cn_zorka_columns *columns);

#endif
