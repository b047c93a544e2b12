#include "support/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"

struct cn_scratch {
    int came_from;
    char path[PATH_MAX];
};

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(EXIT_FAILURE);
}

/* $TMPDIR, or else memory if it has room: ext4 searches for long where files were deleted a moment
 * ago, and syncs to disk. */
static const char *parent_folder(void)
{
    const char *chosen = getenv("TMPDIR");
    struct statvfs shm;

    if (chosen)
        return chosen;
    if (statvfs("/dev/shm", &shm) == 0 && !(shm.f_flag & (ST_NOEXEC | ST_RDONLY)) &&
        access("/dev/shm", W_OK) == 0 && shm.f_bavail >= (1UL << 30) / shm.f_frsize)
        return "/dev/shm";
    return "/tmp";
}

struct cn_scratch *cn_scratch_enter(void)
{
    struct cn_scratch *scratch = cn_alloc(1, sizeof(*scratch));

    (void)snprintf(scratch->path, sizeof(scratch->path), "%s/cairn-test-XXXXXX",
                   parent_folder());
    scratch->came_from = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(scratch->came_from >= 0, "current folder");
    must(mkdtemp(scratch->path) && chdir(scratch->path) == 0, scratch->path);
    return scratch;
}

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void cn_scratch_remove(const char *path)
{
    enum { OPEN_FOLDERS = 16 };

    if (cn_scratch_exists(path))
        must(nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0, path);
}

void cn_scratch_leave(struct cn_scratch *scratch)
{
    must(fchdir(scratch->came_from) == 0, "return to the folder before");
    (void)close(scratch->came_from);
    cn_scratch_remove(scratch->path);
    free(scratch);
}

int cn_scratch_setup(void **state)
{
    *state = cn_scratch_enter();
    return 0;
}

int cn_scratch_teardown(void **state)
{
    cn_scratch_leave(*state);
    return 0;
}

void cn_scratch_write(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "wb");

    must(file && fwrite(data, 1, len, file) == len && fclose(file) == 0, path);
}

bool cn_scratch_exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

bool cn_scratch_holds(const char *path, const void *data, size_t len)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    bool same = cn_file_open(&file, path, &err) && file.bytes.len == len &&
                memcmp(file.bytes.ptr, data, len) == 0;

    cn_file_close(&file);
    return same;
}

size_t cn_scratch_count(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t count = 0;

    must(dir != NULL, folder);
    while ((entry = readdir(dir)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(dir);
    return count;
}
