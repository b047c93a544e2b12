#include "formats/hpctoolkit/meas/profile/directory.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/search.h"
#include "base/sort.h"

/* Names of one run begin with the same characters; those that follow them decide most
 * comparisons: a third of the time of comparing 100,000 names whole. */
struct name {
    uint64_t key;
    char *text;
};

static size_t common_len(const char *a, const char *b, size_t most)
{
    size_t len = 0;

    while (len < most && a[len] == b[len])
        len++;
    return len;
}

/* Up to eight characters, the first the most significant. */
static uint64_t sort_key(const char *text)
{
    uint64_t key = 0;

    for (int shift = 56; shift >= 0 && *text != '\0'; shift -= 8)
        key |= (uint64_t)(unsigned char)*text++ << shift;
    return key;
}

static void sort_names(char **names, size_t count)
{
    struct name *list = cn_alloc(count, sizeof(*list));
    size_t skipped = count > 0 ? strlen(names[0]) : 0;

    for (size_t i = 1; i < count; i++)
        skipped = common_len(names[0], names[i], skipped);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct name){sort_key(names[i] + skipped), names[i]};
    CN_SORT(list, count, CN_UP(struct name, key), CN_UP(struct name, text));
    for (size_t i = 0; i < count; i++)
        names[i] = list[i].text;
    free(list);
}

char **cn_hpc_list_names(const char *dir, const char *suffix, size_t *count)
{
    DIR *stream = opendir(dir);
    char **names = NULL;
    size_t capacity = 0;
    struct dirent *entry;

    *count = 0;
    while (stream && (entry = readdir(stream))) {
        if (!cn_ends_with(entry->d_name, suffix))
            continue;
        CN_PUSH(names, *count, capacity, cn_strdup(entry->d_name));
    }
    if (stream)
        (void)closedir(stream);
    sort_names(names, *count);
    return names;
}

/* `path`: the directory as the user named it. */
static void add_profile(struct cn_hpc_directories *d, const char *path, const char *name)
{
    CN_PUSH(d->name_offs, d->profile_count, d->profile_capacity, d->names.len);
    if (d->has_several)
        cn_text_printf(&d->names, "%s/", path);
    cn_text_add(&d->names, name, strlen(name) + 1);
}

void cn_hpc_profiles_list(const char *dir, struct cn_text *names)
{
    size_t count;
    char **list = cn_hpc_list_names(dir, ".hpcrun", &count);

    for (size_t i = 0; i < count; i++) {
        cn_text_add(names, list[i], strlen(list[i]) + 1);
        free(list[i]);
    }
    free(list);
}

static bool add_profiles(struct cn_hpc_directories *d, const char *path,
                         const struct cn_text *names, struct cn_error *err)
{
    if (names->len == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no .hpcrun files", path);
    if (names->chars[names->len - 1] != '\0')
        return cn_fail(err, CN_ERR_FORMAT, "%s: names of profiles without an end", path);
    for (size_t at = 0; at < names->len; at += strlen(names->chars + at) + 1)
        add_profile(d, path, names->chars + at);
    return true;
}

bool cn_hpc_directories_add(struct cn_hpc_directories *d, const char *path,
                            const struct cn_text *names, struct cn_error *err)
{
    char *canonical = realpath(path, NULL);
    struct cn_text own = {0};
    struct stat st;

    if (!canonical || stat(canonical, &st) != 0) {
        free(canonical);
        return cn_fail_errno(err, "%s", path);
    }
    CN_PUSH(d->list, d->count, d->capacity,
            (struct cn_hpc_directory){d->profile_count, canonical, !S_ISDIR(st.st_mode)});
    if (!S_ISDIR(st.st_mode)) {
        char *slash = strrchr(canonical, '/'); /* a canonical path has one */

        *slash = '\0';
        add_profile(d, canonical, slash + 1);
        return true;
    }
    if (!names)
        cn_hpc_profiles_list(canonical, &own);
    bool ok = add_profiles(d, path, names ? names : &own, err);
    cn_text_done(&own);
    return ok;
}

const struct cn_hpc_directory *cn_hpc_directories_of(const struct cn_hpc_directories *d,
                                                     size_t profile)
{
    return &d->list[cn_search_u64(&d->list->first, d->count, sizeof(*d->list), profile) -
                    1];
}

const char *cn_hpc_directories_name(const struct cn_hpc_directories *d, size_t profile)
{
    return cn_path_name(cn_hpc_directories_shown(d, profile));
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

void cn_hpc_trace_path_print(const char *profile_path, struct cn_text *out)
{
    const char *dot = strrchr(cn_path_name(profile_path), '.');

    cn_text_add(out, profile_path,
                dot ? (size_t)(dot - profile_path) : strlen(profile_path));
    cn_text_str_add(out, ".hpctrace");
}
