#include "formats/hpctoolkit/sparse/frame.h"

#include <inttypes.h>

const struct cn_hpc_sparse_kind cn_hpc_sparse_profile_kind = {
    .name = "profile.db",
    .magic = CN_HPC_SPARSE_PROFILE_MAGIC,
    .early_magic = CN_HPC_SPARSE_PROFILE_EARLY_MAGIC,
    .footer = CN_HPC_SPARSE_PROFILE_FOOTER,
    .swapped_footer = CN_HPC_SPARSE_PROFILE_SWAPPED_FOOTER,
    .records = "profiles",
    .section_count = CN_HPC_SPARSE_PROFILE_SECTIONS,
    .header_len = cn_hpc_sparse_profile_header_size,
    .record_len = cn_hpc_sparse_profile_size,
};

const struct cn_hpc_sparse_kind cn_hpc_sparse_cct_kind = {
    .name = "cct.db",
    .magic = CN_HPC_SPARSE_CCT_MAGIC,
    .early_magic = CN_HPC_SPARSE_CCT_EARLY_MAGIC,
    .footer = CN_HPC_SPARSE_CCT_FOOTER,
    .swapped_footer = CN_HPC_SPARSE_CCT_SWAPPED_FOOTER,
    .records = "contexts",
    .section_count = CN_HPC_SPARSE_CCT_SECTIONS,
    .header_len = cn_hpc_sparse_header_size,
    .record_len = cn_hpc_sparse_context_size,
};

const struct cn_hpc_sparse_kind cn_hpc_sparse_trace_kind = {
    .name = "trace.db",
    .magic = CN_HPC_SPARSE_TRACE_MAGIC,
    .early_magic = CN_HPC_SPARSE_TRACE_MAGIC,
    .records = "traces",
    .section_count = CN_HPC_SPARSE_TRACE_SECTIONS,
    .header_len = cn_hpc_sparse_trace_header_size,
    .record_len = cn_hpc_sparse_trace_size,
};

static const struct cn_hpc_sparse_kind *const kinds[CN_HPC_SPARSE_KIND_COUNT] = {
    &cn_hpc_sparse_profile_kind,
    &cn_hpc_sparse_cct_kind,
    &cn_hpc_sparse_trace_kind,
};

bool cn_hpc_sparse_file_is(struct cn_bytes file, const struct cn_hpc_sparse_kind *kind)
{
    struct cn_bytes magic;

    return cn_bytes_slice(file, 0, CN_HPC_SPARSE_MAGIC_LEN, &magic) &&
           (memcmp(magic.ptr, kind->magic, CN_HPC_SPARSE_MAGIC_LEN) == 0 ||
            memcmp(magic.ptr, kind->early_magic, CN_HPC_SPARSE_MAGIC_LEN) == 0);
}

const struct cn_hpc_sparse_kind *cn_hpc_sparse_kind_of(struct cn_bytes file)
{
    for (size_t i = 0; i < CN_HPC_SPARSE_KIND_COUNT; i++)
        if (cn_hpc_sparse_file_is(file, kinds[i]))
            return kinds[i];
    return NULL;
}

bool cn_hpc_sparse_has_footer(struct cn_content file,
                              const struct cn_hpc_sparse_kind *kind)
{
    struct cn_bytes footer;

    return file.len >= kind->header_len + CN_HPC_SPARSE_FOOTER_LEN &&
           cn_content_slice(file, file.len - CN_HPC_SPARSE_FOOTER_LEN,
                            CN_HPC_SPARSE_FOOTER_LEN, &footer) &&
           (memcmp(footer.ptr, kind->footer, CN_HPC_SPARSE_FOOTER_LEN) == 0 ||
            memcmp(footer.ptr, kind->swapped_footer, CN_HPC_SPARSE_FOOTER_LEN) == 0);
}

bool cn_hpc_sparse_records_find(struct cn_hpc_sparse_frame *frame,
                                const struct cn_hpc_sparse_kind *kind)
{
    const struct cn_hpc_sparse_header *head = &frame->head;

    frame->records = (struct cn_hpc_table){
        .span.off = head->infos_off, .count = head->count, .stride = kind->record_len};
    return head->count == 0 || cn_content_keep(frame->file, head->infos_off,
                                               (uint64_t)head->count * kind->record_len,
                                               &frame->records.span.bytes);
}

static bool check_head(struct cn_content file, const struct cn_hpc_sparse_kind *kind,
                       struct cn_hpc_sparse_header *head, struct cn_error *err)
{
    uint64_t start_len = file.len < kind->header_len ? file.len : kind->header_len;
    struct cn_bytes start;

    if (file.len == 0 || !cn_content_slice(file, 0, start_len, &start))
        return cn_fail(err, CN_ERR_FORMAT, "file is empty");
    if (!cn_hpc_sparse_file_is(start, kind))
        return cn_fail(err, CN_ERR_FORMAT, "not a %s: does not start with %s", kind->name,
                       kind->magic);
    if (start.len < kind->header_len || !cn_hpc_sparse_header_decode(start, head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "file is incomplete: %" PRIu64 " bytes, at least %" PRIu32
                       " needed",
                       file.len, kind->header_len);
    if (head->major < CN_HPC_SPARSE_MAJOR_MIN || head->major > CN_HPC_SPARSE_MAJOR_MAX)
        return cn_fail(err, CN_ERR_VERSION, "version %u.%u, can read %d.x to %d.x",
                       head->major, head->minor, CN_HPC_SPARSE_MAJOR_MIN,
                       CN_HPC_SPARSE_MAJOR_MAX);
    return true;
}

bool cn_hpc_sparse_frame_open(struct cn_content file,
                              const struct cn_hpc_sparse_kind *kind,
                              struct cn_hpc_sparse_frame *out, struct cn_error *err)
{
    struct cn_hpc_sparse_frame frame = {.file = file};
    const struct cn_hpc_sparse_header *head = &frame.head;

    if (!check_head(file, kind, &frame.head, err))
        return false;
    if (kind->footer) {
        if (!cn_hpc_sparse_has_footer(file, kind))
            return cn_fail(err, CN_ERR_FORMAT,
                           "file of %" PRIu64 " bytes is incomplete: no footer",
                           file.len);
        frame.file.len -= CN_HPC_SPARSE_FOOTER_LEN;
    }
    if (!cn_hpc_sparse_records_find(&frame, kind))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu32 " %s at 0x%" PRIx64 " do not fit the file of %" PRIu64,
                       head->count, kind->records, head->infos_off, file.len);
    if (frame.records.span.bytes.len > head->infos_len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu32 " %s do not fit their section of %" PRIu64 " bytes",
                       head->count, kind->records, head->infos_len);
    *out = frame;
    return true;
}
