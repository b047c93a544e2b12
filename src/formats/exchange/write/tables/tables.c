#include "formats/exchange/write/tables/tables.h"

#include <assert.h>
#include <math.h>

void cn_rows_begin(struct cn_rows_table *table, struct cn_table_rows *rows,
                   const struct cn_table_shape *shape)
{
    *table = (struct cn_rows_table){.rows = rows, .shape = shape};
    rows->ok = rows->ok && rows->ops->table_begin(table, &rows->err);
}

/* True if the next cell can be written. Cells must come in the order of the columns. */
static bool is_next(struct cn_rows_table *table, enum cn_cell_kind kind)
{
    assert(table->shape->columns[table->at].name &&
           table->shape->columns[table->at].kind == kind);
    return table->rows->ok;
}

void cn_rows_integer(struct cn_rows_table *table, uint64_t value)
{
    if (is_next(table, CN_CELL_INTEGER))
        table->rows->ops->integer(table, value);
    table->at++;
}

void cn_rows_index(struct cn_rows_table *table, uint32_t value)
{
    if (value == CN_NONE)
        cn_rows_null(table);
    else
        cn_rows_integer(table, value);
}

void cn_rows_known(struct cn_rows_table *table, uint64_t value)
{
    if (value == 0)
        cn_rows_null(table);
    else
        cn_rows_integer(table, value);
}

void cn_rows_real(struct cn_rows_table *table, double value)
{
    if (is_next(table, CN_CELL_REAL) && isfinite(value))
        table->rows->ops->real(table, value);
    else if (table->rows->ok)
        table->rows->ops->null(table);
    table->at++;
}

void cn_rows_text(struct cn_rows_table *table, const char *value)
{
    if (!value) {
        cn_rows_null(table);
        return;
    }
    if (is_next(table, CN_CELL_TEXT))
        table->rows->ops->text(table, value);
    table->at++;
}

void cn_rows_null(struct cn_rows_table *table)
{
    if (table->rows->ok)
        table->rows->ops->null(table);
    table->at++;
}

void cn_rows_row(struct cn_rows_table *table)
{
    struct cn_table_rows *rows = table->rows;

    assert(!table->shape->columns[table->at].name);
    rows->ok = rows->ok && rows->ops->row_end(table, &rows->err);
    table->at = 0;
}

void cn_rows_end(struct cn_rows_table *table)
{
    struct cn_table_rows *rows = table->rows;
    struct cn_error ignored;

    /* The writer releases its resources even after a failure. */
    if (!rows->ok)
        (void)rows->ops->table_end(table, &ignored);
    else
        rows->ok = rows->ops->table_end(table, &rows->err);
}

bool cn_tables_write(struct cn_table_rows *rows, struct cn_error *err)
{
    rows->ok = true;
    if (!(rows->x->db ? cn_tables_of_database(rows, err) : cn_tables_of_calls(rows, err)))
        return false;
    if (!rows->ok)
        *err = rows->err;
    return rows->ok;
}
