#include "analyze/cct/metrics.h"

#include <string.h>

static const struct cn_scope scopes[CN_CCT_SCOPES] = {
    [CN_CCT_POINT] = {"point", CN_SCOPE_POINT, 0},
    [CN_CCT_FUNCTION] = {"function", CN_SCOPE_TRANSITIVE, 0},
    [CN_CCT_LEX_AWARE] = {"lex_aware", CN_SCOPE_CUSTOM, 0},
    [CN_CCT_EXECUTION] = {"execution", CN_SCOPE_EXECUTION, 0},
};

static const char *const scoped_names[CN_CCT_SCOPED_METRICS] = {
    [CN_CCT_TIME] = CN_TIME_NAME,
    [CN_CCT_CPU_TIME] = CN_CPU_TIME_NAME,
    [CN_CCT_WAIT + CN_WAIT_BLOCKED] = CN_BLOCKED_TIME_NAME,
    [CN_CCT_WAIT + CN_WAIT_PREEMPTED] = CN_PREEMPTED_TIME_NAME,
    [CN_CCT_CALLS] = CN_CALLS_NAME,
};

/* Statistics over threads. */
static const struct {
    const char *formula;
    enum cn_combine combine;
} statistics_of[] = {
    {"$$", CN_COMBINE_SUM}, {"1", CN_COMBINE_SUM},  {"($$^2)", CN_COMBINE_SUM},
    {"$$", CN_COMBINE_MIN}, {"$$", CN_COMBINE_MAX},
};
enum { STATISTICS = sizeof(statistics_of) / sizeof(*statistics_of) };
_Static_assert((int)STATISTICS == CN_CCT_STATISTICS_MAX, "cct_metrics.h is out of date");

/* Whether a value has a statistic: the longest call of several threads is their maximum,
 * not their sum. */
static bool has_statistic(uint16_t prop_id, bool has_all, size_t number)
{
    if (prop_id == CN_CCT_ID_MIN)
        return statistics_of[number].combine == CN_COMBINE_MIN;
    if (prop_id == CN_CCT_ID_MAX)
        return statistics_of[number].combine == CN_COMBINE_MAX;
    if (!cn_cct_id_is_scoped(prop_id))
        return number == 0;
    return has_all || number == 0;
}

size_t cn_cct_statistics(uint16_t prop_id, bool has_all, uint16_t stat_id,
                         struct cn_statistic out[CN_CCT_STATISTICS_MAX])
{
    uint16_t scope =
        cn_cct_id_is_scoped(prop_id) ? prop_id % CN_CCT_SCOPES : CN_CCT_POINT;
    size_t count = 0;

    for (size_t i = 0; i < STATISTICS; i++)
        if (has_statistic(prop_id, has_all, i))
            out[count++] = (struct cn_statistic){
                .scope = scope,
                .stat_id = stat_id++,
                .combine = (uint8_t)statistics_of[i].combine,
                .formula = statistics_of[i].formula,
            };
    return count;
}

/* Metrics being built. */
struct metrics_builder {
    struct cn_arena *arena;
    struct cn_metric *list;
    size_t count;
    bool has_all;
    uint16_t *stat_ids, next_stat_id;
};

/* Add a metric with the value ids from first_id on, one per scope. */
static void add_metric(struct metrics_builder *b, const char *name, uint16_t first_id,
                       uint16_t scope_count)
{
    struct cn_scope_instance *instances =
        cn_arena_alloc(b->arena, scope_count, sizeof(*instances));
    struct cn_statistic *statistics =
        cn_arena_alloc(b->arena, (size_t)scope_count * STATISTICS, sizeof(*statistics));
    size_t statistic_count = 0;

    for (uint16_t i = 0; i < scope_count; i++) {
        uint16_t id = (uint16_t)(first_id + i);
        size_t more = cn_cct_statistics(id, b->has_all, b->next_stat_id,
                                        statistics + statistic_count);

        instances[i] = (struct cn_scope_instance){i, id};
        b->stat_ids[id] = b->next_stat_id;
        b->next_stat_id = (uint16_t)(b->next_stat_id + more);
        statistic_count += more;
    }
    b->list[b->count++] = (struct cn_metric){
        .name = name,
        .instances = instances,
        .statistics = statistics,
        .instance_count = scope_count,
        .statistic_count = statistic_count,
    };
}

/* A metric with one statistic of the context itself. Its input is used once, as the self
 * cost: hpcviewer refuses a statistic that is two columns. */
static struct cn_presented_metric
present_single(struct cn_arena *arena, const struct cn_metric *metric, uint32_t input)
{
    struct cn_variant *variant = cn_arena_alloc(arena, 1, sizeof(*variant));

    *variant = (struct cn_variant){
        .name = "",
        .render = CN_RENDER_NUMBER,
        .self.standard = cn_formula_input(arena, input),
    };
    return (struct cn_presented_metric){
        .name = metric->name,
        .description = metric->name,
        .is_visible = true,
        .variants = variant,
        .variant_count = 1,
    };
}

/* Build the taxonomy: the first `scoped_count` metrics, then the extremes in a category of
 * their own. */
static void present(struct cn_database *db, size_t scoped_count)
{
    enum { EXTREMES = 2 };
    struct cn_metrics scoped = db->metrics;
    struct cn_taxonomy *taxonomy = &db->taxonomy;
    struct cn_input *inputs;
    struct cn_presented_metric *roots, *extremes;

    scoped.count = scoped_count;
    cn_taxonomy_build(taxonomy, &scoped, &db->arena);
    inputs =
        cn_arena_alloc(&db->arena, taxonomy->input_count + EXTREMES, sizeof(*inputs));
    roots = cn_arena_alloc(&db->arena, taxonomy->root_count + 1, sizeof(*roots));
    extremes = cn_arena_alloc(&db->arena, EXTREMES, sizeof(*extremes));
    memcpy(inputs, taxonomy->inputs, taxonomy->input_count * sizeof(*inputs));
    memcpy(roots, taxonomy->roots, taxonomy->root_count * sizeof(*roots));
    for (size_t i = 0; i < EXTREMES; i++) {
        const struct cn_metric *metric = &db->metrics.list[scoped_count + i];
        uint32_t input = (uint32_t)taxonomy->input_count++;

        inputs[input] = (struct cn_input){
            .metric = metric->name,
            .scope = scopes[CN_CCT_POINT].name,
            .formula = metric->statistics[0].formula,
            .combine = metric->statistics[0].combine,
        };
        extremes[i] = present_single(&db->arena, metric, input);
    }
    roots[taxonomy->root_count++] =
        cn_taxonomy_category("durations of calls", extremes, EXTREMES, &db->arena);
    taxonomy->inputs = inputs;
    taxonomy->roots = roots;
    cn_gpu_taxonomy(taxonomy, &db->arena);
    cn_heap_taxonomy(taxonomy, &db->arena);
}

static const char *counter_name(unsigned counter)
{
    if (counter >= CN_CCT_IO_COUNTER)
        return cn_io_metrics[counter - CN_CCT_IO_COUNTER].name;
    if (counter >= CN_CCT_HEAP_COUNTER)
        return cn_heap_metric_name((enum cn_heap_metric)(counter - CN_CCT_HEAP_COUNTER));
    return counter < CN_COUNTER_COUNT
               ? cn_counter_names[counter]
               : cn_gpu_metric_name((enum cn_gpu_metric)(counter - CN_COUNTER_COUNT));
}

void cn_cct_metrics_build(struct cn_database *db,
                          const struct cn_cct_metric_choice *choice,
                          uint16_t stat_ids[CN_CCT_ID_COUNT])
{
    struct metrics_builder b = {
        .arena = &db->arena,
        .list = cn_arena_alloc(&db->arena, CN_CCT_ID_COUNT, sizeof(*b.list)),
        .has_all = choice->has_all_statistics,
        .stat_ids = stat_ids,
    };

    for (unsigned i = 0; i < CN_CCT_SCOPED_METRICS; i++)
        if (choice->has_waits || i == CN_CCT_TIME || i == CN_CCT_CALLS)
            add_metric(&b, scoped_names[i], cn_cct_prop_id((enum cn_cct_metric)i, 0),
                       CN_CCT_SCOPES);
    for (unsigned i = 0; i < CN_CCT_COUNTERS; i++)
        if (choice->has_counter[i])
            add_metric(&b, counter_name(i), cn_cct_counter_id(i, 0), CN_CCT_SCOPES);
    size_t scoped_count = b.count;
    add_metric(&b, CN_LATENCY_MIN_NAME, CN_CCT_ID_MIN, 1);
    add_metric(&b, CN_LATENCY_MAX_NAME, CN_CCT_ID_MAX, 1);
    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++) {
        char name[CN_BUCKET_NAME_MAX];

        if (!choice->has_bucket[i])
            continue;
        cn_bucket_name_print(cn_bucket_range(i), name);
        add_metric(&b, cn_arena_strdup(&db->arena, name),
                   (uint16_t)(CN_CCT_ID_BUCKET + i), 1);
    }
    db->metrics = (struct cn_metrics){
        .scopes = scopes,
        .list = b.list,
        .scope_count = CN_CCT_SCOPES,
        .count = b.count,
    };
    present(db, scoped_count);
}
