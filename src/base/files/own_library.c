#include "base/files/own_library.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

bool cn_own_library_find(const char *name, char **out, struct cn_error *err)
{
    static const char *const folders[] = {"", "../lib/cairn/", "../" CN_LIBDIR "/cairn/"};
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (len < 0)
        return cn_fail_errno(err, "/proc/self/exe");
    self[len] = '\0';
    strrchr(self, '/')[1] = '\0';
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
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
