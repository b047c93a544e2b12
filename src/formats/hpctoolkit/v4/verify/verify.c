#include "formats/hpctoolkit/v4/verify/verify.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/v4/read/database.h"
#include "formats/hpctoolkit/v4/verify/verify_parts.h"
#include "formats/hpctoolkit/values/value_checks.h"

/* What records may point at strings for, in all: sharing is usual, but has a limit. */
enum { STRING_SHARING_MAX = 64 };

/* Begin a file and check its frame. False if its contents cannot be checked. */
static bool begin(struct cn_verify *v, struct cn_verify_file *file,
                  const struct cn_hpc_file_kind *kind, struct cn_bytes bytes, bool exists)
{
    *file = (struct cn_verify_file){.kind = kind, .bytes = bytes};
    if (kind == &cn_hpc_trace_kind && !exists) {
        cn_findings_begin(&v->c.f, kind->name);
        return false;
    }
    if (cn_hpc_check_begin(&v->c, kind->name, exists))
        cn_verify_frame(v, file);
    return file->is_readable;
}

static bool compare_values(struct cn_verify *v, struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_database *db;
    bool ok;

    cn_findings_begin(&v->c.f, cn_hpc_cct_kind.name);
    /* Opened by its path, the database can give back the memory of its maps. */
    if (!(v->dir ? cn_hpc_v4_open(&db, v->dir, &damage)
                 : cn_hpc_v4_open_bytes(&db, v->files, &damage))) {
        cn_findings_error(&v->c.f, "open", 0, "%s", damage.text);
        return true;
    }
    ok = cn_hpc_check_values(&v->c, db, &cn_hpc_v4_of(db)->database.values, err);
    cn_database_close(db);
    return ok;
}

static bool verify_all(struct cn_verify *v, struct cn_error *err)
{
    const struct cn_hpc_v4_files *files = v->files;
    uint64_t errors;

    v->string_budget = STRING_SHARING_MAX * (uint64_t)files->meta.len;
    if (begin(v, &v->meta, &cn_hpc_meta_kind, files->meta, files->meta.ptr))
        cn_verify_meta(v);
    if (begin(v, &v->profile, &cn_hpc_profile_kind, files->profile, files->profile.ptr) &&
        !cn_verify_profile(v, err))
        return false;
    if (begin(v, &v->cct, &cn_hpc_cct_kind, files->cct, files->has_cct) &&
        !cn_verify_cct(v, err))
        return false;
    errors = v->c.f.error_count;
    if (begin(v, &v->trace, &cn_hpc_trace_kind, files->trace, files->has_trace) &&
        !cn_verify_trace(v, err))
        return false;
    cn_verify_yaml(v);
    /* The reader stops at the first damage: it would only repeat what is known. */
    return errors > 0 || compare_values(v, err);
}

static bool verify(const char *dir, const struct cn_hpc_v4_files *files,
                   const struct cn_progress *progress, cn_finding_fn report, void *arg,
                   struct cn_error *err)
{
    struct cn_verify v = {
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

/* The files of a directory while they are verified. */
struct maps {
    struct cn_hpc_maps files;
    struct dirent **names; /* of metrics/ */
    int name_count;
    struct cn_file yaml[CN_HPC_YAML_MAX];
};

static void maps_close(struct maps *maps)
{
    cn_hpc_maps_close(&maps->files);
    for (size_t i = 0; i < CN_HPC_YAML_MAX; i++)
        cn_file_close(&maps->yaml[i]);
    for (int i = 0; i < maps->name_count; i++)
        free(maps->names[i]);
    free(maps->names);
}

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && dot != entry->d_name && strcmp(dot, ".yaml") == 0;
}

static bool map_yaml(struct maps *maps, const char *dir, struct cn_hpc_v4_files *files,
                     struct cn_error *err)
{
    struct cn_text folder = {0};
    bool ok = true;

    cn_text_printf(&folder, "%s/metrics", dir);
    maps->name_count = scandir(folder.chars, &maps->names, is_yaml, alphasort);
    for (int i = 0; ok && i < maps->name_count && i < CN_HPC_YAML_MAX; i++) {
        const char *name = maps->names[i]->d_name;

        ok = cn_file_open_at(&maps->yaml[i], folder.chars, name, err);
        files->yaml[files->yaml_count++] =
            (struct cn_hpc_v4_yaml){name, maps->yaml[i].bytes};
    }
    cn_text_done(&folder);
    return ok;
}

bool cn_hpc_v4_verify(const char *path, const struct cn_progress *progress,
                      cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct maps maps = {0};
    struct cn_hpc_v4_files files;
    char *dir = cn_hpc_directory(path);
    /* A file that is not there is for the rules to judge. */
    bool ok = cn_hpc_maps_open(&maps.files, dir, cn_hpc_meta_kind.name, err);

    cn_hpc_v4_files_init(&files, &maps.files);
    ok = ok && map_yaml(&maps, dir, &files, err) &&
         verify(dir, &files, progress, report, arg, err);

    maps_close(&maps);
    free(dir);
    return ok;
}
