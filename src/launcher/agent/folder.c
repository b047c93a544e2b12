#include "launcher/agent/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_FOLDER "/tmp/uftrace"

/* The folder of a user: of the system's own for such things, or in /tmp. */
enum { IN_RUN, IN_TMP, PLACES };

static void print_folder(char *out, size_t len, int place, uid_t uid)
{
    if (place == IN_RUN)
        (void)snprintf(out, len, "/run/user/%u/cairn", (unsigned)uid);
    else
        (void)snprintf(out, len, "/tmp/cairn-%u", (unsigned)uid);
}

static bool is_private(const char *path, uid_t uid)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == uid &&
           (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

static int place_of(uid_t uid)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/run/user/%u", (unsigned)uid);
    return is_private(path, uid) && access(path, W_OK | X_OK) == 0 ? IN_RUN : IN_TMP;
}

bool cn_agent_folder_make(struct cn_error *err)
{
    char path[64];
    uid_t uid = geteuid();

    print_folder(path, sizeof(path), place_of(uid), uid);
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
        return cn_fail_errno(err, "--agent: cannot create %s", path);
    return is_private(path, uid) ||
           cn_fail(
               err, CN_ERR_IO,
               "--agent: %s is not a folder that you alone can use; remove it, or run "
               "chmod 700 %s",
               path, path);
}

static struct sockaddr_un address_in(const char *folder, pid_t pid)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%d.socket", folder,
                   (int)pid);
    return address;
}

struct sockaddr_un cn_agent_address(pid_t pid)
{
    char path[64];

    print_folder(path, sizeof(path), place_of(geteuid()), geteuid());
    return address_in(path, pid);
}

/* Open the shared folder; -1 if others could replace what is in it. As in /tmp, all users may
 * have links there, and remove only their own. */
static int open_shared(void)
{
    bool is_new = mkdir(SHARED_FOLDER, S_IRWXU) == 0;
    int fd = open(SHARED_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0)
        return -1;
    if (is_new && fstat(fd, &status) == 0 && status.st_uid == geteuid())
        (void)fchmod(fd, S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO);
    if (fstat(fd, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
        ((status.st_mode & S_ISVTX) || !(status.st_mode & (S_IWGRP | S_IWOTH))))
        return fd;
    (void)close(fd);
    return -1;
}

static const char *name_of(const struct sockaddr_un *address)
{
    return strrchr(address->sun_path, '/') + 1;
}

void cn_agent_link(pid_t pid)
{
    struct sockaddr_un target = cn_agent_address(pid);
    int fd = open_shared();

    if (fd < 0)
        return;
    (void)unlinkat(fd, name_of(&target), 0);
    (void)!symlinkat(target.sun_path, fd, name_of(&target));
    (void)close(fd);
}

void cn_agent_unlink(pid_t pid)
{
    struct sockaddr_un target = cn_agent_address(pid);
    int fd = open_shared();

    if (fd < 0)
        return;
    (void)unlinkat(fd, name_of(&target), 0);
    (void)close(fd);
}

bool cn_agent_address_at(pid_t pid, unsigned i, struct sockaddr_un *out)
{
    char path[64];
    struct stat status;
    uid_t uid = geteuid();

    if (i > PLACES)
        return false;
    if (i == PLACES) {
        *out = address_in(SHARED_FOLDER, pid);
        return true;
    }
    /* Root may change what others record. */
    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (uid == 0 && stat(path, &status) == 0)
        uid = status.st_uid;
    print_folder(path, sizeof(path), (int)i, uid);
    *out = address_in(path, pid);
    return true;
}
