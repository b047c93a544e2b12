#include "formats/hpctoolkit/meas/profile/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

bool cn_hpc_load(struct cn_hpc_load *load, const char *path, struct cn_error *err)
{
    enum { READ_MAX = 256 * 1024 };
    /* O_NONBLOCK: opening a FIFO must not wait for its other end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got;
    bool ok;

    cn_file_close(&load->mapped);
    load->bytes = (struct cn_bytes){0};
    if (fd < 0)
        return errno == ENOENT ? cn_fail(err, CN_ERR_NOT_FOUND, "no such file")
                               : cn_fail_errno(err, "cannot be opened");
    if (!load->buffer)
        load->buffer = cn_realloc(NULL, READ_MAX + 1, 1);
    /* One call reads a whole regular file that fits; its size need not be known. */
    do
        got = read(fd, load->buffer, READ_MAX + 1);
    while (got < 0 && errno == EINTR);
    ok = got >= 0 || cn_fail_errno(err, "cannot be read");
    (void)close(fd);
    if (got > READ_MAX) {
        ok = cn_file_open(&load->mapped, path, err);
        load->bytes = load->mapped.bytes;
    } else if (ok) {
        load->bytes = (struct cn_bytes){load->buffer, (size_t)got};
    }
    return ok;
}

void cn_hpc_load_done(struct cn_hpc_load *load)
{
    cn_file_close(&load->mapped);
    free(load->buffer);
    *load = (struct cn_hpc_load){0};
}
