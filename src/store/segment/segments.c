#include "store/segment/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/file.h"
#include "base/path.h"
#include "base/run/clock.h"
#include "base/sort.h"
#include "base/text.h"
#include "store/segment/config.h"
#include "store/segment/java_probe.h"
#include "store/segment/log_format.h"

enum { NAME_LEN = 6 };

bool cn_segments_parse(const char *path, uint32_t *number)
{
    const char *name = cn_path_name(path);

    if (strlen(name) != NAME_LEN || !cn_hex_begins(name, NAME_LEN))
        return false;
    *number = (uint32_t)strtoul(name, NULL, 16);
    return true;
}

char *cn_segment_dir(const char *base, uint32_t number)
{
    return cn_strprintf("%s/%06x", base, number);
}

static bool list_all(const char *base, uint32_t **numbers, size_t *count,
                     struct cn_error *err)
{
    DIR *dir = opendir(base);
    const struct dirent *entry;
    uint32_t *list = NULL;
    size_t n = 0, capacity = 0;

    if (!dir)
        return cn_fail_errno(err, "%s", base);
    while ((entry = readdir(dir))) {
        uint32_t number;

        if (!cn_segments_parse(entry->d_name, &number))
            continue;
        CN_PUSH(list, n, capacity, number);
    }
    (void)closedir(dir);
    CN_SORT_VALUES(list, n);
    *numbers = list;
    *count = n;
    return true;
}

/* Move the numbers of segments that are gone to the end; returns the number of the others. */
static size_t move_gone(const char *base, uint32_t *numbers, size_t count)
{
    bool *is_gone = cn_alloc(count, sizeof(*is_gone));
    uint32_t *aside = cn_alloc(count, sizeof(*aside));
    size_t kept = 0, aside_count = 0;

    for (size_t i = 0; i < count; i++) {
        char *dir = cn_segment_dir(base, numbers[i]);
        struct cn_store_config config;
        struct cn_error ignored;

        bool is_read = cn_store_config_read(&config, dir, &ignored);
        bool is_sealed = is_read && config.is_sealed;
        /* One that is not sealed is being made of others, or a crash ended that: they are there. */
        is_gone[i] = is_read && (is_sealed ? config.is_gone : config.has_replaced);
        /* Also where what replaced them is gone by now. */
        for (size_t k = 0; is_sealed && config.has_replaced && k < i; k++)
            is_gone[k] |=
                numbers[k] >= config.replaced_first && numbers[k] <= config.replaced_last;
        free(dir);
    }
    for (size_t i = 0; i < count; i++) {
        if (is_gone[i])
            aside[aside_count++] = numbers[i];
        else
            numbers[kept++] = numbers[i];
    }
    if (aside_count > 0)
        memcpy(numbers + kept, aside, aside_count * sizeof(*aside));
    free(is_gone);
    free(aside);
    return kept;
}

bool cn_segments_list(const char *base, uint32_t **numbers, size_t *count,
                      struct cn_error *err)
{
    size_t all;

    if (!list_all(base, numbers, &all, err))
        return false;
    *count = move_gone(base, *numbers, all);
    return true;
}

bool cn_segments_next_number(const char *base, uint32_t *out, struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t count;

    if (!list_all(base, &numbers, &count, err))
        return false;
    *out = count > 0 ? numbers[count - 1] + 1 : 0;
    free(numbers);
    return true;
}

bool cn_segments_check_local(const char *base, struct cn_error *err)
{
    if (cn_path_is_address(base))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s is in object storage; this needs a store in a directory",
                       base);
    return cn_java_store_refuse(base, err);
}

bool cn_segments_check_store(const char *base, struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t count = 0;

    if (!cn_segments_check_local(base, err))
        return false;
    char *path = cn_strprintf("%s/" CN_CONFIG_NAME, base);
    bool is_store = access(path, F_OK) == 0;
    free(path);
    if (is_store)
        return true;
    if (!list_all(base, &numbers, &count, err))
        return false;
    free(numbers);
    return count > 0 ||
           cn_fail(err, CN_ERR_FORMAT,
                   "%s is not a store; 'cairn store init' creates one", base);
}

typedef bool (*file_visit)(void *arg, const char *path, struct cn_error *err);

static bool each_file(const char *dir, file_visit visit, void *arg, struct cn_error *err)
{
    DIR *list = opendir(dir);
    const struct dirent *entry;
    bool ok = true;

    if (!list)
        return cn_fail_errno(err, "%s", dir);
    while (ok && (entry = readdir(list))) {
        char *path = cn_strprintf("%s/%s", dir, entry->d_name);

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = visit(arg, path, err);
        free(path);
    }
    (void)closedir(list);
    return ok;
}

static bool remove_file(void *arg, const char *path, struct cn_error *err)
{
    (void)arg;
    return unlink(path) == 0 || errno == ENOENT || cn_fail_errno(err, "%s", path);
}

static bool add_len(void *arg, const char *path, struct cn_error *err)
{
    uint64_t *len = arg;
    struct stat st;

    (void)err;
    if (stat(path, &st) == 0)
        *len += (uint64_t)st.st_size;
    return true;
}

/* Renamed first, so that a half-removed directory does not look like a segment. */
bool cn_segment_remove(const char *base, uint32_t number, struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    char *aside = cn_strprintf("%s/.%06x.removed", base, number);
    bool ok = rename(dir, aside) == 0 || cn_fail_errno(err, "%s", dir);

    ok = ok && each_file(aside, remove_file, NULL, err) &&
         (rmdir(aside) == 0 || cn_fail_errno(err, "%s", aside));
    free(aside);
    free(dir);
    return ok;
}

uint64_t cn_segment_disk_len(const char *dir)
{
    struct cn_error ignored;
    uint64_t len = 0;

    (void)each_file(dir, add_len, &len, &ignored);
    return len;
}

static uint64_t changed_ns(const char *path)
{
    struct stat st;

    return stat(path, &st) < 0
               ? 0
               : (uint64_t)st.st_mtim.tv_sec * 1000000000U + (uint64_t)st.st_mtim.tv_nsec;
}

uint64_t cn_segment_written_ns(const char *base, uint32_t number)
{
    char *path = cn_strprintf("%s/%06x/" CN_TRACES_NAME, base, number);
    uint64_t ns = changed_ns(path);

    free(path);
    return ns;
}

bool cn_segment_mark_gone(const char *base, uint32_t number, struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_store_config config;
    bool ok = cn_store_config_read(&config, dir, err);

    config.is_gone = true;
    ok = ok && cn_store_config_write(&config, dir, &cn_disk_files, err);
    free(dir);
    return ok;
}

/* A clock that was set back must not keep it for ever. */
static bool is_gone_for(const char *base, uint32_t number, uint64_t grace_ns)
{
    char *dir = cn_segment_dir(base, number);
    uint64_t since = changed_ns(dir), now = cn_clock_date_ns();

    free(dir);
    return grace_ns == 0 || now < since || now - since >= grace_ns;
}

/* ".00002a.removed" is what a crash left of a segment. */
static bool remove_rest(void *arg, const char *path, struct cn_error *err)
{
    const char *name = cn_path_name(path);

    (void)arg;
    if (strlen(name) != NAME_LEN + sizeof(".removed") || name[0] != '.' ||
        !cn_hex_begins(name + 1, NAME_LEN) || !cn_ends_with(name, ".removed"))
        return true;
    return each_file(path, remove_file, NULL, err) &&
           (rmdir(path) == 0 || cn_fail_errno(err, "%s", path));
}

bool cn_segments_clean(const char *base, uint64_t grace_ns, struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t all, kept;
    bool ok = each_file(base, remove_rest, NULL, err);

    if (!ok || !list_all(base, &numbers, &all, err))
        return false;
    kept = move_gone(base, numbers, all);
    for (size_t i = kept; ok && i < all; i++)
        if (is_gone_for(base, numbers[i], grace_ns))
            ok = cn_segment_remove(base, numbers[i], err);
    free(numbers);
    return ok;
}

uint64_t cn_segments_gone_len(const char *base)
{
    uint32_t *numbers = NULL;
    struct cn_error ignored;
    size_t all, kept;
    uint64_t len = 0;

    if (!list_all(base, &numbers, &all, &ignored))
        return 0;
    kept = move_gone(base, numbers, all);
    for (size_t i = kept; i < all; i++) {
        char *dir = cn_segment_dir(base, numbers[i]);

        len += cn_segment_disk_len(dir);
        free(dir);
    }
    free(numbers);
    return len;
}
