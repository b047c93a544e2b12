#include "base/files/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST /* input is not written to, and said so */
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"

enum {
    BUFFER_LEN = 256 << 10,
    TEXT_LEN = 128 << 10, /* a text this long is written */
    GZIP_LEVEL = 6,
    GZIP_WINDOW = 15 + 16, /* the largest window, with the header of gzip */
    GZIP_MEMORY = 8,
    ZSTD_LEVEL = 3,
};

struct cn_sink_coder {
    bool is_zstd;
    z_stream gzip;
    ZSTD_CCtx *zstd;
    uint8_t *room;
};

bool cn_sink_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t len = strlen(path), suffix_len = strlen(suffix);

    return len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

size_t cn_sink_plain_len(const char *path)
{
    size_t len = strlen(path);

    if (ends_with(path, ".gz"))
        return len - strlen(".gz");
    return ends_with(path, ".zst") ? len - strlen(".zst") : len;
}

static struct cn_sink_coder *new_coder(bool is_zstd)
{
    struct cn_sink_coder *coder = cn_alloc(1, sizeof(*coder));

    coder->is_zstd = is_zstd;
    coder->room = cn_alloc(BUFFER_LEN, 1);
    if (is_zstd) {
        coder->zstd = cn_memory_need(ZSTD_createCCtx());
        (void)ZSTD_CCtx_setParameter(coder->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    } else {
        int status = deflateInit2(&coder->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
                                  GZIP_MEMORY, Z_DEFAULT_STRATEGY);

        if (status != Z_OK)
            cn_memory_fail();
    }
    return coder;
}

static void free_coder(struct cn_sink_coder *coder)
{
    if (!coder)
        return;
    if (coder->is_zstd)
        (void)ZSTD_freeCCtx(coder->zstd);
    else
        (void)deflateEnd(&coder->gzip);
    free(coder->room);
    free(coder);
}

/* A file beside the target, under a hidden name. */
static bool open_beside(struct cn_sink *sink, struct cn_error *err)
{
    const char *name = cn_path_name(sink->target);
    char path[PATH_MAX];
    mode_t mask = umask(0);

    (void)umask(mask);
    if (snprintf(path, sizeof(path), "%.*s.%s.part-XXXXXX", (int)(name - sink->target),
                 sink->target, name) >= (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s: path too long", sink->target);
    sink->path = cn_strdup(path);
    sink->fd = mkostemp(sink->path, O_CLOEXEC);
    if (sink->fd < 0) {
        free(sink->path);
        sink->path = NULL;
        sink->fd = 0;
        return cn_fail_errno(err, "%s: cannot create it", sink->target);
    }
    if (fchmod(sink->fd, 0666 & ~mask) < 0)
        return cn_fail_errno(err, "%s", path);
    return true;
}

static bool open_target(struct cn_sink *sink, struct cn_error *err)
{
    struct stat st;

    if (cn_sink_is_stdout(sink->target)) {
        sink->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (sink->fd >= 0)
            return true;
        sink->fd = 0;
        return cn_fail_errno(err, "standard output");
    }
    if (lstat(sink->target, &st) == 0) {
        if (!sink->replace)
            return cn_fail(err, CN_ERR_USAGE, "%s: exists already", sink->target);
        if (S_ISDIR(st.st_mode))
            return cn_fail(err, CN_ERR_USAGE, "%s: exists and is a directory",
                           sink->target);
    }
    return open_beside(sink, err);
}

static void abandon(struct cn_held *held)
{
    cn_sink_abandon((struct cn_sink *)held);
}

static bool open_sink(struct cn_sink *sink, const char *target, bool replace,
                      bool is_gzip, bool is_zstd, struct cn_error *err)
{
    *sink = (struct cn_sink){.target = cn_strdup(target), .replace = replace};
    cn_memory_hold(&sink->held, abandon);
    if (!open_target(sink, err)) {
        cn_sink_abandon(sink);
        return false;
    }
    sink->buffer = cn_alloc(BUFFER_LEN, 1);
    if (is_gzip || is_zstd)
        sink->coder = new_coder(is_zstd);
    return true;
}

bool cn_sink_open(struct cn_sink *sink, const char *target, bool replace,
                  struct cn_error *err)
{
    return open_sink(sink, target, replace, ends_with(target, ".gz"),
                     ends_with(target, ".zst"), err);
}

bool cn_sink_open_gzip(struct cn_sink *sink, const char *target, bool replace,
                       struct cn_error *err)
{
    return open_sink(sink, target, replace, true, false, err);
}

static bool write_all(const struct cn_sink *sink, const uint8_t *data, size_t len,
                      struct cn_error *err)
{
    while (len > 0) {
        ssize_t done = write(sink->fd, data, len);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return cn_fail_errno(err, "%s",
                                 sink->path ? sink->target : "standard output");
        data += done;
        len -= (size_t)done;
    }
    return true;
}

static bool flush(struct cn_sink *sink, struct cn_error *err)
{
    size_t len = sink->pending;

    sink->pending = 0;
    return write_all(sink, sink->buffer, len, err);
}

/* Bytes of the file itself. */
static bool put(struct cn_sink *sink, const uint8_t *data, size_t len,
                struct cn_error *err)
{
    if (len > BUFFER_LEN - sink->pending && !flush(sink, err))
        return false;
    if (len >= BUFFER_LEN)
        return write_all(sink, data, len, err);
    memcpy(sink->buffer + sink->pending, data, len);
    sink->pending += len;
    return true;
}

static bool encode_gzip(struct cn_sink *sink, const uint8_t *data, size_t len,
                        bool is_end, struct cn_error *err)
{
    z_stream *gzip = &sink->coder->gzip;
    bool is_done = false;

    while (!is_done) {
        uInt part = len > UINT_MAX ? UINT_MAX : (uInt)len;
        bool is_last = is_end && part == len;

        gzip->next_in = data;
        gzip->avail_in = part;
        gzip->next_out = sink->coder->room;
        gzip->avail_out = BUFFER_LEN;
        int status = deflate(gzip, is_last ? Z_FINISH : Z_NO_FLUSH);
        data += part - gzip->avail_in;
        len -= part - gzip->avail_in;
        is_done = is_last ? status == Z_STREAM_END : len == 0 && gzip->avail_out > 0;
        if (!put(sink, sink->coder->room, BUFFER_LEN - gzip->avail_out, err))
            return false;
    }
    return true;
}

static bool encode_zstd(struct cn_sink *sink, const uint8_t *data, size_t len,
                        bool is_end, struct cn_error *err)
{
    ZSTD_inBuffer in = {data, len, 0};
    bool is_done = false;

    while (!is_done) {
        ZSTD_outBuffer out = {sink->coder->room, BUFFER_LEN, 0};
        size_t left = ZSTD_compressStream2(sink->coder->zstd, &out, &in,
                                           is_end ? ZSTD_e_end : ZSTD_e_continue);

        if (ZSTD_isError(left))
            return cn_fail(err, CN_ERR_IO, "%s: zstd: %s", sink->target,
                           ZSTD_getErrorName(left));
        is_done = is_end ? left == 0 : in.pos == in.size;
        if (!put(sink, sink->coder->room, out.pos, err))
            return false;
    }
    return true;
}

static bool encode(struct cn_sink *sink, const void *data, size_t len, bool is_end,
                   struct cn_error *err)
{
    return sink->coder->is_zstd ? encode_zstd(sink, data, len, is_end, err)
                                : encode_gzip(sink, data, len, is_end, err);
}

bool cn_sink_write(struct cn_sink *sink, const void *data, size_t len,
                   struct cn_error *err)
{
    sink->written += len;
    if (len == 0)
        return true;
    return sink->coder ? encode(sink, data, len, false, err) : put(sink, data, len, err);
}

bool cn_sink_text(struct cn_sink *sink, struct cn_text *text, struct cn_error *err)
{
    bool ok = text->len == 0 || cn_sink_write(sink, text->chars, text->len, err);

    cn_text_clear(text);
    return ok;
}

bool cn_sink_text_some(struct cn_sink *sink, struct cn_text *text, struct cn_error *err)
{
    return text->len < TEXT_LEN || cn_sink_text(sink, text, err);
}

/* Without `replace`, a target that appeared in the meantime stays. */
static bool put_in_place(const struct cn_sink *sink, struct cn_error *err)
{
    int failed = sink->replace ? rename(sink->path, sink->target)
                               : renameat2(AT_FDCWD, sink->path, AT_FDCWD, sink->target,
                                           RENAME_NOREPLACE);

    if (failed && !sink->replace && errno == EINVAL)
        failed = rename(sink->path, sink->target);
    return !failed || cn_fail_errno(err, "%s: cannot put it in place", sink->target);
}

bool cn_sink_commit(struct cn_sink *sink, struct cn_error *err)
{
    bool ok = (!sink->coder || encode(sink, "", 0, true, err)) && flush(sink, err);
    int fd = sink->fd;

    sink->fd = 0;
    if (close(fd) < 0 && ok)
        ok = cn_fail_errno(err, "%s", sink->target);
    if (ok && sink->path && put_in_place(sink, err)) {
        free(sink->path);
        sink->path = NULL;
    } else if (sink->path) {
        ok = false;
    }
    cn_sink_abandon(sink);
    return ok;
}

void cn_sink_abandon(struct cn_sink *sink)
{
    cn_memory_drop(&sink->held);
    if (sink->fd > 0)
        (void)close(sink->fd);
    if (sink->path)
        (void)unlink(sink->path);
    free(sink->path);
    free(sink->target);
    free(sink->buffer);
    free_coder(sink->coder);
    *sink = (struct cn_sink){0};
}
