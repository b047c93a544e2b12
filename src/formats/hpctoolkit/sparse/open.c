#include "formats/hpctoolkit/sparse/open.h"

#include <assert.h>

#include "formats/hpctoolkit/sparse/value_files.h"

struct cn_hpc_sparse_files cn_hpc_sparse_mapped(const struct cn_hpc_maps *maps)
{
    const struct cn_file *file = maps->file;

    return (struct cn_hpc_sparse_files){
        .profile = file[CN_HPC_PROFILE_FILE].bytes,
        .cct = file[CN_HPC_CCT_FILE].bytes,
        .trace = file[CN_HPC_TRACE_FILE].bytes,
        .profile_ranges = file[CN_HPC_PROFILE_FILE].ranges,
        .cct_ranges = file[CN_HPC_CCT_FILE].ranges,
        .trace_ranges = file[CN_HPC_TRACE_FILE].ranges,
        .has_cct = cn_file_is_open(&file[CN_HPC_CCT_FILE]),
        .has_trace = cn_file_is_open(&file[CN_HPC_TRACE_FILE]),
    };
}

static bool open_cct(struct cn_hpc_planes *out, const struct cn_hpc_sparse_files *files,
                     const char *distrust, struct cn_error *err)
{
    bool is_zeroed;

    if (!files->has_cct)
        return cn_fail(err, CN_ERR_NOT_FOUND, "does not exist");
    if (distrust)
        return cn_fail(err, CN_ERR_FORMAT, "%s", distrust);
    if (!cn_hpc_sparse_cct_open(cn_content_in(files->cct, files->cct_ranges), out,
                                &is_zeroed, err))
        return cn_fail_in(err, "is damaged");
    return !is_zeroed || cn_fail(err, CN_ERR_FORMAT, "is zeroed");
}

bool cn_hpc_sparse_open(struct cn_hpc_values *out, struct cn_database *db,
                        const struct cn_hpc_sparse_files *files,
                        const struct cn_hpc_sparse_options *options, struct cn_error *err)
{
    struct cn_hpc_values values = {.threads = options->threads,
                                   .summaries = options->summaries,
                                   .idle_context = options->idle_context};
    struct cn_error damage;

    assert(cn_hpc_metric_ids_are_ordered(&options->threads) &&
           cn_hpc_metric_ids_are_ordered(&options->summaries));
    if (!cn_hpc_sparse_profiles_open(cn_content_in(files->profile, files->profile_ranges),
                                     &values.profiles, err))
        return cn_fail_in(err, "profile.db");
    values.has_cct = open_cct(&values.cct, files, options->distrust_cct, &damage);
    values.context_limit = values.cct.records.count;
    if (!values.has_cct) {
        cn_database_warn(db, false, "cct.db %s; rebuilt from profile.db", damage.text);
        if (!cn_hpc_values_limit(&values, options->listed_count, err))
            return false;
    }
    if (files->has_trace)
        cn_hpc_values_add_traces(
            &values, db,
            cn_hpc_sparse_traces_open(cn_content_in(files->trace, files->trace_ranges),
                                      &values.traces, &values.trace_damage));
    db->profile_count = values.profiles.records.count;
    db->context_limit = values.context_limit;
    db->has_context_values = true;
    *out = values;
    return true;
}
