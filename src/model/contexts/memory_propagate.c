/* Propagation of values along the context tree.
 *
 * Per thread and metric, with one array over contexts for each scope. Children come after
 * their parents, so one pass from the end sums subtrees:
 *
 *   function   the context and the contexts lexically inside it
 *   lex_aware  the same, except that a loop does not include its nested loops
 *   execution  the context and all contexts below it; the only scope of the global context
 */
#include "model/contexts/memory_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

struct scopes {
    int point, function, lex_aware, execution; /* index, or CN_NO_ID */
};

struct propagated_sums {
    double *point, *function, *own_loop, *execution;
    double global;
};

static void sum_up(const struct cn_memory_database *m, const struct scopes *scopes,
                   struct propagated_sums *sums)
{
    size_t len = m->context_count * sizeof(double);

    if (len > 0) {
        memcpy(sums->function, sums->point, len);
        memcpy(sums->own_loop, sums->point, len);
        memcpy(sums->execution, sums->point, len);
    }
    for (size_t i = m->context_count; i-- > 0;) {
        const struct cn_context *context = &m->contexts[i].context;
        size_t parent = m->contexts[i].parent;
        unsigned bit = 0;

        if (parent == i) {
            sums->global += sums->execution[i];
            continue;
        }
        sums->execution[parent] += sums->execution[i];
        if (scopes->function == CN_NO_ID)
            continue;
        bit = m->scopes[scopes->function].propagation;
        if (bit >= 16 || !(context->propagation >> bit & 1))
            continue;
        sums->function[parent] += sums->function[i];
        if (context->kind != CN_CONTEXT_LOOP)
            sums->own_loop[parent] += sums->own_loop[i];
    }
}

static void add_scope(struct cn_memory_database *m, uint32_t profile,
                      const struct cn_metric *metric, int scope, const double *values)
{
    int id = scope == CN_NO_ID ? CN_NO_ID : cn_metric_prop_id(metric, (unsigned)scope);

    for (size_t i = 0; id != CN_NO_ID && i < m->context_count; i++)
        if (values[i] != 0)
            cn_memory_database_add_value(m, profile, m->contexts[i].context.id,
                                         (uint16_t)id, values[i]);
}

static void add_sums(struct cn_memory_database *m, uint32_t profile,
                     const struct cn_metric *metric, const struct scopes *scopes,
                     struct propagated_sums *sums)
{
    int id = scopes->execution == CN_NO_ID
                 ? CN_NO_ID
                 : cn_metric_prop_id(metric, (unsigned)scopes->execution);

    sum_up(m, scopes, sums);
    add_scope(m, profile, metric, scopes->execution, sums->execution);
    add_scope(m, profile, metric, scopes->function, sums->function);
    for (size_t i = 0; i < m->context_count; i++)
        if (m->contexts[i].context.kind != CN_CONTEXT_LOOP)
            sums->own_loop[i] = sums->function[i];
    add_scope(m, profile, metric, scopes->lex_aware, sums->own_loop);
    if (id != CN_NO_ID && sums->global != 0)
        cn_memory_database_add_value(m, profile, 0, (uint16_t)id, sums->global);
}

/* Add the point values of one metric of one thread, a run of values sorted by (profile,
 * metric), to the array. Returns the end of the run. */
static size_t take_run(const struct cn_memory_database *m, size_t at, size_t end,
                       struct propagated_sums *sums)
{
    const struct cn_memory_value *first = &m->values[at];

    for (; at < end && m->values[at].profile == first->profile &&
           m->values[at].value.metric == first->value.metric;
         at++) {
        const struct cn_value *value = &m->values[at].value;
        uint32_t position = cn_map_find(&m->positions, value->key, UINT32_MAX);

        if (position != UINT32_MAX)
            sums->point[position] += value->value;
    }
    return at;
}

static void propagate_threads(struct cn_memory_database *m)
{
    struct scopes scopes = {
        .point = cn_metrics_find_scope_type(&m->db.metrics, CN_SCOPE_POINT),
        .function = cn_metrics_find_scope_type(&m->db.metrics, CN_SCOPE_TRANSITIVE),
        .lex_aware = cn_metrics_find_scope(&m->db.metrics, "lex_aware"),
        .execution = cn_metrics_find_scope_type(&m->db.metrics, CN_SCOPE_EXECUTION),
    };
    size_t count = m->context_count, end = m->value_count;
    struct propagated_sums sums = {
        .point = cn_alloc(count, sizeof(double)),
        .function = cn_alloc(count, sizeof(double)),
        .own_loop = cn_alloc(count, sizeof(double)),
        .execution = cn_alloc(count, sizeof(double)),
    };

    CN_SORT(m->values, end, CN_UP(struct cn_memory_value, profile),
            CN_UP(struct cn_memory_value, value.metric),
            CN_UP(struct cn_memory_value, value.key));
    for (size_t at = 0; at < end;) {
        uint32_t profile = m->values[at].profile;
        const struct cn_metric *metric = NULL;

        for (size_t i = 0; scopes.point != CN_NO_ID && i < m->db.metrics.count; i++)
            if (cn_metric_prop_id(&m->metrics[i], (unsigned)scopes.point) ==
                m->values[at].value.metric)
                metric = &m->metrics[i];

        if (count > 0)
            memset(sums.point, 0, count * sizeof(double));
        sums.global = 0;
        at = take_run(m, at, end, &sums);
        if (metric && !m->profiles[profile].profile.is_summary)
            add_sums(m, profile, metric, &scopes, &sums);
    }
    free(sums.point);
    free(sums.function);
    free(sums.own_loop);
    free(sums.execution);
}

bool cn_memory_database_propagate(struct cn_memory_database *m, struct cn_error *err)
{
    size_t count = 0;

    assert(!m->is_finished);
    /* Drop the values of summaries: new ones are computed. */
    for (size_t i = 0; i < m->value_count; i++)
        if (!m->profiles[m->values[i].profile].profile.is_summary)
            m->values[count++] = m->values[i];
    m->value_count = count;
    propagate_threads(m);
    return cn_memory_summarise(m, err);
}
