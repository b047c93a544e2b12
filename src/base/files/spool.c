#include "base/files/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/text.h"

/* Where a file cannot be made without a name, it loses it at once. */
static int open_and_unlink(const char *folder)
{
    char *path = cn_strprintf("%s/.cairn-XXXXXX", folder);
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd >= 0)
        (void)unlink(path);
    free(path);
    return fd;
}

static bool open_alone(struct cn_spool *spool, unsigned file, struct cn_error *err)
{
    int fd = open(spool->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        fd = open_and_unlink(spool->folder);
    if (fd < 0)
        return cn_fail_errno(err, "%s: temporary file", spool->folder);
    spool->fds[file] = fd;
    return true;
}

bool cn_spool_add_files(struct cn_spool *spool, unsigned count, struct cn_error *err)
{
    if (count < 2)
        return true;
    spool->fds = cn_realloc(spool->fds, count, sizeof(*spool->fds));
    spool->file_ends = cn_alloc(count, sizeof(*spool->file_ends));
    for (; spool->count < count; spool->count++) {
        spool->file_ends[spool->count] = (uint64_t)spool->count << CN_SPOOL_FILE_SHIFT;
        if (!open_alone(spool, spool->count, err))
            return false;
    }
    return true;
}

bool cn_spool_open(struct cn_spool *spool, const char *folder, struct cn_error *err)
{
    *spool = (struct cn_spool){
        .fds = cn_alloc(1, sizeof(*spool->fds)), .count = 1, .folder = folder};
    if (open_alone(spool, 0, err))
        return true;
    cn_spool_close(spool);
    return false;
}

static int file_at(const struct cn_spool *spool, uint64_t off)
{
    return spool->fds[off >> CN_SPOOL_FILE_SHIFT];
}

static off_t place_at(uint64_t off)
{
    return (off_t)(off & CN_SPOOL_PLACE_MASK);
}

uint64_t cn_spool_reserve(struct cn_spool *spool, uint64_t len)
{
    return atomic_fetch_add(&spool->end_off, len);
}

uint64_t cn_spool_reserve_in(struct cn_spool *spool, unsigned file, uint64_t len)
{
    return spool->file_ends && file > 0 ? atomic_fetch_add(&spool->file_ends[file], len)
                                        : cn_spool_reserve(spool, len);
}

uint64_t cn_spool_file_len(const struct cn_spool *spool, unsigned file)
{
    uint64_t end_off =
        spool->file_ends && file > 0 ? spool->file_ends[file] : spool->end_off;

    return end_off & CN_SPOOL_PLACE_MASK;
}

bool cn_spool_write(const struct cn_spool *spool, uint64_t off, const void *data,
                    size_t len, struct cn_error *err)
{
    const char *at = data;

    while (len > 0) {
        ssize_t written = pwrite(file_at(spool, off), at, len, place_at(off));

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cn_fail_errno(err, "%s: temporary file", spool->folder);
        at += written;
        off += (uint64_t)written;
        len -= (size_t)written;
    }
    return true;
}

bool cn_spool_read(const struct cn_spool *spool, uint64_t off, void *data, size_t len,
                   struct cn_error *err)
{
    char *at = data;

    while (len > 0) {
        ssize_t got = pread(file_at(spool, off), at, len, place_at(off));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cn_fail_errno(err, "%s: temporary file", spool->folder);
        if (got == 0)
            return cn_fail(err, CN_ERR_IO, "%s: temporary file ends early",
                           spool->folder);
        at += got;
        off += (uint64_t)got;
        len -= (size_t)got;
    }
    return true;
}

static void close_file(void *arg, size_t file, unsigned worker)
{
    const struct cn_spool *spool = arg;

    (void)worker;
    if (spool->fds[file] > 0)
        (void)close(spool->fds[file]);
}

/* Closing a file frees its pages, 50 ms a gigabyte. Files of files are closed in parallel; a pool
 * needs memory, which those that close a single one may not have. */
void cn_spool_close(struct cn_spool *spool)
{
    struct cn_jobs jobs = {.count = spool->count, .arg = spool, .run = close_file};

    if (spool->file_ends)
        cn_pool_run(&jobs, cn_pool_default_workers());
    else
        for (size_t i = 0; i < spool->count; i++)
            close_file(spool, i, 0);
    free(spool->fds);
    free(spool->file_ends);
    *spool = (struct cn_spool){0};
}
