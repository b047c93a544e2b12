#include "formats/hpctoolkit/v4/read/sections.h"

#include <inttypes.h>

const char *const cn_hpc_meta_sections[CN_HPC_META_SECTION_COUNT] = {
    "General", "IdNames", "Metrics", "Context",
    "Strings", "Modules", "Files",   "Functions"};
static const char *const profile_sections[] = {"ProfileInfos", "IdTuples"};
static const char *const cct_sections[] = {"CtxInfos"};
static const char *const trace_sections[] = {"CtxTraces"};

const struct cn_hpc_file_kind cn_hpc_meta_kind = {
    .name = "meta.db",
    .format = CN_HPC_META_FORMAT,
    .footer = CN_HPC_META_FOOTER,
    .section = cn_hpc_meta_sections,
    .section_count = CN_HPC_META_SECTION_COUNT,
};
const struct cn_hpc_file_kind cn_hpc_profile_kind = {
    .name = "profile.db",
    .format = CN_HPC_PROFILE_FORMAT,
    .footer = CN_HPC_PROFILE_FOOTER,
    .section = profile_sections,
    .section_count = CN_HPC_PROFILE_SECTION_COUNT,
    .head = &cn_hpc_profiles_header_layout,
    .records = "profiles",
    .record_len = cn_hpc_draft_profile_size,
};
const struct cn_hpc_file_kind cn_hpc_cct_kind = {
    .name = "cct.db",
    .format = CN_HPC_CCT_FORMAT,
    .footer = CN_HPC_CCT_FOOTER,
    .section = cct_sections,
    .section_count = CN_HPC_CCT_SECTION_COUNT,
    .head = &cn_hpc_context_infos_header_layout,
    .records = "contexts",
    .record_len = cn_hpc_context_info_size,
};
const struct cn_hpc_file_kind cn_hpc_trace_kind = {
    .name = "trace.db",
    .format = CN_HPC_TRACE_FORMAT,
    .footer = CN_HPC_TRACE_FOOTER,
    .section = trace_sections,
    .section_count = CN_HPC_TRACE_SECTION_COUNT,
    .head = &cn_hpc_traces_header_layout,
    .records = "traces",
    .record_len = cn_hpc_trace_size,
};

bool cn_hpc_file_is(struct cn_bytes file, const struct cn_hpc_file_kind *kind)
{
    struct cn_bytes magic, format;

    return cn_bytes_slice(file, 0, CN_HPC_MAGIC_LEN, &magic) &&
           cn_bytes_slice(file, CN_HPC_MAGIC_LEN, CN_HPC_FORMAT_LEN, &format) &&
           memcmp(magic.ptr, CN_HPC_MAGIC, CN_HPC_MAGIC_LEN) == 0 &&
           memcmp(format.ptr, kind->format, CN_HPC_FORMAT_LEN) == 0;
}

static bool check_frame(struct cn_content file, const struct cn_hpc_file_kind *kind,
                        struct cn_hpc_sections *out, struct cn_error *err)
{
    uint64_t head_len = cn_hpc_header_len(kind);
    struct cn_hpc_file_header head;
    struct cn_bytes start, footer;

    if (file.len == 0)
        return cn_fail(err, CN_ERR_FORMAT, "file is empty");
    if (!cn_content_slice(file, 0, file.len < head_len ? file.len : head_len, &start) ||
        !cn_hpc_file_is(start, kind) || !cn_hpc_file_header_decode(start, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "not a %s: does not start with " CN_HPC_MAGIC "%s", kind->name,
                       kind->format);
    if (head.major != CN_HPC_MAJOR)
        return cn_fail(err, CN_ERR_VERSION, "version %u.%u, can read %u.x", head.major,
                       head.minor, CN_HPC_MAJOR);
    if (file.len < head_len + CN_HPC_FOOTER_LEN)
        return cn_fail(err, CN_ERR_FORMAT,
                       "file is incomplete: %" PRIu64 " bytes, at least "
                       "%" PRIu64 " needed",
                       file.len, head_len + CN_HPC_FOOTER_LEN);
    if (!cn_content_slice(file, file.len - CN_HPC_FOOTER_LEN, CN_HPC_FOOTER_LEN,
                          &footer) ||
        memcmp(footer.ptr, kind->footer, CN_HPC_FOOTER_LEN) != 0)
        return cn_fail(err, CN_ERR_FORMAT, "file is incomplete: no footer at 0x%" PRIx64,
                       file.len - CN_HPC_FOOTER_LEN);
    out->minor = head.minor;
    out->file = file;
    out->file.len -= CN_HPC_FOOTER_LEN;
    return true;
}

static bool read_section(struct cn_content file, size_t i, const char *name,
                         struct cn_hpc_span *out, struct cn_error *err)
{
    uint64_t at = cn_hpc_file_header_size + (uint64_t)i * cn_hpc_section_size;
    struct cn_hpc_section section;
    struct cn_bytes head;

    if (!cn_content_slice(file, at, cn_hpc_section_size, &head) ||
        !cn_hpc_section_decode(head, &section))
        return cn_fail(err, CN_ERR_FORMAT, "no header of section %s at 0x%" PRIx64, name,
                       at);
    if (section.len == 0)
        section.off = 0;
    if (!cn_content_keep(file, section.off, section.len, &out->bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section %s of %" PRIu64 " bytes at 0x%" PRIx64
                       " does not fit the file of %" PRIu64,
                       name, section.len, section.off, file.len + CN_HPC_FOOTER_LEN);
    out->off = section.off;
    return true;
}

bool cn_hpc_sections_open(struct cn_content file, const struct cn_hpc_file_kind *kind,
                          struct cn_hpc_sections *out, struct cn_error *err)
{
    struct cn_hpc_sections sections = {.kind = kind};

    if (!check_frame(file, kind, &sections, err))
        return false;
    for (size_t i = 0; i < kind->section_count; i++)
        if (!read_section(sections.file, i, kind->section[i], &sections.list[i], err))
            return false;
    if (!cn_hpc_spans_check(sections.list, kind->section, kind->section_count, err))
        return false;
    *out = sections;
    return true;
}

bool cn_hpc_sections_records(const struct cn_hpc_sections *sections,
                             struct cn_hpc_array *out, struct cn_error *err)
{
    const struct cn_hpc_file_kind *kind = sections->kind;
    const struct cn_hpc_span section = sections->list[0];
    struct cn_hpc_profiles_header head; /* how all of them start */

    if (section.bytes.len < kind->head->size ||
        !cn_hpc_profiles_header_decode(section.bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section %s at 0x%" PRIx64
                       " is too short for its header: %zu bytes",
                       kind->section[0], section.off, section.bytes.len);
    *out = (struct cn_hpc_array){kind->records, head.profiles_off, head.profile_count,
                                 head.profile_len, kind->record_len};
    return true;
}
