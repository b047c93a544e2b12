/* The views that were asked for: made once, kept while they are used. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "server/request.h"
#include "server/served.h"

enum { METRIC_MAX = 32 };

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
    else if (strcmp(name, "bottom-up") == 0)
        ok = cn_view_callers_new(&entry->view, &entry->costs, NULL, err);
    else if (strcmp(name, "flat") == 0)
        ok = cn_view_flat_new(&entry->view, &entry->costs, NULL, err);
    else
        return cn_fail(err, CN_ERR_USAGE,
                       "view '%.40s' is none of top-down, bottom-up, flat", name);
    return ok;
}

static void release(struct cn_served_view *entry)
{
    cn_view_free(entry->view);
    cn_costs_done(&entry->costs);
    free(entry->key);
    *entry = (struct cn_served_view){0};
}

static struct cn_served_view *oldest(struct cn_served *served)
{
    struct cn_served_view *found = &served->views[0];

    for (size_t i = 1; i < CN_SERVED_VIEW_MAX; i++)
        if (served->views[i].used_at < found->used_at)
            found = &served->views[i];
    if (found->key)
        release(found);
    return found;
}

static struct cn_served_view *find(struct cn_served *served, const char *key)
{
    for (size_t i = 0; i < CN_SERVED_VIEW_MAX; i++)
        if (served->views[i].key && strcmp(served->views[i].key, key) == 0)
            return &served->views[i];
    return NULL;
}

bool cn_served_view(struct cn_served *served, const struct cn_request *request,
                    struct cn_served_view **out, struct cn_error *err)
{
    char *key = view_key(request);
    struct cn_served_view *entry = find(served, key);

    if (entry) {
        free(key);
    } else {
        entry = oldest(served);
        entry->key = key;
        cn_costs_init(&entry->costs, served->db);
        if (!add_columns(&entry->costs, request, err) ||
            !cn_costs_ready(&entry->costs, err) ||
            !make_view(entry, view_name(request), err)) {
            release(entry);
            return false;
        }
    }
    entry->used_at = ++served->use_count;
    *out = entry;
    return true;
}
