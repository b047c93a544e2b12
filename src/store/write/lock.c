#include "store/write/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "store/segment/log_format.h"
#include "store/segment/segments.h"

bool cn_store_lock(const char *base, int *fd, struct cn_error *err)
{
    bool ok;

    if (!cn_segments_check_local(base, err))
        return false;
    char *path = cn_strprintf("%s/" CN_LOCK_NAME, base);
    int lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    ok = lock_fd >= 0 || cn_fail_errno(err, "%s", path);
    if (ok && flock(lock_fd, LOCK_EX | LOCK_NB) < 0) {
        ok = errno == EWOULDBLOCK
                 ? cn_fail(err, CN_ERR_BUSY,
                           "%s is locked: another process is writing to it", base)
                 : cn_fail_errno(err, "%s", path);
        (void)close(lock_fd);
    }
    if (ok)
        *fd = lock_fd;
    free(path);
    return ok;
}

void cn_store_unlock(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}
