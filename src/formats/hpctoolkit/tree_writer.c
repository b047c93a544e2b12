#include "formats/hpctoolkit/tree_writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/run/progress.h"
#include "model/contexts/walk.h"

void cn_hpc_tree_writer_done(struct cn_hpc_tree_writer *t)
{
    for (size_t i = 0; i < t->level_count; i++)
        free(t->levels[i].bytes);
    free(t->levels);
}

uint8_t *cn_hpc_level_append(struct cn_hpc_level *level, size_t len)
{
    level->bytes = cn_grow_to(level->bytes, level->len + len, &level->capacity, 1);
    level->len += len;
    return level->bytes + level->len - len;
}

static bool check_index(uint32_t index, uint32_t count, const char *what,
                        struct cn_error *err)
{
    if (index < count)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "refers to %s %" PRIu32 ", but there are %" PRIu32,
                   what, index, count);
}

bool cn_hpc_function_check(const struct cn_database *db,
                           const struct cn_function *function, struct cn_error *err)
{
    return (function->module == CN_NONE ||
            check_index(function->module, db->module_count, "module", err)) &&
           (function->file == CN_NONE ||
            check_index(function->file, db->file_count, "file", err));
}

bool cn_hpc_tree_says(struct cn_hpc_tree_writer *t, const struct cn_context *context,
                      struct cn_hpc_says *out, struct cn_error *err)
{
    const struct cn_database *db = t->db;
    struct cn_hpc_says says = {
        .has_function = context->has_function && context->function != CN_NONE,
        .has_source = context->has_source && context->file != CN_NONE,
        .has_point = context->has_point && context->module != CN_NONE,
    };

    if ((says.has_function &&
         !check_index(context->function, db->function_count, "function", err)) ||
        (says.has_source && !check_index(context->file, db->file_count, "file", err)) ||
        (says.has_point &&
         !check_index(context->module, db->module_count, "module", err)))
        return false;
    t->no_file_count += context->has_source && !says.has_source;
    t->no_module_count += context->has_point && !says.has_point;
    *out = says;
    return true;
}

static bool leave(struct cn_hpc_tree_writer *t, size_t depth,
                  const struct cn_context *context, struct cn_error *err)
{
    struct cn_hpc_children children = {0};

    while (t->level_count <= depth) {
        CN_PUSH(t->levels, t->level_count, t->level_capacity, (struct cn_hpc_level){0});
    }
    if (context->id == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 belongs to the global context");
    struct cn_hpc_level *level = &t->levels[depth];
    if (level->len > 0) {
        children = (struct cn_hpc_children){t->out->end_off, level->len};
        if (!cn_out_write(t->out, level->bytes, level->len, err))
            return false;
        level->len = 0;
    }
    if (!t->add(t, depth, context, children, err))
        return cn_fail_in(err, "context %" PRIu32, context->id);
    if (context->id > t->largest_id)
        t->largest_id = context->id;
    t->context_count++;
    return true;
}

bool cn_hpc_tree_write(struct cn_hpc_tree_writer *t, struct cn_error *err)
{
    enum { REPORT_EVERY = 1 << 15 };
    const struct cn_context *context;
    struct cn_walk walk = {0};
    enum cn_walk_event event;
    enum cn_step step = CN_FAIL;
    bool ok = cn_walk_begin(&walk, t->db, err);

    t->walk = &walk;
    while (ok && (step = cn_walk_next(&walk, &event, &context, err)) == CN_ITEM)
        if (event == CN_WALK_LEAVE)
            ok = leave(t, walk.depth, context, err) &&
                 (t->context_count % REPORT_EVERY != 0 ||
                  cn_progress_report(t->progress, "writing meta.db", t->context_count,
                                     t->db->context_limit, "contexts", err));
    cn_walk_done(&walk);
    return ok && step == CN_END;
}
