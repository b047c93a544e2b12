#include "formats/hpctoolkit/v4/verify/verify.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/v4/verify/verify_parts.h"

/* What records may point at strings for, in all: sharing is usual, but has a limit. */
enum { STRING_SHARING_MAX = 64 };

static void begin(struct cn_verify *v, struct cn_verify_file *file,
                  const struct cn_hpc_file_kind *kind, struct cn_bytes bytes,
                  bool is_there)
{
    *file = (struct cn_verify_file){.kind = kind, .bytes = bytes};
    cn_findings_begin(&v->f, kind->name);
    if (is_there)
        cn_verify_frame(v, file);
    else if (kind != &cn_hpc_trace_kind)
        cn_findings_error(&v->f, "file-missing", 0, "not there: a database needs it");
}

static void verify_meta(struct cn_verify *v)
{
    begin(v, &v->meta, &cn_hpc_meta_kind, v->files->meta, v->files->meta.ptr);
    v->string_budget = STRING_SHARING_MAX * (uint64_t)v->files->meta.len;
    if (v->meta.is_readable)
        cn_verify_meta(v);
}

static bool verify_profile(struct cn_verify *v, struct cn_error *err)
{
    begin(v, &v->profile, &cn_hpc_profile_kind, v->files->profile, v->files->profile.ptr);
    return !v->profile.is_readable || cn_verify_profile(v, err);
}

static bool verify_cct(struct cn_verify *v, struct cn_error *err)
{
    begin(v, &v->cct, &cn_hpc_cct_kind, v->files->cct, v->files->has_cct);
    return !v->cct.is_readable || cn_verify_cct(v, err);
}

static bool verify_trace(struct cn_verify *v, struct cn_error *err)
{
    begin(v, &v->trace, &cn_hpc_trace_kind, v->files->trace, v->files->has_trace);
    return !v->trace.is_readable || cn_verify_trace(v, err);
}

static bool verify_all(struct cn_verify *v, struct cn_error *err)
{
    uint64_t errors;

    verify_meta(v);
    if (!verify_profile(v, err) || !verify_cct(v, err))
        return false;
    errors = v->f.error_count;
    if (!verify_trace(v, err))
        return false;
    cn_verify_yaml(v);
    /* Values are compared through the reader, which stops at the first damage: it
     * would only repeat what is known. */
    if (errors > 0)
        return true;
    cn_findings_begin(&v->f, cn_hpc_cct_kind.name);
    return cn_verify_values(v, err);
}

static bool verify(struct cn_verify *v, struct cn_error *err)
{
    bool ok = verify_all(v, err);

    cn_findings_begin(&v->f, NULL);
    cn_hpc_set_done(&v->prop_ids);
    cn_hpc_set_done(&v->stat_ids);
    cn_hpc_set_done(&v->contexts);
    cn_hpc_set_done(&v->summaries);
    cn_arena_done(&v->arena);
    return ok;
}

bool cn_hpc_v4_verify_bytes(const struct cn_hpc_v4_files *files,
                            const struct cn_progress *progress, cn_finding_fn report,
                            void *arg, struct cn_error *err)
{
    struct cn_verify v = {
        .files = files,
        .progress = progress,
        .f = cn_hpc_findings(report, arg),
    };

    return verify(&v, err);
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
    struct cn_verify v = {
        .dir = dir,
        .files = &files,
        .progress = progress,
        .f = cn_hpc_findings(report, arg),
    };
    /* A file that is not there is for the rules to judge. */
    bool ok = cn_hpc_maps_open(&maps.files, dir, cn_hpc_meta_kind.name, err);

    cn_hpc_v4_files_init(&files, &maps.files);
    ok = ok && map_yaml(&maps, dir, &files, err) && verify(&v, err);

    maps_close(&maps);
    free(dir);
    return ok;
}
