#include "support/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "model/contexts/walk.h"

enum { ELIDED = 1, GLOBAL = 2, ENTRY = 3 }; /* hashes of paths that are none */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return mix(hash, 0x7e);
}

/* What a value, context or sample is, in one number. */
struct list {
    uint64_t *items;
    size_t count, capacity;
};

static void add(struct list *list, uint64_t item)
{
    list->items =
        cn_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
    list->items[list->count++] = item;
}

static int compare_items(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static bool same_items(struct list *a, struct list *b, const char *what,
                       struct cn_error *err)
{
    if (a->count != b->count)
        return cn_fail(err, CN_ERR_FORMAT, "%s: %zu and %zu", what, a->count, b->count);
    if (a->count > 0) {
        qsort(a->items, a->count, sizeof(*a->items), compare_items);
        qsort(b->items, b->count, sizeof(*b->items), compare_items);
    }
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i] != b->items[i])
            return cn_fail(err, CN_ERR_FORMAT, "%s: as many, but not the same", what);
    return true;
}

/* One database, with the path of each context by id. */
struct side {
    struct cn_database *db;
    bool without_entries;
    struct cn_map positions; /* context id -> position in paths */
    struct list paths;
    uint64_t *threads; /* hash of the metric ids of threads' values */
    uint64_t *summaries;
    struct cn_zero_ids zero_ids[2]; /* of threads, of the summary */
};

static bool mix_file(struct cn_database *db, uint32_t index, uint64_t *hash,
                     struct cn_error *err)
{
    struct cn_source_file file = {0};

    if (index != CN_NONE && !cn_database_file(db, index, &file, err))
        return false;
    *hash = mix(mix_text(*hash, file.path), file.is_copied);
    return true;
}

static bool mix_module(struct cn_database *db, uint32_t index, uint64_t *hash,
                       struct cn_error *err)
{
    struct cn_module module = {0};

    if (index != CN_NONE && !cn_database_module(db, index, &module, err))
        return false;
    *hash = mix_text(*hash, module.path);
    return true;
}

static bool mix_function(struct cn_database *db, uint32_t index, uint64_t *hash,
                         struct cn_error *err)
{
    struct cn_function function;

    if (!cn_database_function(db, index, &function, err))
        return false;
    *hash = mix(mix_text(*hash, function.name), function.offset);
    *hash = mix(*hash, function.line);
    return mix_file(db, function.file, hash, err) &&
           mix_module(db, function.module, hash, err);
}

static bool mix_context(const struct side *side, const struct cn_context *context,
                        uint64_t *hash, struct cn_error *err)
{
    struct cn_database *db = side->db;

    if (context->kind == CN_CONTEXT_ENTRY) {
        if (!side->without_entries)
            *hash = mix(mix_text(*hash, context->entry_name), context->entry);
        return true;
    }
    *hash = mix(*hash, (uint64_t)context->relation << 32 | (uint64_t)context->kind << 24 |
                           context->propagation);
    if (context->has_function && !mix_function(db, context->function, hash, err))
        return false;
    if (context->has_source) {
        *hash = mix(*hash, context->line);
        if (!mix_file(db, context->file, hash, err))
            return false;
    }
    if (context->has_point) {
        *hash = mix(*hash, context->offset);
        if (!mix_module(db, context->module, hash, err))
            return false;
    }
    return true;
}

static bool walk_paths(struct side *side, struct cn_walk *walk, struct cn_error *err)
{
    struct list stack = {0};
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step;
    bool ok = true;

    while (ok && (step = cn_walk_next(walk, &event, &context, err)) == CN_ITEM) {
        uint64_t hash = walk->depth > 1 ? stack.items[walk->depth - 2] : 99;

        if (event != CN_WALK_ENTER)
            continue;
        ok = mix_context(side, context, &hash, err);
        stack.count = walk->depth - 1;
        add(&stack, hash);
        if (side->without_entries && context->kind == CN_CONTEXT_ENTRY)
            hash = ENTRY;
        *cn_map_at(&side->positions, context->id, 0) = (uint32_t)side->paths.count;
        add(&side->paths, hash);
    }
    free(stack.items);
    return ok && step == CN_END;
}

static void hash_metrics(struct side *side)
{
    const struct cn_metrics *metrics = &side->db->metrics;

    cn_zero_ids_init(&side->zero_ids[0], metrics, false);
    cn_zero_ids_init(&side->zero_ids[1], metrics, true);
    side->threads = cn_alloc(UINT16_MAX + 1, sizeof(uint64_t));
    side->summaries = cn_alloc(UINT16_MAX + 1, sizeof(uint64_t));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        uint64_t name = mix_text(7, metric->name);

        for (size_t k = 0; k < metric->instance_count; k++)
            side->threads[metric->instances[k].prop_id] =
                mix_text(name, metrics->scopes[metric->instances[k].scope].name);
        for (size_t k = 0; k < metric->statistic_count; k++) {
            const struct cn_statistic *from = &metric->statistics[k];
            uint64_t hash = mix_text(name, metrics->scopes[from->scope].name);

            side->summaries[from->stat_id] =
                mix(mix_text(hash, from->formula), from->combine);
        }
    }
}

static bool side_init(struct side *side, struct cn_error *err)
{
    struct cn_walk walk = {0};
    bool ok;

    hash_metrics(side);
    ok = cn_walk_begin(&walk, side->db, err) && walk_paths(side, &walk, err);
    cn_walk_done(&walk);
    return ok;
}

static void side_done(struct side *side)
{
    cn_map_done(&side->positions);
    free(side->paths.items);
    free(side->threads);
    free(side->summaries);
}

static uint64_t path_of(const struct side *side, uint32_t context)
{
    uint32_t position;

    if (context == 0)
        return GLOBAL;
    position = cn_map_find(&side->positions, context, UINT32_MAX);
    return position == UINT32_MAX ? ELIDED : side->paths.items[position];
}

static void add_value(const struct side *side, const struct cn_value *value,
                      bool is_summary, uint64_t path, uint64_t profile, struct list *out)
{
    uint64_t metric = (is_summary ? side->summaries : side->threads)[value->metric];
    uint64_t bits;

    if (cn_value_is_void(value, &side->zero_ids[is_summary]) ||
        (path == ENTRY && side->without_entries))
        return;
    memcpy(&bits, &value->value, sizeof(bits));
    add(out, mix(mix(mix(profile, path), metric), bits));
}

static bool list_profile(const struct side *side, uint32_t index, bool is_summary,
                         struct list *out, struct cn_error *err)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(side->db, index, 0, UINT32_MAX, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            add_value(side, &batch.values[i], is_summary,
                      path_of(side, batch.values[i].key), index, out);
    return step == CN_END;
}

static bool list_profiles(const struct side *side, bool with_summaries, struct list *out,
                          struct cn_error *err)
{
    for (uint32_t i = 0; i < side->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(side->db, i, &profile, err))
            return false;
        if ((with_summaries || !profile.is_summary) &&
            !list_profile(side, i, profile.is_summary, out, err))
            return false;
    }
    return true;
}

static bool list_contexts(const struct side *side, struct list *out, struct cn_error *err)
{
    for (uint32_t id = 0; id < side->db->context_limit; id++) {
        uint64_t path = path_of(side, id);
        struct cn_value_cursor cursor;
        struct cn_value_batch batch;
        enum cn_step step;

        if (!cn_context_values(side->db, id, &cursor, err))
            return false;
        while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++)
                add_value(side, &batch.values[i], false, path, batch.values[i].key, out);
        if (step != CN_END)
            return false;
    }
    return true;
}

static bool list_samples(const struct side *side, struct list *out, struct cn_error *err)
{
    add(out, mix(mix(side->db->has_timelines, side->db->begin_ns), side->db->end_ns));
    for (uint32_t i = 0; i < side->db->profile_count; i++) {
        struct cn_timeline timeline;

        if (!cn_timeline_open(side->db, i, &timeline, err))
            return false;
        for (uint64_t k = 0; k < timeline.count; k++) {
            struct cn_sample sample;

            if (!cn_timeline_read(side->db, &timeline, k, 1, &sample, err))
                return false;
            add(out, mix(mix(mix(i, k), sample.time_ns), path_of(side, sample.context)));
        }
    }
    return true;
}

static bool list_identities(const struct side *side, struct list *out,
                            struct cn_error *err)
{
    for (uint32_t i = 0; i < side->db->profile_count; i++) {
        struct cn_profile profile;
        uint64_t hash = i;

        if (!cn_database_profile(side->db, i, &profile, err))
            return false;
        hash = mix(mix(hash, profile.is_summary), profile.identity.count);
        for (size_t k = 0; k < profile.identity.count; k++) {
            const struct cn_identity *id = &profile.identity.ids[k];

            hash = mix_text(hash, side->db->kinds.list[id->kind]);
            hash = mix(mix(mix(hash, id->is_physical), id->logical), id->physical);
        }
        add(out, hash);
    }
    return true;
}

static bool list_tables(const struct side *side, struct list *out, struct cn_error *err)
{
    struct cn_database *db = side->db;
    uint64_t hash = mix_text(mix_text(1, db->title), db->description);

    add(out, hash);
    for (size_t i = 0; i < db->kinds.count; i++)
        add(out, mix_text(i, db->kinds.list[i]));
    for (size_t i = 0; i < db->metrics.scope_count; i++) {
        const struct cn_scope *scope = &db->metrics.scopes[i];

        /* What other scopes say of their bit means nothing. */
        hash = mix(mix_text(i, scope->name), scope->type);
        add(out,
            scope->type == CN_SCOPE_TRANSITIVE ? mix(hash, scope->propagation) : hash);
    }
    for (size_t i = 0; i <= UINT16_MAX; i++) {
        add(out, mix(1, side->threads[i]));
        add(out, mix(2, side->summaries[i]));
    }
    for (uint32_t i = 0; i < db->module_count; i++) {
        hash = mix(1, i);
        if (!mix_module(db, i, &hash, err))
            return false;
        add(out, hash);
    }
    for (uint32_t i = 0; i < db->file_count; i++) {
        hash = mix(2, i);
        if (!mix_file(db, i, &hash, err))
            return false;
        add(out, hash);
    }
    for (uint32_t i = 0; i < db->function_count; i++) {
        hash = mix(3, i);
        if (!mix_function(db, i, &hash, err))
            return false;
        add(out, hash);
    }
    return true;
}

static bool list_paths(const struct side *side, struct list *out, struct cn_error *err)
{
    (void)err;
    for (size_t i = 0; i < side->paths.count; i++)
        if (side->paths.items[i] != ENTRY || !side->without_entries)
            add(out, side->paths.items[i]);
    return true;
}

static bool list_values(const struct side *side, struct list *out, struct cn_error *err)
{
    return list_profiles(side, true, out, err);
}

typedef bool (*list_fn)(const struct side *side, struct list *out, struct cn_error *err);

static bool compare(const struct side *a, const struct side *b, list_fn collect,
                    const char *what, struct cn_error *err)
{
    struct list left = {0}, right = {0};
    bool ok = collect(a, &left, err) && collect(b, &right, err) &&
              same_items(&left, &right, what, err);

    free(left.items);
    free(right.items);
    return ok;
}

bool cn_compare_databases(struct cn_database *a, struct cn_database *b,
                          bool without_entries, struct cn_error *err)
{
    struct side left = {.db = a, .without_entries = without_entries};
    struct side right = {.db = b, .without_entries = without_entries};
    bool ok = side_init(&left, err) && side_init(&right, err) &&
              compare(&left, &right, list_tables, "tables", err) &&
              compare(&left, &right, list_identities, "identities", err) &&
              compare(&left, &right, list_paths, "contexts", err) &&
              compare(&left, &right, list_values, "values", err) &&
              compare(&left, &right, list_samples, "samples", err);

    side_done(&left);
    side_done(&right);
    return ok;
}

bool cn_compare_planes(struct cn_database *db, struct cn_error *err)
{
    struct side side = {.db = db};
    struct list by_profile = {0}, by_context = {0};
    bool ok = side_init(&side, err) && list_profiles(&side, false, &by_profile, err) &&
              list_contexts(&side, &by_context, err) &&
              same_items(&by_profile, &by_context, "values by context", err);

    free(by_profile.items);
    free(by_context.items);
    side_done(&side);
    return ok;
}
