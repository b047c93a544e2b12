#include "formats/hpctoolkit/rooted.h"

#include <inttypes.h>

#include "model/contexts/walk.h"

/* Positions of a cursor over the entry point; no database has contexts there. */
#define AT_ENTRY    UINT64_MAX
#define AFTER_ENTRY (UINT64_MAX - 1)

static struct cn_hpc_rooted *self_of(struct cn_database *db)
{
    return (struct cn_hpc_rooted *)db;
}

static struct cn_context entry_of(const struct cn_hpc_rooted *self)
{
    return (struct cn_context){
        .id = self->entry,
        .kind = CN_CONTEXT_ENTRY,
        .entry = CN_ENTRY_UNKNOWN,
        .entry_name = cn_entry_name(CN_ENTRY_UNKNOWN),
        .at = AT_ENTRY,
    };
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    struct cn_database *source = self_of(db)->overlay.source;

    if (parent)
        return cn_context_children(source, parent->at == AT_ENTRY ? NULL : parent, out,
                                   err);
    *out = (struct cn_context_cursor){.at = AT_ENTRY, .size = 1, .is_entry_list = true};
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    if (cursor->at == AFTER_ENTRY)
        return CN_END;
    if (cursor->at != AT_ENTRY)
        return cn_context_next(self_of(db)->overlay.source, cursor, out, err);
    cursor->at = AFTER_ENTRY;
    *out = entry_of(self_of(db));
    return CN_ITEM;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    if (at != AT_ENTRY)
        return cn_context_at(self_of(db)->overlay.source, at, out, err);
    *out = entry_of(self_of(db));
    return true;
}

/* The entry point has the values of the global context. */
static bool begin_entry(struct cn_hpc_rooted *self, struct cn_value_cursor *cursor,
                        struct cn_error *err)
{
    cursor->first_key = 0;
    cursor->last_key = 0;
    cursor->as_key = self->entry;
    return cn_database_overlay_values_begin(&self->overlay.db, cursor, err);
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    struct cn_hpc_rooted *self = self_of(db);

    if (cursor->plane == CN_PLANE_OF_CONTEXT) {
        if (cursor->owner == self->entry)
            cursor->owner = 0;
        return cn_database_overlay_values_begin(&self->overlay.db, cursor, err);
    }
    if (cursor->first_key >= self->entry && cursor->last_key >= self->entry)
        return begin_entry(self, cursor, err);
    return cn_database_overlay_values_begin(&self->overlay.db, cursor, err);
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_hpc_rooted *self = self_of(cursor->db);
    enum cn_step step = cn_database_overlay_values_next(cursor, out, err);

    if (step == CN_END && cursor->plane == CN_PLANE_OF_PROFILE && cursor->as_key == 0 &&
        cursor->last_key >= self->entry) {
        /* The new id is the largest: its values come last. */
        if (!begin_entry(self, cursor, err))
            return CN_FAIL;
        step = cn_database_overlay_values_next(cursor, out, err);
    }
    if (step != CN_ITEM || cursor->as_key == 0)
        return step;
    if (out->count > CN_VALUE_BATCH)
        return cn_fail(err, CN_ERR_LIMIT, "%zu values at once", out->count);
    for (size_t i = 0; i < out->count; i++) {
        struct cn_value value = out->values[i];

        value.key = cursor->as_key;
        cursor->batch[i] = value;
    }
    out->values = cursor->batch;
    return CN_ITEM;
}

static bool count_roots(struct cn_database *db, uint64_t *entry_count,
                        uint64_t *other_count, struct cn_error *err)
{
    struct cn_context_cursor cursor;
    struct cn_context context;
    enum cn_step step;

    *entry_count = 0;
    *other_count = 0;
    if (!cn_context_children(db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(db, &cursor, &context, err)) == CN_ITEM)
        *(context.kind == CN_CONTEXT_ENTRY ? entry_count : other_count) += 1;
    return step == CN_END;
}

/* An id above all others; ids of contexts without values may be above the limit. */
static bool find_free_id(struct cn_database *db, uint32_t *out, struct cn_error *err)
{
    struct cn_walk walk = {0};
    const struct cn_context *context;
    uint32_t largest = db->context_limit ? db->context_limit - 1 : 0;
    enum cn_walk_event event;
    enum cn_step step = CN_FAIL;

    if (cn_walk_begin(&walk, db, err))
        while ((step = cn_walk_next(&walk, &event, &context, err)) == CN_ITEM)
            if (context->id > largest)
                largest = context->id;
    cn_walk_done(&walk);
    if (step != CN_END)
        return false;
    if (largest >= UINT32_MAX - 1)
        return cn_fail(err, CN_ERR_LIMIT, "no context id is left for an entry point");
    *out = largest + 1;
    return true;
}

bool cn_hpc_rooted_init(struct cn_hpc_rooted *rooted, struct cn_database *source,
                        struct cn_database **db, struct cn_error *err)
{
    uint64_t entry_count, other_count;
    uint32_t id = 0;

    if (!count_roots(source, &entry_count, &other_count, err))
        return false;
    if (other_count == 0) {
        *db = source;
        return true;
    }
    if (entry_count > 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " of the root contexts are entry points, %" PRIu64
                       " are not",
                       entry_count, other_count);
    if (!find_free_id(source, &id, err))
        return false;
    *rooted = (struct cn_hpc_rooted){.overlay = {*source, source}, .entry = id};
    rooted->ops = cn_database_overlay_ops;
    rooted->ops.children = children;
    rooted->ops.child_next = child_next;
    rooted->ops.context_at = context_at;
    rooted->ops.values_begin = values_begin;
    rooted->ops.values_next = values_next;
    rooted->overlay.db.ops = &rooted->ops;
    rooted->overlay.db.has_exact_counts = false;
    rooted->overlay.db.context_limit = id + 1;
    rooted->overlay.db.context_weight = source->context_weight + 1;
    *db = &rooted->overlay.db;
    return true;
}
