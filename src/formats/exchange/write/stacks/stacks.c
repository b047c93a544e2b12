#include "formats/exchange/write/stacks/stacks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/graph.h"
#include "analyze/views/frames.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/path.h"

uint64_t cn_stack_value(double value)
{
    const double limit = 9007199254740992.0; /* whole numbers are exact up to here */

    if (!(value > 0))
        return 0;
    return value < limit ? (uint64_t)llround(value) : (uint64_t)limit;
}

struct cn_stack_function cn_stack_function(const struct cn_recording *rec,
                                           const struct cn_call_ids *ids, uint32_t id,
                                           char *buffer)
{
    uint64_t address = cn_call_ids_address(ids, rec, id);
    struct cn_stack_function function = {
        .name = cn_call_name(rec, address ? CN_NONE : id, address, buffer),
        .module = "",
        .file = "",
        .build_id = "",
        .address = address,
    };

    if (id < rec->function_count) {
        const struct cn_call_function *known = &rec->functions[id];

        function.module = rec->modules[known->module].path;
        function.build_id = rec->modules[known->module].build_id;
        function.file = known->file;
        function.line = known->line;
        function.address = known->offset;
    }
    return function;
}

static uint32_t add_function(struct cn_stacks *stacks,
                             const struct cn_stack_function *function)
{
    CN_GROW(stacks->functions, stacks->function_count, stacks->function_capacity);
    stacks->functions[stacks->function_count] = *function;
    return (uint32_t)stacks->function_count++;
}

/* A function of which only the name is known. */
static uint32_t add_name(struct cn_stacks *stacks, const char *name)
{
    return add_function(stacks,
                        &(struct cn_stack_function){
                            .name = name, .module = "", .file = "", .build_id = ""});
}

static uint32_t add_node(struct cn_stacks *stacks, uint32_t parent, uint32_t function,
                         bool is_root)
{
    const struct cn_stack_node *above = parent == CN_NONE ? NULL : &stacks->nodes[parent];
    struct cn_stack_node node = {
        .parent = parent,
        .function = function,
        .depth = above && !above->is_root ? above->depth + 1 : 0,
        .is_root = is_root,
    };

    CN_GROW(stacks->nodes, stacks->count, stacks->capacity);
    stacks->nodes[stacks->count] = node;
    return (uint32_t)stacks->count++;
}

static uint32_t add_session(struct cn_stacks *stacks, const struct cn_recording *rec,
                            uint32_t session)
{
    const char *path = session < rec->session_count ? rec->sessions[session].exename : "";

    return add_name(stacks, cn_path_name(path));
}

static uint32_t add_called(struct cn_stacks *stacks, const struct cn_call_tree *tree,
                           uint32_t node, struct cn_map *known)
{
    uint32_t id = cn_call_tree_id(tree, node);
    uint32_t *index = cn_map_at(known, id, CN_NONE);
    char buffer[CN_CALL_NAME_MAX];

    if (*index == CN_NONE) {
        struct cn_stack_function function =
            cn_stack_function(tree->rec, &tree->ids, id, buffer);

        function.name = cn_arena_strdup(&stacks->arena, function.name);
        if (id >= tree->rec->function_count)
            function.address = tree->nodes[node].address;
        *index = add_function(stacks, &function);
    }
    return *index;
}

static bool is_wait(const struct cn_call_tree *tree, uint32_t node)
{
    uint32_t id = cn_call_tree_id(tree, node);

    return cn_call_tree_parent(tree, node) != 0 &&
           (id == cn_call_schedule_id(tree->rec, false) ||
            id == cn_call_schedule_id(tree->rec, true));
}

void cn_stacks_of_tree(struct cn_stacks *out, const struct cn_call_tree *tree,
                       enum cn_stack_waits waits)
{
    struct cn_stacks stacks = {.metric = "time", .unit = "nanoseconds", .scale = 1};
    struct cn_map functions = {0};
    uint32_t *node_of = cn_alloc(tree->paths.count, sizeof(*node_of));

    for (uint32_t at = cn_call_tree_first(tree, 0); at != 0;
         at = cn_tree_after(&tree->paths, 0, at, false)) {
        const struct cn_graph_node *node = &tree->nodes[at];
        uint32_t parent = cn_call_tree_parent(tree, at), function;

        if (waits != CN_WAITS_CALLED && is_wait(tree, at)) {
            node_of[at] = node_of[parent];
            if (waits == CN_WAITS_COUNTED)
                stacks.nodes[node_of[at]].self += (double)node->self_ns;
            else
                stacks.waited_ns += node->self_ns;
            continue;
        }
        function = parent == 0
                       ? add_session(&stacks, tree->rec, cn_call_tree_id(tree, at))
                       : add_called(&stacks, tree, at, &functions);
        node_of[at] = add_node(&stacks, parent == 0 ? CN_NONE : node_of[parent], function,
                               parent == 0);
        stacks.nodes[node_of[at]].calls = node->calls;
        if (parent != 0)
            stacks.nodes[node_of[at]].self = (double)node->self_ns;
    }
    if (stacks.waited_ns > 0)
        stacks.metric = "cpu time";
    free(node_of);
    cn_map_done(&functions);
    *out = stacks;
}

bool cn_stacks_of_calls(struct cn_stacks *out, struct cn_export *x,
                        const struct cn_call_query *query, bool apart,
                        struct cn_error *err)
{
    struct cn_call_graph graph = {0};

    if (!cn_call_graph_build(&graph, query, x->workers,
                             (struct cn_call_graph_options){.is_apart = apart}, err))
        return false;
    cn_stacks_of_tree(out, &graph.tree,
                      x->options->counts_waits ? CN_WAITS_COUNTED : CN_WAITS_OMITTED);
    cn_export_lose(x, "ns of waiting (--waits counts it)", out->waited_ns);
    for (size_t i = 0; i < graph.damages.count; i++)
        cn_export_damage(x, graph.damages.list[i].task, &graph.damages.list[i].err);
    cn_call_graph_done(&graph);
    return true;
}

/* The metric whose name is `name` or begins with it; NULL: the first metric. */
static const struct cn_metric *find_metric(const struct cn_metrics *metrics,
                                           const char *name, struct cn_error *err)
{
    const struct cn_metric *match = NULL;
    struct cn_text list = {0};
    size_t found = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        if (metric->instance_count == 0)
            continue;
        cn_text_printf(&list, "%s%s", list.len ? ", " : "", metric->name);
        if (name && strcmp(metric->name, name) == 0) {
            found = 1;
            match = metric;
            break;
        }
        if (name ? strncmp(metric->name, name, strlen(name)) == 0 : found == 0) {
            found++;
            match = metric;
        }
    }
    if (found != 1)
        (void)cn_fail(err, CN_ERR_NOT_FOUND, "%s metric '%s'; there are: %s",
                      found ? "more than one" : "no", name ? name : "",
                      cn_text_str(&list));
    cn_text_done(&list);
    return found == 1 ? match : NULL;
}

/* Use the values of a metric in the first scope of a type; false if it has none. */
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

bool cn_stacks_choose(struct cn_stacks *stacks, const struct cn_database *db,
                      const struct cn_metric *metric, struct cn_error *err)
{
    /* Point values may belong to instructions that the database does not describe. Total
     * values always have a described context. */
    stacks->is_total = choose_scope(stacks, db, metric, CN_SCOPE_EXECUTION);
    if (!stacks->is_total && !choose_scope(stacks, db, metric, CN_SCOPE_POINT))
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "metric '%s' has neither point nor execution values",
                       metric->name);
    size_t len = strlen(metric->name);
    bool is_time = len >= 5 && strcmp(metric->name + len - 5, "(sec)") == 0;
    stacks->metric = metric->name;
    stacks->unit = is_time ? "nanoseconds" : "count";
    stacks->scale = is_time ? 1e9 : 1;
    return true;
}

static bool choose_metric(struct cn_stacks *stacks, const struct cn_database *db,
                          const char *name, bool counts_waits, struct cn_error *err)
{
    const struct cn_metric *metric = find_metric(&db->metrics, name, err);

    if (!name && metric && strcmp(metric->name, CN_TIME_NAME) == 0 &&
        cn_metrics_have_waits(&db->metrics))
        metric = find_metric(&db->metrics, cn_shown_time(counts_waits), err);
    return metric && cn_stacks_choose(stacks, db, metric, err);
}

/* The function of a frame. Places have names alone: functions of other modules with the same
 * name are other functions. */
static bool find_function(struct cn_stacks *stacks, struct cn_database *db,
                          uint32_t place, const struct cn_context *context,
                          struct cn_names *known, uint32_t *out, struct cn_error *err)
{
    struct cn_export_location location;

    if (!cn_export_locate(db, context, true, &location, err))
        return false;
    char *key = cn_strprintf("%" PRIu32 " %s", place, location.module);
    *out = cn_names_add(known, key);
    free(key);
    if (*out == stacks->function_count)
        (void)add_name(stacks, stacks->frames->names.list[place]);
    return true;
}

/* Add the node of the next frame, which has the same number; this is its first context. */
static bool add_frame(struct cn_stacks *stacks, struct cn_database *db,
                      const struct cn_context *context, struct cn_names *known,
                      struct cn_error *err)
{
    const struct cn_frame *frame = &stacks->frames->list[stacks->count];
    uint32_t function;

    if (!find_function(stacks, db, frame->place, context, known, &function, err))
        return false;
    (void)add_node(stacks, frame->parent, function,
                   stacks->count > 0 && frame->depth == 0);
    return true;
}

static bool add_frames(struct cn_stacks *stacks, struct cn_database *db,
                       struct cn_names *known, struct cn_error *err)
{
    const struct cn_frames *frames = stacks->frames;

    /* No record describes the contexts of frame 0. */
    if (!add_frame(stacks, db, &(struct cn_context){0}, known, err))
        return false;
    for (size_t i = 0; i < frames->index.count; i++) {
        uint32_t frame = frames->of_node[i];
        struct cn_context context;
        struct cn_export_location location;

        if (!cn_context_at(db, frames->index.nodes[i].at, &context, err) ||
            (frame == stacks->count && !add_frame(stacks, db, &context, known, err)))
            return false;
        struct cn_stack_function *function =
            &stacks->functions[stacks->nodes[frame].function];
        if (function->module[0] || function->file[0])
            continue;
        if (!cn_export_locate(db, &context, true, &location, err))
            return false;
        function->module = location.module;
        function->file = location.file;
        function->line = location.line;
        function->address = location.offset;
    }
    stacks->depth_max = frames->depth_max;
    stacks->hidden_count = frames->index.count - (frames->count - 1);
    return true;
}

/* Totals become self values: the value of a child is taken off its parent. Contexts that
 * the database does not describe count for frame 0. */
static void add_value(struct cn_stacks *stacks, const struct cn_value *value)
{
    const struct cn_frames *frames = stacks->frames;
    uint32_t node = cn_context_index_find(&frames->index, value->key);
    uint32_t frame = node == CN_NONE ? 0 : frames->of_node[node], parent;
    double scaled = value->value * stacks->scale;

    if (node == CN_NONE && stacks->is_total)
        return;
    stacks->nodes[frame].self += scaled;
    if (!stacks->is_total || frames->index.nodes[node].parent == CN_NONE)
        return;
    parent = frames->of_node[frames->index.nodes[node].parent];
    stacks->nodes[parent].self -= scaled;
}

/* Add the values of one profile. */
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

bool cn_stacks_of_database(struct cn_stacks *out, struct cn_export *x,
                           struct cn_error *err)
{
    struct cn_stacks stacks = {.frames = cn_alloc(1, sizeof(*stacks.frames))};
    struct cn_names known = {0};
    bool ok = choose_metric(&stacks, x->db, x->options->metric, x->options->counts_waits,
                            err) &&
              cn_frames_build(stacks.frames, x->db, NULL, err) &&
              add_frames(&stacks, x->db, &known, err) && sum_threads(&stacks, x->db, err);

    cn_names_done(&known);
    if (!ok) {
        cn_stacks_done(&stacks);
        return false;
    }
    *out = stacks;
    return true;
}

bool cn_stacks_lose(const struct cn_stacks *stacks, struct cn_export *x, bool has_threads,
                    size_t metric_count, struct cn_error *err)
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
    cn_export_lose(x, "other metrics (choose one with --metric)",
                   db->metrics.count - metric_count);
    if (thread_count > 1 && !has_threads)
        cn_export_lose(x, "threads (only their sum is written)", thread_count);
    cn_export_lose(x, "loops, lines and instructions (they count for their function)",
                   stacks->hidden_count);
    cn_export_lose(x, "samples of timelines", sample_count);
    return true;
}

bool cn_stacks_of(struct cn_stacks *stacks, struct cn_export *x, struct cn_error *err)
{
    uint64_t calls = 0;

    if (x->db) {
        if (!cn_stacks_of_database(stacks, x, err))
            return false;
        if (cn_stacks_lose(stacks, x, false, 1, err))
            return true;
        cn_stacks_done(stacks);
        return false;
    }
    if (!cn_stacks_of_calls(stacks, x, x->query, false, err))
        return false;
    for (size_t i = 0; i < stacks->count; i++)
        calls += stacks->nodes[i].calls;
    cn_export_lose(x, "calls (only sums are written)", calls);
    if (x->query->task_count > 1)
        cn_export_lose(x, "tasks (only their sum is written)", x->query->task_count);
    return true;
}

bool cn_export_threads(struct cn_export *x, cn_thread_fn visit, void *arg,
                       struct cn_error *err)
{
    struct cn_text name = {0};
    bool ok = true;

    for (uint32_t i = 1; i < x->db->profile_count && ok; i++) {
        struct cn_profile profile;

        ok = cn_database_profile(x->db, i, &profile, err);
        if (!ok || profile.is_summary)
            continue;
        cn_text_clear(&name);
        cn_identity_print(&profile.identity, &x->db->kinds, &name);
        if (profile.name)
            cn_text_printf(&name, " %s", profile.name);
        ok = visit(arg, i, &profile, cn_text_str(&name), err);
    }
    cn_text_done(&name);
    return ok;
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
    free(stacks->functions);
    if (stacks->frames)
        cn_frames_done(stacks->frames);
    free(stacks->frames);
    cn_arena_done(&stacks->arena);
    *stacks = (struct cn_stacks){0};
}
