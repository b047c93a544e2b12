#include "analyze/lens/database.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/lens/internal.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/points.h"
#include "model/heap_history.h"

static bool get_function(struct cn_database *db, uint32_t index, struct cn_function *out,
                         struct cn_error *err)
{
    const struct cn_lens_database *self = cn_lens_self(db);
    uint32_t known = self->overlay.source->function_count;

    if (index < known)
        return cn_database_function(self->overlay.source, index, out, err);
    *out = self->functions[index - known];
    return true;
}

/* The context of a node. */
static bool show_node(struct cn_lens_database *self, uint32_t node,
                      struct cn_context *out, struct cn_error *err)
{
    const struct cn_lens_node *shown = &self->nodes[node];

    if (!cn_context_at(self->overlay.source, shown->at, out, err))
        return false;
    if (shown->is_hidden) {
        *out = (struct cn_context){.id = shown->id,
                                   .relation = CN_CALL,
                                   .kind = CN_CONTEXT_ENTRY,
                                   .entry_name = "hidden",
                                   .at = shown->at};
    } else if (shown->function != CN_NONE) {
        out->has_function = true;
        out->has_source = out->has_point = false;
        out->function = shown->function;
        out->relation = CN_CALL;
    }
    out->children_at = node;
    out->children_len = shown->child_count;
    return true;
}

/* The first listed node from `node` on among its siblings; 0: none. */
static uint32_t listed_from(const struct cn_lens_database *self, uint32_t node)
{
    while (node != 0 && !self->nodes[node].is_listed)
        node = self->tree.links[node].next;
    return node;
}

/* The node that shows the context of the whole at `at`. */
static bool find_node(struct cn_lens_database *self, uint64_t at, uint32_t *out,
                      struct cn_error *err)
{
    struct cn_context context;

    if (!cn_context_at(self->overlay.source, at, &context, err))
        return false;
    uint32_t node =
        context.id < self->id_limit ? self->target_of_id[context.id] : CN_NONE;
    /* What is above a focus has no costs of its own, but is shown. */
    if (context.id < self->id_limit && self->node_of_id[context.id] != CN_NONE)
        node = self->node_of_id[context.id];
    if (node >= self->tree.count || node == 0 || !self->nodes[node].is_listed)
        return cn_fail(err, CN_ERR_NOT_FOUND, "context %" PRIu32 " is filtered out",
                       context.id);
    *out = node;
    return true;
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    struct cn_lens_database *self = cn_lens_self(db);
    uint32_t node = 0;

    if (parent && !find_node(self, parent->at, &node, err))
        return false;
    *out = (struct cn_context_cursor){
        .at = listed_from(self, self->tree.links[node].first_child),
        .size = self->nodes[node].child_count,
        .is_entry_list = !parent,
    };
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    struct cn_lens_database *self = cn_lens_self(db);
    uint32_t node = (uint32_t)cursor->at;

    if (node == 0)
        return CN_END;
    if (!show_node(self, node, out, err))
        return CN_FAIL;
    cursor->at = listed_from(self, self->tree.links[node].next);
    return CN_ITEM;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    struct cn_lens_database *self = cn_lens_self(db);
    uint32_t node;

    return find_node(self, at, &node, err) && show_node(self, node, out, err);
}

/* What a thread shows while it is in a context of the whole. */
static uint32_t shown_context(const struct cn_lens_database *self, uint32_t context)
{
    uint32_t node = context < self->id_limit ? self->target_of_id[context] : CN_NONE;

    if (context == 0 || node == CN_LENS_REMOVED)
        return 0;
    return node == CN_NONE ? context : self->nodes[node].id;
}

static bool samples(struct cn_database *db, const struct cn_timeline *from,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    const struct cn_lens_database *self = cn_lens_self(db);

    if (!cn_timeline_read(self->overlay.source, from, first, count, out, err))
        return false;
    for (size_t i = 0; i < count; i++)
        out[i].context = shown_context(self, out[i].context);
    return true;
}

static void close_database(struct cn_database *db)
{
    struct cn_lens_database *self = cn_lens_self(db);

    cn_lens_values_done(self);
    cn_tree_done(&self->tree);
    free(self->nodes);
    free(self->start);
    free(self->sources);
    free(self->transfers);
    free(self->transfer_next);
    cn_map_done(&self->transfer_of);
    free(self->dfs_begin);
    free(self->dfs_end);
    free(self->node_of_id);
    free(self->target_of_id);
    free(self->parts_of_id);
    free(self->functions);
    cn_codes_done(&self->codes);
    cn_arena_done(&db->arena);
    free(self);
}

static struct cn_database_ops make_ops(const struct cn_database *whole)
{
    struct cn_database_ops ops = cn_database_overlay_ops;

    ops.function = get_function;
    ops.children = children;
    ops.child_next = child_next;
    ops.context_at = context_at;
    ops.values_begin = cn_lens_values_begin;
    ops.values_next = cn_lens_values_next;
    ops.samples = samples;
    ops.close = close_database;
    if (!whole->ops->part)
        ops.part = NULL;
    return ops;
}

/* "focus parse, hide kernel", after those of the whole. */
static void name_filters(struct cn_database *db, const struct cn_lens *lens)
{
    struct cn_text text = {0};

    if (db->origin.filters)
        cn_text_str_add(&text, db->origin.filters);
    for (size_t i = 0; i < lens->count; i++)
        cn_text_printf(&text, "%s%s %s", text.len > 0 ? ", " : "",
                       cn_lens_action_name(lens->rules[i].action), lens->rules[i].text);
    if (text.len > 0)
        db->origin.filters = cn_arena_strdup(&db->arena, cn_text_str(&text));
    cn_text_done(&text);
}

static struct cn_lens_database *new_database(struct cn_database *whole,
                                             struct cn_codes *codes)
{
    struct cn_lens_database *self = cn_alloc(1, sizeof(*self));
    struct cn_database *db = &self->overlay.db;

    self->ops = make_ops(whole);
    self->overlay.source = whole;
    self->codes = *codes;
    *codes = (struct cn_codes){0};
    *db = *whole;
    db->ops = &self->ops;
    db->functions = NULL;
    db->points = NULL;
    db->warnings = NULL;
    db->has_exact_counts = false;
    db->copied_as = NULL;
    db->arena = (struct cn_arena){0};
    for (const struct cn_warning *w = whole->warnings; w; w = w->next)
        cn_database_warn(db, w->is_damage, "%s", w->text);
    return self;
}

/* What was allocated is below the contexts that are shown. */
static const struct cn_heap_history *show_heap(struct cn_lens_database *self)
{
    const struct cn_heap_history *whole = self->overlay.source->heap;
    struct cn_arena *arena = &self->overlay.db.arena;
    struct cn_heap_history *heap;

    if (!whole)
        return NULL;
    heap = cn_arena_dup(arena, whole, 1, sizeof(*heap));
    heap->change_count = 0;
    heap->changes =
        cn_arena_alloc(arena, whole->change_count + 1, sizeof(*heap->changes));
    for (size_t i = 0; i < whole->change_count; i++) {
        struct cn_heap_change change = whole->changes[i];

        change.context = shown_context(self, change.context);
        if (change.context != 0)
            heap->changes[heap->change_count++] = change;
    }
    return heap;
}

/* Metrics with totals: Hatchet takes every root for one. */
static void present(struct cn_database *db)
{
    int whole = cn_metrics_find_scope_type(&db->metrics, CN_SCOPE_EXECUTION);
    struct cn_metrics shown = db->metrics;
    struct cn_metric *list = cn_arena_alloc(&db->arena, db->metrics.count, sizeof(*list));

    shown.list = list;
    shown.count = 0;
    for (size_t i = 0; i < db->metrics.count; i++)
        if (whole != CN_NO_ID &&
            cn_metric_prop_id(&db->metrics.list[i], (unsigned)whole) != CN_NO_ID)
            list[shown.count++] = db->metrics.list[i];
    cn_taxonomy_build(&db->taxonomy, &shown, &db->arena);
}

/* Only statistics that have values. */
static void reduce_metrics(struct cn_lens_database *self)
{
    struct cn_database *db = &self->overlay.db;
    const struct cn_metrics *metrics = &self->overlay.source->metrics;
    struct cn_metric *list =
        cn_arena_dup(&db->arena, metrics->list, metrics->count, sizeof(*list));

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *from = &metrics->list[i];
        struct cn_statistic *kept =
            cn_arena_alloc(&db->arena, from->statistic_count, sizeof(*kept));
        size_t count = 0;

        for (size_t k = 0; k < from->statistic_count; k++)
            if (cn_lens_part_of(db, from->statistics[k].stat_id, true) != 0)
                kept[count++] = from->statistics[k];
        list[i].statistics = kept;
        list[i].statistic_count = count;
    }
    db->metrics.list = list;
    present(db);
}

bool cn_lens_database_open(struct cn_database **out, struct cn_database *whole,
                           struct cn_codes *codes, const struct cn_lens *lens,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_lens_database *self = new_database(whole, codes);
    struct cn_database *db = &self->overlay.db;

    if (!cn_lens_build(self, lens, progress, err) || !cn_lens_values_init(self, err)) {
        close_database(db);
        return false;
    }
    if (lens->is_written)
        reduce_metrics(self);
    name_filters(db, lens);
    db->heap = show_heap(self);
    db->function_count += (uint32_t)self->function_count;
    db->context_weight = self->tree.count;
    *out = db;
    return true;
}

bool cn_database_has_lens(const struct cn_database *db)
{
    return db->ops->close == close_database;
}

const struct cn_codes *cn_lens_codes(const struct cn_database *db)
{
    return &cn_lens_self(db)->codes;
}

struct cn_database *cn_lens_whole(const struct cn_database *db)
{
    return cn_lens_self(db)->overlay.source;
}

uint64_t cn_lens_match_count(const struct cn_database *db, size_t rule)
{
    return cn_lens_self(db)->match_counts[rule];
}

const struct cn_lens_source *cn_lens_sources(const struct cn_database *db,
                                             uint32_t context, size_t *count)
{
    const struct cn_lens_database *self = cn_lens_self(db);
    uint32_t node = cn_lens_node(db, context);

    *count = node == CN_NONE ? 0 : self->start[node + 1] - self->start[node];
    return node == CN_NONE ? NULL : self->sources + self->start[node];
}

const struct cn_lens_transfer *cn_lens_transfers(const struct cn_database *db,
                                                 size_t *count)
{
    *count = cn_lens_self(db)->transfer_count;
    return cn_lens_self(db)->transfers;
}

uint32_t cn_lens_node(const struct cn_database *db, uint32_t context)
{
    const struct cn_lens_database *self = cn_lens_self(db);

    return context < self->id_limit ? self->node_of_id[context] : CN_NONE;
}

size_t cn_lens_node_count(const struct cn_database *db)
{
    return cn_lens_self(db)->tree.count;
}

void cn_lens_add_up(const struct cn_database *db, double *by_node)
{
    const struct cn_tree *tree = &cn_lens_self(db)->tree;

    for (size_t i = tree->count; i-- > 1;)
        by_node[tree->links[i].parent] += by_node[i];
}

size_t cn_lens_id_limit(const struct cn_database *db)
{
    return cn_lens_self(db)->id_limit;
}

void cn_lens_spread(const struct cn_database *db, uint32_t context, unsigned part,
                    cn_lens_visit visit, void *arg)
{
    const struct cn_lens_database *self = cn_lens_self(db);
    uint32_t node = context < self->id_limit ? self->target_of_id[context] : CN_NONE;
    uint32_t transfer = cn_map_find(&self->transfer_of, context, 0);
    bool has_loop = false;
    unsigned parts;

    if (node < self->tree.count) {
        parts = self->parts_of_id[context];
        if (parts & part)
            visit(arg, self->nodes[node].id, 1);
        /* Self costs that moved also count for what is around. */
        while (!(parts & CN_LENS_TOTAL) && parts != CN_LENS_POINT &&
               (node = cn_lens_around(self, node, &has_loop, &parts)) != 0)
            if (parts & part)
                visit(arg, self->nodes[node].id, 1);
    }
    for (; part == CN_LENS_TOTAL && transfer > 0;
         transfer = self->transfer_next[transfer - 1]) {
        const struct cn_lens_transfer *from = &self->transfers[transfer - 1];

        for (node = from->node;; node = self->tree.links[node].parent) {
            visit(arg, self->nodes[node].id, from->sign);
            if (node == 0)
                break;
        }
    }
}
