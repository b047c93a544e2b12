#include "launcher/files/recording_dir.h"

#include <errno.h>
#include <stdlib.h>

/* Variables of torchrun, which others may have started on each node, Open MPI, PMI (MPICH, Intel MPI),
 * PALS and Slurm. In the script of a job, Slurm sets the same variables without a step. */
static const struct {
    const char *rank, *size, *step;
} launchers[] = {
    {"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
    {"PMI_RANK", "PMI_SIZE", NULL},
    {"PALS_RANKID", "PALS_SIZE", NULL},
    {"PMIX_RANK", "PMIX_SIZE", NULL},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
};

static const char *const jobs[] = {
    "TORCHELASTIC_RUN_ID",     "MASTER_PORT", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
    "OMPI_MCA_orte_ess_jobid", "PMI_JOBID",   "PALS_APID",      "SLURM_JOB_ID",
    "SLURM_STEP_ID",
};

static bool read_number(const char *name, uint64_t *out)
{
    const char *text = name ? getenv(name) : NULL;
    char *end;

    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

bool cn_launch_rank_find(struct cn_launch_rank *out)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        uint64_t number, size = 0;
        bool has_size = read_number(launchers[i].size, &size);

        if (!read_number(launchers[i].rank, &number) || (has_size && size < 2) ||
            (launchers[i].step && !getenv(launchers[i].step)))
            continue;
        *out = (struct cn_launch_rank){.number = number};
        cn_text_printf(&out->job, "size=%llu\n", (unsigned long long)size);
        for (size_t k = 0; k < sizeof(jobs) / sizeof(jobs[0]); k++) {
            const char *job = getenv(jobs[k]);

            if (job)
                cn_text_printf(&out->job, "%s=%s\n", jobs[k], job);
        }
        return true;
    }
    return false;
}
