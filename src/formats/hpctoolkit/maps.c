#include "formats/hpctoolkit/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "model/contexts/database.h"

char *cn_hpc_directory(const char *path)
{
    char *dir = cn_strdup(path);
    char *slash = strrchr(dir, '/');

    if (cn_path_is_folder(path))
        return dir;
    if (!slash) {
        free(dir);
        return cn_strdup(".");
    }
    slash[slash == dir] = '\0';
    return dir;
}

static bool file_is(const char *dir, const char *name, bool (*is)(struct cn_bytes))
{
    enum { START_LEN = 4096 };
    struct cn_file file = {0};
    struct cn_error ignored;
    struct cn_bytes start;
    bool ok = dir ? cn_file_open_content_at(&file, dir, name, &ignored)
                  : cn_file_open_content(&file, name, &ignored);

    if (ok) {
        struct cn_content content = cn_file_content(&file);

        ok = cn_content_slice(
                 content, 0, content.len < START_LEN ? content.len : START_LEN, &start) &&
             is(start);
    }
    cn_file_close(&file);
    return ok;
}

bool cn_hpc_maps_probe(const char *path, const char *tree_name,
                       bool (*is_tree)(struct cn_bytes),
                       bool (*is_member)(struct cn_bytes))
{
    char *dir = cn_hpc_directory(path);
    bool found = file_is(dir, tree_name, is_tree) &&
                 (cn_path_is_folder(path) || file_is(NULL, path, is_member));

    free(dir);
    return found;
}

/* Open a file if it exists; `damage` says why it cannot be read. */
static void open_optional(struct cn_file *file, const char *dir, const char *name,
                          struct cn_error *damage)
{
    if (!cn_file_open_content_at(file, dir, name, damage) &&
        damage->kind == CN_ERR_NOT_FOUND)
        *damage = (struct cn_error){0};
}

/* The same for a file that is never read by range. */
static void open_whole(struct cn_file *file, const char *dir, const char *name,
                       struct cn_error *damage)
{
    if (!cn_file_open_at(file, dir, name, damage) && damage->kind == CN_ERR_NOT_FOUND)
        *damage = (struct cn_error){0};
}

bool cn_hpc_maps_open(struct cn_hpc_maps *maps, const char *dir, const char *tree_name,
                      struct cn_error *err)
{
    const char *const names[CN_HPC_FILE_COUNT] = {tree_name,   "profile.db", "cct.db",
                                                  "trace.db",  "latency.db", "states.db",
                                                  "origin.txt"};

    for (size_t i = 0; i < CN_HPC_FILE_COUNT; i++) {
        struct cn_error damage = {0};

        if (cn_file_open_at(&maps->file[i], dir, names[i], &damage) ||
            damage.kind == CN_ERR_NOT_FOUND)
            continue;
        *err = damage;
        return false;
    }
    return true;
}

void cn_hpc_maps_forget(const struct cn_hpc_maps *maps)
{
    for (size_t i = 0; i < CN_HPC_FILE_COUNT; i++)
        cn_file_forget(maps->file[i].bytes);
}

void cn_hpc_maps_close(struct cn_hpc_maps *maps)
{
    for (size_t i = 0; i < CN_HPC_FILE_COUNT; i++)
        cn_file_close(&maps->file[i]);
}

static bool open_directory(struct cn_database **out, struct cn_hpc_maps *maps,
                           const char *dir, const char *tree_name, cn_hpc_open_fn open,
                           struct cn_error *err)
{
    struct cn_hpc_damage damage = {0};
    struct cn_database *db;

    if (!cn_file_open_at(&maps->file[CN_HPC_TREE_FILE], dir, tree_name, err) ||
        !cn_file_open_content_at(&maps->file[CN_HPC_PROFILE_FILE], dir, "profile.db",
                                 err))
        return false;
    open_optional(&maps->file[CN_HPC_CCT_FILE], dir, "cct.db", &damage.cct);
    open_optional(&maps->file[CN_HPC_TRACE_FILE], dir, "trace.db", &damage.trace);
    open_whole(&maps->file[CN_HPC_LATENCY_FILE], dir, "latency.db", &damage.latency);
    open_whole(&maps->file[CN_HPC_STATES_FILE], dir, "states.db", &damage.states);
    open_whole(&maps->file[CN_HPC_ORIGIN_FILE], dir, "origin.txt", &damage.origin);
    if (!open(&db, maps, dir, &damage, err))
        return cn_fail_in(err, "%s", dir);
    if (damage.cct.kind != CN_ERR_NONE)
        cn_database_warn(db, true, "%s", damage.cct.text);
    if (damage.trace.kind != CN_ERR_NONE)
        cn_database_warn(db, true, "%s", damage.trace.text);
    if (damage.latency.kind != CN_ERR_NONE)
        cn_database_warn(db, true, "%s; no percentiles", damage.latency.text);
    if (damage.states.kind != CN_ERR_NONE)
        cn_database_warn(db, true, "%s; no states over time", damage.states.text);
    if (damage.origin.kind != CN_ERR_NONE)
        cn_database_warn(db, true, "%s", damage.origin.text);
    db->path = cn_arena_strdup(&db->arena, dir);
    db->contexts_file = tree_name;
    db->timelines_file = "trace.db";
    *out = db;
    return true;
}

bool cn_hpc_maps_open_database(struct cn_database **out, const char *path,
                               const char *tree_name, cn_hpc_open_fn open,
                               struct cn_error *err)
{
    struct cn_hpc_maps maps = {0};
    char *dir = cn_hpc_directory(path);
    bool ok = open_directory(out, &maps, dir, tree_name, open, err);

    if (!ok)
        cn_hpc_maps_close(&maps);
    free(dir);
    return ok;
}
