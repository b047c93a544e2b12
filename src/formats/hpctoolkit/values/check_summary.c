#include "formats/hpctoolkit/values/checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    /* Metrics with more statistics or scopes are not checked: it limits the work for each
     * value. */
    STATISTIC_MAX = 64,
    NO_METRIC = 0,
};

/* Values of one metric id in the current plane. */
struct summary_run {
    uint32_t begin, count;
};

struct cn_hpc_summary_check {
    struct cn_database *db;
    struct cn_arena arena;
    size_t id_count;                    /* metric ids are below this */
    const struct cn_formula **formulas; /* by stat_id; NULL: unknown or not parsable */
    uint32_t *metric_of;                /* by prop_id: number of the metric + 1 */
    uint32_t *stat_metric_of;           /* the same by stat_id */
    struct summary_run *runs;           /* by prop_id, of the current context */
    uint32_t *metric_stamp;             /* by metric: equal to `stamp` once compared */
    uint32_t *profile_stamp;            /* by profile, while counting threads */
    uint32_t stamp, count_stamp;
    double *found; /* by stat_id: the summary's value */
    uint32_t *found_stamp;
    struct cn_value_cursor cursor;
};

/* The first difference of a context's summary. */
struct summary_outcome {
    bool differs;
    char *text; /* of CN_HPC_SUMMARY_TEXT_LEN */
};

static void learn_metric(struct cn_hpc_summary_check *s, uint32_t number)
{
    const struct cn_metric *metric = &s->db->metrics.list[number];
    struct cn_error ignored = {0};

    if (metric->statistic_count > STATISTIC_MAX || metric->instance_count > STATISTIC_MAX)
        return;
    for (size_t i = 0; i < metric->instance_count; i++)
        s->metric_of[metric->instances[i].prop_id] = number + 1;
    for (size_t i = 0; i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];
        const struct cn_formula *formula;

        s->stat_metric_of[statistic->stat_id] = number + 1;
        if (cn_formula_parse(&formula, statistic->formula, &s->arena, &ignored))
            s->formulas[statistic->stat_id] = formula;
    }
}

static size_t count_ids(const struct cn_metrics *metrics)
{
    size_t count = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; k < metric->instance_count; k++)
            if (metric->instances[k].prop_id >= count)
                count = (size_t)metric->instances[k].prop_id + 1;
        for (size_t k = 0; k < metric->statistic_count; k++)
            if (metric->statistics[k].stat_id >= count)
                count = (size_t)metric->statistics[k].stat_id + 1;
    }
    return count;
}

struct cn_hpc_summary_check *cn_hpc_summary_check_new(struct cn_database *db)
{
    struct cn_hpc_summary_check *s = cn_alloc(1, sizeof(*s));

    s->db = db;
    s->id_count = count_ids(&db->metrics);
    s->formulas = cn_alloc(s->id_count, sizeof(*s->formulas));
    s->metric_of = cn_alloc(s->id_count, sizeof(*s->metric_of));
    s->stat_metric_of = cn_alloc(s->id_count, sizeof(*s->stat_metric_of));
    s->runs = cn_alloc(s->id_count, sizeof(*s->runs));
    s->found = cn_alloc(s->id_count, sizeof(*s->found));
    s->found_stamp = cn_alloc(s->id_count, sizeof(*s->found_stamp));
    s->metric_stamp = cn_alloc(db->metrics.count, sizeof(*s->metric_stamp));
    s->profile_stamp = cn_alloc(db->profile_count, sizeof(*s->profile_stamp));
    for (size_t i = 0; i < db->metrics.count; i++)
        learn_metric(s, (uint32_t)i);
    return s;
}

void cn_hpc_summary_check_free(struct cn_hpc_summary_check *s)
{
    if (!s)
        return;
    free(s->formulas);
    free(s->metric_of);
    free(s->stat_metric_of);
    free(s->runs);
    free(s->found);
    free(s->found_stamp);
    free(s->metric_stamp);
    free(s->profile_stamp);
    cn_arena_done(&s->arena);
    free(s);
}

static bool is_close(double a, double b)
{
    double larger = fmax(fabs(a), fabs(b));

    return a == b || fabs(a - b) <= 1e-9 * larger;
}

/* Find the values of each metric. False if a metric is not listed in meta.db: then the files
 * have changed since that was checked. */
static bool find_runs(struct cn_hpc_summary_check *s, struct cn_value_batch plane)
{
    uint32_t begin = 0;

    for (uint32_t i = 1; i <= plane.count; i++) {
        uint16_t metric = plane.values[begin].metric;

        if (metric >= s->id_count)
            return false;
        if (i < plane.count && plane.values[i].metric == metric)
            continue;
        s->runs[metric] = (struct summary_run){begin, i - begin};
        begin = i;
    }
    return true;
}

static void clear_runs(struct cn_hpc_summary_check *s, struct cn_value_batch plane)
{
    for (size_t i = 0; i < plane.count; i++)
        if (plane.values[i].metric < s->id_count)
            s->runs[plane.values[i].metric] = (struct summary_run){0};
}

/* hpcprof counts a thread in every scope if it has a value in any. */
static uint32_t count_threads(struct cn_hpc_summary_check *s,
                              const struct cn_metric *metric, struct cn_value_batch plane)
{
    uint32_t count = 0;

    s->count_stamp++;
    for (size_t i = 0; i < metric->instance_count; i++) {
        struct summary_run run = s->runs[metric->instances[i].prop_id];

        for (uint32_t k = run.begin; k < run.begin + run.count; k++) {
            uint32_t *stamp = &s->profile_stamp[plane.values[k].key];

            count += *stamp != s->count_stamp;
            *stamp = s->count_stamp;
        }
    }
    return count;
}

static double combine(unsigned how, double a, double b)
{
    if (how == CN_COMBINE_MIN)
        return fmin(a, b);
    return how == CN_COMBINE_MAX ? fmax(a, b) : a + b;
}

/* The statistic over the threads that have a value. */
static double expected(const struct cn_hpc_summary_check *s,
                       const struct cn_statistic *statistic, struct summary_run run,
                       struct cn_value_batch plane)
{
    const struct cn_formula *formula = s->formulas[statistic->stat_id];
    double result = 0;

    for (uint32_t i = 0; i < run.count; i++) {
        double x = cn_formula_eval(formula, &plane.values[run.begin + i].value);

        result = i == 0 ? x : combine(statistic->combine, result, x);
    }
    return result;
}

static bool is_right(struct cn_hpc_summary_check *s, const struct cn_metric *metric,
                     const struct cn_statistic *statistic, struct cn_value_batch plane,
                     double found, double *wanted)
{
    int prop_id = cn_metric_prop_id(metric, statistic->scope);
    struct summary_run run = {0};

    *wanted = 0;
    if (prop_id == CN_NO_ID || !s->formulas[statistic->stat_id] ||
        statistic->combine > CN_COMBINE_MAX)
        return true;
    run = s->runs[prop_id];
    *wanted = expected(s, statistic, run, plane);
    if (is_close(found, *wanted))
        return true;
    return strcmp(statistic->formula, "1") == 0 &&
           found == count_threads(s, metric, plane);
}

/* hpcprof sums values where it should sum their squares. */
static bool is_unsquared(const struct cn_hpc_summary_check *s,
                         const struct cn_metric *metric,
                         const struct cn_statistic *statistic,
                         struct cn_value_batch plane, double found)
{
    struct summary_run run = s->runs[cn_metric_prop_id(metric, statistic->scope)];
    double sum = 0;

    if (strcmp(statistic->formula, "($$^2)") != 0)
        return false;
    for (uint32_t i = 0; i < run.count; i++)
        sum += plane.values[run.begin + i].value;
    return is_close(found, sum);
}

static bool compare_metric(struct cn_hpc_summary_check *s, uint32_t number,
                           struct cn_value_batch plane, struct summary_outcome *out)
{
    const struct cn_metric *metric = &s->db->metrics.list[number];

    s->metric_stamp[number] = s->stamp;
    for (size_t i = 0; i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];
        bool is_found = s->found_stamp[statistic->stat_id] == s->stamp;
        double found = is_found ? s->found[statistic->stat_id] : 0;
        double wanted;

        if (is_right(s, metric, statistic, plane, found, &wanted))
            continue;
        (void)snprintf(
            out->text, CN_HPC_SUMMARY_TEXT_LEN,
            "%.40s, scope %.20s, %s of %.20s is %.10g, threads give %.10g%s",
            metric->name, s->db->metrics.scopes[statistic->scope].name,
            cn_combine_name(statistic->combine), statistic->formula, found, wanted,
            is_unsquared(s, metric, statistic, plane, found) ? ": not squared" : "");
        return false;
    }
    return true;
}

/* Add one value of the summary. True if no thread has a value that it could come from. */
static bool add_found(struct cn_hpc_summary_check *s, const struct cn_value *value,
                      struct cn_value_batch plane)
{
    if (value->metric >= s->id_count)
        return false;
    s->found[value->metric] = value->value;
    s->found_stamp[value->metric] = s->stamp;
    return plane.count == 0 && value->value != 0 &&
           s->stat_metric_of[value->metric] != NO_METRIC;
}

static bool read_summary(struct cn_hpc_summary_check *s, uint32_t context,
                         struct cn_value_batch plane, struct summary_outcome *out,
                         struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(s->db, 0, context, context, &s->cursor, err))
        return false;
    while ((step = cn_values_next(&s->cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            if (!add_found(s, &batch.values[i], plane) || out->differs)
                continue;
            out->differs = true;
            (void)snprintf(out->text, CN_HPC_SUMMARY_TEXT_LEN,
                           "statistic %u is %.10g, but no thread has a value",
                           batch.values[i].metric, batch.values[i].value);
        }
    return step == CN_END;
}

static void compare_metrics(struct cn_hpc_summary_check *s, struct cn_value_batch plane,
                            struct summary_outcome *out)
{
    for (size_t i = 0; i < plane.count && !out->differs;) {
        uint16_t prop_id = plane.values[i].metric;
        uint32_t metric = s->metric_of[prop_id];

        i += s->runs[prop_id].count;
        if (metric != NO_METRIC && s->metric_stamp[metric - 1] != s->stamp)
            out->differs = !compare_metric(s, metric - 1, plane, out);
    }
}

bool cn_hpc_summary_check_context(struct cn_hpc_summary_check *s, uint32_t context,
                                  struct cn_value_batch plane, bool *differs,
                                  char text[CN_HPC_SUMMARY_TEXT_LEN],
                                  struct cn_error *err)
{
    struct summary_outcome out = {.text = text};

    s->stamp++;
    if (!read_summary(s, context, plane, &out, err))
        return false;
    if (find_runs(s, plane))
        compare_metrics(s, plane, &out);
    clear_runs(s, plane);
    *differs = out.differs;
    return true;
}
