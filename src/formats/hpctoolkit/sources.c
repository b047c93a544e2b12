#include "formats/hpctoolkit/sources.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/out.h"
#include "base/run/progress.h"
#include "model/contexts/database.h"
#include "model/format.h"

/* A path that stays below src/ of any directory it is appended to. */
static bool is_safe(const char *path)
{
    const char *at = path;

    if (strncmp(path, "src/", 4) != 0)
        return false;
    while (*at) {
        size_t len = strcspn(at, "/");

        if (len == 0 || (len == 1 && at[0] == '.') ||
            (len == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += len + (at[len] == '/');
    }
    return at[-1] != '/';
}

/* The real path of a file of the source database. False if it does not exist, or if
 * symbolic links lead out of the database. */
static bool find_source(const char *root, const char *path, char out[PATH_MAX])
{
    char joined[PATH_MAX];
    size_t root_len = strlen(root);
    struct stat st;

    return snprintf(joined, sizeof(joined), "%s/%s", root, path) < (int)sizeof(joined) &&
           realpath(joined, out) && strncmp(out, root, root_len) == 0 &&
           out[root_len] == '/' && stat(out, &st) == 0 && S_ISREG(st.st_mode);
}

static bool make_folders(const char *dir, const char *path, struct cn_error *err)
{
    char folder[PATH_MAX];

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        int len =
            snprintf(folder, sizeof(folder), "%s/%.*s", dir, (int)(slash - path), path);

        if (len >= (int)sizeof(folder))
            return cn_fail(err, CN_ERR_LIMIT, "%s/%s: path too long", dir, path);
        if (mkdir(folder, 0777) < 0 && errno != EEXIST)
            return cn_fail_errno(err, "%s", folder);
    }
    return true;
}

static bool copy(const char *from, const char *dir, const char *path,
                 struct cn_error *err)
{
    struct cn_file file = {0};
    struct cn_out out = {0};
    bool ok = cn_file_open(&file, from, err) && make_folders(dir, path, err) &&
              cn_out_open_at(&out, dir, path, err) &&
              cn_out_write(&out, file.bytes.ptr, file.bytes.len, err) &&
              cn_out_close(&out, err);

    cn_out_abandon(&out);
    cn_file_close(&file);
    return ok;
}

/* Several records may name the same file: it is copied once. */
static bool exists(const char *dir, const char *path)
{
    char joined[PATH_MAX];
    struct stat st;

    return snprintf(joined, sizeof(joined), "%s/%s", dir, path) < (int)sizeof(joined) &&
           lstat(joined, &st) == 0;
}

bool cn_hpc_sources_copy(struct cn_database *db, const char *dir,
                         const struct cn_write_options *options, struct cn_error *err)
{
    char root[PATH_MAX], from[PATH_MAX];
    bool has_root = db->path[0] != '\0' && realpath(db->path, root);
    uint64_t missing_count = 0, unwanted_count = 0;

    for (uint32_t i = 0; i < db->file_count; i++) {
        struct cn_source_file file;

        if (!cn_database_file(db, i, &file, err) ||
            !cn_progress_report(options->progress, "copying sources", i, db->file_count,
                                "files", err))
            return false;
        if (!file.is_copied)
            continue;
        if (options->without_sources)
            unwanted_count++;
        else if (!is_safe(file.path) ||
                 (!file.origin && (!has_root || !find_source(root, file.path, from))))
            missing_count++;
        else if (!exists(dir, file.path) &&
                 !copy(file.origin ? file.origin : from, dir, file.path, err))
            return false;
    }
    cn_write_lose(options, "source files missing from the database that was read",
                  missing_count);
    cn_write_lose(options, "copies of source files left out as asked", unwanted_count);
    return true;
}
