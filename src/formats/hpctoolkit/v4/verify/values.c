/* The rules of profile.db, cct.db and trace.db that only v4 has. */
#include <inttypes.h>

#include "formats/hpctoolkit/v4/read/value_files.h"
#include "formats/hpctoolkit/v4/verify/parts.h"
#include "formats/hpctoolkit/values/checks.h"

static void check_profile(struct cn_hpc_plane_check *p, uint32_t number, uint64_t off)
{
    struct cn_findings *f = &p->c->f;
    struct cn_hpc_plane_record record = cn_hpc_planes_record(&p->planes, number);
    struct cn_hpc_profile final = {0};

    if (number == 0 && !record.is_summary)
        cn_findings_error(f, "summary-first", off, "profile 0 is not a summary");
    if (number == 0 && record.tuple_off != 0)
        cn_findings_warn(f, "summary-tuple", off,
                         "the summary has an identity tuple at 0x%" PRIx64,
                         record.tuple_off);
    if (number > 0 && record.is_summary)
        cn_findings_warn(f, "summary-extra", off,
                         "profile %" PRIu32
                         " is another summary: hpcviewer takes it for a thread",
                         number);
    if (number > 0 && record.tuple_off == 0)
        cn_findings_error(f, "tuple-missing", off,
                          "profile %" PRIu32 " has no identity tuple", number);
    (void)cn_hpc_profile_decode(cn_hpc_table_at(&p->planes.records, number), &final);
    if (final.flags & ~(uint32_t)CN_HPC_IS_SUMMARY)
        cn_findings_warn(f, "reserved-bits", off,
                         "profile %" PRIu32 ": reserved bits of flags 0x%x are set",
                         number, final.flags);
}

static void check_identity(struct cn_hpc_plane_check *p, uint32_t number,
                           struct cn_bytes bytes, uint64_t off)
{
    struct cn_findings *f = &p->c->f;
    struct cn_hpc_identity id = {0};

    (void)number;
    (void)cn_hpc_identity_decode(bytes, &id);
    if (id.kind >= p->c->kind_count)
        cn_findings_error(f, "identity-kind", off,
                          "kind %u has no name, there are %" PRIu32, id.kind,
                          p->c->kind_count);
    if (!(id.flags & CN_HPC_IS_PHYSICAL) && id.physical != id.logical)
        cn_findings_warn(f, "identity-physical", off,
                         "logical id %" PRIu32 ", but physical id %" PRIu64, id.logical,
                         id.physical);
    if (id.flags & ~CN_HPC_IS_PHYSICAL)
        cn_findings_warn(f, "reserved-bits", off,
                         "identity: reserved bits of flags 0x%x are set", id.flags);
}

/* The check of a file's blocks, without its records. */
static struct cn_hpc_plane_check plane_check(struct cn_hpc_v4_check *v,
                                             const struct cn_hpc_v4_check_file *file,
                                             const struct cn_hpc_plane_encoding *encoding)
{
    return (struct cn_hpc_plane_check){
        .c = &v->m.c,
        .planes = {.encoding = encoding,
                   .file = file->sections.file,
                   .file_len = file->bytes.len},
        .taken = {file->sections.list, file->kind->section, file->kind->section_count},
        .is_strict = true,
    };
}

bool cn_hpc_v4_check_profile(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    struct cn_hpc_plane_check p = plane_check(v, &v->profile, &cn_hpc_v4_profile_planes);
    struct cn_hpc_span section = v->profile.sections.list[CN_HPC_PROFILE_INFOS];
    struct cn_hpc_profiles_header head;

    if (!cn_hpc_profiles_header_decode(section.bytes, &head))
        return cn_hpc_v4_check_too_short(v, &v->profile, CN_HPC_PROFILE_INFOS);
    if (head.profile_count == 0) {
        cn_findings_error(&v->m.c.f, "summary-first", section.off,
                          "no profile, not even a summary");
        return true;
    }
    if (head.profile_len >= cn_hpc_draft_profile_size &&
        head.profile_len < cn_hpc_profile_size)
        cn_findings_warn(&v->m.c.f, "draft-layout", section.off,
                         "profiles of %u bytes without flags: the layout of a draft",
                         head.profile_len);
    if (!cn_hpc_v4_check_table(
            v, section,
            &(struct cn_hpc_array){"profiles", head.profiles_off, head.profile_count,
                                   head.profile_len, cn_hpc_draft_profile_size},
            &p.planes.records))
        return true;
    p.planes.tuples = v->profile.sections.list[CN_HPC_ID_TUPLES];
    p.value_align = 2;
    p.index_align = 4;
    p.tuple_align = 8;
    p.check_record = check_profile;
    p.check_identity = check_identity;
    return cn_hpc_check_planes(&p, err);
}

bool cn_hpc_v4_check_cct(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    struct cn_hpc_plane_check p = plane_check(v, &v->cct, &cn_hpc_v4_context_planes);
    struct cn_hpc_span section = v->cct.sections.list[CN_HPC_CONTEXT_INFOS];
    struct cn_hpc_context_infos_header head;

    if (!cn_hpc_context_infos_header_decode(section.bytes, &head))
        return cn_hpc_v4_check_too_short(v, &v->cct, CN_HPC_CONTEXT_INFOS);
    cn_hpc_check_context_count(&v->m.c, head.context_count, section.off);
    p.value_align = 4;
    p.index_align = 2;
    return !cn_hpc_v4_check_table(
               v, section,
               &(struct cn_hpc_array){"contexts", head.infos_off, head.context_count,
                                      head.info_len, cn_hpc_context_info_size},
               &p.planes.records) ||
           cn_hpc_check_planes(&p, err);
}

bool cn_hpc_v4_check_trace(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    const struct cn_hpc_v4_check_file *file = &v->trace;
    struct cn_hpc_span section = file->sections.list[CN_HPC_TRACES];
    struct cn_hpc_traces_header head;
    struct cn_hpc_trace_check t = {
        .c = &v->m.c,
        .traces = {.encoding = &cn_hpc_v4_samples,
                   .file = file->sections.file,
                   .file_len = file->bytes.len},
        .taken = {file->sections.list, file->kind->section, file->kind->section_count},
        .has_range = true,
        .range_off = section.off,
        .is_strict = true,
    };

    if (!cn_hpc_traces_header_decode(section.bytes, &head))
        return cn_hpc_v4_check_too_short(v, file, CN_HPC_TRACES);
    if (!cn_hpc_v4_check_table(v, section,
                               &(struct cn_hpc_array){"traces", head.traces_off,
                                                      head.trace_count, head.trace_len,
                                                      cn_hpc_trace_size},
                               &t.traces.records))
        return true;
    if (v->m.c.profile_count > 0 &&
        (uint64_t)t.traces.records.count + 1 != v->m.c.profile_count)
        cn_findings_warn(&v->m.c.f, "trace-count", section.off,
                         "%" PRIu32 " traces, but %" PRIu32
                         " profiles: older hpcviewers expect one for each thread",
                         t.traces.records.count, v->m.c.profile_count);
    t.traces.begin_ns = head.begin_ns;
    t.traces.end_ns = head.end_ns;
    return cn_hpc_check_traces(&t, err);
}
