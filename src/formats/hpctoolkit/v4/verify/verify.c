#include "formats/hpctoolkit/v4/verify/verify.h"

#include <stdlib.h>

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/v4/read/database.h"
#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "formats/hpctoolkit/v4/verify/parts.h"
#include "formats/hpctoolkit/values/checks.h"

/* Strings may be shared, but together be at most this many times the file. */
enum { STRING_SHARING_MAX = 64 };

/* Begin a file and check its frame. False if its contents cannot be checked. */
static bool begin(struct cn_hpc_v4_check *v, struct cn_hpc_v4_check_file *file,
                  const struct cn_hpc_file_kind *kind, struct cn_bytes bytes, bool exists)
{
    *file = (struct cn_hpc_v4_check_file){.kind = kind, .bytes = bytes};
    if (kind == &cn_hpc_trace_kind && !exists) {
        cn_findings_begin(&v->c.f, kind->name);
        return false;
    }
    if (cn_hpc_check_begin(&v->c, kind->name, exists))
        cn_hpc_v4_check_frame(v, file);
    return file->is_readable;
}

static bool compare_values(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_hpc_v4_files plain = *v->files;
    struct cn_database *db;
    bool ok;

    cn_findings_begin(&v->c.f, cn_hpc_cct_kind.name);
    plain.has_latency = false;
    plain.has_states = false;
    /* Opened by its path, the database can give back the memory of its maps. */
    if (!(v->dir ? cn_hpc_v4_open_plain(&db, v->dir, &damage)
                 : cn_hpc_v4_open_bytes(&db, &plain, &damage))) {
        cn_findings_error(&v->c.f, "open", 0, "%s", damage.text);
        return true;
    }
    ok = cn_hpc_check_values(&v->c, db, &cn_hpc_v4_of(db)->database.values, err);
    cn_database_close(db);
    return ok;
}

static void check_states(struct cn_hpc_v4_check *v)
{
    const struct cn_thread_states *states;
    struct cn_error err;

    cn_findings_begin(&v->c.f, CN_HPC_STATES_NAME);
    if (v->files->has_states && v->c.profile_count > 0 &&
        !cn_hpc_states_read(v->files->states, v->c.profile_count, &v->arena, &states,
                            &err))
        cn_findings_error(&v->c.f, "states", 0, "%s", err.text);
}

static bool verify_all(struct cn_hpc_v4_check *v, struct cn_error *err)
{
    const struct cn_hpc_v4_files *files = v->files;
    uint64_t errors;

    v->string_budget = STRING_SHARING_MAX * (uint64_t)files->meta.len;
    if (begin(v, &v->meta, &cn_hpc_meta_kind, files->meta, files->meta.ptr))
        cn_hpc_v4_check_meta(v);
    if (begin(v, &v->profile, &cn_hpc_profile_kind, files->profile, files->profile.ptr) &&
        !cn_hpc_v4_check_profile(v, err))
        return false;
    if (begin(v, &v->cct, &cn_hpc_cct_kind, files->cct, files->has_cct) &&
        !cn_hpc_v4_check_cct(v, err))
        return false;
    errors = v->c.f.error_count;
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
        .c = {.f = cn_hpc_findings(report, arg),
              .progress = progress,
              .tree = cn_hpc_meta_kind.name,
              .is_mapped = dir != NULL},
        .dir = dir,
        .files = files,
    };
    bool ok = verify_all(&v, err);

    cn_hpc_check_done(&v.c);
    cn_hpc_set_done(&v.prop_ids);
    cn_hpc_set_done(&v.stat_ids);
    cn_hpc_set_done(&v.contexts);
    cn_arena_done(&v.arena);
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
