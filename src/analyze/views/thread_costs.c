#include "analyze/views/thread_costs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/database.h"

/* In the execution scope if there are values. */
int cn_thread_cost_id(const struct cn_database *db, const char *metric)
{
    int index = cn_metrics_find(&db->metrics, metric);
    int scope = cn_metrics_find_scope_type(&db->metrics, CN_SCOPE_EXECUTION);
    int id = CN_NO_ID;

    if (index == CN_NO_ID)
        return CN_NO_ID;
    const struct cn_metric *of = &db->metrics.list[index];
    if (scope != CN_NO_ID)
        id = cn_metric_prop_id(of, (unsigned)scope);
    return id == CN_NO_ID && of->instance_count > 0 ? of->instances[0].prop_id : id;
}

/* Where to put values. */
struct wanted {
    int ids[CN_THREAD_COST_METRICS];
    size_t count;
    double *values;
};

static void take_value(const struct wanted *wanted, uint32_t profile,
                       const struct cn_value *value)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (wanted->ids[i] != CN_NO_ID && value->metric == (unsigned)wanted->ids[i])
            wanted->values[profile * wanted->count + i] = value->value;
}

/* Context 0, which is above all others, over all threads. False if its values are only in
 * the profiles. */
static bool read_context(struct cn_database *db, const struct wanted *wanted,
                         struct cn_value_cursor *cursor)
{
    struct cn_value_batch batch;
    struct cn_error damage; /* profiles have the same values */
    enum cn_step step = CN_FAIL;
    bool is_found = false;

    if (!db->has_context_values || !cn_context_values(db, 0, cursor, &damage))
        return false;
    while ((step = cn_values_next(cursor, &batch, &damage)) == CN_ITEM) {
        is_found = true;
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].key < db->profile_count)
                take_value(wanted, batch.values[i].key, &batch.values[i]);
    }
    return is_found && step == CN_END;
}

/* The values of one profile at that context. */
static bool read_profile(struct cn_database *db, uint32_t profile,
                         const struct wanted *wanted, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(db, profile, 0, 0, cursor, err))
        return false;
    while ((step = cn_values_next(cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            take_value(wanted, profile, &batch.values[i]);
    return step == CN_END;
}

bool cn_thread_costs(struct cn_database *db, const char *const *metrics,
                     size_t metric_count, double *values, struct cn_error *err)
{
    struct cn_value_cursor *cursor = cn_alloc(1, sizeof(*cursor));
    struct wanted wanted = {.count = metric_count, .values = values};
    bool is_read, ok = true;

    assert(metric_count <= CN_THREAD_COST_METRICS);
    for (size_t i = 0; i < metric_count; i++)
        wanted.ids[i] = cn_thread_cost_id(db, metrics[i]);
    for (size_t i = 0; i < db->profile_count * metric_count; i++)
        values[i] = NAN;
    is_read = read_context(db, &wanted, cursor);
    for (uint32_t p = 0; ok && p < db->profile_count; p++) {
        struct cn_profile profile;

        ok = cn_database_profile(db, p, &profile, err);
        if (ok && profile.is_summary)
            for (size_t i = 0; i < metric_count; i++)
                values[p * metric_count + i] = NAN;
        else if (ok && !is_read)
            ok = read_profile(db, p, &wanted, cursor, err);
    }
    free(cursor);
    return ok;
}
