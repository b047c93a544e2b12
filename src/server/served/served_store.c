#include "server/served/served_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "server/api/request.h"

static const uint64_t refresh_ns = 200000000, kept_ns = 5000000000;

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
    cn_search_forget(served->search);
}

struct cn_snapshot *cn_snapshot_use(struct cn_snapshot *snapshot)
{
    snapshot->user_count++;
    return snapshot;
}

bool cn_snapshot_is_fresh(const struct cn_served_store *served,
                          const struct cn_snapshot *snapshot, uint64_t complete_ns,
                          bool is_same_time)
{
    return (snapshot == served->snapshot && is_same_time) || complete_ns == 0 ||
           cn_clock_ns() - complete_ns < kept_ns;
}

void cn_snapshot_release(struct cn_snapshot *snapshot)
{
    if (!snapshot || --snapshot->user_count > 0)
        return;
    cn_search_close(snapshot->search);
    cn_store_close(snapshot->store);
    free(snapshot);
}

static bool open_snapshot(struct cn_snapshot *snapshot, const char *path,
                          const struct cn_snapshot *earlier, struct cn_error *err)
{
    if (!earlier)
        return cn_store_open(&snapshot->store, path, err) &&
               cn_search_open(&snapshot->search, snapshot->store, err);
    return cn_store_open_again(&snapshot->store, path, earlier->store, err) &&
           cn_search_open_again(&snapshot->search, snapshot->store, earlier->search, err);
}

static bool take_snapshot(struct cn_served_store *served, struct cn_error *err)
{
    struct cn_snapshot *snapshot = cn_alloc(1, sizeof(*snapshot));

    snapshot->user_count = 1;
    if (!open_snapshot(snapshot, served->path, served->snapshot, err)) {
        cn_snapshot_release(snapshot);
        return false;
    }
    cn_snapshot_release(served->snapshot);
    served->snapshot = snapshot;
    served->search = snapshot->search;
    served->store = snapshot->store;
    served->size = size_of_newest(served);
    served->opened_ns = cn_clock_ns();
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

static void forget_flame(struct cn_served_flame *flame)
{
    cn_trace_flame_done(&flame->flame);
    cn_snapshot_release(flame->snapshot);
    free(flame->query);
    *flame = (struct cn_served_flame){0};
}

static bool begin_flame(struct cn_served_store *served, const struct cn_query *query,
                        uint64_t limit, struct cn_served_flame *flame,
                        struct cn_error *err)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_DURATION, .limit = limit};
    struct cn_search_hits hits;

    forget_flame(flame);
    if (!cn_search_rows(served->search, query, &order, &hits, err))
        return false;
    flame->query = cn_strdup(query->text);
    flame->now_ns = query->now_ns;
    flame->limit = limit;
    flame->snapshot = cn_snapshot_use(served->snapshot);
    cn_trace_flame_init(&flame->flame, served->store, &hits);
    return true;
}

bool cn_served_store_flame(struct cn_served_store *served, const struct cn_query *query,
                           uint64_t limit, struct cn_served_flame **out,
                           struct cn_error *err)
{
    struct cn_served_flame *chosen = &served->flames[0];
    bool is_known = false;

    for (size_t i = 0; !is_known && i < CN_SERVED_FLAME_MAX; i++) {
        struct cn_served_flame *at = &served->flames[i];

        is_known = at->query && at->limit == limit && strcmp(at->query, query->text) == 0;
        if (is_known || at->used_at < chosen->used_at)
            chosen = at;
    }
    if ((!is_known || !cn_snapshot_is_fresh(served, chosen->snapshot, chosen->complete_ns,
                                            chosen->now_ns == query->now_ns)) &&
        !begin_flame(served, query, limit, chosen, err))
        return false;
    chosen->used_at = ++served->use_count;
    *out = chosen;
    return true;
}

bool cn_served_flame_add(struct cn_served_flame *flame, uint64_t budget_ns,
                         struct cn_error *err)
{
    if (!cn_trace_flame_add(&flame->flame, budget_ns, err)) {
        forget_flame(flame);
        return false;
    }
    if (flame->complete_ns == 0 && cn_trace_flame_is_complete(&flame->flame))
        flame->complete_ns = cn_clock_ns();
    return true;
}

void cn_served_store_close(struct cn_served_store *served)
{
    for (size_t i = 0; i < CN_SERVED_FLAME_MAX; i++)
        forget_flame(&served->flames[i]);
    cn_served_groups_done(served);
    cn_snapshot_release(served->snapshot);
    cn_segment_loader_free(served->loader);
    free(served->path);
    *served = (struct cn_served_store){0};
}

bool cn_served_store_refresh(struct cn_served_store *served, struct cn_error *err)
{
    uint64_t now_ns = cn_clock_ns();

    if (now_ns - served->opened_ns < refresh_ns)
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
    uint64_t now_ns = cn_clock_date_ns();

    /* Questions that a page asks together are about the same hits. */
    return cn_query_parse(out, text ? text : "", now_ns - now_ns % 1000000000, err);
}
