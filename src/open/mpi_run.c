#include "open/mpi_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/ranks.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/format.h"

/* The number of ranks of the job, which the recorder noted in the folder; 0: unknown. */
static uint32_t job_size(const char *folder)
{
    char *path = cn_strprintf("%s/ranks", folder);
    unsigned size = 0;
    FILE *file = fopen(path, "re");

    if (file && (fscanf(file, "size=%7u", &size) != 1 || size > CN_MPI_RANKS_MAX))
        size = 0;
    if (file)
        (void)fclose(file);
    free(path);
    return size;
}

static uint32_t number_of(const char *path)
{
    const char *number = strrchr(path, '.');
    unsigned long value = number ? strtoul(number + 1, NULL, 10) : 0;

    return value < CN_MPI_RANKS_MAX ? (uint32_t)value : CN_MPI_RANKS_MAX;
}

static void add_rank(struct cn_mpi_run *run, const struct cn_opened *opened,
                     const char *path)
{
    struct cn_recording *rec;
    struct cn_error err;

    if (!opened->format->open_recording(&rec, path, &opened->options.recording, &err)) {
        run->is_damaged = true;
        cn_mpi_run_add_unknown(run, number_of(path), err.text);
        return;
    }
    cn_mpi_run_add_calls(run, number_of(path), rec);
    cn_recording_close(rec);
}

static bool add_ranks(struct cn_mpi_run *run, const struct cn_opened *opened,
                      const struct cn_progress *progress, struct cn_error *err)
{
    uint32_t next = 0, size = job_size(opened->source);

    for (size_t i = 0; i < opened->rank_count; i++) {
        if (!cn_progress_report(progress, "reading ranks", i, opened->rank_count, "ranks",
                                err))
            return false;
        for (; next < number_of(opened->ranks[i]); next++)
            cn_mpi_run_add_unknown(run, next, "its recording is missing");
        add_rank(run, opened, opened->ranks[i]);
        next = number_of(opened->ranks[i]) + 1;
    }
    for (; next < size; next++)
        cn_mpi_run_add_unknown(run, next, "its recording is missing");
    return true;
}

static bool add_timelines(struct cn_mpi_run *run, struct cn_opened *opened,
                          const struct cn_progress *progress, struct cn_error *err)
{
    if (!opened->db && !cn_opened_load(opened, CN_CONTEXTS, progress, err))
        return false;
    if (!opened->db->has_timelines)
        return cn_fail(
            err, CN_ERR_NOT_FOUND,
            "%s has no timelines: waiting in MPI is found in the times of calls",
            opened->path);
    return cn_mpi_run_add_timelines(run, opened->db, progress, err) ||
           cn_fail_in(err, "%s", opened->path);
}

bool cn_mpi_run_open(struct cn_mpi_run *run, struct cn_opened *opened, const char *phase,
                     const struct cn_progress *progress, struct cn_error *err)
{
    bool ok = cn_mpi_run_init(run, phase, err);

    if (ok && opened->rank_count > 0) {
        ok = add_ranks(run, opened, progress, err);
    } else if (ok && opened->contains & CN_CALLS) {
        ok = opened->rec || cn_opened_load(opened, CN_CALLS, progress, err);
        if (ok)
            cn_mpi_run_add_processes(run, opened->rec);
    } else if (ok) {
        ok = add_timelines(run, opened, progress, err);
    }
    ok = ok && (cn_mpi_run_finish(run, err) || cn_fail_in(err, "%s", opened->path));
    if (!ok)
        cn_mpi_run_done(run);
    return ok;
}
