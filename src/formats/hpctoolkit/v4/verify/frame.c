#include <inttypes.h>

#include "formats/hpctoolkit/v4/verify/parts.h"

bool cn_hpc_v4_check_table(struct cn_hpc_v4_check *v, struct cn_hpc_span in,
                           const struct cn_hpc_array *array, struct cn_hpc_table *out)
{
    struct cn_error err = {0};

    if (array->count > 0 && array->stride % 8 != 0)
        cn_findings_error(&v->m.c.f, "stride", in.off,
                          "%s of %" PRIu64 " bytes each are not a multiple of 8",
                          array->what, array->stride);
    if (array->count > 0 && array->stride > CN_HPC_V4_STRIDE_MAX)
        cn_findings_warn(&v->m.c.f, "stride-signed", in.off,
                         "%s of %" PRIu64 " bytes each: hpcviewer reads sizes up to %d",
                         array->what, array->stride, CN_HPC_V4_STRIDE_MAX);
    if (array->count > 0)
        cn_hpc_check_aligned(&v->m.c, array->off, 8, array->what);
    if (cn_hpc_table_open(in, array, out, &err))
        return true;
    cn_findings_error(&v->m.c.f, "array-bounds", array->off, "%s", err.text);
    return false;
}

static bool check_header(struct cn_hpc_v4_check *v,
                         const struct cn_hpc_v4_check_file *file)
{
    const struct cn_hpc_file_kind *kind = file->kind;
    uint64_t head_len = cn_hpc_header_len(kind);
    struct cn_hpc_file_header head;

    if (!cn_hpc_file_is(file->bytes, kind) ||
        !cn_hpc_file_header_decode(file->bytes, &head)) {
        cn_findings_error(&v->m.c.f, "magic", 0, "does not start with " CN_HPC_MAGIC "%s",
                          kind->format);
        return false;
    }
    if (head.major != CN_HPC_MAJOR) {
        cn_findings_error(&v->m.c.f, "version-major", 0x0e,
                          "version %u.%u, expected %d.x", head.major, head.minor,
                          CN_HPC_MAJOR);
        return false;
    }
    if (head.minor > CN_HPC_MINOR)
        cn_findings_warn(&v->m.c.f, "version-minor", 0x0f,
                         "version %u.%u is newer than %d.%d", head.major, head.minor,
                         CN_HPC_MAJOR, CN_HPC_MINOR);
    if (file->bytes.len < head_len + CN_HPC_FOOTER_LEN) {
        cn_findings_error(&v->m.c.f, "file-size", 0,
                          "%zu bytes, at least %" PRIu64 " needed", file->bytes.len,
                          head_len + CN_HPC_FOOTER_LEN);
        return false;
    }
    return true;
}

static bool check_section(struct cn_hpc_v4_check *v, struct cn_hpc_v4_check_file *file,
                          size_t i)
{
    uint64_t at = cn_hpc_file_header_size + (uint64_t)i * cn_hpc_section_size;
    const char *name = file->kind->section[i];
    struct cn_hpc_span *out = &file->sections.list[i];
    struct cn_hpc_section section;
    struct cn_bytes bytes;

    if (!cn_content_slice(file->sections.file, at, cn_hpc_section_size, &bytes) ||
        !cn_hpc_section_decode(bytes, &section))
        return false;
    if (section.len == 0)
        return true;
    if (!cn_content_slice(file->sections.file, section.off, section.len, &out->bytes)) {
        cn_findings_error(&v->m.c.f, "section-bounds", at,
                          "section %s of %" PRIu64 " bytes at 0x%" PRIx64
                          " does not fit the file of %zu",
                          name, section.len, section.off, file->bytes.len);
        return false;
    }
    out->off = section.off;
    if (section.off < cn_hpc_header_len(file->kind))
        cn_findings_error(&v->m.c.f, "section-in-header", at,
                          "section %s at 0x%" PRIx64 " lies inside the file header", name,
                          section.off);
    /* Strings have no header structure that would need alignment. */
    if (strcmp(name, "Strings") != 0)
        cn_hpc_check_aligned(&v->m.c, section.off, 8, name);
    if (section.len > INT32_MAX)
        cn_findings_warn(&v->m.c.f, "section-size", at,
                         "section %s of %" PRIu64 " bytes: hpcviewer maps up to 2 GiB",
                         name, section.len);
    return true;
}

static void check_overlaps(struct cn_hpc_v4_check *v,
                           const struct cn_hpc_v4_check_file *file)
{
    const struct cn_hpc_span *list = file->sections.list;

    for (size_t i = 0; i < file->kind->section_count; i++)
        for (size_t j = 0; j < i; j++)
            if (cn_hpc_spans_overlap(list[i], list[j]))
                cn_findings_error(&v->m.c.f, "sections-overlap", list[i].off,
                                  "section %s at 0x%" PRIx64
                                  " overlaps section %s at 0x%" PRIx64,
                                  file->kind->section[i], list[i].off,
                                  file->kind->section[j], list[j].off);
}

/* hpcprof writes 16 bytes of its stack between the header of cct.db and the section. */
static void check_header_padding(struct cn_hpc_v4_check *v,
                                 const struct cn_hpc_v4_check_file *file)
{
    uint64_t head_len = cn_hpc_header_len(file->kind);
    uint64_t first = file->sections.list[0].off;
    struct cn_bytes gap;

    if (file->kind->section_count != 1 || first <= head_len ||
        !cn_bytes_slice(file->bytes, head_len, first - head_len, &gap))
        return;
    for (size_t i = 0; i < gap.len && i < cn_hpc_section_size; i++) {
        if (gap.ptr[i] == 0)
            continue;
        cn_findings_warn(&v->m.c.f, "header-padding", head_len + i,
                         "0x%02x between the file header and section %s at 0x%" PRIx64,
                         gap.ptr[i], file->kind->section[0], first);
        return;
    }
}

void cn_hpc_v4_check_frame(struct cn_hpc_v4_check *v, struct cn_hpc_v4_check_file *file)
{
    struct cn_bytes footer;

    if (!check_header(v, file))
        return;
    uint64_t footer_off = file->bytes.len - CN_HPC_FOOTER_LEN;
    if (!cn_bytes_slice(file->bytes, footer_off, CN_HPC_FOOTER_LEN, &footer) ||
        memcmp(footer.ptr, file->kind->footer, CN_HPC_FOOTER_LEN) != 0)
        cn_findings_error(&v->m.c.f, "footer", footer_off,
                          "does not end in %s: the file is incomplete",
                          file->kind->footer);
    file->is_readable = true;
    file->sections.kind = file->kind;
    file->sections.file = cn_content_of(file->bytes);
    file->sections.file.len = footer_off;
    for (size_t i = 0; i < file->kind->section_count; i++)
        if (!check_section(v, file, i))
            file->is_readable = false;
    check_overlaps(v, file);
    check_header_padding(v, file);
}
