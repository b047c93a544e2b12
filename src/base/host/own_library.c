#include "base/host/own_library.h"

#include <limits.h>
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
        struct cn_text path = {0};

        cn_text_printf(&path, "%s%s%s", self, folders[i], name);
        if (access(cn_text_str(&path), R_OK) == 0) {
            *out = path.chars;
            return true;
        }
        cn_text_done(&path);
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
    struct cn_text beside = {0}, installed = {0};
    const char *folders[3] = {0};
    bool ok;

    cn_text_printf(&beside, "%s/", triplet);
    cn_text_printf(&installed, "../lib/%s/cairn/", triplet);
    folders[0] = cn_text_str(&beside);
    folders[1] = cn_text_str(&installed);
    ok = find(folders, name, out, err);
    cn_text_done(&beside);
    cn_text_done(&installed);
    return ok;
}
