#include "formats/hpctoolkit/meas/profile/directory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"

static bool ends_in(const char *name, const char *suffix)
{
    size_t len = strlen(name), suffix_len = strlen(suffix);

    return len > suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;

    return strcmp(*a, *b);
}

char **cn_hpc_list_names(const char *dir, const char *suffix, size_t *count)
{
    DIR *stream = opendir(dir);
    char **names = NULL;
    size_t capacity = 0;
    struct dirent *entry;

    *count = 0;
    while (stream && (entry = readdir(stream))) {
        if (!ends_in(entry->d_name, suffix))
            continue;
        names = cn_grow(names, *count, &capacity, sizeof(*names));
        names[(*count)++] = cn_strdup(entry->d_name);
    }
    if (stream)
        (void)closedir(stream);
    if (*count > 0)
        qsort(names, *count, sizeof(*names), compare_names);
    return names;
}

/* `path`: the directory as it was given. */
static void add_profile(struct cn_hpc_directories *d, const char *path, const char *name)
{
    d->name_offs = cn_grow(d->name_offs, d->profile_count, &d->profile_capacity,
                           sizeof(*d->name_offs));
    d->name_offs[d->profile_count++] = d->names.len;
    if (d->has_several)
        cn_text_printf(&d->names, "%s/", path);
    cn_text_add(&d->names, name, strlen(name) + 1);
}

static void add_directory(struct cn_hpc_directories *d, char *path, bool is_one_file)
{
    d->list = cn_grow(d->list, d->count, &d->capacity, sizeof(*d->list));
    d->list[d->count++] = (struct cn_hpc_directory){path, d->profile_count, is_one_file};
}

static bool add_one_file(struct cn_hpc_directories *d, char *path)
{
    char *slash = strrchr(path, '/'); /* canonical: there is one */

    *slash = '\0';
    add_directory(d, path, true);
    add_profile(d, path, slash + 1);
    return true;
}

bool cn_hpc_directories_add(struct cn_hpc_directories *d, const char *path,
                            struct cn_error *err)
{
    char *canonical = realpath(path, NULL);
    char **names;
    struct stat st;
    size_t count;

    if (!canonical || stat(canonical, &st) < 0) {
        free(canonical);
        return cn_fail_errno(err, "%s", path);
    }
    if (!S_ISDIR(st.st_mode))
        return add_one_file(d, canonical);
    add_directory(d, canonical, false);
    names = cn_hpc_list_names(canonical, ".hpcrun", &count);
    for (size_t i = 0; i < count; i++) {
        add_profile(d, path, names[i]);
        free(names[i]);
    }
    free(names);
    if (count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no .hpcrun files", path);
    return true;
}

const struct cn_hpc_directory *cn_hpc_directories_of(const struct cn_hpc_directories *d,
                                                     size_t profile)
{
    size_t begin = 0, end = d->count;

    while (end - begin > 1) {
        size_t middle = begin + (end - begin) / 2;

        if (d->list[middle].first <= profile)
            begin = middle;
        else
            end = middle;
    }
    return &d->list[begin];
}

const char *cn_hpc_directories_name(const struct cn_hpc_directories *d, size_t profile)
{
    const char *shown = cn_hpc_directories_shown(d, profile);
    const char *slash = strrchr(shown, '/');

    return slash ? slash + 1 : shown;
}

const char *cn_hpc_directories_shown(const struct cn_hpc_directories *d, size_t profile)
{
    return d->names.chars + d->name_offs[profile];
}

void cn_hpc_directories_done(struct cn_hpc_directories *d)
{
    for (size_t i = 0; i < d->count; i++)
        free(d->list[i].path);
    free(d->list);
    cn_text_done(&d->names);
    free(d->name_offs);
    *d = (struct cn_hpc_directories){0};
}
