/* The views that were asked for: made once, kept while they are used. */
#include <stdlib.h>
#include <string.h>

#include "analyze/views/costs_blocks.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/api/request.h"
#include "server/served/rows_json.h"
#include "server/served/served.h"

enum {
    METRIC_MAX = 32,
    SIZE_MAX_BYTES = 48 << 20, /* of all views that are kept */

    /* What making them takes, a context. */
    VALUES_LEN = 24,
    FLAT_LEN = 24,
    CALLERS_LEN = 48,
    COLLAPSED_LEN = 112,
};

static const char *view_name(const struct cn_request *request)
{
    const char *name = cn_request_value(request, "view");

    return name ? name : "top-down";
}

/* The metric that is shown when none is asked for; "" when that cannot be told. */
static char *find_default_metric(struct cn_served *served)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_request request = {.profile = CN_NONE};
    struct cn_error err;
    char *name;

    cn_costs_init(costs, served->db);
    name = cn_strdup(cn_costs_add(costs, &request, &err) ? costs->columns[0].metric : "");
    cn_costs_done(costs);
    free(costs);
    return name;
}

static const char *default_metric(struct cn_served *served)
{
    (void)pthread_mutex_lock(&served->lock);
    if (!served->default_metric)
        served->default_metric = find_default_metric(served);
    (void)pthread_mutex_unlock(&served->lock);
    return served->default_metric;
}

/* Everything that makes one view differ from another; with the values of all contexts, the
 * column too. */
static char *view_key(struct cn_served *served, const struct cn_request *request,
                      bool with_values)
{
    static const char *const names[] = {"metric", "thread", "percentiles", "sort"};
    struct cn_text key = {0};

    cn_text_str_add(&key, with_values ? "values" : view_name(request));
    if (!cn_request_value(request, "metric") && !cn_request_value(request, "thread"))
        cn_text_printf(&key, "\nmetric=%s", default_metric(served));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) - !with_values; i++) {
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

    request.side = CN_TOTAL;
    has_one = cn_costs_add(costs, &request, err);
    request.side = CN_SELF;
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

static void empty(struct cn_served_view *entry)
{
    cn_chore_end(&entry->making);
    entry->making = (struct cn_chore){0};
    cn_view_free(entry->view);
    free(entry->node_values);
    entry->node_values = NULL;
    entry->has_columns = false;
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
            !cn_chore_is_working(&entry->making) &&
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
            entry->served = served;
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

static uint64_t size_of(const struct cn_served_view *entry)
{
    return entry->view ? cn_view_size(entry->view) +
                             (entry->node_values ? entry->index->count : 0) *
                                 sizeof(*entry->node_values)
                       : 0;
}

/* With the lock of the thing held: note what a view takes, or will take, and give up others
 * when all together take too much. */
static void note_size(struct cn_served *served, struct cn_served_view *entry,
                      uint64_t size)
{
    uint64_t sum = 0;

    entry->size = size;
    for (size_t i = 0; i < CN_SERVED_VIEW_MAX; i++)
        sum += served->views[i].size;
    while (sum > SIZE_MAX_BYTES) {
        struct cn_served_view *victim = oldest(served, true);

        if (!victim || victim == entry)
            break;
        sum -= victim->size;
        empty(victim);
    }
}

static void give_back(struct cn_served *served, struct cn_served_view *entry)
{
    (void)pthread_mutex_lock(&served->lock);
    entry->user_count--;
    if (entry->user_count == 0 && !entry->has_columns)
        empty(entry);
    (void)pthread_mutex_unlock(&served->lock);
}

/* Costs are added to once: after a failure the next one to ask begins again. */
static bool need_columns(struct cn_served_view *entry, const struct cn_request *request,
                         struct cn_error *err)
{
    entry->has_columns =
        entry->has_columns ||
        (add_columns(&entry->costs, request, err) && cn_costs_ready(&entry->costs, err));
    if (entry->has_columns)
        return true;
    cn_costs_done(&entry->costs);
    cn_costs_init(&entry->costs, entry->served->db);
    return false;
}

/* From a chore: what was made is for all to see. */
static void publish(struct cn_served_view *entry, struct cn_view *view, double *values)
{
    struct cn_served *served = entry->served;
    uint64_t size;

    (void)pthread_mutex_lock(&entry->lock);
    if (view)
        entry->view = view;
    if (values)
        entry->node_values = values;
    size = size_of(entry);
    (void)pthread_mutex_unlock(&entry->lock);
    (void)pthread_mutex_lock(&served->lock);
    note_size(served, entry, size);
    (void)pthread_mutex_unlock(&served->lock);
}

static bool make_view(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_view *entry = arg;
    struct cn_view *view = NULL;

    if (!cn_view_of_shape_new(&view, entry->shape, &entry->costs, progress, err)) {
        cn_view_free(view);
        return false;
    }
    publish(entry, view, NULL);
    return true;
}

static bool read_values(void *arg, const struct cn_progress *progress,
                        struct cn_error *err)
{
    struct cn_served_view *entry = arg;
    double *values = cn_alloc(entry->index->count, sizeof(*values));

    if (!cn_costs_column_of_nodes(&entry->costs, entry->index, entry->node_column, values,
                                  progress, err)) {
        free(values);
        return false;
    }
    publish(entry, NULL, values);
    return true;
}

/* With bytes a context that it takes while it is made: room for them is made first. */
static void set_chore(struct cn_served_view *entry, cn_chore_fn work, const char *what,
                      uint64_t context_len)
{
    struct cn_served *served = entry->served;

    (void)pthread_mutex_lock(&served->lock);
    note_size(served, entry, served->prepared.frames.index.count * context_len);
    (void)pthread_mutex_unlock(&served->lock);
    entry->making = (struct cn_chore){
        .group = &entry->served->chores, .work = work, .arg = entry, .what = what};
}

static bool set_up_values(struct cn_served_view *entry, const struct cn_request *request,
                          struct cn_error *err)
{
    struct cn_prepared *prepared = &entry->served->prepared;

    if (!cn_request_column(request, &entry->costs, &entry->node_column, err) ||
        !cn_prepared_wait(prepared, CN_PIECE_FRAMES, err))
        return false;
    entry->index = &prepared->frames.index;
    set_chore(entry, read_values, "what each context costs", VALUES_LEN);
    return true;
}

/* It has about as many rows as there are contexts: its shape is not kept. */
static bool make_collapsed(void *arg, const struct cn_progress *progress,
                           struct cn_error *err)
{
    struct cn_served_view *entry = arg;
    struct cn_view *view = NULL;

    if (!cn_view_collapsed_new(&view, &entry->costs, entry->index, progress, err)) {
        cn_view_free(view);
        return false;
    }
    publish(entry, view, NULL);
    return true;
}

static bool set_up_shape(struct cn_served_view *entry, const char *name,
                         struct cn_error *err)
{
    struct cn_prepared *prepared = &entry->served->prepared;
    bool is_flat = strcmp(name, "flat") == 0;

    if (strcmp(name, "collapsed") == 0) {
        if (!cn_prepared_wait(prepared, CN_PIECE_FRAMES, err))
            return false;
        entry->index = &prepared->frames.index;
        set_chore(entry, make_collapsed, "the tree without recursion", COLLAPSED_LEN);
        return true;
    }
    if (!is_flat && strcmp(name, "bottom-up") != 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "view '%.40s' is none of top-down, collapsed, bottom-up, flat",
                       name);
    if (!cn_prepared_wait(prepared, is_flat ? CN_PIECE_FLAT : CN_PIECE_CALLERS, err))
        return false;
    entry->shape = is_flat ? prepared->flat : prepared->callers;
    set_chore(entry, make_view, is_flat ? "the flat view" : "the bottom-up view",
              is_flat ? FLAT_LEN : CALLERS_LEN);
    return true;
}

/* With the lock of the view held: have all that it takes to make it, and make at once what can
 * be made at once. From then on the chore reads what is set here. */
static bool set_up(struct cn_served_view *entry, const struct cn_request *request,
                   bool with_values, struct cn_error *err)
{
    const char *name = view_name(request);

    if (!need_columns(entry, request, err))
        return false;
    if (entry->making.group)
        return true;
    if (strcmp(name, "top-down") != 0)
        return set_up_shape(entry, name, err);
    if (!entry->view)
        entry->view = cn_view_top_down_new(&entry->costs);
    return !with_values || set_up_values(entry, request, err);
}

static bool answer_with(struct cn_served *served, struct cn_served_view *entry,
                        struct cn_request *request, bool with_values,
                        cn_view_answer_fn answer, struct cn_error *err)
{
    bool ok, is_made;

    (void)pthread_mutex_lock(&entry->lock);
    ok = set_up(entry, request, with_values, err);
    is_made = !entry->making.group;
    (void)pthread_mutex_unlock(&entry->lock);
    if (!ok || (!is_made && !cn_chore_wait(&entry->making, err)))
        return false;
    (void)pthread_mutex_lock(&entry->lock);
    ok = answer(served, entry, request, err);
    (void)pthread_mutex_lock(&served->lock);
    note_size(served, entry, size_of(entry));
    (void)pthread_mutex_unlock(&served->lock);
    (void)pthread_mutex_unlock(&entry->lock);
    return ok;
}

static bool borrow_and_answer(struct cn_served *served, struct cn_request *request,
                              bool with_values, cn_view_answer_fn answer,
                              struct cn_error *err)
{
    struct cn_served_view *entry;
    bool ok;

    if (!cn_served_ready(served, err))
        return false;
    entry = borrow(served, view_key(served, request, with_values));
    if (!entry)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d views at a time",
                       CN_SERVED_VIEW_MAX);
    ok = answer_with(served, entry, request, with_values, answer, err);
    give_back(served, entry);
    return ok;
}

bool cn_served_answer(struct cn_served *served, struct cn_request *request,
                      cn_view_answer_fn answer, struct cn_error *err)
{
    return borrow_and_answer(served, request, false, answer, err);
}

bool cn_served_answer_values(struct cn_served *served, struct cn_request *request,
                             cn_view_answer_fn answer, struct cn_error *err)
{
    return borrow_and_answer(served, request, true, answer, err);
}

static bool answer_nothing(struct cn_served *served, struct cn_served_view *entry,
                           struct cn_request *request, struct cn_error *err)
{
    (void)served;
    (void)entry;
    (void)request;
    (void)err;
    return true;
}

void cn_served_warm_up(struct cn_served *served)
{
    static const char *const views[] = {"bottom-up", "flat"};
    struct cn_request *request = cn_alloc(1, sizeof(*request));
    struct cn_error err; /* whoever asks will be told */

    (void)!cn_served_answer_values(served, request, answer_nothing, &err);
    request->parameter_count = 1;
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        request->parameters[0] = (struct cn_parameter){"view", views[i]};
        (void)!cn_served_answer(served, request, answer_nothing, &err);
    }
    free(request);
}
