#include "launcher/files/recording_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "base/text.h"

enum { WAIT_MS = 5, WAIT_MAX = 600 };

/* A file that no sender of recordings and no other program creates: what is in a directory that
 * has it may be replaced. */
#define MARK ".cairn-recording"

/* Open a directory, not through a symbolic link. */
static int open_dir(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_marked(const char *dir)
{
    int fd = open_dir(AT_FDCWD, dir);
    struct stat status;
    bool is = fd >= 0 && fstatat(fd, MARK, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
              S_ISREG(status.st_mode);

    if (fd >= 0)
        (void)close(fd);
    return is;
}

bool cn_recording_dir_mark(const char *dir, struct cn_error *err)
{
    int at = open_dir(AT_FDCWD, dir);
    int fd =
        at < 0 ? -1 : openat(at, MARK, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        (void)cn_fail_errno(err, "cannot write '%s'", dir);
    else
        (void)close(fd);
    if (at >= 0)
        (void)close(at);
    return fd >= 0;
}

/* Remove the files of an open directory, and folders of ranks in it. Closes it. */
static bool remove_files(int dir, bool is_nested)
{
    DIR *listing = fdopendir(dir);
    struct dirent *entry;
    bool ok = true;

    if (!listing) {
        (void)close(dir);
        return false;
    }
    while (ok && (entry = readdir(listing))) {
        const char *name = entry->d_name;
        bool is_rank = !is_nested && entry->d_type == DT_DIR &&
                       strncmp(name, CN_RANK_PREFIX, strlen(CN_RANK_PREFIX)) == 0;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        int nested = is_rank ? open_dir(dirfd(listing), name) : -1;
        ok = nested < 0 ? unlinkat(dirfd(listing), name, 0) == 0
                        : remove_files(nested, true) &&
                              unlinkat(dirfd(listing), name, AT_REMOVEDIR) == 0;
    }
    (void)closedir(listing);
    return ok;
}

bool cn_recording_dir_remove(const char *dir, struct cn_error *err)
{
    int fd = open_dir(AT_FDCWD, dir);

    return (fd >= 0 && remove_files(fd, false) && rmdir(dir) == 0) ||
           cn_fail_errno(err, "cannot remove '%s'", dir);
}

/* Lock a directory; -1, with EWOULDBLOCK if another process has locked it. Without locks on
 * its file system, as if no process had. */
static int lock_dir(const char *dir, int how)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;

    do
        result = fd >= 0 ? flock(fd, how) : 0;
    while (result != 0 && errno == EINTR);
    if (result == 0 || errno != EWOULDBLOCK)
        return fd;
    (void)close(fd);
    errno = EWOULDBLOCK;
    return -1;
}

static bool is_locked(const char *dir)
{
    int fd = lock_dir(dir, LOCK_SH | LOCK_NB);

    if (fd >= 0)
        (void)close(fd);
    return fd < 0 && errno == EWOULDBLOCK;
}

/* True if a process that task.txt lists still exists, or if there is none yet. */
static bool has_process(const char *dir)
{
    char line[4096];
    bool is_empty = true, is_running = false;
    char *path = cn_strprintf("%s/task.txt", dir);
    FILE *file = fopen(path, "re");

    free(path);
    while (file && !is_running && fgets(line, sizeof(line), file)) {
        const char *at = strstr(line, " pid=");
        long pid = at ? strtol(at + strlen(" pid="), NULL, 10) : 0;

        if (pid <= 0 || pid > INT_MAX)
            continue;
        is_empty = false;
        is_running = kill((pid_t)pid, 0) == 0 || errno != ESRCH;
    }
    if (file)
        (void)fclose(file);
    return is_running || is_empty;
}

void cn_recording_dir_wait(const char *dir)
{
    const struct timespec pause = {.tv_nsec = WAIT_MS * 1000000L};

    for (int i = 0; i < WAIT_MAX && is_locked(dir) && !has_process(dir); i++)
        (void)nanosleep(&pause, NULL);
}

static bool check_idle(const char *dir, struct cn_error *err)
{
    int fd = lock_dir(dir, LOCK_EX | LOCK_NB);

    if (fd < 0 && errno == EWOULDBLOCK)
        return cn_fail(err, CN_ERR_IO,
                       "another process is recording into '%s'; choose another directory "
                       "with -d",
                       dir);
    if (fd >= 0)
        (void)close(fd);
    return true;
}

static bool keep_as_old(const char *name, struct cn_error *err)
{
    bool ok = true;
    char *old = cn_strprintf("%s.old", name);

    if (access(old, F_OK) == 0) {
        if (!is_marked(old))
            ok = cn_fail(err, CN_ERR_IO,
                         "cannot rename the last recording: '%s' is not a recording of "
                         "cairn; move it away",
                         old);
        else
            ok = cn_recording_dir_remove(old, err);
    }
    if (ok && rename(name, old) != 0)
        ok = cn_fail_errno(err, "cannot rename '%s'", name);
    free(old);
    return ok;
}

/* If the name is taken by a recording that cairn made, or by an empty directory, make it free. */
static bool make_free(const char *name, struct cn_error *err)
{
    if (access(name, F_OK) != 0 && errno == ENOENT)
        return true;
    if (!check_idle(name, err))
        return false;
    if (rmdir(name) == 0)
        return true;
    if (!is_marked(name))
        return cn_fail(
            err, CN_ERR_IO,
            "'%s' exists and is not a recording of cairn; move it away, or choose "
            "another directory with -d",
            name);
    return keep_as_old(name, err);
}

static bool make(const char *name, struct cn_error *err)
{
    if (mkdir(name, 0700) != 0 &&
        (errno != EEXIST || !make_free(name, err) || mkdir(name, 0700) != 0))
        return err->text[0] ? false : cn_fail_errno(err, "cannot create '%s'", name);
    return cn_recording_dir_mark(name, err);
}

/* True if the directory belongs to the job of this rank, which has no folder in it. */
static bool is_of_job(const char *name, const char *folder,
                      const struct cn_launch_rank *rank)
{
    struct cn_file file = {0};
    struct cn_error ignored = {0};

    if (!cn_file_open_at(&file, name, CN_RANKS_FILE, &ignored))
        return false;
    bool is_same = file.bytes.len == rank->job.len &&
                   memcmp(file.bytes.ptr, rank->job.chars, rank->job.len) == 0;
    cn_file_close(&file);
    return is_same && access(folder, F_OK) != 0;
}

static bool make_rank(const char *name, const struct cn_launch_rank *rank, char **out,
                      struct cn_error *err)
{
    char *folder = cn_strprintf("%s/%s%" PRIu64, name, CN_RANK_PREFIX, rank->number);
    bool ok = is_of_job(name, folder, rank) ||
              (make(name, err) &&
               cn_out_replace(name, CN_RANKS_FILE, rank->job.chars, rank->job.len, err));

    if (ok && mkdir(folder, 0700) != 0)
        ok = cn_fail_errno(err, "cannot create '%s'", folder);
    *out = ok ? realpath(folder, NULL) : NULL;
    free(folder);
    return ok;
}

/* The directory that contains `name` is locked meanwhile: of two processes that choose the
 * same name at once, one finds the locked directory of the other. */
static int lock_parent(const char *name)
{
    char *copy = cn_strdup(name);
    int fd = lock_dir(dirname(copy), LOCK_EX);

    free(copy);
    return fd;
}

bool cn_recording_dir_create(const char *name, const struct cn_launch_rank *rank,
                             char **out, int *lock, struct cn_error *err)
{
    size_t len = strlen(name);
    char *plain = cn_strdup(name), *path = NULL;

    while (len > 1 && plain[len - 1] == '/')
        plain[--len] = '\0';
    int parent = lock_parent(plain);
    bool ok = rank ? make_rank(plain, rank, &path, err) : make(plain, err);
    if (ok && !rank)
        path = realpath(plain, NULL);
    *lock = ok ? lock_dir(plain, rank ? LOCK_SH | LOCK_NB : LOCK_EX | LOCK_NB) : -1;
    if (parent >= 0)
        (void)close(parent);
    free(plain);
    if (!ok)
        return false;
    if (!path)
        return cn_fail_errno(err, "cannot find '%s'", name);
    *out = path;
    return true;
}

bool cn_recording_dir_place(const char *from, const char *name, struct cn_error *err)
{
    int parent = lock_parent(name);
    bool ok = make_free(name, err) &&
              (rename(from, name) == 0 || cn_fail_errno(err, "cannot rename '%s'", from));

    if (parent >= 0)
        (void)close(parent);
    return ok;
}

int cn_recording_dir_append(const char *dir, const char *name, struct cn_error *err)
{
    char *path = cn_strprintf("%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0)
        (void)cn_fail_errno(err, "cannot open '%s'", path);
    free(path);
    return fd;
}

bool cn_recording_dir_add(const char *dir, const char *name, int *file,
                          const uint8_t *data, size_t len, struct cn_error *err)
{
    if (*file < 0)
        *file = cn_recording_dir_append(dir, name, err);
    if (*file < 0)
        return false;
    for (size_t at = 0; at < len;) {
        ssize_t done = write(*file, data + at, len - at);

        if (done <= 0 && errno != EINTR)
            return cn_fail_errno(err, "cannot write %s", name);
        at += done > 0 ? (size_t)done : 0;
    }
    return true;
}
