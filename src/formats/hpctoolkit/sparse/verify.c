#include "formats/hpctoolkit/sparse/verify.h"

#include <inttypes.h>
#include <math.h>

#include "base/files/file.h"
#include "formats/hpctoolkit/sparse/verify_parts.h"

static bool check_start(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                        const struct cn_hpc_sparse_kind *kind,
                        struct cn_hpc_sparse_header *head)
{
    if (!cn_hpc_sparse_file_is(file, kind)) {
        cn_findings_error(c->f, "magic", 0, "does not start with %s", kind->magic);
        return false;
    }
    if (memcmp(file.ptr, kind->magic, CN_HPC_SPARSE_MAGIC_LEN) != 0)
        cn_findings_warn(c->f, "magic-early", 0, "starts with %s, as early files did",
                         kind->early_magic);
    if (file.len < kind->header_len || !cn_hpc_sparse_header_decode(file, head)) {
        cn_findings_error(c->f, "file-length", 0, "%zu bytes, the header has %" PRIu32,
                          file.len, kind->header_len);
        return false;
    }
    if (head->major < CN_HPC_SPARSE_MAJOR_MIN || head->major > CN_HPC_SPARSE_MAJOR_MAX) {
        cn_findings_error(c->f, "version", CN_HPC_SPARSE_MAGIC_LEN,
                          "version %u.%u, known are %d.x to %d.x", head->major,
                          head->minor, CN_HPC_SPARSE_MAJOR_MIN, CN_HPC_SPARSE_MAJOR_MAX);
        return false;
    }
    return true;
}

static void check_padding(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                          const struct cn_hpc_sparse_kind *kind)
{
    struct cn_bytes area;

    if (!cn_bytes_slice(file, kind->header_len,
                        CN_HPC_SPARSE_HEADER_LEN - kind->header_len, &area)) {
        cn_findings_error(c->f, "file-length", 0, "%zu bytes, the header area has %d",
                          file.len, CN_HPC_SPARSE_HEADER_LEN);
        return;
    }
    for (size_t i = 0; i < area.len; i++)
        if (area.ptr[i] != 0) {
            cn_findings_warn(c->f, "header-padding", kind->header_len + i,
                             "byte 0x%02x in the padding of the header", area.ptr[i]);
            return;
        }
}

static void check_section(struct cn_hpc_sparse_check *c,
                          const struct cn_hpc_sparse_kind *kind,
                          const struct cn_hpc_sparse_header *head)
{
    uint64_t len = (uint64_t)head->count * kind->record_len;

    if (head->section_count != kind->section_count)
        cn_findings_error(c->f, "section-count", 0x16, "%u sections, expected %u",
                          head->section_count, kind->section_count);
    if (head->infos_len != len)
        cn_findings_error(c->f, "section-size", 0x18,
                          "section of %" PRIu64 " bytes for %" PRIu32
                          " %s, which need %" PRIu64,
                          head->infos_len, head->count, kind->records, len);
    if (head->infos_off != CN_HPC_SPARSE_HEADER_LEN)
        cn_findings_warn(c->f, "section-place", 0x20,
                         "%s at 0x%" PRIx64 ", readers expect 0x%x", kind->records,
                         head->infos_off, CN_HPC_SPARSE_HEADER_LEN);
}

bool cn_hpc_sparse_check_frame(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                               const struct cn_hpc_sparse_kind *kind,
                               struct cn_hpc_sparse_frame *out)
{
    struct cn_hpc_sparse_frame frame = {.file = file};

    if (!check_start(c, file, kind, &frame.head))
        return false;
    if (kind->footer) {
        if (cn_hpc_sparse_has_footer(file, kind))
            frame.file.len -= CN_HPC_SPARSE_FOOTER_LEN;
        else
            cn_findings_error(c->f, "footer", file.len,
                              "the file does not end with %s: it is incomplete",
                              kind->footer);
    }
    check_padding(c, file, kind);
    check_section(c, kind, &frame.head);
    if (frame.head.count > 0 &&
        !cn_bytes_array(frame.file, frame.head.infos_off, frame.head.count,
                        kind->record_len, &frame.records)) {
        cn_findings_error(c->f, "section-bounds", 0x20,
                          "%" PRIu32 " %s at 0x%" PRIx64 " do not fit the file of %zu",
                          frame.head.count, kind->records, frame.head.infos_off,
                          file.len);
        return false;
    }
    *out = frame;
    return true;
}

void cn_hpc_sparse_check_forget(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                                uint64_t len)
{
    enum { FORGET_EVERY = 32 * 1024 * 1024 };

    c->touched_len += len;
    if (!c->known->is_mapped || c->touched_len < FORGET_EVERY)
        return;
    cn_file_forget(file);
    c->touched_len = 0;
}

void cn_hpc_sparse_check_value(struct cn_hpc_sparse_check *c, uint64_t off, double value)
{
    if (value == 0)
        cn_findings_warn(c->f, "zero-value", off, "a value of 0 is written out");
    if (!isfinite(value))
        cn_findings_warn(c->f, "value-finite", off, "value %g is not finite", value);
}

bool cn_hpc_sparse_verify(struct cn_findings *f, const struct cn_hpc_sparse_files *files,
                          const struct cn_hpc_sparse_known *known,
                          const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_hpc_sparse_check c = {.f = f, .known = known, .progress = progress};

    cn_findings_begin(f, cn_hpc_sparse_profile_kind.name);
    if (!files->profile.ptr)
        cn_findings_error(f, "file-missing", 0, "not there: a database needs it");
    else if (!cn_hpc_sparse_check_profiles(&c, files->profile, err))
        return false;
    cn_findings_begin(f, cn_hpc_sparse_cct_kind.name);
    if (!files->has_cct)
        cn_findings_error(f, "file-missing", 0, "not there: a database needs it");
    else if (known->distrust_cct)
        cn_findings_warn(f, "cct-distrusted", 0, "not looked at: %s",
                         known->distrust_cct);
    else if (!cn_hpc_sparse_check_cct(&c, files->cct, err))
        return false;
    cn_findings_begin(f, cn_hpc_sparse_trace_kind.name);
    return !files->has_trace || cn_hpc_sparse_check_traces(&c, files->trace, err);
}
