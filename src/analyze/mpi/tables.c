#include "analyze/mpi/tables.h"

#include "analyze/mpi/run.h"
#include "base/text.h"
#include "model/contexts/database.h"

static struct cn_listed_cell path_cell(const struct cn_mpi_run *run, uint32_t path,
                                       struct cn_text *text)
{
    cn_text_clear(text);
    if (path != CN_NONE)
        cn_mpi_path_print(run, path, text);
    return cn_listed_text(path != CN_NONE ? cn_text_str(text) : NULL);
}

static void list_call(const struct cn_listed_rows *rows, const struct cn_mpi_run *run,
                      const struct cn_mpi_rank *rank, const struct cn_mpi_call *call,
                      struct cn_text texts[2])
{
    bool is_known = call->cause != CN_MPI_UNMATCHED;
    uint32_t late = is_known ? run->ranks[call->late_rank].number : CN_NONE;
    const struct cn_listed_cell cells[] = {
        cn_listed_number(rank->number),
        cn_listed_number(call->begin_ns),
        cn_listed_number(call->end_ns),
        cn_listed_number_if(is_known, call->wait_ns),
        cn_listed_text(cn_mpi_cause_names[call->cause]),
        cn_listed_text(run->names.list[run->paths[call->path].name]),
        path_cell(run, call->path, &texts[0]),
        cn_listed_number_if(late != CN_NONE, late),
        path_cell(run, is_known ? call->late_path : CN_NONE, &texts[1]),
    };

    rows->add(rows->arg, cells);
}

static bool read_run(struct cn_mpi_run *run, struct cn_database *db,
                     const struct cn_recording *rec, struct cn_error *err)
{
    if (db)
        return !db->has_timelines || cn_mpi_run_add_timelines(run, db, NULL, err);
    cn_mpi_run_add_processes(run, rec);
    return true;
}

bool cn_list_mpi_waits(struct cn_database *db, const struct cn_recording *rec,
                       const struct cn_listed_rows *rows, struct cn_error *err)
{
    struct cn_mpi_run run;
    struct cn_text texts[2] = {0};
    struct cn_error ignored;
    bool ok = cn_mpi_run_init(&run, NULL, err) && read_run(&run, db, rec, err);
    bool has_calls = ok && cn_mpi_run_finish(&run, &ignored);

    for (size_t i = 0; has_calls && i < run.count; i++)
        for (size_t k = 0; k < run.ranks[i].call_count; k++)
            if (cn_mpi_call_may_wait(&run.ranks[i].calls[k]))
                list_call(rows, &run, &run.ranks[i], &run.ranks[i].calls[k], texts);
    cn_mpi_run_done(&run);
    cn_text_done(&texts[0]);
    cn_text_done(&texts[1]);
    return ok;
}
