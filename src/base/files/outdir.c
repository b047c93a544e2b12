#include "base/files/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    (void)remove(path);
    return 0;
}

void cn_outdir_remove(const char *path)
{
    enum { OPEN_DIRECTORIES = 16, TRIES = 16 };

    /* Another rank may add a file meanwhile, until it fails as well. */
    for (int i = 0; i < TRIES && access(path, F_OK) == 0; i++)
        (void)nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS);
}

/* "a/b/" is meant as "a/b". */
static char *without_trailing_slashes(const char *path)
{
    char *copy = cn_strdup(path);
    size_t len = strlen(copy);

    while (len > 1 && copy[len - 1] == '/')
        copy[--len] = '\0';
    return copy;
}

static bool make_hidden_sibling(struct cn_outdir *dir, struct cn_error *err)
{
    const char *name = cn_path_name(dir->target);
    char path[PATH_MAX];
    mode_t mask = umask(0);

    (void)umask(mask);
    if (snprintf(path, sizeof(path), "%.*s.%s.part-XXXXXX", (int)(name - dir->target),
                 dir->target, name) >= (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s: path too long", dir->target);
    dir->path = cn_strdup(path);
    if (!mkdtemp(dir->path)) {
        free(dir->path);
        dir->path = NULL;
    }
    return (dir->path && chmod(dir->path, 0777 & ~mask) == 0) ||
           cn_fail_errno(err, "%s: cannot create it", dir->target);
}

static void abandon(struct cn_held *held)
{
    cn_outdir_abandon((struct cn_outdir *)held);
}

bool cn_outdir_begin(struct cn_outdir *out, const char *target, bool replace,
                     struct cn_error *err)
{
    struct cn_outdir dir = {.target = without_trailing_slashes(target),
                            .replace = replace};
    struct stat st;
    bool exists = lstat(dir.target, &st) == 0;
    bool ok = true;

    if (exists && !replace)
        ok = cn_fail(err, CN_ERR_USAGE, "%s: exists already", dir.target);
    else if (exists && !S_ISDIR(st.st_mode))
        ok = cn_fail(err, CN_ERR_USAGE, "%s: exists and is not a directory", dir.target);
    if (!ok || !make_hidden_sibling(&dir, err)) {
        cn_outdir_abandon(&dir);
        return false;
    }
    *out = dir;
    cn_memory_hold(&out->held, abandon);
    return true;
}

/* Rename without replacing anything; where the target exists and may go, exchange the
 * two, so that one of them is there at any time. */
static bool rename_into_place(const struct cn_outdir *dir)
{
    if (renameat2(AT_FDCWD, dir->path, AT_FDCWD, dir->target, RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST && dir->replace)
        return renameat2(AT_FDCWD, dir->path, AT_FDCWD, dir->target, RENAME_EXCHANGE) ==
               0;
    /* Some file systems know neither flag: plain rename() refuses a non-empty target. */
    return errno == EINVAL && rename(dir->path, dir->target) == 0;
}

bool cn_outdir_commit(struct cn_outdir *dir, struct cn_error *err)
{
    bool ok = rename_into_place(dir) ||
              cn_fail_errno(err, "%s: cannot put it in place", dir->target);

    cn_outdir_abandon(dir); /* what lies under the hidden name now is not needed */
    return ok;
}

void cn_outdir_abandon(struct cn_outdir *dir)
{
    cn_memory_drop(&dir->held);
    if (dir->path)
        cn_outdir_remove(dir->path);
    free(dir->path);
    free(dir->target);
    *dir = (struct cn_outdir){0};
}

const char *cn_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && folder[0] ? folder : "/tmp";
}

char *cn_temporary_make(const char *name, struct cn_error *err)
{
    char *path = cn_strprintf("%s/cairn-%s-XXXXXX", cn_temporary_folder(), name);

    if (mkdtemp(path))
        return path;
    (void)cn_fail_errno(err, "%s: cannot make a temporary directory",
                        cn_temporary_folder());
    free(path);
    return NULL;
}
