/* The tables `waits`, `locks` and `mpi_waits`, which the library has as well. */

#include "analyze/mpi/tables.h"
#include "analyze/wakers/tables.h"
#include "model/calls/query.h"
#include "sql/table.h"

#define COLUMN(name, kind) {name, CN_CELL_##kind},

static const struct cn_table_shape waits_shape = {.name = "waits",
                                                  .columns = {CN_WAITS_COLUMNS(COLUMN)}};
static const struct cn_table_shape locks_shape = {.name = "locks",
                                                  .columns = {CN_LOCKS_COLUMNS(COLUMN)}};
static const struct cn_table_shape mpi_waits_shape = {
    .name = "mpi_waits", .columns = {CN_MPI_WAITS_COLUMNS(COLUMN)}};

static void add_row(void *arg, const struct cn_listed_cell *cells)
{
    struct cn_rows_table *table = arg;

    for (size_t i = 0; i < CN_TABLE_COLUMN_MAX && table->shape->columns[i].name; i++)
        if (cells[i].is_number)
            cn_rows_integer(table, cells[i].number);
        else
            cn_rows_text(table, cells[i].text);
    cn_rows_row(table);
}

static bool add_waits(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &waits_shape);
    bool ok = cn_list_waits(rows->x->db, &(struct cn_listed_rows){add_row, &table}, err);
    cn_rows_end(&table);
    return ok;
}

static bool add_locks(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_recording *rec = rows->x->db ? NULL : rows->x->query->rec;
    struct cn_rows_table table;
    struct cn_listed_rows listed = {add_row, &table};

    cn_rows_begin(&table, rows, &locks_shape);
    bool ok = rec ? cn_list_recorded_locks(rec, &listed, err)
                  : cn_list_locks(rows->x->db, &listed, err);
    cn_rows_end(&table);
    return ok;
}

static bool add_mpi_waits(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_recording *rec = rows->x->db ? NULL : rows->x->query->rec;
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &mpi_waits_shape);
    bool ok = cn_list_mpi_waits(rows->x->db, rec,
                                &(struct cn_listed_rows){add_row, &table}, err);
    cn_rows_end(&table);
    return ok;
}

const struct cn_sql_table cn_sql_waits = {
    .shape = &waits_shape, .add = add_waits, CN_SQL_IN_MEMORY};
const struct cn_sql_table cn_sql_locks = {
    .shape = &locks_shape, .add = add_locks, CN_SQL_IN_MEMORY};
const struct cn_sql_table cn_sql_mpi_waits = {
    .shape = &mpi_waits_shape, .add = add_mpi_waits, CN_SQL_IN_MEMORY};
