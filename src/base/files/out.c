#include "base/files/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"
#include "base/run/lock.h"

enum { BUFFER_LEN = 256 * 1024 };

static bool open_with(struct cn_out *out, const char *path, int flags,
                      struct cn_error *err)
{
    /* The file appears when nothing else can fail. */
    struct cn_out opened = {
        .path = cn_strdup(path),
        .buffer = cn_alloc(BUFFER_LEN, 1),
        .lock = cn_alloc(1, sizeof(*out->lock)),
    };

    cn_lock_init(opened.lock);
    opened.fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (opened.fd < 0) {
        (void)cn_fail_errno(err, "%s", path);
        cn_out_abandon(&opened);
        return false;
    }
    *out = opened;
    return true;
}

static bool open_at(struct cn_out *out, const char *dir, const char *name, int flags,
                    struct cn_error *err)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s/%s: path too long", dir, name);
    return open_with(out, path, flags, err);
}

bool cn_out_open(struct cn_out *out, const char *path, struct cn_error *err)
{
    return open_with(out, path, O_CREAT | O_EXCL, err);
}

bool cn_out_open_at(struct cn_out *out, const char *dir, const char *name,
                    struct cn_error *err)
{
    return open_at(out, dir, name, O_CREAT | O_EXCL, err);
}

bool cn_out_join_at(struct cn_out *out, const char *dir, const char *name,
                    struct cn_error *err)
{
    return open_at(out, dir, name, 0, err);
}

/* The kernel takes one write at a time to a file, and the threads that wait for it spin: 13
 * times the processor time with 16 threads. */
static ssize_t write_once(const struct cn_out *out, uint64_t off, const uint8_t *data,
                          size_t len)
{
    cn_lock_take(out->lock);
    ssize_t n = pwrite(out->fd, data, len, (off_t)off);
    int saved = errno;
    cn_lock_release(out->lock);
    errno = saved;
    return n;
}

bool cn_out_write_at(const struct cn_out *out, uint64_t off, const void *data, size_t len,
                     struct cn_error *err)
{
    const uint8_t *at = data;

    while (len > 0) {
        ssize_t n = write_once(out, off, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cn_fail_errno(err, "%s: cannot write %zu bytes at 0x%llx", out->path,
                                 len, (unsigned long long)off);
        at += n;
        len -= (size_t)n;
        off += (uint64_t)n;
    }
    return true;
}

static bool flush(struct cn_out *out, struct cn_error *err)
{
    size_t len = out->pending;

    out->pending = 0;
    return cn_out_write_at(out, out->end_off - len, out->buffer, len, err);
}

bool cn_out_write(struct cn_out *out, const void *data, size_t len, struct cn_error *err)
{
    if (len > BUFFER_LEN - out->pending && !flush(out, err))
        return false;
    if (len >= BUFFER_LEN) {
        if (!cn_out_write_at(out, out->end_off, data, len, err))
            return false;
    } else if (len > 0) {
        memcpy(out->buffer + out->pending, data, len);
        out->pending += len;
    }
    out->end_off += len;
    return true;
}

bool cn_out_pad(struct cn_out *out, size_t align, struct cn_error *err)
{
    static const uint8_t zeros[64];
    uint64_t end_off = cn_align_up(out->end_off, align);

    while (out->end_off < end_off) {
        uint64_t len = end_off - out->end_off;

        if (!cn_out_write(out, zeros, len < sizeof(zeros) ? (size_t)len : sizeof(zeros),
                          err))
            return false;
    }
    return true;
}

bool cn_out_reserve(struct cn_out *out, uint64_t len, uint64_t *off, struct cn_error *err)
{
    if (!flush(out, err))
        return false;
    *off = out->end_off;
    out->end_off += len;
    return true;
}

void cn_out_expect(const struct cn_out *out, uint64_t end_off)
{
    enum { LEAST = 16 * 1024 * 1024 };

    if (end_off - out->end_off >= LEAST)
        (void)fallocate(out->fd, 0, (off_t)out->end_off, (off_t)(end_off - out->end_off));
}

bool cn_out_close(struct cn_out *out, struct cn_error *err)
{
    /* A reserved tail that was never written still belongs to the file. */
    bool ok = flush(out, err);

    if (ok && ftruncate(out->fd, (off_t)out->end_off) < 0)
        ok = cn_fail_errno(err, "%s", out->path);
    if (close(out->fd) < 0 && ok)
        ok = cn_fail_errno(err, "%s", out->path);
    out->fd = 0;
    cn_out_abandon(out);
    return ok;
}

bool cn_out_replace(const char *dir, const char *name, const void *data, size_t len,
                    struct cn_error *err)
{
    char path[PATH_MAX], part[PATH_MAX];
    struct cn_out out = {0};
    bool ok;

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
        snprintf(part, sizeof(part), "%s/.%s.part-%ld", dir, name, (long)getpid()) >=
            (int)sizeof(part))
        return cn_fail(err, CN_ERR_LIMIT, "%s/%s: path too long", dir, name);
    (void)unlink(part); /* of an earlier process with our number */
    if (!cn_out_open(&out, part, err))
        return false;
    ok = cn_out_write(&out, data, len, err) && cn_out_close(&out, err);
    if (ok && rename(part, path) < 0)
        ok = cn_fail_errno(err, "%s", path);
    if (!ok) {
        cn_out_abandon(&out);
        (void)unlink(part);
    }
    return ok;
}

void cn_out_abandon(struct cn_out *out)
{
    if (out->fd > 0)
        (void)close(out->fd);
    free(out->path);
    free(out->buffer);
    if (out->lock)
        cn_lock_done(out->lock);
    free(out->lock);
    *out = (struct cn_out){0};
}
