#include "cli/database/cached_analysis.h"

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
#include "base/files/outdir.h"
#include "base/host/cache_dir.h"
#include "cli/database/analyze.h"
#include "open/formats.h"

enum { KEY_LEN = 16 }; /* hexadecimal digits */

/* What a database was made by. Change the number when the same version writes other values. */
static const char made_by[] = CN_VERSION " 3";

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A hash of the names, sizes and times of all files. */
static uint64_t fingerprint(char *path)
{
    char *const paths[] = {path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
    uint64_t hash = XXH3_64bits(made_by, sizeof(made_by));
    FTSENT *at;

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

/* Remove earlier databases of the recording: those with the key of `name` at their start. */
static void remove_others(const char *folder, const char *name)
{
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

bool cn_cached_analysis_open(struct cn_database **out, char **folder,
                             const struct cn_args *args, const char *path,
                             struct cn_view_analysis *how, struct cn_error *err)
{
    const struct cn_format *v4 = cn_format_find("hpctoolkit-v4");
    char real[PATH_MAX], cache[PATH_MAX], target[2 * PATH_MAX], name[2 * KEY_LEN + 8];
    bool has_cache;

    *folder = NULL;
    if (!realpath(path, real))
        return cn_fail_errno(err, "%s: cannot read it", path);
    (void)snprintf(name, sizeof(name), "%016" PRIx64 "-%016" PRIx64 ".db",
                   (uint64_t)XXH3_64bits_withSeed(real, strlen(real), how->is_raw),
                   fingerprint(real));
    has_cache = !how->query && cn_cache_dir("/views", cache);
    if (has_cache) {
        (void)snprintf(target, sizeof(target), "%s/%s", cache, name);
        if (cn_cache_dir_use(target) && v4->open_database(out, target, err))
            return true;
        cn_cache_dir_make(cache);
        has_cache = access(cache, W_OK) == 0;
    }
    if (!has_cache) {
        *folder = cn_temporary_make("view", err);
        if (!*folder)
            return false;
        (void)snprintf(target, sizeof(target), "%s/%s", *folder, name);
    }
    if (!cn_analyze_for_view(args, path, target, how, err))
        return false;
    if (has_cache && !how->is_complete)
        *folder = cn_strdup(target);
    if (has_cache) {
        (void)cn_cache_dir_use(target);
        remove_others(cache, name);
        cn_cache_dir_limit(cache, size_max());
    }
    return v4->open_database(out, target, err);
}
