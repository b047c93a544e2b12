/* The table `mpi_waits`: each call of MPI that waits, or of which that is unknown. */

#include "analyze/mpi/run.h"
#include "base/text.h"
#include "model/calls/query.h"
#include "model/contexts/database.h"
#include "sql/table.h"

/* `wait_ns`, `late_rank` and `late_path` are null of calls whose cause is unknown. */
static const struct cn_table_shape mpi_waits_shape = {
    .name = "mpi_waits",
    .columns = {{"rank", CN_CELL_INTEGER},
                {"begin_ns", CN_CELL_INTEGER},
                {"end_ns", CN_CELL_INTEGER},
                {"wait_ns", CN_CELL_INTEGER},
                {"cause", CN_CELL_TEXT},
                {"function", CN_CELL_TEXT},
                {"path", CN_CELL_TEXT},
                {"late_rank", CN_CELL_INTEGER},
                {"late_path", CN_CELL_TEXT}},
};

static void add_path(struct cn_rows_table *table, const struct cn_mpi_run *run,
                     uint32_t path, struct cn_text *text)
{
    cn_text_clear(text);
    if (path != CN_NONE)
        cn_mpi_path_print(run, path, text);
    cn_rows_text(table, path != CN_NONE ? cn_text_str(text) : NULL);
}

static void add_call(struct cn_rows_table *table, const struct cn_mpi_run *run,
                     const struct cn_mpi_rank *rank, const struct cn_mpi_call *call,
                     struct cn_text *text)
{
    bool is_known = call->cause != CN_MPI_UNMATCHED;

    cn_rows_integer(table, rank->number);
    cn_rows_integer(table, call->begin_ns);
    cn_rows_integer(table, call->end_ns);
    if (is_known)
        cn_rows_integer(table, call->wait_ns);
    else
        cn_rows_null(table);
    cn_rows_text(table, cn_mpi_cause_names[call->cause]);
    cn_rows_text(table, run->names.list[run->paths[call->path].name]);
    add_path(table, run, call->path, text);
    cn_rows_index(table, is_known ? run->ranks[call->late_rank].number : CN_NONE);
    add_path(table, run, is_known ? call->late_path : CN_NONE, text);
    cn_rows_row(table);
}

static bool read_run(struct cn_mpi_run *run, const struct cn_export *x,
                     struct cn_error *err)
{
    if (x->db)
        return !x->db->has_timelines || cn_mpi_run_add_timelines(run, x->db, NULL, err);
    cn_mpi_run_add_processes(run, x->query->rec);
    return true;
}

/* Without calls of MPI there are no rows. */
static bool add_mpi_waits(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_mpi_run run;
    struct cn_rows_table table;
    struct cn_text text = {0};
    struct cn_error ignored;
    bool ok = cn_mpi_run_init(&run, NULL, err) && read_run(&run, rows->x, err);
    bool has_calls = ok && cn_mpi_run_finish(&run, &ignored);

    cn_rows_begin(&table, rows, &mpi_waits_shape);
    for (size_t i = 0; has_calls && i < run.count; i++)
        for (size_t k = 0; k < run.ranks[i].call_count; k++) {
            const struct cn_mpi_call *call = &run.ranks[i].calls[k];

            if (cn_mpi_call_may_wait(call))
                add_call(&table, &run, &run.ranks[i], call, &text);
        }
    cn_rows_end(&table);
    cn_mpi_run_done(&run);
    cn_text_done(&text);
    return ok;
}

const struct cn_sql_table cn_sql_mpi_waits = {
    .shape = &mpi_waits_shape, .add = add_mpi_waits, CN_SQL_IN_MEMORY};
