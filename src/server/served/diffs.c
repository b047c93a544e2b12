#include "server/served/diffs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "server/served/served.h"

enum {
    DIFF_MAX = 4,
    COST_MAX = 192 << 20, /* bytes of all comparisons */
    ROWS_MAX = 48 << 20,  /* bytes of the rows of one */
    NODE_LEN = 120,       /* bytes that a node takes, about */
    RUNNING_MAX = 2,      /* computed at a time */
};

/* A store that grows does not change a comparison before it was seen. */
static const uint64_t fresh_ns = UINT64_C(10000000000);

static void drop_rows(struct cn_served_diff *diff)
{
    for (size_t i = 0; i < diff->view_count; i++)
        cn_compare_rows_done(&diff->views[i].rows);
    diff->view_count = diff->next_view = 0;
}

static uint64_t rows_size(const struct cn_served_diff *diff)
{
    uint64_t size = 0;

    for (size_t i = 0; i < diff->view_count; i++)
        size += diff->views[i].rows.capacity * sizeof(*diff->views[i].rows.list) +
                diff->c.node_count * sizeof(uint32_t);
    return size;
}

static void drop_results(struct cn_served_diff *diff)
{
    drop_rows(diff);
    cn_explanation_done(&diff->explanation);
    diff->line_count = 0;
    cn_comparison_done(&diff->c);
    cn_trace_facets_done(&diff->facets);
    cn_text_done(&diff->damage);
}

/* Note the first damage of a source. */
static void note_damage(struct cn_served_diff *diff, const char *path,
                        const struct cn_warning *list)
{
    for (; list && diff->damage.len == 0; list = list->next)
        if (list->is_damage)
            cn_text_printf(&diff->damage, "%s: %s", path, list->text);
}

static void free_diff(void *value)
{
    struct cn_served_diff *diff = value;

    cn_job_end(&diff->job);
    drop_results(diff);
    (void)pthread_mutex_destroy(&diff->lock);
    cn_arena_done(&diff->arena);
    free(diff);
}

static bool is_busy(const struct cn_cached *entry, void *arg)
{
    (void)arg;
    return cn_job_is_running(&((struct cn_served_diff *)entry->value)->job);
}

void cn_served_diffs_init(struct cn_served_diffs *diffs)
{
    diffs->cache = (struct cn_cache){.count_max = DIFF_MAX,
                                     .cost_max = COST_MAX,
                                     .free_value = free_diff,
                                     .is_busy = is_busy};
    cn_job_group_init(&diffs->jobs, RUNNING_MAX);
    (void)pthread_mutex_init(&diffs->lock, NULL);
}

void cn_served_diffs_done(struct cn_served_diffs *diffs)
{
    cn_job_group_cancel(&diffs->jobs);
    cn_cache_done(&diffs->cache);
    cn_job_group_done(&diffs->jobs);
    (void)pthread_mutex_destroy(&diffs->lock);
}

static bool add_database(struct cn_served_diff *diff, enum cn_side number,
                         struct cn_database *db, bool is_of_traces,
                         const struct cn_progress *progress, struct cn_error *err)
{
    const struct cn_diff_side *side = &diff->question.sides[number];
    struct cn_compare_run run = {
        .side = number,
        .db = db,
        .metric = diff->question.metric,
        .counts_waits = diff->question.counts_waits,
        .threads = side->threads.list,
        .threads_count = side->threads.count,
        .has_range = side->has_range,
        .is_recorded = diff->question.sides[!number].has_range,
        .is_of_traces = is_of_traces,
        .has_durations = !diff->question.has_threads_as_runs &&
                         diff->question.sides[CN_SIDE_A].source_count == 1 &&
                         diff->question.sides[CN_SIDE_B].source_count == 1,
    };

    if (side->has_range && db->has_timelines) {
        uint64_t span_ns = db->end_ns - db->begin_ns;

        run.begin_ns = db->begin_ns + side->begin_ns;
        run.end_ns = db->begin_ns + (side->end_ns < span_ns ? side->end_ns : span_ns);
        if (run.begin_ns >= run.end_ns)
            return cn_fail(err, CN_ERR_USAGE, "the range of time is empty");
    }
    return diff->question.has_threads_as_runs
               ? cn_comparison_add_threads(&diff->c, &run, progress, err)
               : cn_comparison_add(&diff->c, &run, progress, err);
}

/* The traces of a store that match a query, analysed as calls. */
static bool add_traces(struct cn_served_diff *diff, enum cn_side side, const char *path,
                       const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_open_options options = {.query = diff->question.sides[side].query};
    struct cn_opened opened;
    bool ok;

    if (!cn_open(&opened, path, 0, &options, err))
        return false;
    ok = cn_opened_load(&opened, CN_CONTEXTS, progress, err);
    if (ok) {
        note_damage(diff, path, opened.db->warnings);
        ok = add_database(diff, side, opened.db, true, progress, err);
    }
    cn_opened_close(&opened);
    return ok;
}

static bool find_facets(struct cn_served_diff *diff, const struct cn_progress *progress,
                        struct cn_error *err)
{
    struct cn_facet_side sides[CN_SIDES];

    for (int i = 0; i < CN_SIDES; i++)
        sides[i] = (struct cn_facet_side){diff->question.sides[i].sources[0]->path,
                                          diff->question.sides[i].query};
    return cn_trace_facets_find(&diff->facets, sides, progress, err);
}

static bool compare(struct cn_served_diff *diff, const struct cn_progress *progress,
                    struct cn_error *err)
{
    cn_comparison_init(&diff->c);
    for (int number = 0; number < CN_SIDES; number++) {
        const struct cn_diff_side *side = &diff->question.sides[number];

        for (size_t i = 0; i < side->source_count; i++) {
            struct cn_served *served = side->sources[i];

            if (!(served->kind == CN_SERVED_STORE
                      ? add_traces(diff, (enum cn_side)number, served->path, progress,
                                   err)
                      : add_database(diff, (enum cn_side)number, served->db,
                                     served->opened.is_of_traces, progress, err)))
                return cn_fail_in(err, "%s", served->path);
            note_damage(diff, served->path, served->db ? served->db->warnings : NULL);
        }
    }
    if (!cn_comparison_scale_by(&diff->c, diff->question.scaling, err))
        return false;
    cn_comparison_finish(&diff->c);
    return true;
}

static bool compute(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_diff *diff = arg;

    drop_results(diff); /* of a job that failed */
    bool ok = diff->question.wants_facets ? find_facets(diff, progress, err)
                                          : compare(diff, progress, err);
    diff->complete_ns = cn_clock_ns();
    return ok;
}

static void print_side(const struct cn_diff_side *side, struct cn_text *key)
{
    for (size_t i = 0; i < side->source_count; i++)
        cn_text_printf(key, "%p ", (const void *)side->sources[i]);
    if (side->has_range)
        cn_text_printf(key, "%" PRIu64 "~%" PRIu64, side->begin_ns, side->end_ns);
    for (size_t i = 0; i < side->threads.count; i++)
        cn_text_printf(key, "\nthread=%s", side->threads.list[i]);
    if (side->query)
        cn_text_printf(key, "\nquery=%s", side->query);
    cn_text_char(key, '\n');
}

/* Everything that distinguishes one comparison from another. */
static void print_key(const struct cn_diff_question *question, struct cn_text *key)
{
    cn_text_printf(key, "%d %d %d %d %s\n", (int)question->scaling,
                   question->counts_waits, question->has_threads_as_runs,
                   question->wants_facets, question->metric ? question->metric : "");
    for (int i = 0; i < CN_SIDES; i++)
        print_side(&question->sides[i], key);
}

static const char *copy(struct cn_arena *arena, const char *text)
{
    return text ? cn_arena_strdup(arena, text) : NULL;
}

/* Copy what the question of a request borrows from it. */
static void keep_question(struct cn_served_diff *diff,
                          const struct cn_diff_question *question)
{
    diff->question = *question;
    diff->question.metric = copy(&diff->arena, question->metric);
    for (int i = 0; i < CN_SIDES; i++) {
        struct cn_diff_side *side = &diff->question.sides[i];

        side->query = copy(&diff->arena, side->query);
        for (size_t k = 0; k < side->threads.count; k++)
            side->threads.list[k] = copy(&diff->arena, side->threads.list[k]);
    }
}

/* The sources are ready; `store_size` is that of all stores among them. */
static bool check_sources(const struct cn_diff_question *question, uint64_t *store_size,
                          struct cn_error *err)
{
    *store_size = 0;
    for (int i = 0; i < CN_SIDES; i++)
        for (size_t k = 0; k < question->sides[i].source_count; k++) {
            struct cn_served *served = question->sides[i].sources[k];

            if (served->kind != CN_SERVED_STORE && !cn_served_ready(served, err))
                return false;
            if (served->kind != CN_SERVED_STORE)
                continue;
            cn_served_lock(served);
            bool ok = cn_served_store_refresh(&served->store, err);
            *store_size += served->store.size;
            cn_served_unlock(served);
            if (!ok)
                return false;
        }
    return true;
}

/* With the lock held: the cached comparison, unless its stores have grown meanwhile. */
static struct cn_cached *find_diff(struct cn_served_diffs *diffs, const char *key,
                                   uint64_t store_size)
{
    struct cn_cached *entry = cn_cache_find(&diffs->cache, key);
    const struct cn_served_diff *diff = entry ? entry->value : NULL;

    if (!entry || diff->store_size == store_size || entry->pin_count > 0 ||
        is_busy(entry, NULL) || diff->complete_ns + fresh_ns > cn_clock_ns())
        return entry;
    cn_cache_remove(&diffs->cache, entry);
    return NULL;
}

/* With the lock held; NULL if all entries are in use. */
static struct cn_cached *add_diff(struct cn_served_diffs *diffs,
                                  const struct cn_diff_question *question,
                                  const char *key, uint64_t store_size)
{
    struct cn_served_diff *diff = cn_alloc(1, sizeof(*diff));

    diff->diffs = diffs;
    diff->store_size = store_size;
    keep_question(diff, question);
    diff->job = (struct cn_job){.group = &diffs->jobs,
                                .work = compute,
                                .arg = diff,
                                .what = "comparing",
                                .stops_unasked = true};
    (void)pthread_mutex_init(&diff->lock, NULL);
    diff->cached = cn_cache_add(&diffs->cache, key, diff, 0);
    if (diff->cached)
        return diff->cached;
    free_diff(diff);
    return NULL;
}

static void unpin(struct cn_served_diff *diff)
{
    (void)pthread_mutex_lock(&diff->diffs->lock);
    cn_cached_unpin(diff->cached);
    (void)pthread_mutex_unlock(&diff->diffs->lock);
}

bool cn_served_diff_borrow(struct cn_served_diffs *diffs,
                           const struct cn_diff_question *question,
                           struct cn_served_diff **out, struct cn_error *err)
{
    struct cn_text key = {0};
    struct cn_cached *entry;
    uint64_t store_size;

    if (!check_sources(question, &store_size, err))
        return false;
    print_key(question, &key);
    (void)pthread_mutex_lock(&diffs->lock);
    entry = find_diff(diffs, cn_text_str(&key), store_size);
    if (!entry)
        entry = add_diff(diffs, question, cn_text_str(&key), store_size);
    if (entry)
        cn_cached_pin(entry);
    (void)pthread_mutex_unlock(&diffs->lock);
    cn_text_done(&key);
    if (!entry)
        return cn_fail(err, CN_ERR_BUSY, "%d other comparisons are in use", DIFF_MAX);
    struct cn_served_diff *diff = entry->value;
    if (!cn_job_wait(&diff->job, err)) {
        unpin(diff);
        return false;
    }
    (void)pthread_mutex_lock(&diff->lock);
    *out = diff;
    return true;
}

void cn_served_diff_return(struct cn_served_diff *diff)
{
    uint64_t size = diff->c.node_count * NODE_LEN + rows_size(diff);

    (void)pthread_mutex_unlock(&diff->lock);
    (void)pthread_mutex_lock(&diff->diffs->lock);
    cn_cache_set_cost(&diff->diffs->cache, diff->cached, size);
    (void)pthread_mutex_unlock(&diff->diffs->lock);
    unpin(diff);
}

const struct cn_explanation *cn_served_diff_explain(struct cn_served_diff *diff,
                                                    size_t line_count)
{
    if (diff->line_count != line_count) {
        cn_explanation_done(&diff->explanation);
        cn_explain(&diff->explanation, &diff->c, line_count);
        diff->line_count = line_count;
    }
    return &diff->explanation;
}

static bool is_same_view(const struct cn_diff_view *a, const struct cn_diff_view *b)
{
    return a->view == b->view && a->is_total == b->is_total &&
           a->has_unchanged == b->has_unchanged && a->depth == b->depth;
}

struct cn_compare_rows *cn_served_diff_rows(struct cn_served_diff *diff,
                                            const struct cn_diff_view *view)
{
    size_t at = 0;

    while (at < diff->view_count && !is_same_view(&diff->views[at].view, view))
        at++;
    if (at < diff->view_count)
        return &diff->views[at].rows;
    if (rows_size(diff) > ROWS_MAX)
        drop_rows(diff);
    at = diff->next_view;
    diff->next_view = (at + 1) % CN_DIFF_VIEWS_MAX;
    if (diff->view_count < CN_DIFF_VIEWS_MAX)
        diff->view_count++;
    else
        cn_compare_rows_done(&diff->views[at].rows);
    diff->views[at].view = *view;
    cn_compare_rows_make(&diff->views[at].rows, &diff->c, view->view, view->is_total,
                         view->depth, view->has_unchanged);
    return &diff->views[at].rows;
}
