#include "store/traceql/series.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/context.h"
#include "store/traceql/measure_rows.h"
#include "store/traceql/run.h"
#include "store/traceql/series_math.h"

/* What is needed while the functions of a query are measured. */
struct metrics_run {
    struct cn_search *search;
    const struct cn_tql_program *program;
    struct cn_tql_metrics *metrics;
    uint64_t first_ns, last_ns; /* of the spans, both ends included */
    size_t exemplar_max;
    struct cn_tql_run run;
    struct cn_tql_measure measure; /* of the function that is measured */
};

/* Whether compare() counts a span on the side of the selection. */
static bool is_selected(struct metrics_run *measuring, struct cn_tql_eval *eval,
                        const struct cn_tql_span *span, bool *out, struct cn_error *err)
{
    const struct cn_tql_node *node = measuring->measure.node;

    *out = false;
    if (node->function != CN_TQL_COMPARE)
        return true;
    if (node->first_ns > 0 && node->last_ns > 0 &&
        (span->time_ns <= (uint64_t)node->first_ns ||
         span->time_ns > (uint64_t)node->last_ns))
        return true;
    return cn_tql_eval_filter(eval, node->filter, span, out, err);
}

static bool take_sets(void *arg, struct cn_tql_eval *eval,
                      const struct cn_tql_spansets *sets, struct cn_error *err)
{
    struct metrics_run *measuring = arg;

    for (size_t i = 0; i < sets->count; i++)
        for (size_t k = 0; k < sets->list[i].count; k++) {
            const struct cn_tql_span *span = &eval->trace->spans[sets->list[i].spans[k]];
            bool selected;

            if (!is_selected(measuring, eval, span, &selected, err) ||
                !cn_tql_measure_add(&measuring->measure, eval->view, span, selected, err))
                return false;
        }
    return true;
}

static bool take_rows(void *arg, const struct cn_tql_rest *rest, uint32_t segment,
                      const struct cn_rows *rows, bool *is_taken, struct cn_error *err)
{
    struct metrics_run *measuring = arg;

    *is_taken = true;
    return cn_tql_measure_rows(&measuring->measure, rest, segment, rows, err);
}

/* True if a function looks at each span alone. */
static bool is_of_spans(const struct cn_tql_program *program,
                        const struct cn_tql_node *node)
{
    for (size_t i = 0; i < node->field_count; i++)
        if (cn_tql_field_needs_trace(&program->fields[node->fields[i]]))
            return false;
    return node->function != CN_TQL_COMPARE &&
           (node->field == CN_NONE ||
            !cn_tql_field_needs_trace(&program->fields[node->field])) &&
           cn_tql_is_of_spans(program, node->stages);
}

static bool measure_spans(struct metrics_run *measuring, const struct cn_tql_node *node,
                          struct cn_tql_series_set *out, struct cn_error *err)
{
    struct cn_tql_run *run = &measuring->run;

    cn_tql_measure_init(&measuring->measure, measuring->program, node, measuring->metrics,
                        measuring->exemplar_max);
    bool ok = is_of_spans(measuring->program, node)
                  ? cn_tql_run_rows(run, node->stages, NULL, take_rows, measuring, err)
                  : cn_tql_run_traces(run, node->stages, err);
    if (ok && measuring->measure.labels.is_full)
        ok = cn_fail(err, CN_ERR_LIMIT,
                     "the query has more than %d series: use fewer fields in by()",
                     CN_TQL_SERIES_MAX);
    if (ok)
        cn_tql_measure_take(&measuring->measure, out);
    cn_tql_measure_done(&measuring->measure);
    return ok;
}

/* The series of a node; its depth is limited by the parser. */
static bool compute(struct metrics_run *measuring, const struct cn_tql_node *node,
                    struct cn_tql_series_set *out, struct cn_error *err)
{
    struct cn_tql_series_set right = {0};

    if (node->kind == CN_TQL_METRICS)
        return measure_spans(measuring, node, out, err);
    if (!compute(measuring, node->left, out, err))
        return false;
    if (node->kind == CN_TQL_MATH) {
        bool ok = compute(measuring, node->right, &right, err);

        if (ok)
            cn_tql_series_join(measuring->metrics, node->op, out, &right);
        free(right.list);
        return ok;
    }
    cn_tql_series_apply(measuring->metrics, node, out);
    return true;
}

static bool set_range(struct metrics_run *measuring,
                      const struct cn_tql_metrics_range *range, struct cn_error *err)
{
    struct cn_tql_metrics *metrics = measuring->metrics;
    uint64_t step_ns = range->step_ns;

    if (range->last_ns <= range->first_ns)
        return cn_fail(err, CN_ERR_USAGE, "the end of the time must be after its begin");
    measuring->first_ns = range->first_ns;
    measuring->last_ns = range->last_ns;
    *metrics = (struct cn_tql_metrics){.begin_ns = range->first_ns,
                                       .step_ns = range->last_ns - range->first_ns,
                                       .count = 1};
    if (step_ns == 0)
        return true;
    uint64_t begin_ns = range->first_ns - range->first_ns % step_ns;
    uint64_t count = (range->last_ns - begin_ns) / step_ns +
                     ((range->last_ns - begin_ns) % step_ns > 0);
    if (count > CN_TQL_POINTS_MAX)
        return cn_fail(err, CN_ERR_USAGE,
                       "the time has %llu steps, the limit is %d: use a longer step",
                       (unsigned long long)count, CN_TQL_POINTS_MAX);
    metrics->begin_ns = begin_ns;
    metrics->step_ns = step_ns;
    metrics->count = (size_t)count;
    measuring->first_ns = begin_ns + 1;
    measuring->last_ns = step_ns < (UINT64_MAX - begin_ns) / count
                             ? begin_ns + count * step_ns
                             : UINT64_MAX - 1;
    return true;
}

/* Hints that change the answer; those about sampling do not, because nothing is sampled. */
static bool take_hints(struct metrics_run *measuring, struct cn_error *err)
{
    enum { EXEMPLARS_DEFAULT = 100, EXEMPLARS_MAX = 100000 };
    const struct cn_tql_value *exemplars = cn_tql_hint(measuring->program, "exemplars");
    const struct cn_tql_value *extrapolate =
        cn_tql_hint(measuring->program, "extrapolate");

    if (extrapolate && cn_tql_is_true(extrapolate))
        return cn_fail(err, CN_ERR_USAGE,
                       "extrapolate is not supported: counts are those of stored spans");
    if (exemplars && exemplars->type == CN_TQL_BOOL)
        measuring->exemplar_max = exemplars->boolean ? EXEMPLARS_DEFAULT : 0;
    if (exemplars && exemplars->type == CN_TQL_INT)
        measuring->exemplar_max = exemplars->integer < 0 ? 0 : (size_t)exemplars->integer;
    if (measuring->exemplar_max > EXEMPLARS_MAX)
        measuring->exemplar_max = EXEMPLARS_MAX;
    return true;
}

bool cn_tql_metrics(struct cn_search *search, const struct cn_tql_program *program,
                    const struct cn_tql_metrics_range *range, struct cn_tql_metrics *out,
                    struct cn_error *err)
{
    struct cn_tql_metrics metrics;
    struct cn_tql_series_set set = {0};
    struct metrics_run measuring = {.search = search,
                                    .program = program,
                                    .metrics = &metrics,
                                    .exemplar_max = range->exemplar_max};

    if (!program->is_metrics)
        return cn_fail(err, CN_ERR_USAGE,
                       "the query finds traces, it has no function of metrics");
    if (!set_range(&measuring, range, err) || !take_hints(&measuring, err))
        return false;
    measuring.run = (struct cn_tql_run){.search = search,
                                        .program = program,
                                        .first_ns = measuring.first_ns,
                                        .last_ns = measuring.last_ns,
                                        .is_once = true,
                                        .take = take_sets,
                                        .arg = &measuring};
    if (!cn_tql_run_begin(&measuring.run, err))
        return false;
    bool ok = compute(&measuring, program->root, &set, err);
    cn_tql_run_done(&measuring.run);
    if (ok)
        cn_tql_series_finish(&metrics, &set);
    else
        free(set.list);
    if (!ok)
        cn_arena_done(&metrics.arena);
    else
        *out = metrics;
    return ok;
}

void cn_tql_metrics_done(struct cn_tql_metrics *metrics)
{
    free(metrics->series);
    cn_arena_done(&metrics->arena);
    *metrics = (struct cn_tql_metrics){0};
}

uint64_t cn_tql_default_step_ns(uint64_t first_ns, uint64_t last_ns)
{
    enum { POINTS = 240 };
    static const uint64_t second = 1000000000, fine = 50000000;
    static const uint64_t steps[] = {3600, 300, 60, 15, 5, 1};
    uint64_t range = last_ns > first_ns ? last_ns - first_ns : 1;
    uint64_t step = range / POINTS;

    if (range < 60 * second)
        return step > fine ? step / fine * fine : fine;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (step > steps[i] * second)
            return step / (steps[i] * second) * (steps[i] * second);
    return second;
}
