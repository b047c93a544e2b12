#include "symbols/program/package.h"

#include <dirent.h>
#include <string.h>

#include "base/files/file.h"
#include "base/text.h"

#define LISTS "/var/lib/dpkg/info"

/* True if a line of the list is the path, or the path without its first folder: /usr/lib and /lib
 * are the same where the lists are older than that. */
static bool is_listed(const char *list, const char *path)
{
    struct cn_file file = {0};
    struct cn_error ignored;
    const char *merged = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
    bool is_found = false;

    if (!cn_file_open_at(&file, LISTS, list, &ignored))
        return false;
    for (unsigned i = 0; i < 2 && !is_found; i++) {
        struct cn_text line = {0};

        cn_text_printf(&line, "\n%s\n", i ? merged : path);
        is_found = file.bytes.len > 0 &&
                   memmem(file.bytes.ptr, file.bytes.len, line.chars, line.len);
        cn_text_done(&line);
    }
    cn_file_close(&file);
    return is_found;
}

bool cn_package_find(const char *path, struct cn_text *out)
{
    DIR *folder = opendir(LISTS);
    const struct dirent *entry;
    bool is_found = false;

    while (folder && !is_found && (entry = readdir(folder)))
        if (cn_ends_with(entry->d_name, ".list") && is_listed(entry->d_name, path)) {
            /* "libc6:arm64.list" */
            size_t len = strcspn(entry->d_name, ":");

            if (len == strlen(entry->d_name))
                len -= strlen(".list");
            cn_text_add(out, entry->d_name, len);
            is_found = true;
        }
    if (folder)
        (void)closedir(folder);
    return is_found;
}
