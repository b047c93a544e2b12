/* Tables that are small: read once, then held in memory, by the functions that also write
 * them for cairn convert. */

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "sql/table.h"

/* A text is an offset in `texts`. */
struct stored_cell {
    enum cn_sql_cell_kind kind;
    union {
        int64_t integer;
        double real;
        size_t text;
    };
};

struct cn_sql_stored {
    const struct cn_sql *sql;
    struct stored_cell *cells;
    size_t count, capacity;
    size_t column_count, row_count;
    struct cn_text texts;
    struct cn_map by_key; /* row by the first column, where that is unique */
};

struct stored_scan {
    struct cn_sql_scan base;
    const struct cn_sql_stored *stored;
    size_t next, end;
};

static struct stored_cell *add_cell(struct cn_rows_table *table,
                                    enum cn_sql_cell_kind kind)
{
    struct cn_sql_stored *stored = table->rows->own;

    CN_GROW(stored->cells, stored->count, stored->capacity);
    stored->cells[stored->count] = (struct stored_cell){.kind = kind};
    return &stored->cells[stored->count++];
}

static void add_integer(struct cn_rows_table *table, uint64_t value)
{
    add_cell(table, CN_SQL_INTEGER)->integer = (int64_t)value;
}

static void add_real(struct cn_rows_table *table, double value)
{
    add_cell(table, CN_SQL_REAL)->real = value;
}

static void add_text(struct cn_rows_table *table, const char *value)
{
    struct cn_sql_stored *stored = table->rows->own;

    add_cell(table, CN_SQL_TEXT)->text = stored->texts.len;
    cn_text_add(&stored->texts, value, strlen(value) + 1);
}

static void add_null(struct cn_rows_table *table)
{
    (void)add_cell(table, CN_SQL_NULL);
}

static bool begin_table(struct cn_rows_table *table, struct cn_error *err)
{
    (void)table;
    (void)err;
    return true;
}

static bool end_row(struct cn_rows_table *table, struct cn_error *err)
{
    struct cn_sql_stored *stored = table->rows->own;
    const struct stored_cell *first =
        &stored->cells[stored->row_count * stored->column_count];

    if (table->shape->has_key && stored->row_count < UINT32_MAX)
        *cn_map_at(&stored->by_key, (uint64_t)first->integer, 0) =
            (uint32_t)stored->row_count;
    stored->row_count++;
    return cn_sql_check_memory(
        stored->sql,
        stored->count * sizeof(*stored->cells) + stored->texts.len +
            stored->by_key.capacity * sizeof(*stored->by_key.slots),
        err);
}

static const struct cn_rows_ops ops = {
    .table_begin = begin_table,
    .integer = add_integer,
    .real = add_real,
    .text = add_text,
    .null = add_null,
    .row_end = end_row,
    .table_end = begin_table,
};

static bool fill(struct cn_sql_data *data, const struct cn_sql_table *table,
                 struct cn_sql_stored *stored, struct cn_error *err)
{
    struct cn_export source = {.db = data->db};
    struct cn_table_rows rows = {.ops = &ops, .x = &source, .ok = true, .own = stored};

    if (!data->db && !cn_sql_data_calls(data, err))
        return false;
    data->calls.query.progress = cn_sql_progress(data->sql);
    source.query = data->db ? NULL : &data->calls.query;
    stored->sql = data->sql;
    while (table->shape->columns[stored->column_count].name)
        stored->column_count++;
    if (!table->add(&rows, err))
        return false;
    if (!rows.ok)
        *err = rows.err;
    return rows.ok;
}

uint64_t cn_sql_stored_count(struct cn_sql_data *data)
{
    enum { USUAL_COUNT = 1000 };

    if (data->db)
        return data->db->profile_count;
    return data->rec ? data->rec->function_count + 1 : USUAL_COUNT;
}

bool cn_sql_stored_open(struct cn_sql_data *data, const struct cn_sql_table *table,
                        const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                        struct cn_error *err)
{
    struct cn_sql_stored **stored;
    size_t number = 0;

    while (data->tables->list[number] != table)
        number++;
    assert(number < CN_SQL_TABLES_MAX);
    stored = &data->stored[number];
    if (!*stored) {
        struct cn_sql_stored *fresh = cn_alloc(1, sizeof(*fresh));

        if (!fill(data, table, fresh, err)) {
            cn_sql_stored_free(fresh);
            return false;
        }
        *stored = fresh;
    }
    struct stored_scan *scan = cn_alloc(1, sizeof(*scan));
    scan->stored = *stored;
    scan->end = (*stored)->row_count;
    if (table->shape->has_key && cn_sql_range_is_one(ask->keys[0])) {
        scan->next =
            cn_map_find(&(*stored)->by_key, (uint64_t)ask->keys[0].first, UINT32_MAX);
        scan->end = scan->next < scan->end ? scan->next + 1 : scan->next;
    }
    *out = &scan->base;
    return true;
}

enum cn_step cn_sql_stored_next(struct cn_sql_scan *base, struct cn_error *err)
{
    struct stored_scan *scan = (struct stored_scan *)base;

    (void)err;
    if (scan->next >= scan->end)
        return CN_END;
    scan->next++;
    return CN_ITEM;
}

bool cn_sql_stored_cell(struct cn_sql_scan *base, unsigned column,
                        struct cn_sql_cell *out, struct cn_error *err)
{
    const struct stored_scan *scan = (const struct stored_scan *)base;
    const struct cn_sql_stored *stored = scan->stored;
    const struct stored_cell *cell =
        &stored->cells[(scan->next - 1) * stored->column_count + column];

    (void)err;
    *out = (struct cn_sql_cell){.kind = cell->kind, .is_lasting = true};
    if (cell->kind == CN_SQL_INTEGER)
        out->integer = cell->integer;
    else if (cell->kind == CN_SQL_REAL)
        out->real = cell->real;
    else if (cell->kind == CN_SQL_TEXT)
        out->text = stored->texts.chars + cell->text;
    return true;
}

void cn_sql_scan_free(struct cn_sql_scan *scan)
{
    free(scan);
}

void cn_sql_stored_free(struct cn_sql_stored *stored)
{
    if (!stored)
        return;
    free(stored->cells);
    cn_text_done(&stored->texts);
    cn_map_done(&stored->by_key);
    free(stored);
}
