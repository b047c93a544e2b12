#include "cache/analyses.h"

#include <dirent.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "cache/directory.h"

/* What a folder was made by. Change the number when the same version writes other values. */
static const char made_by[] = CN_VERSION " 14";

enum { KEY_LEN = 16 }; /* hexadecimal digits */

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A hash of the names, sizes and times of all files, and of what else an analysis depends on. */
static uint64_t fingerprint(char *path)
{
    const char *servers = getenv("DEBUGINFOD_URLS"); /* more symbols, and lines */
    char *const paths[] = {path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
    uint64_t hash = XXH3_64bits(made_by, sizeof(made_by));
    FTSENT *at;

    if (servers)
        hash = XXH3_64bits_withSeed(servers, strlen(servers), hash);
    while (walk && (at = fts_read(walk)) != NULL) {
        const struct stat *about = at->fts_statp;
        uint64_t facts[3];

        if (at->fts_info != FTS_F)
            continue;
        facts[0] = (uint64_t)about->st_size;
        facts[1] = (uint64_t)about->st_mtim.tv_sec;
        facts[2] = (uint64_t)about->st_mtim.tv_nsec;
        hash = XXH3_64bits_withSeed(at->fts_path, at->fts_pathlen, hash);
        hash = XXH3_64bits_withSeed(facts, sizeof(facts), hash);
    }
    if (walk)
        (void)fts_close(walk);
    return hash;
}

/* Remove earlier analyses of the same data: those with the key of `target` at their start. */
static void remove_others(const char *folder, const char *target)
{
    const char *name = target + strlen(folder) + 1;
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        char path[2 * PATH_MAX];

        if (strncmp(entry->d_name, name, KEY_LEN) != 0 ||
            strcmp(entry->d_name, name) == 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        cn_cache_dir_remove(path);
    }
    if (dir)
        (void)closedir(dir);
}

/* CAIRN_CACHE_MIB, or a gibibyte. */
static uint64_t size_max(void)
{
    const char *text = getenv("CAIRN_CACHE_MIB");
    uint64_t mib = 1024;

    if (text && text[0] != '\0')
        mib = strtoull(text, NULL, 10);
    return mib < UINT64_MAX >> 20 ? mib << 20 : UINT64_MAX;
}

bool cn_cached_folder_find(struct cn_cached_folder *out, const char *source,
                           unsigned variant)
{
    char real[PATH_MAX], folder[PATH_MAX], target[2 * PATH_MAX];

    *out = (struct cn_cached_folder){0};
    if (!source || !realpath(source, real) || !cn_cache_dir("/views", folder))
        return false;
    (void)snprintf(target, sizeof(target), "%s/%016" PRIx64 "-%016" PRIx64, folder,
                   (uint64_t)XXH3_64bits_withSeed(real, strlen(real), variant),
                   fingerprint(real));
    out->target = cn_strdup(target);
    out->lock = cn_cache_dir_use(target);
    if (out->lock > 0)
        out->path = cn_strdup(target);
    return out->path != NULL;
}

/* Begin to write to the cache; false where that is not possible. */
static bool begin_target(struct cn_cached_folder *cached)
{
    char folder[PATH_MAX];
    struct cn_error ignored;

    if (!cn_cache_dir("/views", folder))
        return false;
    cn_cache_dir_make(folder);
    if (!cn_outdir_begin(&cached->dir, cached->target, false, &ignored))
        return false;
    cached->path = cn_strdup(cached->dir.path);
    return true;
}

static void remove_temporary(struct cn_held *held)
{
    cn_outdir_remove(((struct cn_cached_folder *)held)->path);
}

bool cn_cached_folder_begin(struct cn_cached_folder *cached, bool is_temporary,
                            struct cn_error *err)
{
    if (!is_temporary && cached->target && begin_target(cached))
        return true;
    free(cached->target);
    cached->target = NULL;
    cached->path = cn_temporary_make("analysis", err);
    if (cached->path)
        cn_memory_hold(&cached->held, remove_temporary);
    return cached->path != NULL;
}

bool cn_cached_folder_commit(struct cn_cached_folder *cached, struct cn_error *err)
{
    char folder[PATH_MAX];

    cn_memory_drop(&cached->held);
    if (!cached->target)
        return true;
    /* It fails if another process has put the same there: then that one is used. */
    if (!cn_outdir_commit(&cached->dir, err) && access(cached->target, F_OK) != 0)
        return false;
    free(cached->path);
    cached->path = cn_strdup(cached->target);
    cached->lock = cn_cache_dir_use(cached->target);
    if (cn_cache_dir("/views", folder)) {
        remove_others(folder, cached->target);
        cn_cache_dir_limit(folder, size_max());
    }
    return cached->lock > 0 ||
           cn_fail(err, CN_ERR_IO, "%s: removed by another process", cached->target);
}

void cn_cached_folder_drop(struct cn_cached_folder *cached)
{
    char *target = cached->target;

    cached->target = NULL;
    free(cached->path);
    cached->path = NULL;
    cn_cached_folder_close(cached);
    if (target)
        cn_cache_dir_remove(target);
    cached->target = target;
}

void cn_cached_folder_close(struct cn_cached_folder *cached)
{
    if (cached->lock > 0)
        (void)close(cached->lock);
    cn_memory_drop(&cached->held);
    cn_outdir_abandon(&cached->dir);
    if (cached->path && !cached->target)
        cn_outdir_remove(cached->path);
    free(cached->path);
    free(cached->target);
    *cached = (struct cn_cached_folder){0};
}
