#include "support/sparse_database.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/text.h"

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

static const struct cn_database_ops operations = {
    .profile = cn_hpc_database_profile,
    .children = children,
    .child_next = child_next,
    .values_begin = cn_hpc_database_values_begin,
    .values_next = cn_hpc_database_values_next,
    .timeline = cn_hpc_database_timeline,
    .samples = cn_hpc_database_samples,
};

bool cn_sparse_database_open(struct cn_hpc_database *out,
                             const struct cn_hpc_sparse_files *files,
                             const struct cn_hpc_sparse_options *options,
                             struct cn_error *err)
{
    *out = (struct cn_hpc_database){
        .base = {.ops = &operations, .path = "", .title = "", .description = ""}};
    return cn_hpc_sparse_open(&out->values, &out->base, files, options, err);
}

void cn_sparse_database_done(struct cn_hpc_database *db)
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

char *cn_sparse_database_profile(struct cn_hpc_database *db, uint32_t index)
{
    struct cn_value_cursor cursor;
    struct cn_error err = {0};

    return cn_profile_values(&db->base, index, 0, UINT32_MAX, &cursor, &err)
               ? print(&cursor)
               : cn_strdup(err.text);
}

char *cn_sparse_database_context(struct cn_hpc_database *db, uint32_t context)
{
    struct cn_value_cursor cursor;
    struct cn_error err = {0};

    return cn_context_values(&db->base, context, &cursor, &err) ? print(&cursor)
                                                                : cn_strdup(err.text);
}
