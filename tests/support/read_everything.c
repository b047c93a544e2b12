#include "support/read_everything.h"

#include <assert.h>
#include <string.h>

#include "model/contexts/walk.h"

struct reading {
    struct cn_database *db;
    uint64_t limit;
    struct cn_read_totals *totals;
    struct cn_error *err; /* of the first failure */
    struct cn_value_cursor cursor;
};

/* A message is one line that says something. */
static void note_failure(struct reading *r, const struct cn_error *damage)
{
    assert(damage->kind != CN_ERR_NONE && damage->text[0] != '\0');
    assert(!strchr(damage->text, '\n'));
    if (r->totals->failures++ == 0)
        *r->err = *damage;
}

static void read_tables(struct reading *r)
{
    struct cn_error damage = {0};
    struct cn_module module;
    struct cn_source_file file;
    struct cn_function function;

    for (uint32_t i = 0; i < r->db->module_count; i++)
        if (!cn_database_module(r->db, i, &module, &damage))
            note_failure(r, &damage);
    for (uint32_t i = 0; i < r->db->file_count; i++)
        if (!cn_database_file(r->db, i, &file, &damage))
            note_failure(r, &damage);
    for (uint32_t i = 0; i < r->db->function_count; i++) {
        if (!cn_database_function(r->db, i, &function, &damage)) {
            note_failure(r, &damage);
            continue;
        }
        assert(function.module == CN_NONE || function.module < r->db->module_count);
        assert(function.file == CN_NONE || function.file < r->db->file_count);
    }
}

static void check_context(struct reading *r, const struct cn_context *context)
{
    struct cn_context again;
    struct cn_error damage = {0};

    assert(context->id != 0);
    assert(context->has_function == (context->function < r->db->function_count));
    assert(context->has_source == (context->file < r->db->file_count));
    assert(context->has_point == (context->module < r->db->module_count));
    assert((context->kind == CN_CONTEXT_ENTRY) == (context->entry_name != NULL));
    if (!cn_context_at(r->db, context->at, &again, &damage)) {
        note_failure(r, &damage);
        return;
    }
    assert(again.id == context->id && again.children_at == context->children_at);
}

static void read_contexts(struct reading *r)
{
    struct cn_error damage = {0};
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step = CN_FAIL;
    struct cn_walk walk;

    if (cn_walk_begin(&walk, r->db, &damage))
        while ((step = cn_walk_next(&walk, &event, &context, &damage)) == CN_ITEM) {
            if (event != CN_WALK_ENTER)
                continue;
            check_context(r, context);
            r->totals->contexts++;
            r->totals->entries += context->entry_name != NULL;
            if (context->id > r->totals->max_id)
                r->totals->max_id = context->id;
        }
    cn_walk_done(&walk);
    if (step == CN_FAIL)
        note_failure(r, &damage);
}

/* Read the plane that the cursor stands at and return the number of values. */
static uint64_t read_plane(struct reading *r, uint32_t key_limit)
{
    struct cn_error damage = {0};
    struct cn_value_batch batch;
    enum cn_step step;
    uint64_t count = 0;

    while ((step = cn_values_next(&r->cursor, &batch, &damage)) == CN_ITEM) {
        assert(batch.count > 0 && batch.count <= CN_VALUE_BATCH);
        for (size_t i = 0; i < batch.count; i++)
            assert(batch.values[i].key < key_limit);
        count += batch.count;
        if (r->totals->values + r->totals->context_values + count > r->limit)
            return count;
    }
    if (step == CN_FAIL)
        note_failure(r, &damage);
    return count;
}

static void read_timeline(struct reading *r, uint32_t profile)
{
    struct cn_error damage = {0};
    struct cn_timeline timeline;
    struct cn_sample samples[64];
    size_t count;

    if (!cn_timeline_open(r->db, profile, &timeline, &damage)) {
        note_failure(r, &damage);
        return;
    }
    r->totals->empty_timelines += timeline.count == 0;
    for (uint64_t at = 0; at < timeline.count && r->totals->samples < r->limit;
         at += count) {
        count = timeline.count - at < 64 ? (size_t)(timeline.count - at) : 64;
        if (!cn_timeline_read(r->db, &timeline, at, count, samples, &damage)) {
            note_failure(r, &damage);
            return;
        }
        r->totals->samples += count;
    }
}

static void read_profiles(struct reading *r)
{
    struct cn_error damage = {0};
    struct cn_profile profile;

    for (uint32_t i = 0; i < r->db->profile_count; i++) {
        if (!cn_database_profile(r->db, i, &profile, &damage))
            note_failure(r, &damage);
        if (!cn_profile_values(r->db, i, 0, UINT32_MAX, &r->cursor, &damage))
            note_failure(r, &damage);
        else
            r->totals->values += read_plane(r, r->db->context_limit);
        /* Part of a plane, found by searching. */
        if (cn_profile_values(r->db, i, 2, 5, &r->cursor, &damage))
            (void)read_plane(r, 6);
        if (r->db->has_timelines && i > 0)
            read_timeline(r, i);
    }
}

static void read_planes_of_contexts(struct reading *r)
{
    struct cn_error damage = {0};

    for (uint32_t i = 0; r->db->has_context_values && i < r->db->context_limit; i++)
        if (!cn_context_values(r->db, i, &r->cursor, &damage))
            note_failure(r, &damage);
        else
            r->totals->context_values += read_plane(r, r->db->profile_count);
}

void cn_read_everything(struct cn_database *db, uint64_t limit,
                        struct cn_read_totals *out, struct cn_error *err)
{
    struct reading r = {.db = db, .limit = limit, .totals = out, .err = err};

    *out = (struct cn_read_totals){0};
    read_tables(&r);
    read_contexts(&r);
    read_profiles(&r);
    read_planes_of_contexts(&r);
    cn_database_forget(db);
}
