#include "open/host/target.h"

#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "open/open.h"

/* True if the folder is empty or, with `has_tables`, contains only .csv files. */
static bool has_nothing_else(const char *path, bool has_tables)
{
    DIR *listing = opendir(path);
    struct dirent *entry;
    bool has_others = false;

    if (!listing)
        return false;
    while (!has_others && (entry = readdir(listing))) {
        const char *dot = strrchr(entry->d_name, '.');
        bool is_table = dot && dot > entry->d_name && strcmp(dot, ".csv") == 0;

        has_others = strcmp(entry->d_name, ".") != 0 &&
                     strcmp(entry->d_name, "..") != 0 && !(has_tables && is_table);
    }
    (void)closedir(listing);
    return !has_others;
}

/* Folders of tables are written but not read: no probe recognises them. */
static bool may_be_replaced(const char *path, const struct cn_format *format)
{
    struct cn_opened found = {0};
    struct cn_error ignored;
    bool ok = has_nothing_else(path, !format->probe) ||
              (cn_open(&found, path, 0, NULL, &ignored) && found.rank_count == 0 &&
               strcmp(found.format->holds, format->holds) == 0);

    cn_opened_close(&found);
    return ok;
}

bool cn_target_check(const char *path, const struct cn_format *format, bool is_forced,
                     struct cn_error *err)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return true;
    if (!is_forced)
        return cn_fail(err, CN_ERR_IO, "%s already exists; use -f to replace it", path);
    if (!format->is_file && S_ISDIR(st.st_mode) && !may_be_replaced(path, format))
        return cn_fail(err, CN_ERR_IO, "%s exists but contains no %s; remove it first",
                       path, format->probe ? format->holds : format->name);
    return true;
}

/* The absolute path that `path` has or would have; release it with free(). */
static char *resolve(const char *path, struct cn_error *err)
{
    char *real = realpath(path, NULL), *copy, *parent;
    struct cn_text joined = {0};

    if (real)
        return real;
    copy = cn_strdup(path);
    parent = realpath(dirname(copy), NULL);
    strcpy(copy, path);
    if (parent)
        cn_text_printf(&joined, "%s/%s", parent, basename(copy));
    else
        (void)cn_fail_errno(err, "%s", path);
    free(parent);
    free(copy);
    return joined.chars;
}

static bool is_inside(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return strncmp(path, folder, len) == 0 &&
           (path[len] == '/' || (len > 0 && folder[len - 1] == '/'));
}

bool cn_target_check_source(const char *target, const char *source, bool may_be_inside,
                            struct cn_error *err)
{
    char *from = cn_path_is_address(source) ? cn_strdup(source) : resolve(source, err);
    char *to = from ? resolve(target, err) : NULL;
    bool ok = to != NULL;

    if (ok && strcmp(from, to) == 0)
        ok = cn_fail(err, CN_ERR_USAGE, "%s is the source itself", target);
    else if (ok && is_inside(to, from) && !may_be_inside)
        ok = cn_fail(err, CN_ERR_USAGE, "%s is inside the source %s", target, source);
    else if (ok && is_inside(from, to))
        ok = cn_fail(err, CN_ERR_USAGE, "the source %s is inside %s", source, target);
    free(from);
    free(to);
    return ok;
}
