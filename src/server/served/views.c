#include "server/served/views.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lens/database.h"
#include "analyze/views/costs_blocks.h"
#include "base/alloc.h"
#include "base/text.h"

enum {
    VIEW_MAX = 16,       /* more than there are requests at a time */
    COST_MAX = 48 << 20, /* bytes of all cached views */

    /* A first answer is estimated from so many threads, if there are many more. */
    ESTIMATE_THREADS = 24,
    MANY_THREADS = 100,
    MANY_CONTEXTS = 100000,

    /* Bytes that building a view takes per context. */
    VALUES_LEN = 24,
    FLAT_LEN = 24,
    CALLERS_LEN = 48,
    COLLAPSED_LEN = 32,
};

static void free_view(void *value)
{
    struct cn_served_view *view = value;

    cn_job_end(&view->job);
    cn_view_free(view->view);
    free(view->node_values);
    cn_costs_done(&view->costs);
    (void)pthread_mutex_destroy(&view->lock);
    free(view);
}

static bool is_busy(const struct cn_cached *entry, void *arg)
{
    (void)arg;
    return cn_job_is_running(&((struct cn_served_view *)entry->value)->job);
}

void cn_served_views_init(struct cn_served_views *views, struct cn_structure *structure)
{
    views->structure = structure;
    views->cache = (struct cn_cache){.count_max = VIEW_MAX,
                                     .cost_max = COST_MAX,
                                     .free_value = free_view,
                                     .is_busy = is_busy};
    (void)pthread_mutex_init(&views->lock, NULL);
}

void cn_served_views_done(struct cn_served_views *views)
{
    cn_cache_done(&views->cache);
    free(views->default_metric);
    (void)pthread_mutex_destroy(&views->lock);
}

static struct cn_database *database_of(const struct cn_served_views *views)
{
    return views->range ? views->range : views->structure->db;
}

bool cn_served_column_find(const struct cn_costs *costs, const char *name, size_t *out,
                           struct cn_error *err)
{
    for (size_t i = 0; i < costs->column_count; i++) {
        const struct cn_cost_column *column = &costs->columns[i];
        const char *side = column->side == CN_SELF ? "exclusive" : "inclusive";

        if (!name || strcmp(column->name, name) == 0 || strcmp(side, name) == 0) {
            *out = i;
            return true;
        }
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "there is no column '%.80s'", name ? name : "");
}

const char *cn_served_default_metric(struct cn_served_views *views)
{
    (void)pthread_mutex_lock(&views->lock);
    if (!views->default_metric) {
        struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
        struct cn_cost_request request = {.profile = CN_NONE};
        struct cn_error err;

        cn_costs_init(costs, database_of(views));
        views->default_metric = cn_strdup(
            cn_costs_add(costs, &request, &err) ? costs->columns[0].metric : "");
        cn_costs_done(costs);
        free(costs);
    }
    (void)pthread_mutex_unlock(&views->lock);
    return views->default_metric;
}

static void add_list(struct cn_text *key, const char *name,
                     const struct cn_question_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        cn_text_printf(key, "\n%s=%s", name, values->list[i]);
}

/* Everything that distinguishes one view from another. */
static void print_key(struct cn_served_views *views,
                      const struct cn_view_question *question, struct cn_text *key)
{
    cn_text_printf(key, "%d", (int)question->kind);
    /* With a selection of threads, the default metric may be another one. */
    if (question->metrics.count == 0 && question->threads.count == 0 &&
        !question->counts_waits)
        cn_text_printf(key, "\nmetric=%s", cn_served_default_metric(views));
    if (question->counts_waits)
        cn_text_str_add(key, "\nwaits");
    add_list(key, "metric", &question->metrics);
    add_list(key, "thread", &question->threads);
    add_list(key, "derive", &question->derived);
    if (question->has_percentiles)
        cn_text_str_add(key, "\npercentiles");
    if (question->has_values)
        cn_text_printf(key, "\nvalues=%s", question->sort ? question->sort : "");
}

/* Total and self of a metric; one of them may be missing. */
static bool add_metric(struct cn_costs *costs, const char *metric, struct cn_error *err)
{
    struct cn_cost_request request = {.metric = metric, .profile = CN_NONE};

    request.side = CN_TOTAL;
    bool has_one = cn_costs_add(costs, &request, err);
    request.side = CN_SELF;
    return cn_costs_add(costs, &request, err) || has_one;
}

static bool add_default_metrics(struct cn_costs *costs, struct cn_error *err)
{
    const char *names[CN_COST_DEFAULT_MAX];
    size_t count = cn_costs_default_metrics(costs, names);
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++)
        ok = add_metric(costs, names[i], err);
    return ok;
}

static bool add_columns(struct cn_costs *costs, const struct cn_view_question *question,
                        struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < question->threads.count; i++)
        ok = cn_costs_select(costs, question->threads.list[i], err);
    costs->counts_waits = question->counts_waits;
    if (ok && question->metrics.count == 0)
        ok = add_default_metrics(costs, err);
    for (size_t i = 0; ok && i < question->metrics.count; i++)
        ok = question->metrics.list[i][0]
                 ? add_metric(costs, question->metrics.list[i], err)
                 : add_default_metrics(costs, err);
    for (size_t i = 0; ok && i < question->derived.count; i++)
        ok = cn_costs_add_derived(costs, question->derived.list[i], err);
    if (ok && question->has_percentiles)
        ok = cn_costs_add_percentiles(costs, err);
    return ok && cn_costs_ready(costs, err);
}

/* The entry of a question, pinned, whether its view is built or not. */
static struct cn_served_view *pin(struct cn_served_views *views,
                                  const struct cn_view_question *question)
{
    struct cn_served_view *view = NULL;
    struct cn_cached *entry;
    struct cn_text key = {0};

    print_key(views, question, &key);
    (void)pthread_mutex_lock(&views->lock);
    entry = cn_cache_find(&views->cache, cn_text_str(&key));
    if (!entry) {
        view = cn_alloc(1, sizeof(*view));
        view->views = views;
        view->kind = question->kind;
        cn_costs_init(&view->costs, database_of(views));
        (void)pthread_mutex_init(&view->lock, NULL);
        entry = cn_cache_add(&views->cache, cn_text_str(&key), view, 0);
        view->cached = entry;
    }
    if (entry)
        cn_cached_pin(entry);
    (void)pthread_mutex_unlock(&views->lock);
    cn_text_done(&key);
    if (!entry)
        free_view(view);
    return entry ? entry->value : NULL;
}

/* A view that was never set up is not cached: the next request starts over. */
static void unpin(struct cn_served_view *view)
{
    struct cn_served_views *views = view->views;

    (void)pthread_mutex_lock(&views->lock);
    cn_cached_unpin(view->cached);
    if (view->cached->pin_count == 0 && !view->has_columns)
        cn_cache_remove(&views->cache, view->cached);
    (void)pthread_mutex_unlock(&views->lock);
}

static void set_cost(struct cn_served_view *view, uint64_t cost)
{
    (void)pthread_mutex_lock(&view->views->lock);
    cn_cache_set_cost(&view->views->cache, view->cached, cost);
    (void)pthread_mutex_unlock(&view->views->lock);
}

static uint64_t size_of(const struct cn_served_view *view)
{
    size_t value_count = view->node_values ? view->index->count : 0;

    return view->view
               ? cn_view_size(view->view) + value_count * sizeof(*view->node_values)
               : 0;
}

/* Publish what a job built, or free it. */
static bool publish(struct cn_served_view *view, bool is_built, struct cn_view *built,
                    double *values)
{
    struct cn_view *old_view = NULL;

    if (!is_built) {
        cn_view_free(built);
        free(values);
        return false;
    }
    (void)pthread_mutex_lock(&view->lock);
    if (built) {
        old_view = view->view;
        view->view = built;
    }
    double *old_values = view->node_values;
    view->node_values = values;
    view->is_estimate = view->costs.thread_step > 1;
    uint64_t size = size_of(view);
    (void)pthread_mutex_unlock(&view->lock);
    cn_view_free(old_view);
    free(old_values);
    set_cost(view, size);
    return true;
}

static bool build_of_shape(struct cn_served_view *view,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_view *built = NULL;
    bool ok = cn_view_of_shape_new(&built, view->shape, &view->costs, progress, err);

    return publish(view, ok, built, NULL);
}

static bool read_values(struct cn_served_view *view, const struct cn_progress *progress,
                        struct cn_error *err)
{
    double *values = cn_alloc(view->index->count, sizeof(*values));
    bool ok = cn_costs_column_of_nodes(&view->costs, view->index, view->node_column,
                                       values, progress, err);

    return publish(view, ok, NULL, values);
}

/* The job: an estimate, so that there is something to show, then all. */
static bool build(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_view *view = arg;
    bool (*make)(struct cn_served_view *, const struct cn_progress *, struct cn_error *) =
        view->shape ? build_of_shape : read_values;

    if (view->index->count >= MANY_CONTEXTS)
        view->costs.thread_step =
            cn_costs_choose_step(&view->costs, ESTIMATE_THREADS, MANY_THREADS);
    if (view->costs.thread_step > 1) {
        if (!make(view, progress, err))
            return false;
        cn_job_estimated(&view->job);
    }
    view->costs.thread_step = 0;
    return make(view, progress, err);
}

/* Make room for what the job will take before it starts. */
static bool set_job(struct cn_served_view *view, const char *what, uint64_t context_len)
{
    struct cn_structure *structure = view->views->structure;

    set_cost(view, structure->frames.index.count * context_len);
    view->job = (struct cn_job){.group = structure->requests,
                                .work = build,
                                .arg = view,
                                .what = what,
                                .stops_unasked = true};
    return true;
}

/* With the lock of the view held: all that its job reads, and the job. */
static bool set_up(struct cn_served_view *view, const struct cn_view_question *question,
                   struct cn_error *err)
{
    struct cn_structure *structure = view->views->structure;

    if (view->job.group)
        return true;
    view->index = &structure->frames.index;
    switch (view->kind) {
    case CN_VIEW_TOP_DOWN:
        if (!view->view)
            view->view = cn_view_top_down_new(&view->costs);
        return !question->has_values ||
               (cn_served_column_find(&view->costs, question->sort, &view->node_column,
                                      err) &&
                cn_structure_wait(structure, CN_STRUCTURE_FRAMES, err) &&
                set_job(view, "reading the costs of contexts", VALUES_LEN));
    case CN_VIEW_COLLAPSED:
        if (!cn_structure_wait(structure, CN_STRUCTURE_COLLAPSED, err))
            return false;
        view->shape = structure->collapsed;
        return set_job(view, "folding recursive calls", COLLAPSED_LEN);
    case CN_VIEW_BOTTOM_UP:
        if (!cn_structure_wait(structure, CN_STRUCTURE_CALLERS, err))
            return false;
        view->shape = structure->callers;
        return set_job(view, "computing the bottom-up view", CALLERS_LEN);
    case CN_VIEW_FLAT:
        if (!cn_structure_wait(structure, CN_STRUCTURE_FLAT, err))
            return false;
        view->shape = structure->flat;
        return set_job(view, "computing the flat view", FLAT_LEN);
    case CN_VIEW_LANGUAGES:
        if (!cn_structure_wait(structure, CN_STRUCTURE_LANGUAGES, err))
            return false;
        view->shape = structure->languages;
        return set_job(view, "computing the flat view", FLAT_LEN);
    }
    return false;
}

/* Columns are added once: after a failure the next request starts over. */
static bool set_up_columns(struct cn_served_view *view,
                           const struct cn_view_question *question, struct cn_error *err)
{
    if (!view->has_columns && !add_columns(&view->costs, question, err)) {
        cn_costs_done(&view->costs);
        cn_costs_init(&view->costs, database_of(view->views));
        return false;
    }
    view->has_columns = true;
    return true;
}

bool cn_served_view_borrow(struct cn_served_views *views,
                           const struct cn_view_question *question,
                           struct cn_served_view **out, struct cn_error *err)
{
    struct cn_served_view *view = pin(views, question);
    bool ok, has_job, has_estimate = false;

    if (!view)
        return cn_fail(err, CN_ERR_BUSY, "%d other views are in use", VIEW_MAX);
    (void)pthread_mutex_lock(&view->lock);
    ok = cn_structure_wait(views->structure, CN_STRUCTURE_CODES, err) &&
         set_up_columns(view, question, err) && set_up(view, question, err);
    has_job = view->job.group != NULL;
    (void)pthread_mutex_unlock(&view->lock);
    if (ok && has_job &&
        !(question->takes_estimate ? cn_job_wait_estimate(&view->job, err)
                                   : cn_job_wait(&view->job, err))) {
        ok = question->takes_estimate && err->kind == CN_ERR_BUSY;
        has_estimate = true;
    }
    (void)pthread_mutex_lock(&view->lock);
    if (!ok || (has_estimate && !view->is_estimate)) {
        (void)pthread_mutex_unlock(&view->lock);
        unpin(view);
        return false;
    }
    view->view->hides_empty =
        views->range != NULL || cn_database_has_lens(views->structure->db);
    view->view->codes = views->structure->codes;
    *out = view;
    return true;
}

void cn_served_view_return(struct cn_served_view *view)
{
    set_cost(view, size_of(view));
    (void)pthread_mutex_unlock(&view->lock);
    unpin(view);
}

void cn_served_views_warm_up(struct cn_served_views *views)
{
    static const struct cn_view_question questions[] = {
        {.kind = CN_VIEW_TOP_DOWN, .has_values = true},
        {.kind = CN_VIEW_BOTTOM_UP},
        {.kind = CN_VIEW_FLAT},
    };
    struct cn_served_view *view;
    struct cn_error err; /* requests will meet it again */

    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        if (cn_served_view_borrow(views, &questions[i], &view, &err))
            cn_served_view_return(view);
}
