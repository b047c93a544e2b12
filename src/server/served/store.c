#include "server/served/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "store/search/traces.h"

enum {
    FLAME_MAX = 2,
    GROUPS_MAX = 16,
    LOOKS_MAX =
        6, /* in object storage: when none of so many succeeded, requests wait for one */
};

static const uint64_t refresh_ns = 200000000, refresh_row_ns = 200;
static const uint64_t fresh_ns = 5000000000;
static const uint64_t budget_ns = 25000000; /* of a request for a partial result */

/* A number that changes whenever the store grows: the sizes of its files. */
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

/* Of the store and of its open segments, one for each lane; and the number of sealed ones that are gone
 * by now. */
static uint64_t size_of_open(const struct cn_served_store *served)
{
    uint64_t size = size_of(served->path);

    for (size_t i = 0; i < cn_store_segment_count(served->store); i++) {
        const struct cn_segment *segment = cn_store_segment(served->store, i);

        if (!cn_segment_is_sealed(segment))
            size += size_of(cn_segment_path(segment));
        else /* it is gone */
            size += cn_segment_has_changed(segment);
    }
    return size;
}

void cn_served_store_forget(const struct cn_served_store *served)
{
    for (size_t i = 0; i < cn_store_segment_count(served->store); i++)
        cn_file_forget(cn_segment_data(cn_store_segment(served->store, i)));
    cn_search_forget(served->search);
}

static void release(struct cn_snapshot *snapshot)
{
    if (!snapshot || --snapshot->user_count > 0)
        return;
    cn_search_close(snapshot->search);
    cn_store_close(snapshot->store);
    free(snapshot);
}

static bool take_snapshot(struct cn_served_store *served, struct cn_error *err)
{
    const struct cn_snapshot *earlier = served->snapshot;
    struct cn_snapshot *snapshot = cn_alloc(1, sizeof(*snapshot));
    bool ok;

    snapshot->user_count = 1;
    if (earlier)
        ok = cn_store_open_again(&snapshot->store, served->path, earlier->store, err) &&
             cn_search_open_again(&snapshot->search, snapshot->store, earlier->search,
                                  err);
    else
        ok = cn_store_open(&snapshot->store, served->path, err) &&
             cn_search_open(&snapshot->search, snapshot->store, err);
    if (!ok) {
        release(snapshot);
        return false;
    }
    release(served->snapshot);
    served->snapshot = snapshot;
    served->search = snapshot->search;
    served->store = snapshot->store;
    served->size = size_of_open(served);
    served->opened_ns = cn_clock_ns();
    cn_served_store_forget(served);
    return true;
}

static bool look(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_store *served = arg;

    (void)progress;
    return cn_store_look(served->store, &served->is_changed, err);
}

static bool renew_snapshot(struct cn_served_store *served, struct cn_error *err)
{
    /* The loader caches a chunk of the old snapshot. */
    cn_segment_loader_free(served->loader);
    served->loader = cn_segment_loader_new();
    return take_snapshot(served, err);
}

bool cn_served_store_renew(struct cn_served_store *served, struct cn_error *err)
{
    return renew_snapshot(served, err);
}

static bool refresh_remote(struct cn_served_store *served, struct cn_error *err)
{
    uint64_t now_ns = cn_clock_ns(), look_ns = cn_store_look_ns(served->store);
    bool is_stale = now_ns - served->opened_ns > LOOKS_MAX * look_ns, ok;

    if (!served->is_looking) {
        if (!is_stale && now_ns - served->looked_ns < look_ns)
            return true;
        if (!cn_job_start(&served->look, err))
            return false;
        served->is_looking = true;
        served->looked_ns = now_ns;
    }
    if (!is_stale && cn_job_is_running(&served->look))
        return true;
    ok = cn_job_finish(&served->look, err);
    cn_job_end(&served->look);
    served->is_looking = false;
    /* What is known is shown until it is stale. */
    if (!ok)
        return !is_stale;
    served->opened_ns = now_ns;
    return !served->is_changed || renew_snapshot(served, err);
}

bool cn_served_store_refresh(struct cn_served_store *served, struct cn_error *err)
{
    uint64_t now_ns = cn_clock_ns(), row_count = 0;

    if (cn_path_is_address(served->path))
        return refresh_remote(served, err);
    for (size_t i = 0; i < cn_store_segment_count(served->store); i++)
        row_count += cn_segment_row_count(cn_store_segment(served->store, i));
    if (now_ns - served->opened_ns < refresh_ns + row_count * refresh_row_ns)
        return true;
    if (size_of_open(served) == served->size) {
        served->opened_ns = now_ns;
        return true;
    }
    return renew_snapshot(served, err);
}

static void free_flame(void *value)
{
    struct cn_served_flame *flame = value;

    cn_trace_flame_done(&flame->flame);
    release(flame->result.snapshot);
    free(flame);
}

static void free_groups(void *value)
{
    struct cn_served_groups *groups = value;

    cn_grouping_free(groups->grouping);
    cn_groups_done(&groups->groups);
    cn_query_free(groups->query);
    release(groups->result.snapshot);
    free(groups);
}

bool cn_served_store_open(struct cn_served_store *served, const char *path,
                          struct cn_error *err)
{
    *served = (struct cn_served_store){
        .path = cn_strdup(path),
        .loader = cn_segment_loader_new(),
        .flames = {.count_max = FLAME_MAX, .free_value = free_flame},
        .groups = {.count_max = GROUPS_MAX, .free_value = free_groups},
    };
    cn_job_group_init(&served->jobs, 1);
    served->look = (struct cn_job){.group = &served->jobs,
                                   .work = look,
                                   .arg = served,
                                   .what = "looking for new segments"};
    served->looked_ns = cn_clock_ns();
    return take_snapshot(served, err);
}

void cn_served_store_close(struct cn_served_store *served)
{
    if (!served->path)
        return;
    cn_job_end(&served->look);
    cn_job_group_done(&served->jobs);
    cn_cache_done(&served->flames);
    cn_cache_done(&served->groups);
    release(served->snapshot);
    cn_segment_loader_free(served->loader);
    free(served->path);
    *served = (struct cn_served_store){0};
}

/* The cached result of a query that may still be shown: its snapshot is current, it is
 * incomplete, or it became complete a moment ago. */
static struct cn_cached *find_fresh(const struct cn_served_store *served,
                                    struct cn_cache *cache, const char *key,
                                    uint64_t now_ns)
{
    struct cn_cached *entry = cn_cache_find(cache, key);
    const struct cn_partial_result *result = entry ? entry->value : NULL;

    if (!entry || (result->snapshot == served->snapshot && result->now_ns == now_ns) ||
        result->complete_ns == 0 || cn_clock_ns() - result->complete_ns < fresh_ns)
        return entry;
    cn_cache_remove(cache, entry);
    return NULL;
}

static struct cn_partial_result begin_result(struct cn_served_store *served,
                                             const struct cn_query *query)
{
    served->snapshot->user_count++;
    return (struct cn_partial_result){.snapshot = served->snapshot,
                                      .now_ns = query->now_ns};
}

static struct cn_served_flame *new_flame(struct cn_served_store *served,
                                         const struct cn_query *query, uint64_t limit,
                                         struct cn_error *err)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_DURATION, .limit = limit};
    struct cn_search_hits hits;

    if (!cn_search_trace_spans(served->search, query, &order, &hits, err))
        return NULL;
    struct cn_served_flame *flame = cn_alloc(1, sizeof(*flame));
    flame->result = begin_result(served, query);
    cn_trace_flame_init(&flame->flame, served->store, &hits);
    return flame;
}

bool cn_served_store_flame(struct cn_served_store *served, const struct cn_query *query,
                           uint64_t limit, const struct cn_trace_flame **out,
                           struct cn_error *err)
{
    char *key = cn_strprintf("%" PRIu64 "\n%s", limit, query->text);
    struct cn_cached *entry = find_fresh(served, &served->flames, key, query->now_ns);

    struct cn_served_flame *flame =
        entry ? entry->value : new_flame(served, query, limit, err);
    if (flame && !entry)
        entry = cn_cache_add(&served->flames, key, flame, 0);
    free(key);
    if (!flame)
        return false;
    if (!cn_trace_flame_is_complete(&flame->flame) &&
        !cn_trace_flame_add(&flame->flame, budget_ns, err)) {
        cn_cache_remove(&served->flames, entry);
        return false;
    }
    if (flame->result.complete_ns == 0 && cn_trace_flame_is_complete(&flame->flame))
        flame->result.complete_ns = cn_clock_ns();
    *out = &flame->flame;
    return true;
}

static struct cn_served_groups *new_groups(struct cn_served_store *served,
                                           const struct cn_query *query,
                                           const struct cn_groups_question *question,
                                           struct cn_error *err)
{
    struct cn_served_groups *groups = cn_alloc(1, sizeof(*groups));

    groups->result = begin_result(served, query);
    if (!cn_query_copy(&groups->query, query, err) ||
        !cn_grouping_new(&groups->grouping, served->search, groups->query, question->unit,
                         question->by, err)) {
        free_groups(groups);
        return NULL;
    }
    if (question->step_count > 0)
        cn_grouping_count_steps(groups->grouping, question->step_count);
    return groups;
}

/* Read traces, then rank the groups. Ranking a million groups takes long: not every
 * request does it, nor does the one that has just read the last traces. */
static bool continue_groups(struct cn_served_groups *groups, size_t limit,
                            struct cn_error *err)
{
    uint64_t begin_ns = cn_clock_ns(), spent_ns;
    enum cn_step step;

    do {
        step = cn_grouping_next(groups->grouping, err);
        spent_ns = cn_clock_ns() - begin_ns;
    } while (step == CN_ITEM && spent_ns < budget_ns);
    if (step == CN_FAIL)
        return false;
    if (groups->is_ranked && spent_ns > budget_ns / 4 &&
        spent_ns + groups->rank_ns > budget_ns + budget_ns / 2)
        return true;
    cn_groups_done(&groups->groups);
    cn_grouping_groups(groups->grouping, limit, &groups->groups);
    groups->is_ranked = true;
    groups->rank_ns = cn_clock_ns() - begin_ns - spent_ns;
    if (step == CN_END) {
        cn_grouping_free(groups->grouping);
        groups->grouping = NULL;
        groups->result.complete_ns = cn_clock_ns();
    }
    return true;
}

bool cn_served_store_groups(struct cn_served_store *served, const struct cn_query *query,
                            const struct cn_groups_question *question,
                            const struct cn_served_groups **out, struct cn_error *err)
{
    char *key = cn_strprintf("%d %zu %zu\n%s\n%s", (int)question->unit, question->limit,
                             question->step_count, question->by, query->text);
    struct cn_cached *entry = find_fresh(served, &served->groups, key, query->now_ns);

    struct cn_served_groups *groups =
        entry ? entry->value : new_groups(served, query, question, err);
    if (groups && !entry)
        entry = cn_cache_add(&served->groups, key, groups, 0);
    free(key);
    if (!groups)
        return false;
    if (groups->grouping && !continue_groups(groups, question->limit, err)) {
        cn_cache_remove(&served->groups, entry);
        return false;
    }
    *out = groups;
    return true;
}
