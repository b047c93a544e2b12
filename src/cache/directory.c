#include "cache/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/sort.h"

enum { LEFT_BEHIND_S = 24 * 60 * 60 };

bool cn_cache_dir(const char *below, char path[static PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    /* A path that is not absolute is to be ignored, says the XDG specification. */
    if (cache && cache[0] == '/')
        return snprintf(path, PATH_MAX, "%s/cairn%s", cache, below) < PATH_MAX;
    return home && home[0] == '/' &&
           snprintf(path, PATH_MAX, "%s/.cache/cairn%s", home, below) < PATH_MAX;
}

void cn_cache_dir_make(char path[static PATH_MAX])
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}

int cn_cache_dir_use(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat opened, named;

    if (fd < 0)
        return -1;
    /* The lock stays as long as the descriptor. Where there are no locks, nothing is removed. */
    if ((flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
        opened.st_ino == named.st_ino) {
        (void)futimens(fd, NULL);
        return fd;
    }
    (void)close(fd);
    return -1;
}

void cn_cache_dir_remove(const char *path)
{
    const char *slash = strrchr(path, '/');
    char hidden[PATH_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    /* Entries are renamed first: an entry without some of its files is never found. */
    if (fd >= 0 && slash && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        snprintf(hidden, sizeof(hidden), "%.*s/.%s.gone-%ld", (int)(slash - path), path,
                 slash + 1, (long)getpid()) < (int)sizeof(hidden) &&
        rename(path, hidden) == 0)
        cn_outdir_remove(hidden);
    if (fd >= 0)
        (void)close(fd);
}

struct cache_entry {
    char path[PATH_MAX];
    uint64_t size;
    struct timespec used;
    bool is_hidden;
};

/* Read the size of an entry, with everything in it, and when it was used. */
static bool read_entry(struct cache_entry *entry)
{
    char *const paths[] = {entry->path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    struct stat about;
    const FTSENT *at;

    while (walk && (at = fts_read(walk)) != NULL)
        if (at->fts_info == FTS_F)
            entry->size += (uint64_t)at->fts_statp->st_blocks * 512;
    if (walk)
        (void)fts_close(walk);
    if (lstat(entry->path, &about) < 0)
        return false;
    entry->used = about.st_mtim;
    return true;
}

static struct cache_entry *list_entries(const char *dir, size_t *count)
{
    struct cache_entry *list = NULL;
    const struct dirent *found;
    size_t capacity = 0;
    DIR *opened = opendir(dir);

    *count = 0;
    while (opened && (found = readdir(opened)) != NULL) {
        const char *name = found->d_name;
        struct cache_entry *entry;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        CN_GROW(list, *count, capacity);
        entry = &list[*count];
        *entry = (struct cache_entry){.is_hidden = name[0] == '.'};
        if (snprintf(entry->path, sizeof(entry->path), "%s/%s", dir, name) <
                (int)sizeof(entry->path) &&
            read_entry(entry))
            ++*count;
    }
    if (opened)
        (void)closedir(opened);
    return list;
}

void cn_cache_dir_limit(const char *dir, uint64_t size_max)
{
    size_t count;
    struct cache_entry *list = list_entries(dir, &count);
    time_t now = time(NULL);
    uint64_t size = 0;

    CN_SORT(list, count, CN_UP(struct cache_entry, used.tv_sec),
            CN_UP(struct cache_entry, used.tv_nsec));
    for (size_t i = 0; i < count; i++)
        size += list[i].size;
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_hidden ? now - list[i].used.tv_sec <= LEFT_BEHIND_S
                              : size <= size_max)
            continue;
        if (list[i].is_hidden)
            cn_outdir_remove(list[i].path);
        else
            cn_cache_dir_remove(list[i].path);
        if (access(list[i].path, F_OK) != 0)
            size -= list[i].size;
    }
    free(list);
}
