#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

/* Where a file cannot be made without a name, it loses it at once. */
static int open_and_unlink(const char *folder)
{
    struct cn_text path = {0};
    int fd;

    cn_text_printf(&path, "%s/.cairn-XXXXXX", folder);
    fd = mkostemp(path.chars, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path.chars);
    cn_text_done(&path);
    return fd;
}

bool cn_spool_open(struct cn_spool *spool, const char *folder, struct cn_error *err)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        fd = open_and_unlink(folder);
    if (fd < 0)
        return cn_fail_errno(err, "%s: temporary file", folder);
    *spool = (struct cn_spool){.fd = fd, .folder = folder};
    return true;
}

uint64_t cn_spool_reserve(struct cn_spool *spool, uint64_t len)
{
    uint64_t off = spool->end_off;

    spool->end_off += len;
    return off;
}

bool cn_spool_write(const struct cn_spool *spool, uint64_t off, const void *data,
                    size_t len, struct cn_error *err)
{
    const char *at = data;

    while (len > 0) {
        ssize_t written = pwrite(spool->fd, at, len, (off_t)off);

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
        ssize_t got = pread(spool->fd, at, len, (off_t)off);

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

void cn_spool_close(struct cn_spool *spool)
{
    if (spool->fd > 0)
        (void)close(spool->fd);
    *spool = (struct cn_spool){0};
}
