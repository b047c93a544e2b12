/* What ranks of an MPI program wait for, as a table. */

#include "analyze/mpi/run.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/contexts/database.h"

enum { RANK, BEGIN, END, WAIT, CAUSE, PATH, LATE_RANK, LATE_PATH };

static struct cairn_table *begin(void)
{
    struct cairn_table *table = cn_frame_new();

    (void)cn_frame_add(table, "rank", CAIRN_U32);
    (void)cn_frame_add(table, "begin_ns", CAIRN_U64);
    (void)cn_frame_add(table, "end_ns", CAIRN_U64);
    (void)cn_frame_add(table, "wait_ns", CAIRN_U64);
    (void)cn_frame_add(table, "cause", CAIRN_CATEGORY);
    (void)cn_frame_add(table, "path", CAIRN_CATEGORY);
    (void)cn_frame_add(table, "late_rank", CAIRN_U32);
    (void)cn_frame_add(table, "late_path", CAIRN_CATEGORY);
    return table;
}

static void add_path(struct cn_frame_column *column, const struct cn_mpi_run *run,
                     uint32_t path, struct cn_text *text)
{
    cn_text_clear(text);
    if (path != CN_NONE)
        cn_mpi_path_print(run, path, text);
    cn_column_text(column, path != CN_NONE ? cn_text_str(text) : NULL);
}

static void add_call(struct cairn_table *table, const struct cn_mpi_run *run,
                     const struct cn_mpi_rank *rank, const struct cn_mpi_call *call,
                     struct cn_text *text)
{
    bool is_known = call->cause != CN_MPI_UNMATCHED;
    uint32_t late = is_known ? run->ranks[call->late_rank].number : CN_NONE;

    cn_column_u32(cn_frame_column(table, RANK), rank->number);
    cn_column_u64(cn_frame_column(table, BEGIN), call->begin_ns);
    cn_column_u64(cn_frame_column(table, END), call->end_ns);
    if (is_known)
        cn_column_u64(cn_frame_column(table, WAIT), call->wait_ns);
    else
        cn_column_u64_null(cn_frame_column(table, WAIT));
    cn_column_text(cn_frame_column(table, CAUSE), cn_mpi_cause_names[call->cause]);
    add_path(cn_frame_column(table, PATH), run, call->path, text);
    cn_column_u32_or(cn_frame_column(table, LATE_RANK), late, CN_NONE);
    add_path(cn_frame_column(table, LATE_PATH), run, is_known ? call->late_path : CN_NONE,
             text);
}

/* Without timelines, or calls of MPI, there are no rows. */
static bool fill(struct cairn_table *table, struct cn_database *db, struct cn_error *err)
{
    struct cn_mpi_run run;
    struct cn_text text = {0};
    struct cn_error ignored;
    bool ok = cn_mpi_run_init(&run, NULL, err) &&
              (!db->has_timelines || cn_mpi_run_add_timelines(&run, db, NULL, err));
    bool has_calls = ok && cn_mpi_run_finish(&run, &ignored);

    for (size_t i = 0; has_calls && i < run.count; i++)
        for (size_t k = 0; k < run.ranks[i].call_count; k++)
            if (cn_mpi_call_may_wait(&run.ranks[i].calls[k]))
                add_call(table, &run, &run.ranks[i], &run.ranks[i].calls[k], &text);
    cn_mpi_run_done(&run);
    cn_text_done(&text);
    return ok;
}

struct cairn_table *cairn_database_mpi_waits(struct cairn_data *data,
                                             struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_table *table;

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    table = begin();
    if (!fill(table, data->db, e)) {
        (void)cn_fail_in(e, "%s", data->path);
        cairn_table_free(table);
        return NULL;
    }
    cn_frame_finish(table);
    return table;
}
