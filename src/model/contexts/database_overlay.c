#include "model/contexts/database_overlay.h"

static struct cn_database *source_of(struct cn_database *db)
{
    return ((struct cn_database_overlay *)db)->source;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    return cn_database_profile(source_of(db), index, out, err);
}

static bool get_module(struct cn_database *db, uint32_t index, struct cn_module *out,
                       struct cn_error *err)
{
    return cn_database_module(source_of(db), index, out, err);
}

static bool get_file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                     struct cn_error *err)
{
    return cn_database_file(source_of(db), index, out, err);
}

static bool get_function(struct cn_database *db, uint32_t index, struct cn_function *out,
                         struct cn_error *err)
{
    return cn_database_function(source_of(db), index, out, err);
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    return cn_context_children(source_of(db), parent, out, err);
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    return cn_context_next(source_of(db), cursor, out, err);
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    return cn_context_at(source_of(db), at, out, err);
}

bool cn_database_overlay_values_begin(struct cn_database *db,
                                      struct cn_value_cursor *cursor,
                                      struct cn_error *err)
{
    struct cn_database *source = source_of(db);

    cursor->db = source;
    bool ok = source->ops->values_begin(source, cursor, err);
    cursor->db = db;
    return ok;
}

enum cn_step cn_database_overlay_values_next(struct cn_value_cursor *cursor,
                                             struct cn_value_batch *out,
                                             struct cn_error *err)
{
    struct cn_database *db = cursor->db;

    cursor->db = source_of(db);
    enum cn_step step = cursor->db->ops->values_next(cursor, out, err);
    cursor->db = db;
    return step;
}

static bool timeline(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err)
{
    return cn_timeline_open(source_of(db), profile, out, err);
}

static bool samples(struct cn_database *db, const struct cn_timeline *from,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    return cn_timeline_read(source_of(db), from, first, count, out, err);
}

static uint64_t part(struct cn_database *db, const struct cn_timeline *from,
                     size_t number)
{
    struct cn_database *source = source_of(db);

    return source->ops->part(source, from, number);
}

static void forget(struct cn_database *db)
{
    cn_database_forget(source_of(db));
}

const struct cn_database_ops cn_database_overlay_ops = {
    .profile = get_profile,
    .module = get_module,
    .file = get_file,
    .function = get_function,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = cn_database_overlay_values_begin,
    .values_next = cn_database_overlay_values_next,
    .timeline = timeline,
    .samples = samples,
    .part = part,
    .forget = forget,
};
