#include "analyze/timeline/range_database.h"

#include <stdlib.h>

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

/* Ids of values in threads and of their sums alike. */
enum { POINT, FUNCTION, EXECUTION, SCOPE_COUNT };

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
    struct cn_scope_instance instances[SCOPE_COUNT];
    struct cn_statistic statistics[SCOPE_COUNT];
    struct cn_metric metric;
    bool *is_listed; /* by context id */
    size_t id_limit;
};

/* While it is made. */
struct range_build {
    struct range_database *self;
    const struct cn_context_index *index;
    const struct cn_range_request *request;
    double *function, *total; /* seconds by node */
    bool *propagates;         /* by node: the function around it includes its time */
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

static void make_metric(struct range_database *self)
{
    int function = cn_metrics_find_scope(&self->overlay.source->metrics, "function");

    self->scopes[POINT] = (struct cn_scope){"point", CN_SCOPE_POINT, 0};
    self->scopes[FUNCTION] = (struct cn_scope){
        "function", CN_SCOPE_TRANSITIVE,
        function == CN_NO_ID
            ? 0
            : self->overlay.source->metrics.scopes[function].propagation};
    self->scopes[EXECUTION] = (struct cn_scope){"execution", CN_SCOPE_EXECUTION, 0};
    for (uint16_t i = 0; i < SCOPE_COUNT; i++) {
        self->instances[i] = (struct cn_scope_instance){i, i};
        self->statistics[i] = (struct cn_statistic){
            .scope = i, .stat_id = i, .combine = CN_COMBINE_SUM, .formula = "$$"};
    }
    self->metric = (struct cn_metric){
        .name = cn_range_metric(self->overlay.source),
        .instances = self->instances,
        .statistics = self->statistics,
        .instance_count = SCOPE_COUNT,
        .statistic_count = SCOPE_COUNT,
    };
    self->overlay.db.metrics = (struct cn_metrics){.scopes = self->scopes,
                                                   .list = &self->metric,
                                                   .scope_count = SCOPE_COUNT,
                                                   .count = 1};
    cn_taxonomy_build(&self->overlay.db.taxonomy, &self->overlay.db.metrics,
                      &self->overlay.db.arena);
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
    make_metric(self);
    for (size_t i = 1; i < count; i++)
        self->planes[i].profile = request->profiles[i - 1];
    return self;
}

/* Total and function of each node. Parents have smaller numbers than their children: one pass
 * backwards adds up. */
static void add_up(struct range_build *build, const uint64_t *ns)
{
    const struct cn_context_index *index = build->index;

    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t id = index->nodes[i].id;
        bool counts = index->node_of_id[id] == i; /* of contexts with the same id, one */

        build->total[i] = build->function[i] = counts ? (double)ns[id] / 1e9 : 0;
    }
    for (size_t i = index->count; i-- > 0;) {
        uint32_t parent = index->nodes[i].parent;

        if (parent == CN_NONE)
            continue;
        build->total[parent] += build->total[i];
        if (build->propagates[i])
            build->function[parent] += build->function[i];
    }
}

static void add_value(struct range_plane *plane, uint32_t context, uint16_t scope,
                      double value)
{
    if (!(value > 0))
        return;
    CN_PUSH(plane->values, plane->count, plane->capacity,
            (struct cn_value){value, context, scope});
}

static void fill_plane(struct range_build *build, struct range_plane *plane,
                       const uint64_t *ns)
{
    const struct cn_context_index *index = build->index;
    double whole = 0;

    add_up(build, ns);
    for (size_t i = index->count; i-- > 0;)
        if (index->nodes[i].parent == CN_NONE)
            whole += build->total[i];
    add_value(plane, 0, EXECUTION, whole);
    plane->context_count = whole > 0;
    for (uint32_t id = 1; id < index->id_limit; id++) {
        uint32_t node = index->node_of_id[id];

        if (node == CN_NONE || !(build->total[node] > 0))
            continue;
        add_value(plane, id, POINT, (double)ns[id] / 1e9);
        add_value(plane, id, FUNCTION, build->function[node]);
        add_value(plane, id, EXECUTION, build->total[node]);
        plane->context_count++;
    }
}

/* What is listed, and how its time propagates; from then on add_up() is right. */
static bool list_contexts(struct range_build *build, const uint64_t *ns,
                          struct cn_error *err)
{
    const struct cn_context_index *index = build->index;
    unsigned bit = build->self->scopes[FUNCTION].propagation;
    struct cn_context context;

    add_up(build, ns);
    for (size_t i = 0; i < index->count; i++) {
        if (!(build->total[i] > 0))
            continue;
        if (!cn_context_at(build->self->overlay.source, index->nodes[i].at, &context,
                           err))
            return false;
        build->self->is_listed[context.id] = true;
        build->propagates[i] = bit < 16 && (context.propagation >> bit & 1) != 0;
    }
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
    struct cn_range_sums sums;

    request.profiles = &plane->profile;
    request.profile_count = 1;
    if (!cn_range_sums_build(&sums, build->self->overlay.source, &request,
                             build->progress, err))
        return false;
    fill_plane(build, plane, sums.ns);
    cn_range_sums_done(&sums);
    if (!cn_spans_visit(build->self->overlay.source, plane->profile, request.begin_ns,
                        request.end_ns, add_span, plane, err))
        return false;
    plane->sample_count += plane->sample_count > 0;
    return true;
}

static bool fill(struct range_build *build, struct cn_error *err)
{
    struct range_database *self = build->self;
    struct cn_range_sums sums;
    bool ok;

    if (!cn_range_sums_build(&sums, self->overlay.source, build->request, build->progress,
                             err))
        return false;
    ok = list_contexts(build, sums.ns, err);
    if (ok)
        fill_plane(build, &self->planes[0], sums.ns);
    cn_range_sums_done(&sums);
    for (uint32_t i = 1; ok && i < self->overlay.db.profile_count; i++)
        ok = fill_thread(build, &self->planes[i], err);
    return ok;
}

bool cn_range_database_open(struct cn_database **out, struct cn_database *whole,
                            const struct cn_context_index *index,
                            const struct cn_range_request *request, bool has_threads,
                            const struct cn_progress *progress, struct cn_error *err)
{
    struct range_build build = {
        .self = new_database(whole, index, request, has_threads),
        .index = index,
        .request = request,
        .function = cn_alloc(index->count, sizeof(*build.function)),
        .total = cn_alloc(index->count, sizeof(*build.total)),
        .propagates = cn_alloc(index->count, sizeof(*build.propagates)),
        .progress = progress,
    };
    bool ok = fill(&build, err);

    free(build.function);
    free(build.total);
    free(build.propagates);
    if (ok)
        *out = &build.self->overlay.db;
    else
        close_database(&build.self->overlay.db);
    return ok;
}
