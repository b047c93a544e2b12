#include "model/contexts/memory.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/memory_parts.h"

struct cn_memory_database *cn_memory_database_new(const char *title,
                                                  const char *description)
{
    struct cn_memory_database *m = cn_alloc(1, sizeof(*m));

    m->db.path = "";
    m->db.title = cn_arena_strdup(&m->db.arena, title);
    m->db.description = cn_arena_strdup(&m->db.arena, description);
    m->next_id = 1;
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    m->profiles[0].profile.is_summary = true;
    return m;
}

void cn_memory_database_free(struct cn_memory_database *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->db.metrics.count; i++) {
        free(m->metric_parts[i].instances);
        free(m->metric_parts[i].statistics);
    }
    for (uint32_t i = 0; i < m->db.profile_count; i++) {
        free(m->profiles[i].samples);
        cn_thread_states_done(&m->profiles[i].states);
        cn_thread_runs_done(&m->profiles[i].runs);
    }
    free(m->kinds);
    free(m->scopes);
    free(m->metrics);
    free(m->metric_parts);
    free(m->modules);
    free(m->files);
    free(m->functions);
    free(m->profiles);
    free(m->contexts);
    free(m->values);
    free(m->by_profile);
    free(m->by_context);
    free(m->context_starts);
    free(m->states);
    free(m->runs);
    free(m->wakeups);
    cn_locks_done(&m->locks);
    cn_points_done(&m->points);
    cn_map_done(&m->positions);
    cn_arena_done(&m->db.arena);
    free(m);
}

static const char *copy(struct cn_memory_database *m, const char *text)
{
    assert(!m->is_finished);
    return cn_arena_strdup(&m->db.arena, text);
}

uint8_t cn_memory_database_add_kind(struct cn_memory_database *m, const char *name)
{
    size_t at = m->db.kinds.count;

    assert(at < CN_KINDS_MAX);
    CN_GROW(m->kinds, at, m->kind_capacity);
    m->kinds[at] = copy(m, name);
    m->db.kinds = (struct cn_kinds){m->kinds, at + 1};
    return (uint8_t)at;
}

uint16_t cn_memory_database_add_scope(struct cn_memory_database *m, const char *name,
                                      enum cn_scope_type type, uint8_t propagation)
{
    size_t at = m->db.metrics.scope_count;

    assert(at < UINT16_MAX);
    CN_GROW(m->scopes, at, m->scope_capacity);
    m->scopes[at] = (struct cn_scope){copy(m, name), (uint8_t)type, propagation};
    m->db.metrics.scopes = m->scopes;
    m->db.metrics.scope_count = at + 1;
    return (uint16_t)at;
}

uint32_t cn_memory_database_add_metric(struct cn_memory_database *m, const char *name)
{
    size_t at = m->db.metrics.count;

    CN_GROW(m->metrics, at, m->metric_capacity);
    CN_GROW(m->metric_parts, at, m->metric_parts_capacity);
    m->metrics[at] = (struct cn_metric){.name = copy(m, name)};
    m->metric_parts[at] = (struct cn_memory_metric){0};
    m->db.metrics.list = m->metrics;
    m->db.metrics.count = at + 1;
    return (uint32_t)at;
}

void cn_memory_database_add_instance(struct cn_memory_database *m, uint32_t metric,
                                     struct cn_scope_instance instance)
{
    struct cn_metric *to = &m->metrics[metric];
    struct cn_memory_metric *parts = &m->metric_parts[metric];

    assert(!m->is_finished && metric < m->db.metrics.count);
    CN_PUSH(parts->instances, to->instance_count, parts->instance_capacity, instance);
    to->instances = parts->instances;
}

void cn_memory_database_add_statistic(struct cn_memory_database *m, uint32_t metric,
                                      struct cn_statistic statistic)
{
    struct cn_metric *to = &m->metrics[metric];
    struct cn_memory_metric *parts = &m->metric_parts[metric];

    assert(metric < m->db.metrics.count);
    CN_GROW(parts->statistics, to->statistic_count, parts->statistic_capacity);
    statistic.formula = copy(m, statistic.formula);
    parts->statistics[to->statistic_count++] = statistic;
    to->statistics = parts->statistics;
}

void cn_memory_database_add_usual_scopes(struct cn_memory_database *m)
{
    (void)cn_memory_database_add_scope(m, "point", CN_SCOPE_POINT, 0);
    (void)cn_memory_database_add_scope(m, "function", CN_SCOPE_TRANSITIVE, 0);
    (void)cn_memory_database_add_scope(m, "lex_aware", CN_SCOPE_CUSTOM, 0);
    (void)cn_memory_database_add_scope(m, "execution", CN_SCOPE_EXECUTION, 0);
}

uint32_t cn_memory_database_add_usual_metric(struct cn_memory_database *m,
                                             const char *name)
{
    static const struct cn_statistic usual[] = {
        {.formula = "1", .combine = CN_COMBINE_SUM},
        {.formula = "$$", .combine = CN_COMBINE_SUM},
        {.formula = "($$^2)", .combine = CN_COMBINE_SUM},
        {.formula = "$$", .combine = CN_COMBINE_MIN},
        {.formula = "$$", .combine = CN_COMBINE_MAX},
    };
    enum { USUAL_COUNT = sizeof(usual) / sizeof(*usual) };
    size_t scope_count = m->db.metrics.scope_count;
    uint32_t metric = cn_memory_database_add_metric(m, name);

    for (uint16_t scope = 0; scope < scope_count; scope++) {
        uint16_t prop_id = (uint16_t)(m->next_prop_id + scope);

        cn_memory_database_add_instance(m, metric,
                                        (struct cn_scope_instance){scope, prop_id});
        for (size_t i = 0; i < USUAL_COUNT; i++) {
            struct cn_statistic statistic = usual[i];

            statistic.scope = scope;
            statistic.stat_id = (uint16_t)(m->next_stat_id + i * scope_count + scope);
            cn_memory_database_add_statistic(m, metric, statistic);
        }
    }
    m->next_prop_id = (uint16_t)(m->next_prop_id + scope_count);
    m->next_stat_id = (uint16_t)(m->next_stat_id + USUAL_COUNT * scope_count);
    return metric;
}

uint32_t cn_memory_database_add_module(struct cn_memory_database *m, const char *path)
{
    uint32_t at = m->db.module_count++;

    CN_GROW(m->modules, at, m->module_capacity);
    m->modules[at] = (struct cn_module){.path = copy(m, path)};
    return at;
}

void cn_memory_database_set_build_id(struct cn_memory_database *m, uint32_t module,
                                     const char *build_id)
{
    assert(module < m->db.module_count);
    m->modules[module].build_id = copy(m, build_id);
}

struct cn_points *cn_memory_database_points(struct cn_memory_database *m)
{
    return &m->points;
}

uint32_t cn_memory_database_add_file(struct cn_memory_database *m, const char *path,
                                     bool is_copied)
{
    uint32_t at = m->db.file_count++;

    CN_GROW(m->files, at, m->file_capacity);
    m->files[at] = (struct cn_source_file){.path = copy(m, path), .is_copied = is_copied};
    return at;
}

uint32_t cn_memory_database_add_function(struct cn_memory_database *m,
                                         struct cn_function function)
{
    uint32_t at = m->db.function_count++;

    assert(function.module == CN_NONE || function.module < m->db.module_count);
    assert(function.file == CN_NONE || function.file < m->db.file_count);
    CN_GROW(m->functions, at, m->function_capacity);
    function.name = copy(m, function.name);
    m->functions[at] = function;
    return at;
}

/* Append the new context at position `at` to its siblings. */
static void list_as_last(struct cn_memory_database *m, size_t at, uint32_t parent)
{
    struct cn_memory_context *above = &m->contexts[m->contexts[at].parent];
    size_t *first = parent ? &above->first_child : &m->first_entry;
    size_t *last = parent ? &above->last_child : &m->last_entry;

    if (parent)
        above->context.children_len++;
    else
        m->entry_count++;
    if (*first == 0)
        *first = at + 1;
    else
        m->contexts[*last - 1].next_sibling = at + 1;
    *last = at + 1;
    m->listed_count++;
}

static uint32_t add_context(struct cn_memory_database *m, uint32_t parent,
                            struct cn_context context, bool is_hidden)
{
    size_t at = m->context_count;
    uint32_t above =
        parent ? cn_map_find(&m->positions, parent, UINT32_MAX) : (uint32_t)at;

    assert(!m->is_finished && above != UINT32_MAX);
    if (context.id == 0)
        context.id = m->next_id;
    if (context.id >= m->next_id)
        m->next_id = context.id + 1;
    assert(cn_map_find(&m->positions, context.id, UINT32_MAX) == UINT32_MAX);
    *cn_map_at(&m->positions, context.id, 0) = (uint32_t)at;
    context.entry_name = context.entry_name ? copy(m, context.entry_name) : NULL;
    context.at = at;
    context.children_at = 0;
    context.children_len = 0;
    CN_GROW(m->contexts, at, m->context_capacity);
    m->contexts[at] = (struct cn_memory_context){
        .context = context,
        .parent = above,
        .is_hidden = is_hidden,
    };
    m->context_count++;
    if (!is_hidden)
        list_as_last(m, at, parent);
    return context.id;
}

uint32_t cn_memory_database_add_context(struct cn_memory_database *m, uint32_t parent,
                                        struct cn_context context)
{
    assert(!context.has_function || context.function < m->db.function_count);
    assert(!context.has_source || context.file < m->db.file_count);
    assert(!context.has_point || context.module < m->db.module_count);
    return add_context(m, parent, context, false);
}

uint32_t cn_memory_database_add_hidden(struct cn_memory_database *m, uint32_t parent)
{
    struct cn_context context = {
        .relation = CN_LEXICAL,
        .kind = CN_CONTEXT_INSTRUCTION,
        .propagation = 1,
    };

    return add_context(m, parent, context, true);
}

uint32_t cn_memory_database_add_profile(struct cn_memory_database *m,
                                        struct cn_identity_tuple identity)
{
    uint32_t at = m->db.profile_count++;

    assert(!m->is_finished);
    CN_GROW(m->profiles, at, m->profile_capacity);
    m->profiles[at] = (struct cn_memory_profile){.profile.identity = identity};
    return at;
}

void cn_memory_database_name_profile(struct cn_memory_database *m, uint32_t profile,
                                     const char *name)
{
    assert(!m->is_finished && profile < m->db.profile_count);
    m->profiles[profile].profile.name = copy(m, name);
}

void cn_memory_database_add_value(struct cn_memory_database *m, uint32_t profile,
                                  uint32_t context, uint16_t metric, double value)
{
    assert(!m->is_finished && profile < m->db.profile_count);
    CN_PUSH(m->values, m->value_count, m->value_capacity,
            (struct cn_memory_value){
                .profile = profile,
                .value = {.value = value, .key = context, .metric = metric},
            });
}

void cn_memory_database_add_sample(struct cn_memory_database *m, uint32_t profile,
                                   struct cn_sample sample)
{
    struct cn_memory_profile *to = &m->profiles[profile];

    assert(!m->is_finished && profile < m->db.profile_count);
    CN_PUSH(to->samples, to->sample_count, to->sample_capacity, sample);
}

void cn_memory_database_take_states(struct cn_memory_database *m, uint32_t profile,
                                    struct cn_thread_states *states)
{
    assert(!m->is_finished && profile < m->db.profile_count);
    cn_thread_states_done(&m->profiles[profile].states);
    m->profiles[profile].states = *states;
    *states = (struct cn_thread_states){0};
}

void cn_memory_database_take_runs(struct cn_memory_database *m, uint32_t profile,
                                  struct cn_thread_runs *runs)
{
    assert(!m->is_finished && profile < m->db.profile_count);
    cn_thread_runs_done(&m->profiles[profile].runs);
    m->profiles[profile].runs = *runs;
    *runs = (struct cn_thread_runs){0};
}

void cn_memory_database_add_wakeup(struct cn_memory_database *m, struct cn_wakeup wakeup)
{
    assert(!m->is_finished && wakeup.from < m->db.profile_count &&
           wakeup.to < m->db.profile_count);
    CN_PUSH(m->wakeups, m->wakeup_count, m->wakeup_capacity, wakeup);
}

uint32_t cn_memory_database_add_lock(struct cn_memory_database *m,
                                     struct cn_waited_lock lock)
{
    assert(!m->is_finished);
    lock.variable = copy(m, lock.variable);
    CN_PUSH(m->locks.list, m->locks.count, m->locks.capacity, lock);
    return (uint32_t)(m->locks.count - 1);
}

void cn_memory_database_add_lock_wait(struct cn_memory_database *m,
                                      struct cn_lock_wait wait)
{
    assert(!m->is_finished && wait.profile < m->db.profile_count &&
           wait.lock < m->locks.count);
    CN_PUSH(m->locks.waits, m->locks.wait_count, m->locks.wait_capacity, wait);
}
