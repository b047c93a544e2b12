/* The views that were asked for: made once, kept while they are used. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "server/request.h"
#include "server/served.h"

enum {
    METRIC_MAX = 32,
    SIZE_MAX_BYTES = 80 << 20, /* of all views that are kept */
};

static const char *view_name(const struct cn_request *request)
{
    const char *name = cn_request_value(request, "view");

    return name ? name : "top-down";
}

/* Everything that makes one view differ from another. */
static char *view_key(const struct cn_request *request)
{
    static const char *const names[] = {"metric", "thread", "percentiles"};
    struct cn_text key = {0};

    cn_text_str_add(&key, view_name(request));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value;

        for (size_t k = 0; (value = cn_request_value_at(request, names[i], k)); k++)
            cn_text_printf(&key, "\n%s=%s", names[i], value);
    }
    return key.chars;
}

/* Both sides of a metric; one may be missing. */
static bool add_metric(struct cn_costs *costs, const char *metric, struct cn_error *err)
{
    struct cn_cost_request request = {.metric = metric, .profile = CN_NONE};
    bool has_one;

    request.side = CN_INCLUSIVE;
    has_one = cn_costs_add(costs, &request, err);
    request.side = CN_EXCLUSIVE;
    return cn_costs_add(costs, &request, err) || has_one;
}

static bool add_columns(struct cn_costs *costs, const struct cn_request *request,
                        struct cn_error *err)
{
    const char *value;

    for (size_t i = 0; (value = cn_request_value_at(request, "thread", i)); i++)
        if (!cn_costs_select(costs, value, err))
            return false;
    if (!cn_request_value(request, "metric") && !add_metric(costs, NULL, err))
        return false;
    for (size_t i = 0; (value = cn_request_value_at(request, "metric", i)); i++) {
        if (i == METRIC_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "more than %d metrics", METRIC_MAX);
        if (!add_metric(costs, value, err))
            return false;
    }
    return !cn_request_flag(request, "percentiles") ||
           (cn_costs_add_percentile(costs, 0.50, "p50", err) &&
            cn_costs_add_percentile(costs, 0.90, "p90", err) &&
            cn_costs_add_percentile(costs, 0.99, "p99", err));
}

static bool make_view(struct cn_served_view *entry, const char *name,
                      struct cn_error *err)
{
    bool ok = true;

    if (strcmp(name, "top-down") == 0)
        entry->view = cn_view_top_down_new(&entry->costs);
    else if (strcmp(name, "collapsed") == 0)
        ok = cn_view_collapsed_new(&entry->view, &entry->costs, NULL, err);
    else if (strcmp(name, "bottom-up") == 0)
        ok = cn_view_callers_new(&entry->view, &entry->costs, NULL, err);
    else if (strcmp(name, "flat") == 0)
        ok = cn_view_flat_new(&entry->view, &entry->costs, NULL, err);
    else
        return cn_fail(err, CN_ERR_USAGE,
                       "view '%.40s' is none of top-down, collapsed, bottom-up, flat",
                       name);
    return ok;
}

static void empty(struct cn_served_view *entry)
{
    cn_view_free(entry->view);
    free(entry->node_values);
    entry->node_values = NULL;
    entry->node_count = 0;
    cn_costs_done(&entry->costs);
    free(entry->key);
    entry->view = NULL;
    entry->key = NULL;
    entry->size = 0;
}

void cn_served_views_done(struct cn_served *served)
{
    for (size_t i = 0; i < CN_SERVED_VIEW_MAX; i++) {
        if (served->views[i].key)
            empty(&served->views[i]);
        (void)pthread_mutex_destroy(&served->views[i].lock);
    }
}

/* The view that nobody uses and that nobody has used for longest, or an empty place; NULL
 * when all are in use. */
static struct cn_served_view *oldest(struct cn_served *served, bool is_made)
{
    struct cn_served_view *found = NULL;

    for (size_t i = 0; i < CN_SERVED_VIEW_MAX; i++) {
        struct cn_served_view *entry = &served->views[i];

        if (entry->user_count == 0 && (entry->key || !is_made) &&
            (!found || entry->used_at < found->used_at))
            found = entry;
    }
    return found;
}

static struct cn_served_view *find(struct cn_served *served, const char *key)
{
    for (size_t i = 0; i < CN_SERVED_VIEW_MAX; i++)
        if (served->views[i].key && strcmp(served->views[i].key, key) == 0)
            return &served->views[i];
    return NULL;
}

/* The place of a view, made or not, which stays until it is given back. */
static struct cn_served_view *borrow(struct cn_served *served, char *key)
{
    struct cn_served_view *entry;

    (void)pthread_mutex_lock(&served->lock);
    entry = find(served, key);
    if (entry) {
        free(key);
    } else {
        entry = oldest(served, false);
        if (entry && entry->key)
            empty(entry);
        if (entry) {
            entry->key = key;
            cn_costs_init(&entry->costs, served->db);
        }
    }
    if (entry) {
        entry->user_count++;
        entry->used_at = ++served->use_count;
    }
    (void)pthread_mutex_unlock(&served->lock);
    return entry;
}

static void give_back(struct cn_served *served, struct cn_served_view *entry,
                      uint64_t size)
{
    uint64_t sum = 0;

    (void)pthread_mutex_lock(&served->lock);
    entry->user_count--;
    entry->size = size;
    if (size == 0 && entry->user_count == 0)
        empty(entry);
    for (size_t i = 0; i < CN_SERVED_VIEW_MAX; i++)
        sum += served->views[i].size;
    while (sum > SIZE_MAX_BYTES) {
        struct cn_served_view *victim = oldest(served, true);

        if (!victim || victim == entry)
            break;
        sum -= victim->size;
        empty(victim);
    }
    (void)pthread_mutex_unlock(&served->lock);
}

/* Costs are added to once: after a failure the next one to ask begins again. */
static bool make(struct cn_served *served, struct cn_served_view *entry,
                 const struct cn_request *request, struct cn_error *err)
{
    if (entry->view)
        return true;
    if (add_columns(&entry->costs, request, err) && cn_costs_ready(&entry->costs, err) &&
        make_view(entry, view_name(request), err))
        return true;
    cn_view_free(entry->view);
    entry->view = NULL;
    cn_costs_done(&entry->costs);
    cn_costs_init(&entry->costs, served->db);
    return false;
}

static uint64_t size_of(const struct cn_served_view *entry)
{
    return cn_view_size(entry->view) + entry->node_count * sizeof(*entry->node_values);
}

bool cn_served_answer(struct cn_served *served, struct cn_request *request,
                      cn_view_answer_fn answer, struct cn_error *err)
{
    struct cn_served_view *entry;
    uint64_t size;
    bool ok;

    if (!cn_served_ready(served, err))
        return false;
    entry = borrow(served, view_key(request));
    if (!entry)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d views at a time",
                       CN_SERVED_VIEW_MAX);
    (void)pthread_mutex_lock(&entry->lock);
    ok = make(served, entry, request, err) && answer(served, entry, request, err);
    size = entry->view ? size_of(entry) : 0;
    (void)pthread_mutex_unlock(&entry->lock);
    give_back(served, entry, size);
    return ok;
}
