#include "analyze/mpi/run.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/mpi/match.h"
#include "base/alloc.h"

const char *const cn_mpi_cause_names[CN_MPI_CAUSES] = {
    [CN_MPI_WITHOUT_WAIT] = "none",           [CN_MPI_LATE_RANK] = "late rank",
    [CN_MPI_LATE_ROOT] = "late root",         [CN_MPI_LATE_SENDER] = "late sender",
    [CN_MPI_LATE_RECEIVER] = "late receiver", [CN_MPI_UNMATCHED] = "unknown",
};

bool cn_mpi_run_init(struct cn_mpi_run *run, const char *phase, struct cn_error *err)
{
    *run = (struct cn_mpi_run){.phase = phase};
    return !phase || cn_name_filter_add(&run->phase_names, phase, CN_MATCH_GLOB, err);
}

void cn_mpi_run_done(struct cn_mpi_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        free(run->ranks[i].why);
        free(run->ranks[i].calls);
        free(run->ranks[i].values);
        free(run->ranks[i].phases);
        free(run->ranks[i].costs);
    }
    free(run->ranks);
    free(run->paths);
    free(run->messages);
    cn_map_done(&run->path_of);
    cn_names_done(&run->names);
    cn_name_filter_done(&run->phase_names);
    cn_text_done(&run->notes);
    *run = (struct cn_mpi_run){0};
}

uint32_t cn_mpi_run_path(struct cn_mpi_run *run, uint32_t parent, uint32_t name)
{
    uint64_t key = (uint64_t)parent << 32 | name;
    uint32_t fresh = (uint32_t)run->path_count;
    uint32_t at = *cn_map_at(&run->path_of, key, fresh);
    struct cn_mpi_path path = {
        .parent = parent, .name = name, .mpi = CN_NONE, .phase = CN_NONE};

    if (at != fresh)
        return at;
    path.operation = cn_mpi_operation_find(run->names.list[name], &path.is_c);
    if (parent != CN_NONE) {
        path.mpi = run->paths[parent].mpi;
        path.phase = run->paths[parent].phase;
    }
    if (path.mpi == CN_NONE && path.operation)
        path.mpi = fresh;
    if (path.phase == CN_NONE && run->phase &&
        cn_name_filter_matches(&run->phase_names, run->names.list[name]))
        path.phase = fresh;
    CN_PUSH(run->paths, run->path_count, run->path_capacity, path);
    return fresh;
}

void cn_mpi_run_add_unknown(struct cn_mpi_run *run, uint32_t number, const char *why)
{
    CN_PUSH(run->ranks, run->count, run->capacity,
            (struct cn_mpi_rank){.number = number, .why = cn_strdup(why)});
}

static int by_number(const void *a, const void *b)
{
    const struct cn_mpi_rank *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

bool cn_mpi_run_finish(struct cn_mpi_run *run, struct cn_error *err)
{
    size_t known = 0;

    if (run->count > 1)
        qsort(run->ranks, run->count, sizeof(*run->ranks), by_number);
    for (size_t i = 0; i < run->count; i++) {
        struct cn_mpi_rank *rank = &run->ranks[i];

        if (!rank->why && rank->seen_calls == 0)
            rank->why = cn_strdup("no call of MPI is in its data");
        known += !rank->why;
        if (rank->why)
            cn_text_printf(&run->notes, "rank %u is unknown: %s\n", rank->number,
                           rank->why);
    }
    if (known == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "no calls of MPI: record or sample each rank, as in mpirun -n 4 "
                       "cairn record -d run.data -- ./app");
    if (run->count == 1)
        cn_text_str_add(&run->notes,
                        "only one process has calls of MPI: whether it waits for "
                        "others is unknown\n");
    cn_mpi_match_collectives(run);
    cn_mpi_match_messages(run);
    cn_mpi_match_finish(run);
    return true;
}

void cn_mpi_path_print(const struct cn_mpi_run *run, uint32_t path, struct cn_text *out)
{
    uint32_t list[64];
    size_t count = 0;

    if (path == CN_NONE)
        cn_text_str_add(out, "–");
    for (; path != CN_NONE && count < sizeof(list) / sizeof(list[0]);
         path = run->paths[path].parent)
        list[count++] = path;
    if (path != CN_NONE)
        cn_text_str_add(out, "… → ");
    while (count-- > 0)
        cn_text_printf(out, "%s%s", run->names.list[run->paths[list[count]].name],
                       count > 0 ? " → " : "");
}
