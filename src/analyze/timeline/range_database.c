#include "analyze/timeline/range_database.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/recorder_cost.h"
#include "analyze/time_base.h"
#include "analyze/timeline/range_sums.h"
#include "analyze/timeline/spans.h"
#include "analyze/views/context_index.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "model/contexts/database_overlay.h"
#include "model/heap_history.h"
#include "model/memory/metrics.h"

/* Ids of values in threads and of their sums alike: of each metric these. */
enum { POINT, FUNCTION, EXECUTION, SCOPE_COUNT };

/* Time, and memory where it is known over time. */
enum { TIME, LIVE_START, LIVE_END, GROWN, SHRUNK, METRIC_COUNT };

struct range_plane {
    struct cn_value *values; /* by context and scope */
    size_t count, capacity;
    uint32_t context_count;
    uint32_t profile; /* of the whole database */
    struct cn_sample *samples;
    size_t sample_count, sample_capacity;
};

struct range_database {
    struct cn_database_overlay overlay; /* first: operations receive a pointer to it */
    struct cn_database_ops ops;
    struct range_plane *planes; /* the sums, then threads */
    struct cn_scope scopes[SCOPE_COUNT];
    struct cn_scope_instance instances[METRIC_COUNT][SCOPE_COUNT];
    struct cn_statistic statistics[METRIC_COUNT][SCOPE_COUNT];
    struct cn_metric metrics[METRIC_COUNT];
    size_t metric_count;
    bool *is_listed; /* by context id */
    size_t id_limit;
};

/* While it is made. */
struct range_build {
    struct range_database *database;
    const struct cn_context_index *index;
    const struct cn_range_request *request;
    double *self[METRIC_COUNT]; /* seconds or bytes by context */
    double *function[METRIC_COUNT], *total[METRIC_COUNT]; /* by node */
    bool *propagates; /* by node: the function around it includes its time */
    const struct cn_progress *progress;
};

static struct range_database *self_of(struct cn_database *db)
{
    return (struct range_database *)db;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    struct range_database *self = self_of(db);
    const struct range_plane *plane = &self->planes[index];

    *out = (struct cn_profile){.is_summary = true};
    if (index > 0 && !cn_database_profile(self->overlay.source, plane->profile, out, err))
        return false;
    out->value_count = plane->count;
    out->context_count = plane->context_count;
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    struct range_database *self = self_of(db);
    enum cn_step step;

    while ((step = cn_context_next(self->overlay.source, cursor, out, err)) == CN_ITEM)
        if (out->id < self->id_limit && self->is_listed[out->id])
            break;
    return step;
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    const struct range_plane *plane = &self_of(db)->planes[cursor->owner];

    (void)err;
    cn_values_seek(cursor, plane->values, plane->count);
    return true;
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    (void)err;
    return cn_values_take(cursor, self_of(cursor->db)->planes[cursor->owner].values,
                          CN_VALUE_BATCH, out);
}

static bool timeline(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err)
{
    (void)err;
    *out = (struct cn_timeline){.count = self_of(db)->planes[profile].sample_count,
                                .at = profile};
    return true;
}

static bool samples(struct cn_database *db, const struct cn_timeline *from,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    const struct cn_sample *list = self_of(db)->planes[from->at].samples;

    (void)err;
    for (size_t i = 0; i < count; i++)
        out[i] = list[first + i];
    return true;
}

static void close_database(struct cn_database *db)
{
    struct range_database *self = self_of(db);

    for (size_t i = 0; i < db->profile_count; i++) {
        free(self->planes[i].values);
        free(self->planes[i].samples);
    }
    free(self->planes);
    free(self->is_listed);
    cn_arena_done(&db->arena);
    free(self);
}

static struct cn_database_ops make_ops(void)
{
    struct cn_database_ops ops = cn_database_overlay_ops;

    ops.profile = get_profile;
    ops.child_next = child_next;
    ops.values_begin = values_begin;
    ops.values_next = values_next;
    ops.timeline = timeline;
    ops.samples = samples;
    ops.close = close_database;
    return ops;
}

const char *cn_range_metric(const struct cn_database *whole)
{
    return cn_metrics_have_waits(&whole->metrics) ? CN_CPU_TIME_NAME : CN_TIME_NAME;
}

static const char *metric_name(const struct range_database *self, unsigned metric)
{
    static const char *const names[METRIC_COUNT] = {
        [LIVE_START] = "live at start (B)",
        [GROWN] = "grown (B)",
        [SHRUNK] = "shrunk (B)",
    };

    if (metric == LIVE_END)
        return cn_heap_metric_name(CN_HEAP_LIVE_END);
    return metric == TIME ? cn_range_metric(self->overlay.source) : names[metric];
}

static void make_metric(struct range_database *self, unsigned metric)
{
    for (uint16_t i = 0; i < SCOPE_COUNT; i++) {
        uint16_t id = (uint16_t)(metric * SCOPE_COUNT + i);

        self->instances[metric][i] = (struct cn_scope_instance){i, id};
        self->statistics[metric][i] = (struct cn_statistic){
            .scope = i, .stat_id = id, .combine = CN_COMBINE_SUM, .formula = "$$"};
    }
    self->metrics[metric] = (struct cn_metric){
        .name = metric_name(self, metric),
        .instances = self->instances[metric],
        .statistics = self->statistics[metric],
        .instance_count = SCOPE_COUNT,
        .statistic_count = SCOPE_COUNT,
    };
}

static void make_metrics(struct range_database *self)
{
    int function = cn_metrics_find_scope(&self->overlay.source->metrics, "function");

    self->scopes[POINT] = (struct cn_scope){"point", CN_SCOPE_POINT, 0};
    self->scopes[FUNCTION] = (struct cn_scope){
        "function", CN_SCOPE_TRANSITIVE,
        function == CN_NO_ID
            ? 0
            : self->overlay.source->metrics.scopes[function].propagation};
    self->scopes[EXECUTION] = (struct cn_scope){"execution", CN_SCOPE_EXECUTION, 0};
    self->metric_count = self->overlay.source->heap ? METRIC_COUNT : TIME + 1;
    for (unsigned m = 0; m < self->metric_count; m++)
        make_metric(self, m);
    self->overlay.db.metrics = (struct cn_metrics){.scopes = self->scopes,
                                                   .list = self->metrics,
                                                   .scope_count = SCOPE_COUNT,
                                                   .count = self->metric_count};
    cn_taxonomy_build(&self->overlay.db.taxonomy, &self->overlay.db.metrics,
                      &self->overlay.db.arena);
    cn_heap_taxonomy(&self->overlay.db.taxonomy, &self->overlay.db.arena);
}

/* Samples have recorded times: nothing was subtracted from them. */
static const char *describe(struct cn_arena *arena, const struct cn_database *whole)
{
    struct cn_text text = {0};
    const char *description = whole->description;

    if (description && cn_time_base_of_timeline(whole).source == CN_TIME_RECORDED) {
        cn_recorder_cost_replace(&text, description);
        description = cn_arena_strdup(arena, cn_text_str(&text));
        cn_text_done(&text);
    }
    return description;
}

static struct range_database *new_database(struct cn_database *whole,
                                           const struct cn_context_index *index,
                                           const struct cn_range_request *request,
                                           bool has_threads)
{
    struct range_database *self = cn_alloc(1, sizeof(*self));
    size_t count = 1 + (has_threads ? request->profile_count : 0);

    self->ops = make_ops();
    self->overlay.source = whole;
    self->planes = cn_alloc(count, sizeof(*self->planes));
    self->id_limit = index->id_limit;
    self->is_listed = cn_alloc(index->id_limit + 1, sizeof(*self->is_listed));
    self->overlay.db = (struct cn_database){
        .ops = &self->ops,
        .path = whole->path,
        .title = whole->title,
        .kinds = whole->kinds,
        .profile_count = (uint32_t)count,
        .module_count = whole->module_count,
        .file_count = whole->file_count,
        .function_count = whole->function_count,
        .modules = whole->modules,
        .files = whole->files,
        .functions = whole->functions,
        .context_limit = whole->context_limit,
        .context_weight = whole->context_weight,
        .has_timelines = has_threads,
        .has_exact_counts = true,
        .begin_ns = request->begin_ns,
        .end_ns = request->end_ns,
    };
    self->overlay.db.description = describe(&self->overlay.db.arena, whole);
    make_metrics(self);
    for (size_t i = 1; i < count; i++)
        self->planes[i].profile = request->profiles[i - 1];
    return self;
}

/* Total and function of each node. Parents have smaller numbers than their children: one pass
 * backwards adds up. */
static void add_up(struct range_build *build, unsigned metric)
{
    const struct cn_context_index *index = build->index;
    double *total = build->total[metric], *function = build->function[metric];

    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t id = index->nodes[i].id;
        bool counts = index->node_of_id[id] == i; /* of contexts with the same id, one */

        total[i] = function[i] = counts ? build->self[metric][id] : 0;
    }
    for (size_t i = index->count; i-- > 0;) {
        uint32_t parent = index->nodes[i].parent;

        if (parent == CN_NONE)
            continue;
        total[parent] += total[i];
        if (build->propagates[i])
            function[parent] += function[i];
    }
}

static void add_up_all(struct range_build *build)
{
    for (unsigned m = 0; m < build->database->metric_count; m++)
        add_up(build, m);
}

static void add_value(struct range_plane *plane, uint32_t context, unsigned metric,
                      unsigned scope, double value)
{
    if (!(value > 0))
        return;
    CN_PUSH(plane->values, plane->count, plane->capacity,
            (struct cn_value){value, context, (uint16_t)(metric * SCOPE_COUNT + scope)});
}

static bool has_total(const struct range_build *build, size_t node)
{
    bool has = false;

    for (unsigned m = 0; m < build->database->metric_count; m++)
        has = has || build->total[m][node] > 0;
    return has;
}

static void fill_plane(struct range_build *build, struct range_plane *plane)
{
    const struct cn_context_index *index = build->index;
    unsigned metric_count = (unsigned)build->database->metric_count;
    bool has_any = false;

    add_up_all(build);
    for (unsigned m = 0; m < metric_count; m++) {
        double whole = 0;

        for (size_t i = index->count; i-- > 0;)
            if (index->nodes[i].parent == CN_NONE)
                whole += build->total[m][i];
        add_value(plane, 0, m, EXECUTION, whole);
        has_any = has_any || whole > 0;
    }
    plane->context_count = has_any;
    for (uint32_t id = 1; id < index->id_limit; id++) {
        uint32_t node = index->node_of_id[id];

        if (node == CN_NONE || !has_total(build, node))
            continue;
        for (unsigned m = 0; m < metric_count; m++) {
            add_value(plane, id, m, POINT, build->self[m][id]);
            add_value(plane, id, m, FUNCTION, build->function[m][node]);
            add_value(plane, id, m, EXECUTION, build->total[m][node]);
        }
        plane->context_count++;
    }
}

/* What is listed, and how its costs propagate; from then on add_up() is right. */
static bool list_contexts(struct range_build *build, struct cn_error *err)
{
    const struct cn_context_index *index = build->index;
    unsigned bit = build->database->scopes[FUNCTION].propagation;
    struct cn_context context;

    add_up_all(build);
    for (size_t i = 0; i < index->count; i++) {
        if (!has_total(build, i))
            continue;
        if (!cn_context_at(build->database->overlay.source, index->nodes[i].at, &context,
                           err))
            return false;
        build->database->is_listed[context.id] = true;
        build->propagates[i] = bit < 16 && (context.propagation >> bit & 1) != 0;
    }
    return true;
}

/* What the threads of a request had allocated at its begin and end. */
static void read_heap(struct range_build *build, const struct cn_range_request *request)
{
    const struct cn_database *whole = build->database->overlay.source;
    const struct cn_heap_history *heap = whole->heap;
    bool *is_asked = cn_alloc(whole->profile_count, sizeof(*is_asked));
    bool is_to_end = request->end_ns >= whole->end_ns;

    for (unsigned m = LIVE_START; m < METRIC_COUNT; m++)
        memset(build->self[m], 0, build->index->id_limit * sizeof(**build->self));
    for (size_t i = 0; i < request->profile_count; i++)
        is_asked[request->profiles[i]] = true;
    for (size_t i = 0; i < heap->change_count; i++) {
        const struct cn_heap_change *change = &heap->changes[i];

        if (change->time_ns > request->end_ns && !is_to_end)
            break;
        if (change->context >= build->index->id_limit || !is_asked[change->profile])
            continue;
        build->self[LIVE_END][change->context] += change->bytes;
        if (change->time_ns <= request->begin_ns)
            build->self[LIVE_START][change->context] += change->bytes;
    }
    for (uint32_t id = 0; id < build->index->id_limit; id++) {
        double grown = build->self[LIVE_END][id] - build->self[LIVE_START][id];

        build->self[GROWN][id] = grown > 0 ? grown : 0;
        build->self[SHRUNK][id] = grown < 0 ? -grown : 0;
    }
    free(is_asked);
}

static bool read_costs(struct range_build *build, const struct cn_range_request *request,
                       struct cn_error *err)
{
    struct cn_range_sums sums;

    if (!cn_range_sums_build(&sums, build->database->overlay.source, request,
                             build->progress, err))
        return false;
    for (uint32_t id = 0; id < build->index->id_limit; id++)
        build->self[TIME][id] = (double)sums.ns[id] / 1e9;
    cn_range_sums_done(&sums);
    if (build->database->metric_count > TIME + 1)
        read_heap(build, request);
    return true;
}

static void add_span(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct range_plane *plane = arg;

    CN_GROW(plane->samples, plane->sample_count + 1, plane->sample_capacity);
    plane->samples[plane->sample_count++] = (struct cn_sample){begin_ns, context};
    /* The last one of all lasts no time: it ends the one before. */
    plane->samples[plane->sample_count] = (struct cn_sample){end_ns, 0};
}

static bool fill_thread(struct range_build *build, struct range_plane *plane,
                        struct cn_error *err)
{
    struct cn_range_request request = *build->request;

    request.profiles = &plane->profile;
    request.profile_count = 1;
    if (!read_costs(build, &request, err))
        return false;
    fill_plane(build, plane);
    if (!cn_spans_visit(build->database->overlay.source, plane->profile, request.begin_ns,
                        request.end_ns, add_span, plane, err))
        return false;
    plane->sample_count += plane->sample_count > 0;
    return true;
}

static bool fill(struct range_build *build, struct cn_error *err)
{
    struct range_database *self = build->database;
    bool ok = read_costs(build, build->request, err) && list_contexts(build, err);

    if (ok)
        fill_plane(build, &self->planes[0]);
    for (uint32_t i = 1; ok && i < self->overlay.db.profile_count; i++)
        ok = fill_thread(build, &self->planes[i], err);
    return ok;
}

static void alloc_costs(struct range_build *build)
{
    for (unsigned m = 0; m < build->database->metric_count; m++) {
        build->self[m] = cn_alloc(build->index->id_limit + 1, sizeof(**build->self));
        build->function[m] = cn_alloc(build->index->count, sizeof(**build->function));
        build->total[m] = cn_alloc(build->index->count, sizeof(**build->total));
    }
}

static void free_costs(struct range_build *build)
{
    for (unsigned m = 0; m < build->database->metric_count; m++) {
        free(build->self[m]);
        free(build->function[m]);
        free(build->total[m]);
    }
    free(build->propagates);
}

bool cn_range_database_open(struct cn_database **out, struct cn_database *whole,
                            const struct cn_context_index *index,
                            const struct cn_range_request *request, bool has_threads,
                            const struct cn_progress *progress, struct cn_error *err)
{
    struct range_build build = {
        .database = new_database(whole, index, request, has_threads),
        .index = index,
        .request = request,
        .propagates = cn_alloc(index->count, sizeof(*build.propagates)),
        .progress = progress,
    };

    alloc_costs(&build);
    bool ok = fill(&build, err);
    free_costs(&build);
    if (ok)
        *out = &build.database->overlay.db;
    else
        close_database(&build.database->overlay.db);
    return ok;
}
