#include "formats/hpctoolkit/meas/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum { READ_MAX = 256 * 1024 };

static bool fail_open(struct cn_error *err)
{
    if (errno == ENOENT)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no such file");
    return cn_fail_errno(err, "cannot be opened");
}

static bool read_whole(struct cn_hpc_load *load, int fd, size_t len, struct cn_error *err)
{
    size_t done = 0;

    if (load->capacity < len) {
        free(load->buffer);
        load->capacity = len * 2;
        load->buffer = cn_alloc(load->capacity, 1);
    }
    while (done < len) {
        ssize_t got = read(fd, load->buffer + done, len - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cn_fail_errno(err, "cannot be read");
        if (got == 0)
            break;
        done += (size_t)got;
    }
    load->bytes = (struct cn_bytes){load->buffer, done};
    return true;
}

static bool load_descriptor(struct cn_hpc_load *load, int fd, const char *path,
                            struct cn_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return cn_fail_errno(err, "cannot be read");
    if (!S_ISREG(st.st_mode))
        return cn_fail(err, CN_ERR_IO, "not a regular file");
    if (st.st_size <= READ_MAX)
        return read_whole(load, fd, (size_t)st.st_size, err);
    if (!cn_file_open(&load->mapped, path, err))
        return false;
    load->bytes = load->mapped.bytes;
    return true;
}

bool cn_hpc_load(struct cn_hpc_load *load, const char *path, struct cn_error *err)
{
    /* O_NONBLOCK: opening a FIFO must not wait for its other end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok;

    cn_file_close(&load->mapped);
    load->bytes = (struct cn_bytes){0};
    if (fd < 0)
        return fail_open(err);
    ok = load_descriptor(load, fd, path, err);
    (void)close(fd);
    return ok;
}

void cn_hpc_load_done(struct cn_hpc_load *load)
{
    cn_file_close(&load->mapped);
    free(load->buffer);
    *load = (struct cn_hpc_load){0};
}
