#include "base/host/library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* Look in `folders`, up to NULL, which are relative to the folder of the program. */
static bool find(const char *const *folders, const char *name, char **out,
                 struct cn_error *err)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (len < 0)
        return cn_fail_errno(err, "/proc/self/exe");
    self[len] = '\0';
    strrchr(self, '/')[1] = '\0';
    for (size_t i = 0; folders[i]; i++) {
        char *path = cn_strprintf("%s%s%s", self, folders[i], name);

        if (access(path, R_OK) == 0) {
            *out = path;
            return true;
        }
        free(path);
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "no %s in %s", name, self);
}

bool cn_own_library_find(const char *name, char **out, struct cn_error *err)
{
    static const char *const folders[] = {"", "../lib/cairn/", "../" CN_LIBDIR "/cairn/",
                                          NULL};

    return find(folders, name, out, err);
}

bool cn_own_library_find_for(const char *triplet, const char *name, char **out,
                             struct cn_error *err)
{
    const char *folders[3] = {0};
    char *beside = cn_strprintf("%s/", triplet);
    char *installed = cn_strprintf("../lib/%s/cairn/", triplet);

    folders[0] = beside;
    folders[1] = installed;
    bool ok = find(folders, name, out, err);
    free(beside);
    free(installed);
    return ok;
}
