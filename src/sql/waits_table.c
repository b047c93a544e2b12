/* The table `waits` of a database: every time that a thread did not run, with what ended it. */

#include "analyze/views/frames.h"
#include "analyze/wakers/graph.h"
#include "model/contexts/database.h"
#include "sql/table.h"

/* `woken_ns` is null of a wait whose wake-up was not recorded, and of one for nothing but a processor. */
static const struct cn_table_shape waits_shape = {
    .name = "waits",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"begin_ns", CN_CELL_INTEGER},
                {"woken_ns", CN_CELL_INTEGER},
                {"end_ns", CN_CELL_INTEGER},
                {"kind", CN_CELL_TEXT},
                {"context", CN_CELL_INTEGER},
                {"waker", CN_CELL_INTEGER},
                {"waker_context", CN_CELL_INTEGER},
                {"is_inferred", CN_CELL_INTEGER}},
};

static void add_id(struct cn_rows_table *table, uint32_t id)
{
    if (id != 0)
        cn_rows_integer(table, id);
    else
        cn_rows_null(table);
}

static void add_wait(struct cn_rows_table *table, const struct cn_waited *wait)
{
    cn_rows_integer(table, wait->profile);
    cn_rows_integer(table, wait->begin_ns);
    if (wait->is_woken)
        cn_rows_integer(table, wait->woken_ns);
    else
        cn_rows_null(table);
    cn_rows_integer(table, wait->end_ns);
    cn_rows_text(table, cn_wait_kind_names[wait->kind]);
    add_id(table, wait->context);
    add_id(table, wait->waker);
    add_id(table, wait->waker_context);
    cn_rows_integer(table, wait->is_inferred);
    cn_rows_row(table);
}

/* Without states of threads there are no rows. */
static bool add_waits(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_database *db = rows->x->db;
    struct cn_wait_graph graph = {0};
    struct cn_frames frames = {0};
    struct cn_rows_table table;

    if (db->states && !cn_frames_build(&frames, db, NULL, err))
        return false;
    if (db->states && !cn_wait_graph_build(&graph, db, &frames, err)) {
        cn_frames_done(&frames);
        return false;
    }
    cn_rows_begin(&table, rows, &waits_shape);
    for (size_t i = 0; i < graph.count; i++)
        add_wait(&table, &graph.list[i]);
    cn_rows_end(&table);
    cn_wait_graph_done(&graph);
    cn_frames_done(&frames);
    return true;
}

const struct cn_sql_table cn_sql_waits = {
    .shape = &waits_shape, .add = add_waits, CN_SQL_IN_MEMORY};
