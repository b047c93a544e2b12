/* A finished database in memory: sorted values, and the operations of readers. */
#include "model/contexts/memory_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

static struct cn_memory_database *self_of(struct cn_database *db)
{
    return (struct cn_memory_database *)db;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    (void)err;
    *out = self_of(db)->profiles[index].profile;
    return true;
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    struct cn_memory_database *m = self_of(db);

    (void)err;
    *out = (struct cn_context_cursor){
        .at = parent ? m->contexts[parent->at].first_child : m->first_entry,
        .size = parent ? parent->children_len : m->entry_count,
        .is_entry_list = !parent,
    };
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    (void)err;
    if (cursor->at == 0)
        return CN_END;
    const struct cn_memory_context *child = &self_of(db)->contexts[cursor->at - 1];
    *out = child->context;
    cursor->at = child->next_sibling;
    return CN_ITEM;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    (void)err;
    *out = self_of(db)->contexts[at].context;
    return true;
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    const struct cn_memory_database *m = self_of(db);

    (void)err;
    if (cursor->plane == CN_PLANE_OF_PROFILE) {
        const struct cn_memory_profile *owner = &m->profiles[cursor->owner];

        cn_values_seek(cursor, m->by_profile + owner->first_value,
                       owner->profile.value_count);
    } else {
        cursor->at = m->context_starts[cursor->owner];
        cursor->end = m->context_starts[cursor->owner + 1];
    }
    return true;
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    const struct cn_memory_database *m = self_of(cursor->db);

    (void)err;
    return cn_values_take(cursor,
                          cursor->plane == CN_PLANE_OF_PROFILE
                              ? m->by_profile + m->profiles[cursor->owner].first_value
                              : m->by_context,
                          CN_VALUE_BATCH, out);
}

static bool timeline(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err)
{
    (void)err;
    *out = (struct cn_timeline){
        .count = self_of(db)->profiles[profile].sample_count,
        .at = profile,
    };
    return true;
}

static bool samples(struct cn_database *db, const struct cn_timeline *from,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    (void)err;
    if (count > 0)
        memcpy(out, self_of(db)->profiles[from->at].samples + first,
               count * sizeof(*out));
    return true;
}

static void close_database(struct cn_database *db)
{
    cn_memory_database_free(self_of(db));
}

static const struct cn_database_ops operations = {
    .profile = get_profile,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = values_begin,
    .values_next = values_next,
    .timeline = timeline,
    .samples = samples,
    .close = close_database,
};

static void build_profile_planes(struct cn_memory_database *m)
{
    size_t at = 0;

    CN_SORT(m->values, m->value_count, CN_UP(struct cn_memory_value, profile),
            CN_UP(struct cn_memory_value, value.key),
            CN_UP(struct cn_memory_value, value.metric));
    m->by_profile = cn_alloc(m->value_count, sizeof(*m->by_profile));
    for (size_t i = 0; i < m->value_count; i++)
        m->by_profile[i] = m->values[i].value;
    for (uint32_t i = 0; i < m->db.profile_count; i++) {
        struct cn_memory_profile *profile = &m->profiles[i];

        profile->first_value = at;
        for (; at < m->value_count && m->values[at].profile == i; at++)
            profile->profile.context_count +=
                at == profile->first_value ||
                m->by_profile[at].key != m->by_profile[at - 1].key;
        profile->profile.value_count = at - profile->first_value;
    }
}

static void build_context_planes(struct cn_memory_database *m)
{
    size_t count = 0, at = 0;

    CN_SORT(m->values, m->value_count, CN_UP(struct cn_memory_value, value.key),
            CN_UP(struct cn_memory_value, value.metric),
            CN_UP(struct cn_memory_value, profile));
    m->by_context = cn_alloc(m->value_count, sizeof(*m->by_context));
    m->context_starts = cn_alloc((size_t)m->db.context_limit + 1, sizeof(size_t));
    for (uint32_t id = 0; id < m->db.context_limit; id++) {
        m->context_starts[id] = count;
        for (; at < m->value_count && m->values[at].value.key == id; at++) {
            if (m->profiles[m->values[at].profile].profile.is_summary)
                continue;
            m->by_context[count] = m->values[at].value;
            m->by_context[count++].key = m->values[at].profile;
        }
    }
    m->context_starts[m->db.context_limit] = count;
}

static void find_time_span(struct cn_memory_database *m)
{
    for (uint32_t i = 0; i < m->db.profile_count; i++) {
        const struct cn_memory_profile *profile = &m->profiles[i];

        if (profile->sample_count == 0)
            continue;
        uint64_t begin_ns = profile->samples[0].time_ns;
        uint64_t end_ns = profile->samples[profile->sample_count - 1].time_ns;
        if (!m->db.has_timelines || begin_ns < m->db.begin_ns)
            m->db.begin_ns = begin_ns;
        if (!m->db.has_timelines || end_ns > m->db.end_ns)
            m->db.end_ns = end_ns;
        m->db.has_timelines = true;
    }
}

static void list_states(struct cn_memory_database *m)
{
    bool is_known = false;

    m->states = cn_alloc(m->db.profile_count, sizeof(*m->states));
    for (uint32_t i = 0; i < m->db.profile_count; i++) {
        m->states[i] = m->profiles[i].states;
        is_known = is_known || m->states[i].count > 0;
    }
    if (is_known)
        cn_database_set_states(&m->db, m->states);
}

static void list_runs(struct cn_memory_database *m)
{
    m->runs = cn_alloc(m->db.profile_count, sizeof(*m->runs));
    for (uint32_t i = 0; i < m->db.profile_count; i++) {
        m->runs[i] = m->profiles[i].runs;
        if (m->runs[i].count > 0)
            m->db.runs = m->runs;
    }
    m->db.wakeups = (struct cn_wakeups){.list = m->wakeups, .count = m->wakeup_count};
    m->db.locks = m->locks.count > 0 ? &m->locks : NULL;
}

struct cn_database *cn_memory_database_finish(struct cn_memory_database *m)
{
    assert(!m->is_finished);
    m->is_finished = true;
    m->db.ops = &operations;
    m->db.modules = m->modules;
    m->db.files = m->files;
    m->db.functions = m->functions;
    m->db.points = m->points.count > 0 ? &m->points : NULL;
    m->db.context_limit = m->next_id;
    for (size_t i = 0; i < m->value_count; i++)
        if (m->values[i].value.key >= m->db.context_limit)
            m->db.context_limit = m->values[i].value.key + 1;
    m->db.context_weight = m->listed_count;
    build_profile_planes(m);
    build_context_planes(m);
    m->db.has_context_values = true;
    free(m->values);
    m->values = NULL;
    find_time_span(m);
    list_states(m);
    list_runs(m);
    cn_taxonomy_build(&m->db.taxonomy, &m->db.metrics, &m->db.arena);
    return &m->db;
}
