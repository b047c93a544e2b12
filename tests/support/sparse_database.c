#include "support/sparse_database.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/text.h"

static struct cn_hpc_sparse *sparse_of(struct cn_database *db)
{
    return &((struct cn_sparse_database *)db)->sparse;
}

static bool profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                    struct cn_error *err)
{
    return cn_hpc_sparse_profile_at(sparse_of(db), index, out, err);
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    (void)db, (void)parent, (void)err;
    *out = (struct cn_context_cursor){0};
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    (void)db, (void)cursor, (void)out, (void)err;
    return CN_END;
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    return cn_hpc_sparse_values_begin(sparse_of(db), cursor, err);
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    return cn_hpc_sparse_values_next(sparse_of(cursor->db), cursor, out, err);
}

static bool timeline(struct cn_database *db, uint32_t index, struct cn_timeline *out,
                     struct cn_error *err)
{
    return cn_hpc_sparse_timeline(sparse_of(db), index, out, err);
}

static bool samples(struct cn_database *db, const struct cn_timeline *line,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    return cn_hpc_sparse_samples(sparse_of(db), line, first, count, out, err);
}

static const struct cn_database_ops operations = {
    .profile = profile,
    .children = children,
    .child_next = child_next,
    .values_begin = values_begin,
    .values_next = values_next,
    .timeline = timeline,
    .samples = samples,
};

bool cn_sparse_database_open(struct cn_sparse_database *out,
                             const struct cn_hpc_sparse_files *files,
                             const struct cn_hpc_sparse_options *options,
                             struct cn_error *err)
{
    *out = (struct cn_sparse_database){
        .base = {.ops = &operations, .path = "", .title = "", .description = ""}};
    return cn_hpc_sparse_open(&out->sparse, &out->base, files, options, err);
}

void cn_sparse_database_done(struct cn_sparse_database *db)
{
    cn_arena_done(&db->base.arena);
}

static char *print(struct cn_value_cursor *cursor)
{
    struct cn_text text = {0};
    struct cn_value_batch batch;
    struct cn_error err = {0};
    enum cn_step step;

    while ((step = cn_values_next(cursor, &batch, &err)) == CN_ITEM) {
        assert(batch.count > 0);
        for (size_t i = 0; i < batch.count; i++)
            cn_text_printf(&text, "%u %u %g\n", (unsigned)batch.values[i].key,
                           (unsigned)batch.values[i].metric, batch.values[i].value);
    }
    if (step == CN_FAIL)
        cn_text_printf(&text, "%s\n", err.text);
    return text.chars ? text.chars : cn_strdup("");
}

char *cn_sparse_database_profile(struct cn_sparse_database *db, uint32_t index)
{
    struct cn_value_cursor cursor;
    struct cn_error err = {0};

    return cn_profile_values(&db->base, index, 0, UINT32_MAX, &cursor, &err)
               ? print(&cursor)
               : cn_strdup(err.text);
}

char *cn_sparse_database_context(struct cn_sparse_database *db, uint32_t context)
{
    struct cn_value_cursor cursor;
    struct cn_error err = {0};

    return cn_context_values(&db->base, context, &cursor, &err) ? print(&cursor)
                                                                : cn_strdup(err.text);
}
