#include "formats/hpctoolkit/sparse/open.h"

#include <inttypes.h>

#include "formats/hpctoolkit/sparse/value_files.h"

static bool check_start(struct cn_hpc_check *c, struct cn_bytes file,
                        const struct cn_hpc_sparse_kind *kind,
                        struct cn_hpc_sparse_header *head)
{
    if (!cn_hpc_sparse_file_is(file, kind)) {
        cn_findings_error(&c->f, "magic", 0, "does not start with %s", kind->magic);
        return false;
    }
    if (memcmp(file.ptr, kind->magic, CN_HPC_SPARSE_MAGIC_LEN) != 0)
        cn_findings_warn(&c->f, "magic-early", 0, "starts with %s, as early files did",
                         kind->early_magic);
    if (file.len < kind->header_len || !cn_hpc_sparse_header_decode(file, head)) {
        cn_findings_error(&c->f, "file-length", 0, "%zu bytes, the header has %" PRIu32,
                          file.len, kind->header_len);
        return false;
    }
    if (head->major < CN_HPC_SPARSE_MAJOR_MIN || head->major > CN_HPC_SPARSE_MAJOR_MAX) {
        cn_findings_error(&c->f, "version", CN_HPC_SPARSE_MAGIC_LEN,
                          "version %u.%u, known are %d.x to %d.x", head->major,
                          head->minor, CN_HPC_SPARSE_MAJOR_MIN, CN_HPC_SPARSE_MAJOR_MAX);
        return false;
    }
    return true;
}

static void check_padding(struct cn_hpc_check *c, struct cn_bytes file,
                          const struct cn_hpc_sparse_kind *kind)
{
    struct cn_bytes area;

    if (!cn_bytes_slice(file, kind->header_len,
                        CN_HPC_SPARSE_HEADER_LEN - kind->header_len, &area)) {
        cn_findings_error(&c->f, "file-length", 0, "%zu bytes, the header area has %d",
                          file.len, CN_HPC_SPARSE_HEADER_LEN);
        return;
    }
    for (size_t i = 0; i < area.len; i++)
        if (area.ptr[i] != 0) {
            cn_findings_warn(&c->f, "header-padding", kind->header_len + i,
                             "byte 0x%02x in the padding of the header", area.ptr[i]);
            return;
        }
}

static void check_section(struct cn_hpc_check *c, const struct cn_hpc_sparse_kind *kind,
                          const struct cn_hpc_sparse_header *head)
{
    uint64_t len = (uint64_t)head->count * kind->record_len;

    if (head->section_count != kind->section_count)
        cn_findings_error(&c->f, "section-count", 0x16, "%u sections, expected %u",
                          head->section_count, kind->section_count);
    if (head->infos_len != len)
        cn_findings_error(&c->f, "section-size", 0x18,
                          "section of %" PRIu64 " bytes for %" PRIu32
                          " %s, which need %" PRIu64,
                          head->infos_len, head->count, kind->records, len);
    if (head->infos_off != CN_HPC_SPARSE_HEADER_LEN)
        cn_findings_warn(&c->f, "section-place", 0x20,
                         "%s at 0x%" PRIx64 ", readers expect 0x%x", kind->records,
                         head->infos_off, CN_HPC_SPARSE_HEADER_LEN);
}

static bool check_frame(struct cn_hpc_check *c, struct cn_bytes file,
                        const struct cn_hpc_sparse_kind *kind,
                        struct cn_hpc_sparse_frame *out)
{
    struct cn_hpc_sparse_frame frame = {.file = cn_content_of(file)};

    if (!check_start(c, file, kind, &frame.head))
        return false;
    if (kind->footer) {
        if (cn_hpc_sparse_has_footer(frame.file, kind))
            frame.file.len -= CN_HPC_SPARSE_FOOTER_LEN;
        else
            cn_findings_error(&c->f, "footer", file.len,
                              "the file does not end with %s: it is incomplete",
                              kind->footer);
    }
    check_padding(c, file, kind);
    check_section(c, kind, &frame.head);
    if (!cn_hpc_sparse_records_find(&frame, kind)) {
        cn_findings_error(&c->f, "section-bounds", 0x20,
                          "%" PRIu32 " %s at 0x%" PRIx64 " do not fit the file of %zu",
                          frame.head.count, kind->records, frame.head.infos_off,
                          file.len);
        return false;
    }
    *out = frame;
    return true;
}

static void check_profile(struct cn_hpc_plane_check *p, uint32_t number, uint64_t off)
{
    struct cn_hpc_sparse_profile record = {0};

    (void)cn_hpc_sparse_profile_decode(cn_hpc_table_at(&p->planes.records, number),
                                       &record);
    if (record.metadata_off || record.spare_one_off || record.spare_two_off)
        cn_findings_warn(&p->c->f, "reserved", off,
                         "profile %" PRIu32 ": a reserved pointer is set", number);
}

static void check_identity(struct cn_hpc_plane_check *p, uint32_t number,
                           struct cn_bytes bytes, uint64_t off)
{
    struct cn_findings *f = &p->c->f;
    struct cn_hpc_sparse_identity id = {0};

    (void)cn_hpc_sparse_identity_decode(bytes, &id);
    unsigned kind = id.kind & CN_HPC_SPARSE_KIND_MASK;
    if (number == 0 && kind != CN_HPC_SPARSE_KIND_SUMMARY)
        cn_findings_error(f, "summary-first", off,
                          "profile 0 is of kind %u, not the summary", kind);
    if (number > 0 && kind >= p->c->kind_count)
        cn_findings_error(f, "identity-kind", off,
                          "kind %u has no name, there are %" PRIu32, kind,
                          p->c->kind_count);
    if (id.logical > UINT32_MAX)
        cn_findings_error(f, "identity-logical", off,
                          "logical id %" PRIu64 " has more than 32 bits", id.logical);
}

static bool verify_profiles(struct cn_hpc_check *c, struct cn_bytes file,
                            struct cn_error *err)
{
    struct cn_hpc_plane_check p = {.c = c,
                                   .id_min = 1,
                                   .check_record = check_profile,
                                   .check_identity = check_identity};
    struct cn_hpc_sparse_profile_header head;
    struct cn_hpc_sparse_frame frame;

    if (!check_frame(c, file, &cn_hpc_sparse_profile_kind, &frame) ||
        !cn_hpc_sparse_profile_header_decode(file, &head))
        return true;
    p.planes = cn_hpc_sparse_planes(&frame, &cn_hpc_sparse_profile_planes);
    p.planes.tuples.off = head.tuples_off;
    if (!cn_content_slice(frame.file, head.tuples_off, head.tuples_len,
                          &p.planes.tuples.bytes)) {
        cn_findings_error(&c->f, "section-bounds", 0x30,
                          "identity tuples of %" PRIu64 " bytes at 0x%" PRIx64
                          " do not fit the file of %zu",
                          head.tuples_len, head.tuples_off, file.len);
        return true;
    }
    if (frame.head.count == 0)
        cn_findings_error(&c->f, "summary-first", 0x12, "no profile, not even a summary");
    return cn_hpc_check_planes(&p, err);
}

static void check_context(struct cn_hpc_plane_check *p, uint32_t number, uint64_t off)
{
    struct cn_hpc_sparse_context record = {0};

    (void)cn_hpc_sparse_context_decode(cn_hpc_table_at(&p->planes.records, number),
                                       &record);
    if (record.context != number)
        cn_findings_error(&p->c->f, "context-ids", off,
                          "record %" PRIu32 " is of context %" PRIu32
                          ", ids must be dense and ascending",
                          number, record.context);
}

static bool verify_cct(struct cn_hpc_check *c, struct cn_bytes file, struct cn_error *err)
{
    struct cn_hpc_plane_check p = {.c = c, .check_record = check_context};
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_planes ignored;
    struct cn_error damage;
    bool is_zeroed;

    if (!check_frame(c, file, &cn_hpc_sparse_cct_kind, &frame))
        return true;
    cn_hpc_check_context_count(c, frame.head.count, 0x12);
    if (cn_hpc_sparse_cct_open(cn_content_of(file), &ignored, &is_zeroed, &damage) &&
        is_zeroed) {
        cn_findings_warn(&c->f, "cct-zeroed", frame.head.infos_off,
                         "blocks of values are zero: they were never written");
        return true;
    }
    p.planes = cn_hpc_sparse_planes(&frame, &cn_hpc_sparse_context_planes);
    return cn_hpc_check_planes(&p, err);
}

static bool verify_traces(const struct cn_hpc_sparse_verify *v, struct cn_bytes file,
                          struct cn_error *err)
{
    struct cn_hpc_sparse_trace_header head = {0};
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_trace_check t = {
        .c = v->c, .has_range = v->has_time_range, .range_off = 0x28};

    if (!check_frame(v->c, file, &cn_hpc_sparse_trace_kind, &frame))
        return true;
    (void)cn_hpc_sparse_trace_header_decode(file, &head);
    t.traces = (struct cn_hpc_traces){.encoding = &cn_hpc_sparse_samples,
                                      .file = frame.file,
                                      .file_len = frame.file.len,
                                      .records = frame.records,
                                      .begin_ns = head.begin_ns,
                                      .end_ns = head.end_ns};
    return cn_hpc_check_traces(&t, err);
}

bool cn_hpc_sparse_verify(const struct cn_hpc_sparse_verify *v, struct cn_error *err)
{
    const struct cn_hpc_sparse_files *files = v->files;
    struct cn_hpc_check *c = v->c;

    if (cn_hpc_check_begin(c, cn_hpc_sparse_profile_kind.name, files->profile.ptr) &&
        !verify_profiles(c, files->profile, err))
        return false;
    if (cn_hpc_check_begin(c, cn_hpc_sparse_cct_kind.name, files->has_cct)) {
        if (v->distrust_cct)
            cn_findings_warn(&c->f, "cct-distrusted", 0, "not checked: it %s",
                             v->distrust_cct);
        else if (!verify_cct(c, files->cct, err))
            return false;
    }
    cn_findings_begin(&c->f, cn_hpc_sparse_trace_kind.name);
    return !files->has_trace || verify_traces(v, files->trace, err);
}
