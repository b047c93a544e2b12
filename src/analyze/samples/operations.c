/* The operations of a database made from samples. */
#include <stdlib.h>
#include <sys/mman.h>

#include "analyze/samples/internal.h"
#include "base/alloc.h"

enum { BATCH = 8192 };

static const struct cn_sampled_database *self_of(const struct cn_database *db)
{
    return (const struct cn_sampled_database *)db;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    const struct cn_sampled_thread *thread = &self_of(db)->threads[index];

    (void)err;
    out->is_summary = index == 0;
    out->value_count = thread->value_count;
    out->context_count = thread->context_count;
    out->identity.count = thread->id_count;
    for (size_t i = 0; i < thread->id_count; i++)
        out->identity.ids[i] = thread->ids[i];
    return true;
}

static bool get_module(struct cn_database *db, uint32_t index, struct cn_module *out,
                       struct cn_error *err)
{
    const struct cn_sampled_database *self = self_of(db);

    (void)err;
    cn_measurements_module(self->measurements, self->modules[index], out);
    return true;
}

static bool get_file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                     struct cn_error *err)
{
    const struct cn_sampled_database *self = self_of(db);

    (void)err;
    cn_measurements_file(self->measurements, self->files[index], out);
    return true;
}

static uint32_t renumber(const uint32_t *numbers, uint32_t number)
{
    return number == CN_NONE ? CN_NONE : numbers[number];
}

static bool get_function(struct cn_database *db, uint32_t index, struct cn_function *out,
                         struct cn_error *err)
{
    const struct cn_sampled_database *self = self_of(db);

    (void)err;
    cn_measurements_function(self->measurements, self->functions[index], out);
    out->module = renumber(self->module_numbers, out->module);
    out->file = renumber(self->file_numbers, out->file);
    return true;
}

static bool begin_children(struct cn_database *db, const struct cn_context *parent,
                           struct cn_context_cursor *out, struct cn_error *err)
{
    const struct cn_sampled_database *self = self_of(db);
    uint32_t id = parent ? parent->id : 0;

    (void)err;
    *out = (struct cn_context_cursor){
        .at = id == 0 ? 0 : self->child_ends[id - 1],
        .end = self->child_ends[id],
        .is_entry_list = !parent,
    };
    out->size = out->end - out->at + 1;
    return true;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    const struct cn_sampled_database *self = self_of(db);

    if (at == 0 || at >= self->contexts.count)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no context %llu", (unsigned long long)at);
    const struct cn_sampled_context *from =
        cn_sampled_context_at(&self->contexts, (uint32_t)at);
    *out = (struct cn_context){
        .id = (uint32_t)at,
        .relation = from->relation,
        .kind = from->kind,
        .entry = from->entry,
        .propagation = from->kind != CN_CONTEXT_ENTRY && from->relation == CN_LEXICAL,
        .function = CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
        .at = at,
    };
    if (from->kind == CN_CONTEXT_ENTRY) {
        out->entry_name = cn_entry_name(from->entry);
        return true;
    }
    out->has_function = from->kind == CN_CONTEXT_FUNCTION && from->function != CN_NONE;
    out->has_source = from->file != CN_NONE;
    out->has_point = from->module != CN_NONE;
    out->function = renumber(self->function_numbers, from->function);
    out->file = renumber(self->file_numbers, from->file);
    out->line = from->line;
    out->module = renumber(self->module_numbers, from->module);
    out->offset = from->offset;
    return true;
}

static enum cn_step next_child(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    if (cursor->at == cursor->end)
        return CN_END;
    return context_at(db, self_of(db)->children[cursor->at++], out, err) ? CN_ITEM
                                                                         : CN_FAIL;
}

static const struct cn_value *values_of(const struct cn_sampled_database *self,
                                        uint32_t profile)
{
    uint64_t off = self->threads[profile].values_off;
    const uint8_t *start = self->maps[off >> CN_SPOOL_FILE_SHIFT].ptr;

    return (const struct cn_value *)(const void *)(start + (off & CN_SPOOL_PLACE_MASK));
}

/* Planes are read whole by several workers at once: reading takes no lock of the address
 * space, which mapping and forgetting pages do. Parts of planes are mapped. */
static bool is_read(const struct cn_value_cursor *cursor)
{
    return cursor->first_key == 0 && cursor->last_key == UINT32_MAX;
}

static void forget(struct cn_database *db)
{
    const struct cn_sampled_database *self = self_of(db);

    for (unsigned i = 0; i < self->map_count; i++)
        if (self->maps[i].len > 0)
            cn_file_forget(self->maps[i]);
}

static bool begin_values(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    const struct cn_sampled_database *self = self_of(db);

    if (cursor->plane != CN_PLANE_OF_PROFILE)
        return cn_fail(err, CN_ERR_USAGE, "the database has no values by context");
    uint64_t count = self->threads[cursor->owner].value_count;
    cursor->at = 0;
    cursor->end = count;
    if (count > 0 && !is_read(cursor))
        cn_values_seek(cursor, values_of(self, cursor->owner), count);
    return true;
}

static enum cn_step next_values(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    const struct cn_sampled_database *self = self_of(cursor->db);
    uint64_t left = cursor->end - cursor->at;
    size_t count = left < CN_VALUE_BATCH ? (size_t)left : CN_VALUE_BATCH;

    if (left == 0)
        return CN_END;
    if (!is_read(cursor))
        return cn_values_take(cursor, values_of(self, cursor->owner), BATCH, out);
    if (!cn_spool_read(&self->spool,
                       self->threads[cursor->owner].values_off +
                           cursor->at * sizeof(*cursor->batch),
                       cursor->batch, count * sizeof(*cursor->batch), err))
        return CN_FAIL;
    cursor->at += count;
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}

static const struct cn_cells *get_cells(const struct cn_database *db)
{
    return &self_of(db)->cells;
}

static bool open_timeline(struct cn_database *db, uint32_t profile,
                          struct cn_timeline *out, struct cn_error *err)
{
    const struct cn_sampled_thread *thread = &self_of(db)->threads[profile];

    (void)err;
    *out = (struct cn_timeline){.count = thread->sample_count, .at = thread->samples_off};
    return true;
}

static bool read_samples(struct cn_database *db, const struct cn_timeline *timeline,
                         uint64_t first, size_t count, struct cn_sample *out,
                         struct cn_error *err)
{
    return cn_spool_read(&self_of(db)->spool, timeline->at + first * sizeof(*out), out,
                         count * sizeof(*out), err);
}

void cn_sampled_database_free(struct cn_sampled_database *self)
{
    for (unsigned i = 0; i < self->map_count; i++)
        if (self->maps[i].len > 0)
            (void)munmap((void *)(uintptr_t)self->maps[i].ptr, self->maps[i].len);
    free(self->maps);
    cn_spool_close(&self->spool);
    cn_sampled_contexts_done(&self->contexts);
    cn_sampled_metrics_done(&self->metrics);
    cn_sampled_identities_done(&self->identities);
    free(self->threads);
    free(self->cells.list);
    cn_arena_done(&self->thread_arena);
    free(self->children);
    free(self->child_ends);
    free(self->modules);
    free(self->files);
    free(self->functions);
    free(self->module_numbers);
    free(self->file_numbers);
    free(self->function_numbers);
    cn_arena_done(&self->db.arena);
    free(self);
}

static void close_database(struct cn_database *db)
{
    cn_sampled_database_free((struct cn_sampled_database *)db);
}

static const struct cn_database_ops ops = {
    .profile = get_profile,
    .module = get_module,
    .file = get_file,
    .function = get_function,
    .children = begin_children,
    .child_next = next_child,
    .context_at = context_at,
    .values_begin = begin_values,
    .values_next = next_values,
    .timeline = open_timeline,
    .samples = read_samples,
    .cells = get_cells,
    .forget = forget,
    .close = close_database,
};

struct cn_sampled_database *cn_sampled_database_new(struct cn_measurements *measurements)
{
    struct cn_sampled_database *self = cn_alloc(1, sizeof(*self));

    self->db.ops = &ops;
    self->db.path = "";
    self->measurements = measurements;
    cn_sampled_contexts_init(&self->contexts, measurements);
    return self;
}
