/* A table under construction: columns are added first, then rows cell by cell.
 *
 *     table = cn_frame_new();
 *     name = cn_frame_add(table, "name", CAIRN_CATEGORY);
 *     for each row: cn_column_text(cn_frame_column(table, name), text)
 *     cn_frame_finish(table);
 *
 * A pointer to a column is valid until the next column is added. Every column must get the same
 * number of cells. cairn_table_free() releases the table, finished or not.
 * Threads: one thread at a time.
 */
#ifndef CN_LIB_FRAME_H
#define CN_LIB_FRAME_H

#include <math.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "cairn.h"

/* A code that was not looked up yet, and that of an unknown text. */
enum { CN_CODE_UNSET = -2, CN_CODE_NONE = -1 };

struct cn_frame_column {
    char *name;
    enum cairn_type type;
    void *values;
    size_t count, capacity;
    uint8_t *valid; /* NULL while all are known */
    size_t valid_capacity;
    uint64_t null_count;
    int64_t *offsets; /* of texts; of categories set at the end */
    size_t offset_capacity;
    uint64_t text_count;
    struct cn_text chars;
    struct cn_names names; /* of categories */
    struct cn_text scratch;
};

struct cairn_table {
    struct cn_frame_column *columns;
    size_t column_count, column_capacity;
    uint64_t row_count;
    char *damage; /* or NULL */
};

struct cairn_table *cn_frame_new(void);
size_t cn_frame_add(struct cairn_table *table, const char *name, enum cairn_type type);

static inline struct cn_frame_column *cn_frame_column(struct cairn_table *table,
                                                      size_t number)
{
    return &table->columns[number];
}

/* Set the number of rows and give back memory that is not used. */
void cn_frame_finish(struct cairn_table *table);

/* Set bit `count` of the valid bits. */
void cn_column_mark(struct cn_frame_column *column, bool is_known);

/* Room for one more cell. */
static inline void *cn_column_next(struct cn_frame_column *column, size_t size,
                                   bool is_known)
{
    if (column->count == column->capacity)
        column->values = cn_grow(column->values, column->count, &column->capacity, size);
    if (column->valid || !is_known)
        cn_column_mark(column, is_known);
    return (uint8_t *)column->values + column->count++ * size;
}

static inline void cn_column_u16(struct cn_frame_column *column, uint16_t value)
{
    *(uint16_t *)cn_column_next(column, sizeof(value), true) = value;
}

static inline void cn_column_u32(struct cn_frame_column *column, uint32_t value)
{
    *(uint32_t *)cn_column_next(column, sizeof(value), true) = value;
}

/* Unknown if the value is `none`; the cell is then 0. */
static inline void cn_column_u32_or(struct cn_frame_column *column, uint32_t value,
                                    uint32_t none)
{
    *(uint32_t *)cn_column_next(column, sizeof(value), value != none) =
        value == none ? 0 : value;
}

static inline void cn_column_u64(struct cn_frame_column *column, uint64_t value)
{
    *(uint64_t *)cn_column_next(column, sizeof(value), true) = value;
}

static inline void cn_column_u64_null(struct cn_frame_column *column)
{
    *(uint64_t *)cn_column_next(column, sizeof(uint64_t), false) = 0;
}

/* NAN is unknown. */
static inline void cn_column_f64(struct cn_frame_column *column, double value)
{
    *(double *)cn_column_next(column, sizeof(value), !isnan(value)) = value;
}

/* A code of cn_column_code(), or CN_CODE_NONE. */
static inline void cn_column_category(struct cn_frame_column *column, int32_t code)
{
    *(int32_t *)cn_column_next(column, sizeof(code), code >= 0) = code;
}

/* The code of a text, which need not be UTF-8; NULL: CN_CODE_NONE. */
int32_t cn_column_code(struct cn_frame_column *column, const char *text);

/* A cell of texts or categories; NULL: unknown. */
void cn_column_text(struct cn_frame_column *column, const char *text);

#endif
