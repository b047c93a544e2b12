#include "base/files/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static bool file_open(void *arg, const char *path, int *fd, struct cn_error *err)
{
    (void)arg;
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return *fd >= 0 || cn_fail_errno(err, "%s", path);
}

static bool file_write(void *arg, int fd, uint64_t off, const void *data, size_t len,
                       struct cn_error *err)
{
    const uint8_t *bytes = data;

    (void)arg;
    while (len > 0) {
        ssize_t n = pwrite(fd, bytes, len, (off_t)off);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cn_fail_errno(err, "cannot write %zu bytes at 0x%" PRIx64, len, off);
        bytes += n;
        off += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

static bool file_truncate(void *arg, int fd, uint64_t len, struct cn_error *err)
{
    (void)arg;
    return ftruncate(fd, (off_t)len) == 0 ||
           cn_fail_errno(err, "cannot cut at 0x%" PRIx64, len);
}

static bool file_sync(void *arg, int fd, struct cn_error *err)
{
    (void)arg;
    return fdatasync(fd) == 0 || cn_fail_errno(err, "cannot sync");
}

static bool file_close(void *arg, int fd)
{
    (void)arg;
    return close(fd) == 0;
}

static bool dir_make(void *arg, const char *path, struct cn_error *err)
{
    (void)arg;
    return mkdir(path, 0777) == 0 || errno == EEXIST || cn_fail_errno(err, "%s", path);
}

static bool file_rename(void *arg, const char *from, const char *to, struct cn_error *err)
{
    (void)arg;
    return rename(from, to) == 0 || cn_fail_errno(err, "%s", to);
}

static bool file_remove(void *arg, const char *path, struct cn_error *err)
{
    (void)arg;
    return unlink(path) == 0 || errno == ENOENT || cn_fail_errno(err, "%s", path);
}

static bool dir_sync(void *arg, const char *path, struct cn_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)arg;
    if (fd < 0)
        return cn_fail_errno(err, "%s", path);
    bool ok = fsync(fd) == 0 || cn_fail_errno(err, "%s", path);
    (void)close(fd);
    return ok;
}

const struct cn_disk cn_disk_files = {
    .open = file_open,
    .write = file_write,
    .truncate = file_truncate,
    .sync = file_sync,
    .close = file_close,
    .make_dir = dir_make,
    .rename = file_rename,
    .remove = file_remove,
    .sync_dir = dir_sync,
};

static bool write_whole(const struct cn_disk *io, const char *path, const void *data,
                        size_t len, struct cn_error *err)
{
    int fd;

    if (!io->open(io->arg, path, &fd, err))
        return false;
    bool ok = io->truncate(io->arg, fd, 0, err) &&
              io->write(io->arg, fd, 0, data, len, err) && io->sync(io->arg, fd, err);
    (void)io->close(io->arg, fd);
    return ok;
}

bool cn_disk_replace(const struct cn_disk *io, const char *dir, const char *name,
                     const void *data, size_t len, struct cn_error *err)
{
    char *path = cn_strprintf("%s/%s", dir, name);
    char *temporary = cn_strprintf("%s/.%s.new", dir, name);
    bool ok = write_whole(io, temporary, data, len, err) &&
              io->rename(io->arg, temporary, path, err) &&
              io->sync_dir(io->arg, dir, err);

    if (!ok) {
        struct cn_error ignored;

        (void)cn_fail_in(err, "%s", path);
        (void)io->remove(io->arg, temporary, &ignored);
    }
    free(path);
    free(temporary);
    return ok;
}
