#include "formats/hpctoolkit/meas/profile/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

enum { READ_MAX = 256 * 1024 };

static bool fail_open(struct cn_error *err)
{
    if (errno == ENOENT)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no such file");
    return cn_fail_errno(err, "cannot be opened");
}

/* A regular file that fits is read by one call, and its size need not be asked for. */
static bool read_some(struct cn_hpc_load *load, int fd, struct cn_error *err)
{
    ssize_t got;

    if (!load->buffer)
        load->buffer = cn_realloc(NULL, READ_MAX + 1, 1);
    do
        got = read(fd, load->buffer, READ_MAX + 1);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return cn_fail_errno(err, "cannot be read");
    load->bytes = (struct cn_bytes){load->buffer, (size_t)got};
    return true;
}

static bool load_descriptor(struct cn_hpc_load *load, int fd, const char *path,
                            struct cn_error *err)
{
    if (!read_some(load, fd, err))
        return false;
    if (load->bytes.len <= READ_MAX)
        return true;
    load->bytes = (struct cn_bytes){0};
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
