#include "formats/hpctoolkit/v4/verify/verify.h"

#include <stdlib.h>

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/v4/read/meta.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "formats/hpctoolkit/v4/verify/parts.h"
#include "formats/hpctoolkit/values/checks.h"

/* Begin a file and check its frame. False if its contents cannot be checked. */
static bool begin(struct cn_hpc_v4_check *v, struct cn_hpc_v4_check_file *file,
                  const struct cn_hpc_file_kind *kind, struct cn_bytes bytes, bool exists)
{
    *file = (struct cn_hpc_v4_check_file){.kind = kind, .bytes = bytes};
    if (kind == &cn_hpc_trace_kind && !exists) {
        cn_findings_begin(&v->m.c.f, kind->name);
        return false;
    }
    if (cn_hpc_check_begin(&v->m.c, kind->name, exists))
        cn_hpc_v4_check_frame(v, file);
    return file->is_readable;
}

static void check_meta(struct cn_hpc_v4_check *v)
{
    struct cn_hpc_meta meta = cn_hpc_v4_meta(&v->meta.sections);

    if (cn_hpc_v4_is_draft(&meta))
        cn_findings_warn(&v->m.c.f, "draft-layout", meta.sections[CN_HPC_METRICS].off,
                         "metrics of %d bytes: the layout of a draft of early 2022",
                         CN_HPC_DRAFT_METRIC_LEN);
    cn_hpc_meta_verify(&v->m, &meta);
}

static bool compare_values(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_hpc_v4_files plain = *v->files;
    struct cn_database *db;

    cn_findings_begin(&v->m.c.f, cn_hpc_cct_kind.name);
    plain.has_latency = false;
    plain.has_states = false;
    /* Opened by its path, the database can give back the memory of its maps. */
    if (!(v->m.dir ? cn_hpc_v4_open_plain(&db, v->m.dir, &damage)
                   : cn_hpc_v4_open_bytes(&db, &plain, &damage))) {
        cn_findings_error(&v->m.c.f, "open", 0, "%s", damage.text);
        return true;
    }
    bool ok =
        cn_hpc_check_values(&v->m.c, db, &cn_hpc_v4_of(db)->tree.database.values, err);
    cn_database_close(db);
    return ok;
}

static void check_states(struct cn_hpc_v4_check *v)
{
    struct cn_hpc_states states;
    struct cn_error err;

    cn_findings_begin(&v->m.c.f, CN_HPC_STATES_NAME);
    if (v->files->has_states && v->m.c.profile_count > 0 &&
        !cn_hpc_states_read(v->files->states, v->m.c.profile_count, v->m.c.is_mapped,
                            &v->m.head.arena, &states, &err))
        cn_findings_error(&v->m.c.f, "states", 0, "%s", err.text);
}

static bool verify_all(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    const struct cn_hpc_v4_files *files = v->files;

    if (begin(v, &v->meta, &cn_hpc_meta_kind, files->meta, files->meta.ptr))
        check_meta(v);
    if (begin(v, &v->profile, &cn_hpc_profile_kind, files->profile, files->profile.ptr) &&
        !cn_hpc_v4_check_planes(v, &v->profile, err))
        return false;
    if (begin(v, &v->cct, &cn_hpc_cct_kind, files->cct, files->has_cct) &&
        !cn_hpc_v4_check_planes(v, &v->cct, err))
        return false;
    uint64_t errors = v->m.c.f.error_count;
    if (begin(v, &v->trace, &cn_hpc_trace_kind, files->trace, files->has_trace) &&
        !cn_hpc_v4_check_trace(v, err))
        return false;
    cn_hpc_v4_check_latency(v);
    check_states(v);
    cn_hpc_v4_check_yaml(v);
    /* The reader stops at the first damage: it would only repeat what is known. */
    return errors > 0 || compare_values(v, err);
}

static bool verify(const char *dir, const struct cn_hpc_v4_files *files,
                   const struct cn_progress *progress, cn_finding_fn report, void *arg,
                   struct cn_error *err)
{
    struct cn_hpc_v4_check v = {
        .m = {.c = {.f = cn_hpc_findings(report, arg),
                    .progress = progress,
                    .tree = cn_hpc_meta_kind.name,
                    .is_mapped = dir != NULL},
              .dir = dir},
        .files = files,
    };
    bool ok = verify_all(&v, err);

    cn_hpc_meta_check_done(&v.m);
    return ok;
}

bool cn_hpc_v4_verify_bytes(const struct cn_hpc_v4_files *files,
                            const struct cn_progress *progress, cn_finding_fn report,
                            void *arg, struct cn_error *err)
{
    return verify(NULL, files, progress, report, arg, err);
}

bool cn_hpc_v4_verify(const char *path, const struct cn_progress *progress,
                      cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_hpc_v4_yaml_maps yaml = {0};
    struct cn_hpc_maps maps = {0};
    struct cn_hpc_v4_files files;
    char *dir = cn_hpc_directory(path);
    /* Rules decide about a file that is missing. */
    bool ok = cn_hpc_maps_open(&maps, dir, cn_hpc_meta_kind.name, err);

    cn_hpc_v4_files_init(&files, &maps);
    cn_hpc_v4_yaml_map(&yaml, dir, &files);
    if (ok && yaml.damage.kind != CN_ERR_NONE) {
        *err = yaml.damage;
        ok = false;
    }
    ok = ok && verify(dir, &files, progress, report, arg, err);
    cn_hpc_v4_yaml_unmap(&yaml);
    cn_hpc_maps_close(&maps);
    free(dir);
    return ok;
}
