#include "server/served_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "server/request.h"

enum { REFRESH_NS = 200000000 };

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static bool is_segment_name(const char *name)
{
    return strlen(name) == 6 && strspn(name, "0123456789abcdef") == 6;
}

bool cn_served_store_probe(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    bool is_store = false;

    if (!dir)
        return false;
    while (!is_store && (entry = readdir(dir)))
        is_store =
            is_segment_name(entry->d_name) || strcmp(entry->d_name, "traces.dat") == 0;
    (void)closedir(dir);
    return is_store;
}

/* Something that changes whenever the store grows: the sizes of its files. */
static uint64_t size_of(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    uint64_t size = 0;
    struct stat st;

    if (!dir)
        return 0;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        size += (uint64_t)st.st_size + 1;
    }
    (void)closedir(dir);
    return size;
}

static uint64_t size_of_newest(const struct cn_served_store *served)
{
    size_t count = cn_store_segment_count(served->store);

    return size_of(served->path) +
           (count ? size_of(cn_segment_path(cn_store_segment(served->store, count - 1)))
                  : 0);
}

void cn_served_store_forget(const struct cn_served_store *served)
{
    for (size_t i = 0; i < cn_store_segment_count(served->store); i++)
        cn_file_forget(cn_segment_data(cn_store_segment(served->store, i)));
}

static bool take_snapshot(struct cn_served_store *served, struct cn_error *err)
{
    struct cn_store *store;
    struct cn_search *search;

    if (!cn_store_open(&store, served->path, err))
        return false;
    if (!cn_search_open(&search, store, err)) {
        cn_store_close(store);
        return false;
    }
    cn_search_close(served->search);
    cn_store_close(served->store);
    served->search = search;
    served->store = store;
    served->size = size_of_newest(served);
    served->opened_ns = clock_ns(CLOCK_MONOTONIC);
    cn_served_store_forget(served);
    return true;
}

bool cn_served_store_open(struct cn_served_store *served, const char *path,
                          struct cn_error *err)
{
    *served = (struct cn_served_store){
        .path = cn_strdup(path),
        .loader = cn_segment_loader_new(),
    };
    return take_snapshot(served, err);
}

void cn_served_store_close(struct cn_served_store *served)
{
    cn_search_close(served->search);
    cn_store_close(served->store);
    cn_segment_loader_free(served->loader);
    free(served->path);
    *served = (struct cn_served_store){0};
}

bool cn_served_store_refresh(struct cn_served_store *served, struct cn_error *err)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

    if (now_ns - served->opened_ns < REFRESH_NS)
        return true;
    if (size_of_newest(served) == served->size) {
        served->opened_ns = now_ns;
        return true;
    }
    /* The loader remembers a chunk of the old snapshot. */
    cn_segment_loader_free(served->loader);
    served->loader = cn_segment_loader_new();
    return take_snapshot(served, err);
}

bool cn_request_query(const struct cn_request *request, struct cn_query **out,
                      struct cn_error *err)
{
    const char *text = cn_request_value(request, "q");

    return cn_query_parse(out, text ? text : "", clock_ns(CLOCK_REALTIME), err);
}
