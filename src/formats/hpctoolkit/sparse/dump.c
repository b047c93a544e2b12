#include "formats/hpctoolkit/sparse/dump.h"

#include "formats/hpctoolkit/sparse/value_files.h"

static bool dump_profiles(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_planes planes;

    return cn_hpc_dump_item(dump, &cn_hpc_sparse_profile_header_layout, 0, 0, NULL,
                            err) &&
           cn_hpc_sparse_profiles_open(cn_content_of(dump->bytes), &planes, err) &&
           cn_hpc_dump_planes(dump, &cn_hpc_sparse_profile_layout, &planes, err);
}

static bool dump_cct(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_sparse_kind without_footer = cn_hpc_sparse_cct_kind;
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_planes planes;

    /* Unfinished writers left none: what is there can be dumped. */
    without_footer.footer = NULL;
    if (!cn_hpc_sparse_frame_open(cn_content_of(dump->bytes), &without_footer, &frame,
                                  err))
        return false;
    planes = cn_hpc_sparse_planes(&frame, &cn_hpc_sparse_context_planes);
    return cn_hpc_dump_planes(dump, &cn_hpc_sparse_context_layout, &planes, err);
}

static bool dump_traces(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_traces traces;

    return cn_hpc_dump_item(dump, &cn_hpc_sparse_trace_header_layout, 0, 0, NULL, err) &&
           cn_hpc_sparse_traces_open(cn_content_of(dump->bytes), &traces, err) &&
           cn_hpc_dump_traces(dump, &cn_hpc_sparse_trace_layout,
                              &cn_hpc_sparse_sample_layout, &traces, err);
}

static bool dump_kind(struct cn_hpc_dump *dump, const struct cn_hpc_sparse_kind *kind,
                      struct cn_error *err)
{
    if (!cn_hpc_sparse_file_is(dump->bytes, kind))
        return cn_fail(err, CN_ERR_FORMAT, "not a %s", kind->name);
    if (!cn_hpc_dump_item(dump, &cn_hpc_sparse_header_layout, 0, 0, NULL, err))
        return false;
    if (kind == &cn_hpc_sparse_profile_kind)
        return dump_profiles(dump, err);
    return kind == &cn_hpc_sparse_cct_kind ? dump_cct(dump, err) : dump_traces(dump, err);
}

bool cn_hpc_sparse_dump_bytes(const struct cn_hpc_sparse_kind *kind, struct cn_bytes file,
                              cn_dump_fn emit, void *arg, bool *is_stopped,
                              struct cn_error *err)
{
    struct cn_hpc_dump dump = {
        .emit = emit, .arg = arg, .file = kind->name, .bytes = file};
    bool ok = dump_kind(&dump, kind, err);

    *is_stopped = dump.is_stopped;
    return ok || dump.is_stopped;
}

/* The file of a directory that dump->file names. */
static bool dump_named(struct cn_hpc_dump *dump, struct cn_error *err)
{
    size_t i = 0;

    while (strcmp(cn_hpc_sparse_kinds[i]->name, dump->file) != 0)
        i++;
    return dump_kind(dump, cn_hpc_sparse_kinds[i], err);
}

bool cn_hpc_sparse_dump_directory(struct cn_hpc_dump *dump, const char *dir,
                                  struct cn_error *err)
{
    for (size_t i = 0; i < CN_HPC_SPARSE_KIND_COUNT; i++)
        if (!cn_hpc_dump_file(dump, dir, cn_hpc_sparse_kinds[i]->name, i > 0, dump_named,
                              err))
            return false;
    return true;
}
