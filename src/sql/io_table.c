/* The table `io` of a database or a recording: system calls about files and sockets. */

#include "model/calls/query.h"
#include "model/contexts/database.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"
#include "sql/table.h"

/* `end_ns` and `result` are null of a call whose end is unknown; `file` of one that is about none, or several. */
#define COLUMNS                                                                      \
    {"thread", CN_CELL_INTEGER}, {"begin_ns", CN_CELL_INTEGER},                      \
        {"end_ns", CN_CELL_INTEGER}, {"call", CN_CELL_TEXT}, {"kind", CN_CELL_TEXT}, \
        {"descriptor", CN_CELL_INTEGER}, {"file", CN_CELL_TEXT},                     \
        {"result", CN_CELL_INTEGER}, {"read_bytes", CN_CELL_INTEGER},                \
    {                                                                                \
        "written_bytes", CN_CELL_INTEGER                                             \
    }
static const struct cn_table_shape io_shape = {
    .name = "io",
    .columns = {COLUMNS, {"context", CN_CELL_INTEGER}, {"caller", CN_CELL_INTEGER}},
};
static const struct cn_table_shape recorded_shape = {.name = "io", .columns = {COLUMNS}};

static void add_call(struct cn_rows_table *table, const struct cn_io_calls *calls,
                     const struct cn_io_call *call)
{
    const struct cn_system_call *kind = cn_system_call(call->call);

    cn_rows_integer(table, call->profile);
    cn_rows_integer(table, call->begin_ns);
    cn_rows_known(table, call->end_ns);
    cn_rows_text(table, kind->name);
    cn_rows_text(table, cn_io_kind_name((enum cn_io_kind)kind->kind));
    if (call->descriptor >= 0)
        cn_rows_integer(table, (uint64_t)call->descriptor);
    else
        cn_rows_null(table);
    cn_rows_text(table, call->target < calls->target_count ? calls->targets[call->target]
                                                           : NULL);
    if (call->end_ns != 0)
        cn_rows_integer(table, (uint64_t)call->result);
    else
        cn_rows_null(table);
    cn_rows_integer(table, cn_io_call_read(call));
    cn_rows_integer(table, cn_io_call_written(call));
}

/* Without system calls there are no rows. */
static bool add_io(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_io_calls *calls = rows->x->db->io;
    struct cn_rows_table table;

    (void)err;
    cn_rows_begin(&table, rows, &io_shape);
    for (size_t i = 0; calls && i < calls->count; i++) {
        add_call(&table, calls, &calls->list[i]);
        cn_rows_integer(&table, calls->list[i].context);
        cn_rows_integer(&table, calls->list[i].caller);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    return true;
}

/* Also those outside of recorded calls. */
static bool add_recorded_io(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_io_calls *calls = rows->x->query->rec->io;
    struct cn_rows_table table;

    (void)err;
    cn_rows_begin(&table, rows, &recorded_shape);
    for (size_t i = 0; calls && i < calls->count; i++) {
        add_call(&table, calls, &calls->list[i]);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    return true;
}

const struct cn_sql_table cn_sql_io = {
    .shape = &io_shape, .add = add_io, CN_SQL_IN_MEMORY};
const struct cn_sql_table cn_sql_recorded_io = {
    .shape = &recorded_shape, .add = add_recorded_io, CN_SQL_IN_MEMORY};
