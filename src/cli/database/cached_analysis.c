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

#include "base/alloc.h"
#include "base/files/cache_dir.h"
#include "base/files/outdir.h"
#include "cli/database/analyze.h"
#include "formats/formats.h"

enum { KEY_LEN = 16 }; /* hexadecimal digits */

#define FIRST_HASH UINT64_C(14695981039346656037)

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A hash of the names, sizes and times of all files. */
static uint64_t fingerprint(char *path)
{
    char *const paths[] = {path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
    uint64_t hash = hash_bytes(FIRST_HASH, CN_VERSION, sizeof(CN_VERSION));
    FTSENT *at;

    while (walk && (at = fts_read(walk)) != NULL) {
        const struct stat *about = at->fts_statp;
        uint64_t facts[3];

        if (at->fts_info != FTS_F)
            continue;
        facts[0] = (uint64_t)about->st_size;
        facts[1] = (uint64_t)about->st_mtim.tv_sec;
        facts[2] = (uint64_t)about->st_mtim.tv_nsec;
        hash = hash_bytes(hash, at->fts_path, at->fts_pathlen);
        hash = hash_bytes(hash, facts, sizeof(facts));
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
        cn_outdir_remove(path);
    }
    if (dir)
        (void)closedir(dir);
}

/* A new temporary directory, to be freed; NULL if it cannot be made. */
static char *make_temporary(void)
{
    const char *base = getenv("TMPDIR");
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/cairn-view-XXXXXX",
                   base && *base ? base : "/tmp");
    return mkdtemp(path) ? cn_strdup(path) : NULL;
}

bool cn_cached_analysis_open(struct cn_database **out, char **folder,
                             const struct cn_args *args, const char *path, bool is_raw,
                             struct cn_error *err)
{
    const struct cn_format *v4 = cn_format_find("hpctoolkit-v4");
    char real[PATH_MAX], cache[PATH_MAX], target[2 * PATH_MAX], name[2 * KEY_LEN + 8];
    bool has_cache, is_complete;

    *folder = NULL;
    if (!realpath(path, real))
        return cn_fail_errno(err, "%s: cannot read it", path);
    (void)snprintf(
        name, sizeof(name), "%016" PRIx64 "-%016" PRIx64 ".db",
        hash_bytes(hash_bytes(FIRST_HASH, &is_raw, sizeof(is_raw)), real, strlen(real)),
        fingerprint(real));
    has_cache = cn_cache_dir("/views", cache);
    if (has_cache) {
        (void)snprintf(target, sizeof(target), "%s/%s", cache, name);
        if (access(target, F_OK) == 0 && v4->open_database(out, target, err))
            return true;
        cn_cache_dir_make(cache);
        has_cache = access(cache, W_OK) == 0;
    }
    if (!has_cache) {
        *folder = make_temporary();
        if (!*folder)
            return cn_fail_errno(err, "%s: cannot make a temporary directory", path);
        (void)snprintf(target, sizeof(target), "%s/%s", *folder, name);
    }
    if (!cn_analyze_for_view(args, path, target, is_raw, &is_complete, err))
        return false;
    if (has_cache && !is_complete)
        *folder = cn_strdup(target);
    if (has_cache)
        remove_others(cache, name);
    return v4->open_database(out, target, err);
}
