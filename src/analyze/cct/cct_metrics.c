#include "analyze/cct/cct_metrics.h"

#include <string.h>

static const struct cn_scope scopes[CN_CCT_SCOPES] = {
    [CN_CCT_POINT] = {"point", CN_SCOPE_POINT, 0},
    [CN_CCT_FUNCTION] = {"function", CN_SCOPE_TRANSITIVE, 0},
    [CN_CCT_LEX_AWARE] = {"lex_aware", CN_SCOPE_CUSTOM, 0},
    [CN_CCT_EXECUTION] = {"execution", CN_SCOPE_EXECUTION, 0},
};

static const char *const scoped_names[CN_CCT_SCOPED_METRICS] = {
    [CN_CCT_TIME] = "time (sec)",
    [CN_CCT_CPU_TIME] = "cpu time (sec)",
    [CN_CCT_CALLS] = "calls",
};

static const char *const counter_names[CN_COUNTER_COUNT] = {
    [CN_COUNTER_VMSIZE] = "virtual memory (KB)",
    [CN_COUNTER_VMRSS] = "resident memory (KB)",
    [CN_COUNTER_SHARED] = "shared memory (KB)",
    [CN_COUNTER_MAJOR_FAULTS] = "major page faults",
    [CN_COUNTER_MINOR_FAULTS] = "minor page faults",
    [CN_COUNTER_CYCLES] = "cycles",
    [CN_COUNTER_INSTRUCTIONS] = "instructions",
    [CN_COUNTER_CACHE_REFERENCES] = "cache references",
    [CN_COUNTER_CACHE_MISSES] = "cache misses",
    [CN_COUNTER_BRANCHES] = "branches",
    [CN_COUNTER_BRANCH_MISSES] = "branch misses",
};

/* What is kept over threads; the sum alone when less is wanted. */
static const struct {
    const char *formula;
    enum cn_combine combine;
} kept[] = {
    {"$$", CN_COMBINE_SUM}, {"1", CN_COMBINE_SUM},  {"($$^2)", CN_COMBINE_SUM},
    {"$$", CN_COMBINE_MIN}, {"$$", CN_COMBINE_MAX},
};
enum { KEPT = sizeof(kept) / sizeof(*kept) };
_Static_assert((int)KEPT == CN_CCT_STATISTICS_MAX, "the header says how many");

/* Ids of statistics: KEPT for each value id, whether they exist or not. */
static uint16_t stat_id(uint16_t prop_id, size_t number)
{
    return (uint16_t)(prop_id * KEPT + number);
}

/* Whether a statistic means anything for a value: the longest call of several
 * threads is the longest of them, not their sum. */
static bool is_kept(uint16_t prop_id, bool has_all, size_t number)
{
    if (prop_id == CN_CCT_ID_MIN)
        return kept[number].combine == CN_COMBINE_MIN;
    if (prop_id == CN_CCT_ID_MAX)
        return kept[number].combine == CN_COMBINE_MAX;
    if (!cn_cct_id_is_scoped(prop_id))
        return number == 0;
    return has_all || number == 0;
}

size_t cn_cct_statistics(uint16_t prop_id, bool has_all,
                         struct cn_statistic out[CN_CCT_STATISTICS_MAX])
{
    uint16_t scope =
        cn_cct_id_is_scoped(prop_id) ? prop_id % CN_CCT_SCOPES : CN_CCT_POINT;
    size_t count = 0;

    for (size_t i = 0; i < KEPT; i++)
        if (is_kept(prop_id, has_all, i))
            out[count++] = (struct cn_statistic){
                .scope = scope,
                .stat_id = stat_id(prop_id, i),
                .combine = (uint8_t)kept[i].combine,
                .formula = kept[i].formula,
            };
    return count;
}

/* A metric with the value ids first_id and those that follow, one a scope. */
static struct cn_metric make_metric(struct cn_arena *arena, const char *name,
                                    uint16_t first_id, uint16_t scope_count, bool has_all)
{
    struct cn_scope_instance *instances =
        cn_arena_alloc(arena, scope_count, sizeof(*instances));
    struct cn_statistic *statistics =
        cn_arena_alloc(arena, (size_t)scope_count * KEPT, sizeof(*statistics));
    size_t statistic_count = 0;

    for (uint16_t i = 0; i < scope_count; i++) {
        uint16_t id = (uint16_t)(first_id + i);

        instances[i] = (struct cn_scope_instance){i, id};
        statistic_count += cn_cct_statistics(id, has_all, statistics + statistic_count);
    }
    return (struct cn_metric){
        .name = name,
        .instances = instances,
        .statistics = statistics,
        .instance_count = scope_count,
        .statistic_count = statistic_count,
    };
}

static size_t add_buckets(struct cn_arena *arena, const bool *has_bucket,
                          struct cn_metric *out)
{
    size_t count = 0;

    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++) {
        char name[CN_BUCKET_NAME_MAX];

        if (!has_bucket[i])
            continue;
        cn_bucket_name_print(cn_bucket_range(i), name);
        out[count++] = make_metric(arena, cn_arena_strdup(arena, name),
                                   (uint16_t)(CN_CCT_ID_BUCKET + i), 1, false);
    }
    return count;
}

/* A metric that has one statistic: the same number seen from either side. */
static struct cn_presented_metric present_single(struct cn_arena *arena,
                                                 const struct cn_metric *metric,
                                                 uint32_t input, bool is_visible)
{
    struct cn_variant *variant = cn_arena_alloc(arena, 1, sizeof(*variant));
    const struct cn_formula *formula = cn_formula_input(arena, input);
    *variant = (struct cn_variant){
        .name = "",
        .render = CN_RENDER_NUMBER,
        .total.standard = formula,
        .self.standard = formula,
    };
    return (struct cn_presented_metric){
        .name = metric->name,
        .description = metric->name,
        .is_visible = is_visible,
        .variants = variant,
        .variant_count = 1,
    };
}

/* Behind what is shown of the first `scoped_count` metrics, the others. */
static void present(struct cn_database *db, size_t scoped_count)
{
    struct cn_metrics scoped = db->metrics;
    size_t single_count = db->metrics.count - scoped_count;
    struct cn_taxonomy *taxonomy = &db->taxonomy;
    struct cn_input *inputs;
    struct cn_presented_metric *roots;

    scoped.count = scoped_count;
    cn_taxonomy_build(taxonomy, &scoped, &db->arena);
    inputs =
        cn_arena_alloc(&db->arena, taxonomy->input_count + single_count, sizeof(*inputs));
    roots =
        cn_arena_alloc(&db->arena, taxonomy->root_count + single_count, sizeof(*roots));
    memcpy(inputs, taxonomy->inputs, taxonomy->input_count * sizeof(*inputs));
    memcpy(roots, taxonomy->roots, taxonomy->root_count * sizeof(*roots));
    for (size_t i = 0; i < single_count; i++) {
        const struct cn_metric *metric = &db->metrics.list[scoped_count + i];
        bool is_bucket = metric->instances[0].prop_id >= CN_CCT_ID_BUCKET;
        uint32_t input = (uint32_t)taxonomy->input_count++;

        inputs[input] = (struct cn_input){
            .metric = metric->name,
            .scope = scopes[CN_CCT_POINT].name,
            .formula = metric->statistics[0].formula,
            .combine = metric->statistics[0].combine,
        };
        roots[taxonomy->root_count++] =
            present_single(&db->arena, metric, input, !is_bucket);
    }
    taxonomy->inputs = inputs;
    taxonomy->roots = roots;
}

void cn_cct_metrics_build(struct cn_database *db,
                          const struct cn_cct_metric_choice *choice)
{
    struct cn_metric *list = cn_arena_alloc(
        &db->arena, CN_CCT_SCOPED_METRICS + CN_COUNTER_COUNT + 2 + CN_BUCKET_COUNT,
        sizeof(*list));
    size_t count = 0, scoped_count;

    for (unsigned i = 0; i < CN_CCT_SCOPED_METRICS; i++)
        if (i != CN_CCT_CPU_TIME || choice->has_cpu_time)
            list[count++] = make_metric(&db->arena, scoped_names[i],
                                        cn_cct_prop_id((enum cn_cct_metric)i, 0),
                                        CN_CCT_SCOPES, choice->has_all_statistics);
    for (unsigned i = 0; i < CN_COUNTER_COUNT; i++)
        if (choice->has_counter[i])
            list[count++] =
                make_metric(&db->arena, counter_names[i], cn_cct_counter_id(i, 0),
                            CN_CCT_SCOPES, choice->has_all_statistics);
    scoped_count = count;
    list[count++] = make_metric(&db->arena, "min time (sec)", CN_CCT_ID_MIN, 1, false);
    list[count++] = make_metric(&db->arena, "max time (sec)", CN_CCT_ID_MAX, 1, false);
    count += add_buckets(&db->arena, choice->has_bucket, list + count);
    db->metrics = (struct cn_metrics){
        .scopes = scopes,
        .list = list,
        .scope_count = CN_CCT_SCOPES,
        .count = count,
    };
    present(db, scoped_count);
}
