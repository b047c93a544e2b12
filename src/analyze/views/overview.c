#include "analyze/views/overview.h"

#include <string.h>

static bool has_shape(const struct cn_thread_shape *shape,
                      const struct cn_identity_tuple *identity)
{
    if (shape->id_count != identity->count)
        return false;
    for (size_t i = 0; i < identity->count; i++) {
        if (shape->ids[i].kind != identity->ids[i].kind)
            return false;
    }
    return true;
}

static struct cn_thread_shape *find_shape(struct cn_overview *overview,
                                          const struct cn_identity_tuple *identity)
{
    for (size_t i = 0; i < overview->shape_count; i++) {
        if (has_shape(&overview->shapes[i], identity))
            return &overview->shapes[i];
    }
    if (overview->shape_count == CN_OVERVIEW_SHAPES_MAX)
        return NULL;
    struct cn_thread_shape *shape = &overview->shapes[overview->shape_count++];
    shape->id_count = identity->count;
    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];

        shape->ids[i] = (struct cn_id_range){id->kind, id->is_physical, id->logical,
                                             id->logical, id->physical};
    }
    return shape;
}

static void add_identity(struct cn_overview *overview,
                         const struct cn_identity_tuple *identity)
{
    struct cn_thread_shape *shape = find_shape(overview, identity);

    if (!shape)
        return;
    shape->thread_count++;
    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];
        struct cn_id_range *range = &shape->ids[i];

        if (id->logical < range->first)
            range->first = id->logical;
        if (id->logical > range->last)
            range->last = id->logical;
        if (!id->is_physical || id->physical != range->physical)
            range->is_physical = false;
    }
}

/* True for a stream of a GPU and ranges of NVTX: nothing in their timelines is a sample. */
static bool is_gpu(const struct cn_database *db, const struct cn_identity_tuple *identity)
{
    for (size_t i = 0; i < identity->count; i++) {
        uint8_t kind = identity->ids[i].kind;

        if (kind < db->kinds.count && (strcmp(db->kinds.list[kind], "GPUSTREAM") == 0 ||
                                       strcmp(db->kinds.list[kind], "NVTX") == 0))
            return true;
    }
    return false;
}

static bool add_profile(struct cn_overview *overview, struct cn_database *db,
                        uint32_t index, struct cn_error *err)
{
    struct cn_timeline timeline = {0};
    struct cn_profile profile;

    if (!cn_database_profile(db, index, &profile, err))
        return false;
    if (profile.is_summary) {
        overview->summary_count++;
        overview->summary_value_count += profile.value_count;
        return true;
    }
    if (db->has_timelines && !cn_timeline_open(db, index, &timeline, err))
        return false;
    overview->thread_count++;
    overview->value_count += profile.value_count;
    overview->timeline_count += timeline.count > 0;
    if (!is_gpu(db, &profile.identity))
        overview->sample_count += timeline.count;
    add_identity(overview, &profile.identity);
    return true;
}

static bool add_entries(struct cn_overview *overview, struct cn_database *db,
                        struct cn_error *err)
{
    struct cn_context_cursor cursor;
    struct cn_context context;
    enum cn_step step = CN_FAIL;

    if (!cn_context_children(db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(db, &cursor, &context, err)) == CN_ITEM) {
        if (context.kind != CN_CONTEXT_ENTRY)
            continue;
        if (overview->entry_count < CN_OVERVIEW_ENTRIES_MAX)
            overview->entries[overview->entry_count] = context.entry_name;
        overview->entry_count++;
    }
    return step == CN_END;
}

bool cn_overview_build(struct cn_overview *out, struct cn_database *db,
                       struct cn_error *err)
{
    struct cn_overview overview = {0};
    bool ok;

    overview.shapes =
        cn_arena_alloc(&overview.arena, CN_OVERVIEW_SHAPES_MAX, sizeof(*overview.shapes));
    ok = add_entries(&overview, db, err);
    for (uint32_t i = 0; i < db->profile_count && ok; i++)
        ok = add_profile(&overview, db, i, err);
    if (db->sample_count > 0)
        overview.sample_count = db->sample_count;
    if (!ok) {
        cn_overview_done(&overview);
        return false;
    }
    *out = overview;
    return true;
}

void cn_overview_done(struct cn_overview *overview)
{
    cn_arena_done(&overview->arena);
    *overview = (struct cn_overview){0};
}
