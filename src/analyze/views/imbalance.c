#include "analyze/views/imbalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/views/thread_costs.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/map.h"
#include "model/contexts/database.h"

static const double half = 0.5, least_ratio = 1.2;

/* A rank, or a thread. */
struct imbalance_group {
    uint64_t key;
    double value, blocked; /* of everything it does */
    double work;           /* of the value, in the call path */
};

struct imbalance_groups {
    struct cn_database *db;
    struct imbalance_group *list;
    size_t count;
    struct cn_map numbers; /* by key: 1 + its index in the list */
    uint32_t *of_profile;  /* the group of each profile; CN_NONE: none */
    bool has_waits, is_by_rank;
};

static const struct cn_identity *find_rank(const struct cn_profile *profile,
                                           const struct cn_kinds *kinds)
{
    for (size_t i = 0; i < profile->identity.count; i++) {
        uint8_t kind = profile->identity.ids[i].kind;

        if (kind < kinds->count && strcmp(kinds->list[kind], "RANK") == 0)
            return &profile->identity.ids[i];
    }
    return NULL;
}

/* The identities of two threads of one process differ in the last number. */
static bool is_of_process(const struct cn_identity_tuple *a,
                          const struct cn_identity_tuple *b)
{
    bool is_same = a->count == b->count;

    for (size_t i = 0; is_same && i + 1 < a->count; i++)
        is_same =
            a->ids[i].kind == b->ids[i].kind && a->ids[i].physical == b->ids[i].physical;
    return is_same;
}

static bool has_several_ranks(struct cn_database *db, const double *values, size_t width,
                              bool *out, struct cn_error *err)
{
    uint32_t first = CN_NONE;

    *out = false;
    for (uint32_t p = 0; p < db->profile_count && !*out; p++) {
        struct cn_profile profile;

        if (isnan(values[p * width]))
            continue;
        if (!cn_database_profile(db, p, &profile, err))
            return false;
        const struct cn_identity *rank = find_rank(&profile, &db->kinds);
        if (!rank)
            return true;
        *out = first != CN_NONE && rank->logical != first;
        first = rank->logical;
    }
    return true;
}

static void add_to_group(struct imbalance_groups *groups, uint32_t profile, uint64_t key,
                         double value, double blocked)
{
    uint32_t *number = cn_map_at(&groups->numbers, key, 0);

    if (*number == 0) {
        groups->list[groups->count++] = (struct imbalance_group){.key = key};
        *number = (uint32_t)groups->count;
    }
    groups->of_profile[profile] = *number - 1;
    struct imbalance_group *group = &groups->list[*number - 1];
    group->value += value;
    group->blocked += isnan(blocked) ? 0 : blocked;
}

/* Group all threads that have costs; of threads, those of the process of the busiest one. */
static bool make_groups(struct imbalance_groups *groups, const double *values,
                        size_t width, struct cn_error *err)
{
    struct cn_database *db = groups->db;
    struct cn_profile profile, busiest;
    uint32_t most = 0;

    for (uint32_t p = 0; p < db->profile_count; p++)
        if (!isnan(values[p * width]) &&
            (isnan(values[most * width]) || values[p * width] > values[most * width]))
            most = p;
    if (!has_several_ranks(db, values, width, &groups->is_by_rank, err) ||
        !cn_database_profile(db, most, &busiest, err))
        return false;
    for (uint32_t p = 0; p < db->profile_count; p++) {
        groups->of_profile[p] = CN_NONE;
        if (isnan(values[p * width]))
            continue;
        if (!cn_database_profile(db, p, &profile, err))
            return false;
        const struct cn_identity *rank =
            groups->is_by_rank ? find_rank(&profile, &db->kinds) : NULL;
        if (rank ||
            (!groups->is_by_rank && is_of_process(&profile.identity, &busiest.identity)))
            add_to_group(groups, p, rank ? rank->logical : p, values[p * width],
                         width > 1 ? values[p * width + 1] : 0);
    }
    return true;
}

/* The cost of each group in a context. */
static bool read_work(struct imbalance_groups *groups, uint32_t context, int metric,
                      struct cn_error *err)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    for (size_t i = 0; i < groups->count; i++)
        groups->list[i].work = 0;
    if (!cn_context_values(groups->db, context, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_value *value = &batch.values[i];

            if (value->metric == (unsigned)metric &&
                value->key < groups->db->profile_count &&
                groups->of_profile[value->key] != CN_NONE)
                groups->list[groups->of_profile[value->key]].work += value->value;
        }
    return step == CN_END;
}

/* Compare the groups that do most of their work in the context. */
static struct cn_imbalance compare(const struct imbalance_groups *groups)
{
    struct cn_imbalance found = {.is_by_rank = groups->is_by_rank};
    double sum = 0, missing = 0, waited = 0;

    for (size_t i = 0; i < groups->count; i++) {
        const struct imbalance_group *group = &groups->list[i];

        if (!(group->work > 0 && group->work >= half * group->value))
            continue;
        found.count++;
        sum += group->work;
        if (group->work > found.max) {
            found.max = group->work;
            found.most = group->key;
        }
    }
    for (size_t i = 0; i < groups->count; i++) {
        const struct imbalance_group *group = &groups->list[i];

        if (!(group->work > 0 && group->work >= half * group->value))
            continue;
        missing += found.max - group->work;
        waited += fmin(group->blocked, found.max - group->work);
    }
    found.mean = found.count > 0 ? sum / (double)found.count : 0;
    found.is_found = found.count >= 2 && found.max >= least_ratio * found.mean &&
                     (!groups->has_waits || waited >= half * missing);
    return found;
}

static bool find(struct cn_imbalance *out, struct imbalance_groups *groups, int metric,
                 const uint32_t *path, size_t count, struct cn_error *err)
{
    size_t most = 0;
    bool is_work = false;

    for (size_t i = 1; i < groups->count; i++)
        if (groups->list[i].value > groups->list[most].value)
            most = i;
    while (groups->count >= 2 && count > 0 && !is_work) {
        if (!read_work(groups, path[--count], metric, err))
            return false;
        is_work = groups->list[most].work >= half * groups->list[most].value;
    }
    if (is_work) {
        *out = compare(groups);
        out->context = path[count];
    }
    return true;
}

bool cn_imbalance_find(struct cn_imbalance *out, struct cn_database *db,
                       const char *metric, const uint32_t *path, size_t count,
                       struct cn_error *err)
{
    const char *const metrics[] = {metric, CN_BLOCKED_TIME_NAME};
    struct imbalance_groups groups = {.db = db,
                                      .has_waits = cn_metrics_have_waits(&db->metrics)};
    size_t width = groups.has_waits ? 2 : 1;
    int id = cn_thread_cost_id(db, metric);

    *out = (struct cn_imbalance){0};
    if (id == CN_NO_ID || !db->has_context_values)
        return true;
    double *values = cn_alloc(db->profile_count * width, sizeof(*values));
    groups.list = cn_alloc(db->profile_count, sizeof(*groups.list));
    groups.of_profile = cn_alloc(db->profile_count, sizeof(*groups.of_profile));
    bool ok = cn_thread_costs(db, metrics, width, values, err) &&
              make_groups(&groups, values, width, err) &&
              find(out, &groups, id, path, count, err);
    cn_map_done(&groups.numbers);
    free(groups.of_profile);
    free(groups.list);
    free(values);
    return ok;
}
