#include "model/contexts/database.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/search.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

void cn_database_set_states(struct cn_database *db, const struct cn_thread_states *states)
{
    db->states = states;
    for (uint32_t i = 0; db->has_timelines && i < db->profile_count; i++) {
        const struct cn_thread_states *thread = &states[i];

        if (thread->count == 0)
            continue;
        if (cn_thread_states_begin(thread) < db->begin_ns)
            db->begin_ns = cn_thread_states_begin(thread);
        if (cn_thread_states_end(thread) > db->end_ns)
            db->end_ns = cn_thread_states_end(thread);
    }
}

uint64_t cn_database_state_count(const struct cn_database *db)
{
    uint64_t count = 0;

    for (uint32_t i = 0; db->states && i < db->profile_count; i++)
        count += db->states[i].count;
    return count;
}

uint64_t cn_database_run_count(const struct cn_database *db)
{
    uint64_t count = 0;

    for (uint32_t i = 0; db->runs && i < db->profile_count; i++)
        count += db->runs[i].count;
    return count;
}

void cn_database_warn(struct cn_database *db, bool is_damage, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_warning_add(&db->warnings, &db->arena, is_damage, fmt, args);
    va_end(args);
}

static bool check_index(uint32_t index, uint32_t count, const char *what,
                        struct cn_error *err)
{
    if (index < count)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "%s %u does not exist: there are %u", what, index,
                   count);
}

bool cn_database_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                         struct cn_error *err)
{
    struct cn_profile profile = {0}; /* most formats have no names */

    if (!check_index(index, db->profile_count, "profile", err) ||
        !db->ops->profile(db, index, &profile, err))
        return false;
    if (!profile.name && db->thread_names && db->thread_names[index] &&
        db->thread_names[index][0])
        profile.name = db->thread_names[index];
    *out = profile;
    return true;
}

bool cn_database_module(struct cn_database *db, uint32_t index, struct cn_module *out,
                        struct cn_error *err)
{
    if (!check_index(index, db->module_count, "module", err))
        return false;
    *out = (struct cn_module){0};
    if (!db->modules)
        return db->ops->module(db, index, out, err);
    *out = db->modules[index];
    return true;
}

bool cn_database_file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                      struct cn_error *err)
{
    if (!check_index(index, db->file_count, "file", err))
        return false;
    if (!db->files)
        return db->ops->file(db, index, out, err);
    *out = db->files[index];
    return true;
}

bool cn_database_function(struct cn_database *db, uint32_t index, struct cn_function *out,
                          struct cn_error *err)
{
    if (!check_index(index, db->function_count, "function", err))
        return false;
    if (!db->functions)
        return db->ops->function(db, index, out, err);
    *out = db->functions[index];
    return true;
}

bool cn_profile_values(struct cn_database *db, uint32_t profile, uint32_t first_context,
                       uint32_t last_context, struct cn_value_cursor *out,
                       struct cn_error *err)
{
    out->db = db;
    out->plane = CN_PLANE_OF_PROFILE;
    out->owner = profile;
    out->first_key = first_context;
    out->last_key = last_context;
    out->as_key = 0;
    return check_index(profile, db->profile_count, "profile", err) &&
           db->ops->values_begin(db, out, err);
}

bool cn_context_values(struct cn_database *db, uint32_t context,
                       struct cn_value_cursor *out, struct cn_error *err)
{
    assert(db->has_context_values);
    out->db = db;
    out->plane = CN_PLANE_OF_CONTEXT;
    out->owner = context;
    out->first_key = 0;
    out->last_key = UINT32_MAX;
    out->as_key = 0;
    return check_index(context, db->context_limit, "context", err) &&
           db->ops->values_begin(db, out, err);
}

static bool has_smaller_key(const void *plane, uint64_t index, uint64_t key)
{
    return ((const struct cn_value *)plane)[index].key < key;
}

void cn_values_seek(struct cn_value_cursor *cursor, const struct cn_value *plane,
                    uint64_t count)
{
    cursor->at = 0;
    cursor->end = count;
    /* A search in a mapped file brings in pages that the range may not need. */
    if (cursor->first_key > 0)
        cursor->at = cn_search(0, count, has_smaller_key, plane, cursor->first_key);
    if (cursor->last_key < UINT32_MAX)
        cursor->end = cn_search(cursor->at, count, has_smaller_key, plane,
                                (uint64_t)cursor->last_key + 1);
}

enum cn_step cn_values_take(struct cn_value_cursor *cursor, const struct cn_value *plane,
                            size_t max, struct cn_value_batch *out)
{
    uint64_t left = cursor->end - cursor->at;

    if (left == 0)
        return CN_END;
    out->values = plane + cursor->at;
    out->count = left < max ? (size_t)left : max;
    cursor->at += out->count;
    return CN_ITEM;
}

bool cn_timeline_open(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                      struct cn_error *err)
{
    return check_index(profile, db->profile_count, "profile", err) &&
           db->ops->timeline(db, profile, out, err);
}

bool cn_timeline_read(struct cn_database *db, const struct cn_timeline *timeline,
                      uint64_t first, size_t count, struct cn_sample *out,
                      struct cn_error *err)
{
    assert(first <= timeline->count && count <= timeline->count - first);
    return db->ops->samples(db, timeline, first, count, out, err);
}

/* Prepend the name of a file unless the message has it. */
static bool fail_in_file(const char *name, struct cn_error *err)
{
    return name && !strstr(err->text, name) ? cn_fail_in(err, "%s", name) : false;
}

bool cn_timeline_fail_in(const struct cn_database *db, uint32_t profile,
                         struct cn_error *err)
{
    bool names_file = db->timelines_file && strstr(err->text, db->timelines_file);

    (void)cn_fail_in(err, "timeline of profile %" PRIu32, profile);
    return names_file ? false : fail_in_file(db->timelines_file, err);
}

bool cn_contexts_fail_in(const struct cn_database *db, struct cn_error *err)
{
    return fail_in_file(db->contexts_file, err);
}

void cn_timeline_part(struct cn_database *db, const struct cn_timeline *timeline,
                      size_t number, uint64_t *first, uint64_t *count)
{
    uint64_t end = timeline->count;

    assert(number < timeline->part_count);
    if (number + 1 < timeline->part_count)
        end = db->ops->part(db, timeline, number + 1);
    *first = db->ops->part(db, timeline, number);
    *count = end - *first;
}
