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

/* Find the records of a file. False if they cannot be checked. */
static bool find_records(struct cn_hpc_v4_check *v,
                         const struct cn_hpc_v4_check_file *file,
                         struct cn_hpc_array *array, struct cn_hpc_table *out)
{
    struct cn_hpc_span section = file->sections.list[0];
    struct cn_error err;

    if (!cn_hpc_sections_records(&file->sections, array, &err)) {
        cn_findings_error(&v->m.c.f, "section-header", section.off, "%s", err.text);
        return false;
    }
    if (file == &v->profile && array->count == 0) {
        cn_findings_error(&v->m.c.f, "summary-first", section.off,
                          "no profile, not even a summary");
        return false;
    }
    if (file == &v->profile && array->stride >= cn_hpc_draft_profile_size &&
        array->stride < cn_hpc_profile_size)
        cn_findings_warn(&v->m.c.f, "draft-layout", section.off,
                         "profiles of %" PRIu64
                         " bytes without flags: the layout of a draft",
                         array->stride);
    if (file == &v->cct)
        cn_hpc_check_context_count(&v->m.c, (uint32_t)array->count, section.off);
    return cn_hpc_v4_check_table(v, section, array, out);
}

bool cn_hpc_v4_check_planes(struct cn_hpc_v4_check *v,
                            const struct cn_hpc_v4_check_file *file, struct cn_error *err)
{
    bool is_profile = file == &v->profile;
    struct cn_hpc_plane_check p = {
        .c = &v->m.c,
        .planes = cn_hpc_v4_planes(&file->sections),
        .taken = {file->sections.list, file->kind->section, file->kind->section_count},
        .is_strict = true,
        .value_align = is_profile ? 2 : 4,
        .index_align = is_profile ? 4 : 2,
        .tuple_align = 8,
        .check_record = is_profile ? check_profile : NULL,
        .check_identity = check_identity,
    };
    struct cn_hpc_array array;

    return !find_records(v, file, &array, &p.planes.records) ||
           cn_hpc_check_planes(&p, err);
}

bool cn_hpc_v4_check_trace(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    const struct cn_hpc_v4_check_file *file = &v->trace;
    struct cn_hpc_span section = file->sections.list[CN_HPC_TRACES];
    struct cn_hpc_trace_check t = {
        .c = &v->m.c,
        .traces = cn_hpc_v4_traces(&file->sections),
        .taken = {file->sections.list, file->kind->section, file->kind->section_count},
        .has_range = true,
        .range_off = section.off,
        .is_strict = true,
    };
    struct cn_hpc_array array;

    if (!find_records(v, file, &array, &t.traces.records))
        return true;
    if (v->m.c.profile_count > 0 && array.count + 1 != v->m.c.profile_count)
        cn_findings_warn(&v->m.c.f, "trace-count", section.off,
                         "%" PRIu64 " traces, but %" PRIu32
                         " profiles: older hpcviewers expect one for each thread",
                         array.count, v->m.c.profile_count);
    return cn_hpc_check_traces(&t, err);
}
