#include "store/segment/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "store/segment/log_format.h"

bool cn_store_lock(const char *base, int *fd, struct cn_error *err)
{
    struct cn_text path = {0};
    int lock_fd;
    bool ok;

    cn_text_printf(&path, "%s/" CN_LOCK_NAME, base);
    lock_fd = open(cn_text_str(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    ok = lock_fd >= 0 || cn_fail_errno(err, "%s", cn_text_str(&path));
    if (ok && flock(lock_fd, LOCK_EX | LOCK_NB) < 0) {
        ok = errno == EWOULDBLOCK
                 ? cn_fail(err, CN_ERR_IO, "%s: another process is writing to this store",
                           base)
                 : cn_fail_errno(err, "%s", cn_text_str(&path));
        (void)close(lock_fd);
    }
    if (ok)
        *fd = lock_fd;
    cn_text_done(&path);
    return ok;
}

void cn_store_unlock(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}
