#include "formats/exchange/stacks/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_graph.h"
#include "base/alloc.h"

uint64_t cn_stack_value(double value)
{
    const double limit = 9007199254740992.0; /* whole numbers are exact up to here */

    if (!(value > 0))
        return 0;
    return value < limit ? (uint64_t)llround(value) : (uint64_t)limit;
}

static uint32_t add_place(struct cn_stacks *stacks, const struct cn_stack_place *place)
{
    stacks->places = cn_grow(stacks->places, stacks->place_count, &stacks->place_capacity,
                             sizeof(*stacks->places));
    stacks->places[stacks->place_count] = *place;
    return (uint32_t)stacks->place_count++;
}

static uint32_t add_node(struct cn_stacks *stacks, uint32_t parent, uint32_t place,
                         bool is_root)
{
    uint32_t at = (uint32_t)stacks->count;
    struct cn_stack_node *node, *above;

    stacks->nodes =
        cn_grow(stacks->nodes, stacks->count, &stacks->capacity, sizeof(*stacks->nodes));
    node = &stacks->nodes[stacks->count++];
    *node = (struct cn_stack_node){
        .parent = parent,
        .first_child = CN_NONE,
        .last_child = CN_NONE,
        .next = CN_NONE,
        .place = place,
        .is_root = is_root,
    };
    if (parent == CN_NONE)
        return at;
    above = &stacks->nodes[parent];
    node->depth = above->is_root ? 0 : above->depth + 1;
    if (above->last_child == CN_NONE)
        above->first_child = at;
    else
        stacks->nodes[above->last_child].next = at;
    above->last_child = at;
    return at;
}

static uint32_t place_of_session(struct cn_stacks *stacks, const struct cn_recording *rec,
                                 uint32_t session)
{
    const char *path = session < rec->session_count ? rec->sessions[session].exename : "";
    const char *slash = strrchr(path, '/');
    struct cn_stack_place place = {
        .name = slash ? slash + 1 : path, .module = "", .file = "", .build_id = ""};

    return add_place(stacks, &place);
}

static uint32_t place_of_call(struct cn_stacks *stacks, const struct cn_call_tree *tree,
                              const struct cn_graph_node *node, struct cn_map *known)
{
    const struct cn_recording *rec = tree->rec;
    uint32_t *place = cn_map_at(known, node->id, CN_NONE);
    char buffer[CN_CALL_NAME_MAX];
    struct cn_stack_place fresh = {.module = "", .file = "", .build_id = ""};

    if (*place != CN_NONE)
        return *place;
    fresh.name = cn_arena_strdup(&stacks->arena, cn_graph_node_name(tree, node, buffer));
    if (node->id < rec->function_count) {
        const struct cn_call_function *function = &rec->functions[node->id];

        fresh.module = rec->modules[function->module].path;
        fresh.build_id = rec->modules[function->module].build_id;
        fresh.file = function->file;
        fresh.line = function->line;
        fresh.address = function->offset;
    } else {
        fresh.address = node->address;
    }
    return *place = add_place(stacks, &fresh);
}

/* Nodes of the graph in walking order, without recursion: children are chained. */
static void add_calls(struct cn_stacks *stacks, const struct cn_call_tree *tree)
{
    struct cn_map places = {0};
    uint32_t *node_of = cn_alloc(tree->count, sizeof(*node_of));
    uint32_t at = tree->nodes[0].first_child;

    while (at != 0) {
        const struct cn_graph_node *node = &tree->nodes[at];
        bool is_root = node->parent == 0;
        uint32_t place = is_root ? place_of_session(stacks, tree->rec, node->id)
                                 : place_of_call(stacks, tree, node, &places);
        uint32_t made =
            add_node(stacks, is_root ? CN_NONE : node_of[node->parent], place, is_root);

        node_of[at] = made;
        stacks->nodes[made].calls = node->calls;
        stacks->nodes[made].self = (double)node->self_ns;
        if (node->first_child) {
            at = node->first_child;
            continue;
        }
        while (at != 0 && tree->nodes[at].next == 0)
            at = tree->nodes[at].parent;
        at = at ? tree->nodes[at].next : 0;
    }
    free(node_of);
    cn_map_done(&places);
}

void cn_stacks_of_tree(struct cn_stacks *out, const struct cn_call_tree *tree)
{
    struct cn_stacks stacks = {.metric = "time", .unit = "nanoseconds", .scale = 1};

    add_calls(&stacks, tree);
    *out = stacks;
}

bool cn_stacks_of_calls(struct cn_stacks *out, struct cn_export *x,
                        const struct cn_call_query *query, bool apart,
                        struct cn_error *err)
{
    struct cn_call_graph graph = {0};

    if (!cn_call_graph_build(&graph, query, x->workers, apart, err))
        return false;
    cn_stacks_of_tree(out, &graph.tree);
    for (size_t i = 0; i < graph.damages.count; i++)
        cn_call_damages_add(&x->damages, graph.damages.list[i].task,
                            &graph.damages.list[i].err);
    cn_call_graph_done(&graph);
    return true;
}

static bool find_metric(const struct cn_database *db, const char *name, size_t *out,
                        struct cn_error *err)
{
    const struct cn_metrics *metrics = &db->metrics;
    struct cn_text list = {0};
    size_t found = 0, match = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        if (metric->instance_count == 0)
            continue;
        cn_text_printf(&list, "%s%s", list.len ? ", " : "", metric->name);
        if (name && strcmp(metric->name, name) == 0) {
            found = 1;
            match = i;
            break;
        }
        if ((name && strncmp(metric->name, name, strlen(name)) == 0) ||
            (!name && found == 0)) {
            found++;
            match = i;
        }
    }
    if (found != 1)
        (void)cn_fail(err, CN_ERR_NOT_FOUND, "%s metric '%s'; there are: %s",
                      found ? "more than one" : "no", name ? name : "",
                      cn_text_str(&list));
    cn_text_done(&list);
    *out = match;
    return found == 1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* The values of a metric in the first scope of a type; false when it has none. */
static bool choose_scope(struct cn_stacks *stacks, const struct cn_database *db,
                         const struct cn_metric *metric, enum cn_scope_type type)
{
    int scope = cn_metrics_find_scope_type(&db->metrics, type);

    if (scope == CN_NO_ID)
        return false;
    stacks->prop_id = cn_metric_prop_id(metric, (unsigned)scope);
    stacks->stat_id = cn_metric_stat_id(metric, (unsigned)scope, "$$", CN_COMBINE_SUM);
    return stacks->prop_id != CN_NO_ID;
}

static bool choose_metric(struct cn_stacks *stacks, const struct cn_database *db,
                          const char *name, struct cn_error *err)
{
    const struct cn_metric *metric;
    size_t index;

    if (!find_metric(db, name, &index, err))
        return false;
    metric = &db->metrics.list[index];
    /* Points may be instructions that the database does not describe; what is spent
     * below a context always has one. */
    stacks->is_total = choose_scope(stacks, db, metric, CN_SCOPE_EXECUTION);
    if (!stacks->is_total && !choose_scope(stacks, db, metric, CN_SCOPE_POINT))
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "metric '%s' has neither point nor execution values",
                       metric->name);
    stacks->metric = metric->name;
    stacks->unit = ends_with(metric->name, "(sec)") ? "nanoseconds" : "count";
    stacks->scale = ends_with(metric->name, "(sec)") ? 1e9 : 1;
    return true;
}

/* Where the function of a context is, as far as the database knows. */
static bool describe(struct cn_database *db, const struct cn_context *context,
                     struct cn_stack_place *place, struct cn_error *err)
{
    struct cn_function function = {.module = CN_NONE, .file = CN_NONE};
    struct cn_module module;
    struct cn_source_file file;

    if (context->has_function && context->function != CN_NONE &&
        !cn_database_function(db, context->function, &function, err))
        return false;
    if (context->has_point && function.module == CN_NONE)
        function.module = context->module;
    if (context->has_source && function.file == CN_NONE) {
        function.file = context->file;
        function.line = context->line;
    }
    place->line = function.line;
    place->address = function.offset;
    if (function.module != CN_NONE) {
        if (!cn_database_module(db, function.module, &module, err))
            return false;
        place->module = module.path;
    }
    if (function.file != CN_NONE) {
        if (!cn_database_file(db, function.file, &file, err))
            return false;
        place->file = file.path;
    }
    return true;
}

static bool add_frames(struct cn_stacks *stacks, struct cn_database *db,
                       struct cn_error *err)
{
    const struct cn_frames *frames = &stacks->frames;

    for (size_t i = 0; i < frames->names.count; i++) {
        struct cn_stack_place place = {
            .name = frames->names.list[i], .module = "", .file = "", .build_id = ""};

        (void)add_place(stacks, &place);
    }
    stacks->node_of_frame = cn_alloc(frames->count, sizeof(*stacks->node_of_frame));
    for (size_t i = 0; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];
        bool is_root = i > 0 && frame->depth == 0;

        stacks->node_of_frame[i] = add_node(
            stacks,
            frame->parent == CN_NONE ? CN_NONE : stacks->node_of_frame[frame->parent],
            frame->place, is_root);
    }
    for (size_t i = 0; i < frames->index.count; i++) {
        struct cn_stack_place *place =
            &stacks->places[frames->list[frames->of_node[i]].place];
        struct cn_context context;

        if (place->module[0] || place->file[0])
            continue;
        if (!cn_context_at(db, frames->index.nodes[i].at, &context, err) ||
            !describe(db, &context, place, err))
            return false;
    }
    return true;
}

/* What a context holds of those below it is theirs alone; contexts that no record
 * describes are part of those above them. */
static void add_value(struct cn_stacks *stacks, const struct cn_value *value)
{
    const struct cn_frames *frames = &stacks->frames;
    uint32_t node = cn_context_index_find(&frames->index, value->key);
    uint32_t frame = node == CN_NONE ? 0 : frames->of_node[node], parent;
    double part = value->value * stacks->scale;

    if (node == CN_NONE && stacks->is_total)
        return;
    stacks->nodes[stacks->node_of_frame[frame]].self += part;
    if (!stacks->is_total || frames->index.nodes[node].parent == CN_NONE)
        return;
    parent = frames->of_node[frames->index.nodes[node].parent];
    stacks->nodes[stacks->node_of_frame[parent]].self -= part;
}

/* The values of one plane, added to those of their frames. */
static bool add_plane(struct cn_stacks *stacks, struct cn_database *db, uint32_t profile,
                      int metric, struct cn_error *err)
{
    struct cn_value_cursor *cursor = cn_alloc(1, sizeof(*cursor));
    struct cn_value_batch batch;
    enum cn_step step = CN_FAIL;

    if (cn_profile_values(db, profile, 1, UINT32_MAX, cursor, err)) {
        while ((step = cn_values_next(cursor, &batch, err)) == CN_ITEM) {
            for (size_t i = 0; i < batch.count; i++)
                if (batch.values[i].metric == metric)
                    add_value(stacks, &batch.values[i]);
        }
    }
    free(cursor);
    return step == CN_END;
}

bool cn_stacks_load(struct cn_stacks *stacks, struct cn_database *db, uint32_t profile,
                    struct cn_error *err)
{
    struct cn_profile about;

    for (size_t i = 0; i < stacks->count; i++)
        stacks->nodes[i].self = 0;
    if (!cn_database_profile(db, profile, &about, err))
        return false;
    return add_plane(stacks, db, profile,
                     about.is_summary ? stacks->stat_id : stacks->prop_id, err);
}

static bool sum_threads(struct cn_stacks *stacks, struct cn_database *db,
                        struct cn_error *err)
{
    if (stacks->stat_id != CN_NO_ID)
        return cn_stacks_load(stacks, db, 0, err);
    for (uint32_t i = 1; i < db->profile_count; i++) {
        struct cn_profile about;

        if (!cn_database_profile(db, i, &about, err) ||
            (!about.is_summary && !add_plane(stacks, db, i, stacks->prop_id, err)))
            return false;
    }
    return true;
}

bool cn_stacks_of_database(struct cn_stacks *out, struct cn_database *db,
                           const char *metric, struct cn_error *err)
{
    struct cn_stacks stacks = {0};

    if (!choose_metric(&stacks, db, metric, err) ||
        !cn_frames_build(&stacks.frames, db, NULL, err))
        return false;
    if (!add_frames(&stacks, db, err) || !sum_threads(&stacks, db, err)) {
        cn_stacks_done(&stacks);
        return false;
    }
    *out = stacks;
    return true;
}

bool cn_stacks_lose(const struct cn_stacks *stacks, struct cn_export *x,
                    bool keeps_threads, struct cn_error *err)
{
    struct cn_database *db = x->db;
    uint64_t sample_count = 0, thread_count = 0;

    for (uint32_t i = 1; i < db->profile_count; i++) {
        struct cn_timeline timeline;
        struct cn_profile about;

        if (!cn_database_profile(db, i, &about, err))
            return false;
        thread_count += !about.is_summary;
        if (db->has_timelines) {
            if (!cn_timeline_open(db, i, &timeline, err))
                return false;
            sample_count += timeline.count;
        }
    }
    cn_export_lose(x, "other metrics (choose one with --metric)", db->metrics.count - 1);
    if (thread_count > 1 && !keeps_threads)
        cn_export_lose(x, "threads, of which only the sum is kept", thread_count);
    cn_export_lose(x, "loops, lines and instructions: they count for their function",
                   stacks->frames.index.count - (stacks->frames.count - 1));
    cn_export_lose(x, "samples of timelines", sample_count);
    return true;
}

bool cn_stacks_of(struct cn_stacks *stacks, struct cn_export *x, struct cn_error *err)
{
    uint64_t calls = 0;

    if (x->db) {
        if (!cn_stacks_of_database(stacks, x->db, x->options->metric, err))
            return false;
        if (cn_stacks_lose(stacks, x, false, err))
            return true;
        cn_stacks_done(stacks);
        return false;
    }
    if (!cn_stacks_of_calls(stacks, x, x->query, false, err))
        return false;
    for (size_t i = 0; i < stacks->count; i++)
        calls += stacks->nodes[i].calls;
    cn_export_lose(x, "calls, of which only the sums are kept", calls);
    if (x->query->task_count > 1)
        cn_export_lose(x, "tasks, of which only the sum is kept", x->query->task_count);
    return true;
}

double *cn_stacks_totals(const struct cn_stacks *stacks)
{
    double *totals = cn_alloc(stacks->count, sizeof(*totals));

    for (size_t i = stacks->count; i-- > 0;) {
        const struct cn_stack_node *node = &stacks->nodes[i];

        totals[i] += node->self > 0 ? node->self : 0;
        if (node->parent != CN_NONE)
            totals[node->parent] += totals[i];
    }
    return totals;
}

void cn_stacks_done(struct cn_stacks *stacks)
{
    free(stacks->nodes);
    free(stacks->places);
    free(stacks->node_of_frame);
    cn_frames_done(&stacks->frames);
    cn_arena_done(&stacks->arena);
    *stacks = (struct cn_stacks){0};
}
