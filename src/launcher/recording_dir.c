#include "launcher/recording_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

static bool has_file(const char *dir, const char *name)
{
    struct cn_text path = {0};
    bool has;

    cn_text_printf(&path, "%s/%s", dir, name);
    has = access(cn_text_str(&path), F_OK) == 0;
    cn_text_done(&path);
    return has;
}

static bool is_recording(const char *dir)
{
    return has_file(dir, "info") || has_file(dir, "default.opts") ||
           has_file(dir, "task.txt");
}

bool cn_recording_dir_remove(const char *dir, struct cn_error *err)
{
    DIR *listing = opendir(dir);
    struct dirent *entry;
    bool ok = true;

    if (!listing)
        return cn_fail_errno(err, "cannot read '%s'", dir);
    while (ok && (entry = readdir(listing))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(listing), entry->d_name, 0) != 0)
            ok = cn_fail_errno(err, "cannot remove '%s/%s'", dir, entry->d_name);
    }
    (void)closedir(listing);
    if (ok && rmdir(dir) != 0)
        ok = cn_fail_errno(err, "cannot remove '%s'", dir);
    return ok;
}

static bool keep_as_old(const char *name, struct cn_error *err)
{
    struct cn_text old = {0};
    bool ok = true;

    cn_text_printf(&old, "%s.old", name);
    if (access(cn_text_str(&old), F_OK) == 0) {
        if (!is_recording(cn_text_str(&old)))
            ok = cn_fail(err, CN_ERR_IO,
                         "cannot rename the last recording: '%s' is not a recording",
                         cn_text_str(&old));
        else
            ok = cn_recording_dir_remove(cn_text_str(&old), err);
    }
    if (ok && rename(name, cn_text_str(&old)) != 0)
        ok = cn_fail_errno(err, "cannot rename '%s'", name);
    cn_text_done(&old);
    return ok;
}

static bool make(const char *name, struct cn_error *err)
{
    if (mkdir(name, 0700) == 0)
        return true;
    if (errno != EEXIST)
        return cn_fail_errno(err, "cannot create '%s'", name);
    if (rmdir(name) != 0) {
        if (!is_recording(name))
            return cn_fail(err, CN_ERR_IO,
                           "'%s' exists and is not a recording; choose another "
                           "directory with -d",
                           name);
        if (!keep_as_old(name, err))
            return false;
    }
    if (mkdir(name, 0700) != 0)
        return cn_fail_errno(err, "cannot create '%s'", name);
    return true;
}

bool cn_recording_dir_create(const char *name, char **out, struct cn_error *err)
{
    size_t len = strlen(name);
    char *plain = cn_strdup(name), *path;

    while (len > 1 && plain[len - 1] == '/')
        plain[--len] = '\0';
    if (!make(plain, err)) {
        free(plain);
        return false;
    }
    path = realpath(plain, NULL);
    free(plain);
    if (!path)
        return cn_fail_errno(err, "cannot find '%s'", name);
    *out = path;
    return true;
}

int cn_recording_dir_append(const char *dir, const char *name, struct cn_error *err)
{
    struct cn_text path = {0};
    int fd;

    cn_text_printf(&path, "%s/%s", dir, name);
    fd = open(cn_text_str(&path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        (void)cn_fail_errno(err, "cannot open '%s'", cn_text_str(&path));
    cn_text_done(&path);
    return fd;
}
