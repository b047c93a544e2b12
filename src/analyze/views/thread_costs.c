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
    const struct cn_metric *of;
    int id = CN_NO_ID;

    if (index == CN_NO_ID)
        return CN_NO_ID;
    of = &db->metrics.list[index];
    if (scope != CN_NO_ID)
        id = cn_metric_prop_id(of, (unsigned)scope);
    return id == CN_NO_ID && of->instance_count > 0 ? of->instances[0].prop_id : id;
}

/* The values of one profile at context 0, which is above all others. */
static bool read_profile(struct cn_database *db, uint32_t profile, const int *ids,
                         size_t count, struct cn_value_cursor *cursor, double *values,
                         struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(db, profile, 0, 0, cursor, err))
        return false;
    while ((step = cn_values_next(cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            for (size_t k = 0; k < count; k++)
                if (ids[k] != CN_NO_ID && batch.values[i].metric == (unsigned)ids[k])
                    values[k] = batch.values[i].value;
    return step == CN_END;
}

bool cn_thread_costs(struct cn_database *db, const char *const *metrics,
                     size_t metric_count, double *values, struct cn_error *err)
{
    struct cn_value_cursor *cursor = cn_alloc(1, sizeof(*cursor));
    int ids[CN_THREAD_COST_METRICS];
    bool ok = true;

    assert(metric_count <= CN_THREAD_COST_METRICS);
    for (size_t i = 0; i < metric_count; i++)
        ids[i] = cn_thread_cost_id(db, metrics[i]);
    for (uint32_t p = 0; ok && p < db->profile_count; p++) {
        struct cn_profile profile;

        for (size_t i = 0; i < metric_count; i++)
            values[p * metric_count + i] = NAN;
        ok = cn_database_profile(db, p, &profile, err) &&
             (profile.is_summary || read_profile(db, p, ids, metric_count, cursor,
                                                 values + p * metric_count, err));
    }
    free(cursor);
    return ok;
}
