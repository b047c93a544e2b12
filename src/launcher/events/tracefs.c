#include "launcher/events/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum { FILE_MAX_LEN = 16 << 20 };

static bool is_tracefs(const char *path)
{
    char *probe = cn_strprintf("%s/trace", path);
    bool found = access(probe, F_OK) == 0;

    free(probe);
    return found;
}

/* Where a file system of type tracefs is mounted, to be released with free(). */
static char *find_mount(void)
{
    FILE *file = fopen("/proc/self/mounts", "re");
    char *line = NULL, *found = NULL;
    size_t capacity = 0;

    while (file && !found && getline(&line, &capacity, file) > 0) {
        char *rest = line, *path;

        (void)strsep(&rest, " ");
        path = strsep(&rest, " ");
        if (path && rest && strncmp(rest, "tracefs ", 8) == 0)
            found = cn_strdup(path);
    }
    free(line);
    if (file)
        (void)fclose(file);
    return found;
}

bool cn_tracefs_find(const char *root, char **out, struct cn_error *err)
{
    static const char *const usual[] = {"/sys/kernel/tracing",
                                        "/sys/kernel/debug/tracing"};
    char *path = root ? cn_strdup(root) : NULL;

    for (size_t i = 0; i < 2 && !path; i++)
        if (is_tracefs(usual[i]))
            path = cn_strdup(usual[i]);
    if (!path)
        path = find_mount();
    if (!path)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "tracefs is not mounted; run as root: "
                       "mount -t tracefs tracefs /sys/kernel/tracing");
    if (access(path, R_OK | X_OK) != 0 || !is_tracefs(path)) {
        (void)cn_fail(err, CN_ERR_IO, "no permission to read %s; run as root", path);
        free(path);
        return false;
    }
    *out = path;
    return true;
}

bool cn_tracefs_read(const char *tracefs, const char *name, struct cn_text *out,
                     struct cn_error *err)
{
    ssize_t len = -1;
    char *path = cn_strprintf("%s/%s", tracefs, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && out->len < FILE_MAX_LEN &&
           ((len = read(fd, cn_text_room(out, 4096), 4096)) > 0 ||
            (len < 0 && errno == EINTR)))
        cn_text_advance(out, len > 0 ? (size_t)len : 0);
    bool ok = len == 0 || cn_fail_errno(err, "cannot read %s", path);
    if (fd >= 0)
        (void)close(fd);
    free(path);
    return ok;
}

bool cn_tracefs_write(const char *tracefs, const char *name, const char *text,
                      struct cn_error *err)
{
    size_t len = strlen(text);
    char *path = cn_strprintf("%s/%s", tracefs, name);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    bool ok = (fd >= 0 && (len == 0 || write(fd, text, len) == (ssize_t)len)) ||
              cn_fail_errno(err, "cannot write '%s' to %s", text, path);

    if (fd >= 0)
        (void)close(fd);
    free(path);
    return ok;
}
