#include "formats/hpctoolkit/sparse/open.h"

#include "formats/hpctoolkit/sparse/value_files.h"
#include "formats/hpctoolkit/values/dump.h"

static bool dump_header(struct cn_hpc_dump *dump, const struct cn_hpc_sparse_kind *kind,
                        struct cn_error *err)
{
    if (!cn_hpc_sparse_file_is(dump->bytes, kind))
        return cn_fail(err, CN_ERR_FORMAT, "not a %s", kind->name);
    return cn_hpc_dump_item(dump, &cn_hpc_sparse_header_layout, 0, 0, NULL, err);
}

static bool dump_profiles(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_planes planes;

    return dump_header(dump, &cn_hpc_sparse_profile_kind, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_sparse_profile_header_layout, 0, 0, NULL,
                            err) &&
           cn_hpc_sparse_profiles_open(cn_content_of(dump->bytes), &planes, err) &&
           cn_hpc_dump_planes(dump, &planes, err);
}

static bool dump_cct(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_sparse_kind without_footer = cn_hpc_sparse_cct_kind;
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_planes planes;

    /* Unfinished writers left none: what is there can be dumped. */
    without_footer.footer = NULL;
    if (!dump_header(dump, &cn_hpc_sparse_cct_kind, err) ||
        !cn_hpc_sparse_frame_open(cn_content_of(dump->bytes), &without_footer, &frame,
                                  err))
        return false;
    planes = cn_hpc_sparse_planes(&frame, &cn_hpc_sparse_context_planes);
    return cn_hpc_dump_planes(dump, &planes, err);
}

static bool dump_traces(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_traces traces;

    return dump_header(dump, &cn_hpc_sparse_trace_kind, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_sparse_trace_header_layout, 0, 0, NULL, err) &&
           cn_hpc_sparse_traces_open(cn_content_of(dump->bytes), &traces, err) &&
           cn_hpc_dump_traces(dump, &traces, err);
}

static bool is_profile(struct cn_bytes file)
{
    return cn_hpc_sparse_file_is(file, &cn_hpc_sparse_profile_kind);
}

static bool is_cct(struct cn_bytes file)
{
    return cn_hpc_sparse_file_is(file, &cn_hpc_sparse_cct_kind);
}

static bool is_trace(struct cn_bytes file)
{
    return cn_hpc_sparse_file_is(file, &cn_hpc_sparse_trace_kind);
}

const struct cn_hpc_dump_kind cn_hpc_sparse_dumps[CN_HPC_SPARSE_KIND_COUNT] = {
    {"profile.db", is_profile, dump_profiles, false},
    {"cct.db", is_cct, dump_cct, true},
    {"trace.db", is_trace, dump_traces, true},
};

bool cn_hpc_sparse_dump(const char *path, const struct cn_hpc_dump_kind *tree,
                        cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump_kind kinds[CN_HPC_SPARSE_KIND_COUNT + 1] = {*tree};

    memcpy(kinds + 1, cn_hpc_sparse_dumps, sizeof(cn_hpc_sparse_dumps));
    return cn_hpc_dump_path(path, kinds, sizeof(kinds) / sizeof(*kinds), emit, arg, err);
}
