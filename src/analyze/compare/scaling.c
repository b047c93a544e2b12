#include "analyze/compare/comparison.h"

#include <assert.h>
#include <string.h>

void cn_comparison_scale(struct cn_comparison *c, size_t run, double factor)
{
    assert(run < c->run_count && !c->order);
    for (size_t i = 0; i < c->runs[run].count; i++)
        c->runs[run].self[i] *= factor;
    for (size_t i = 0; c->runs[run].sample_weights && i < c->runs[run].count; i++)
        c->runs[run].sample_weights[i] *= factor;
    c->runs[run].sample_weight *= factor;
}

double cn_comparison_threads(const struct cn_comparison *c, enum cn_side side)
{
    double sum = 0;

    for (size_t i = 0; i < c->run_count; i++)
        if (c->runs[i].side == side)
            sum += c->runs[i].thread_count;
    return sum / (double)c->side_runs[side];
}

bool cn_compare_scaling_parse(const char *per, const char *scaling,
                              enum cn_compare_scaling *out, struct cn_error *err)
{
    static const char *const names[] = {"",      "call",   "thread", "second",
                                        "trace", "strong", "weak"};
    size_t i = per ? CN_SCALE_PER_CALL : CN_SCALE_STRONG;
    size_t last = per ? CN_SCALE_PER_TRACE : CN_SCALE_WEAK;

    *out = CN_SCALE_NOT;
    if (!per && !scaling)
        return true;
    if (per && scaling)
        return cn_fail(err, CN_ERR_USAGE, "per and scaling exclude each other");
    while (i <= last && strcmp(names[i], per ? per : scaling) != 0)
        i++;
    if (i > last)
        return cn_fail(err, CN_ERR_USAGE,
                       per ? "per '%.40s' is none of call, thread, second, trace"
                           : "scaling '%.40s' is neither strong nor weak",
                       per ? per : scaling);
    *out = (enum cn_compare_scaling)i;
    return true;
}

bool cn_comparison_scale_by(struct cn_comparison *c, enum cn_compare_scaling scaling,
                            struct cn_error *err)
{
    double wanted = cn_comparison_threads(c, CN_SIDE_B);

    c->scaling = scaling;
    if (scaling == CN_SCALE_PER_CALL && !c->has_calls)
        return cn_fail(err, CN_ERR_USAGE, "--per call: a side does not count calls");
    if (scaling == CN_SCALE_NOT || scaling == CN_SCALE_PER_CALL)
        return true;
    for (size_t i = 0; i < c->run_count; i++) {
        const struct cn_compared_run *run = &c->runs[i];

        if (scaling == CN_SCALE_PER_TRACE && !(run->trace_count > 0))
            return cn_fail(err, CN_ERR_USAGE,
                           "--per trace: a side has no request traces");
        if (scaling != CN_SCALE_PER_SECOND && scaling != CN_SCALE_PER_TRACE &&
            run->thread_count == 0)
            return cn_fail(err, CN_ERR_USAGE, "the number of threads is unknown");
        if (scaling == CN_SCALE_PER_SECOND && !(run->seconds > 0))
            return cn_fail(err, CN_ERR_USAGE,
                           "--per second: a side has no timeline, so its duration is "
                           "unknown");
        if (scaling == CN_SCALE_PER_THREAD)
            cn_comparison_scale(c, i, 1 / (double)run->thread_count);
        else if (scaling == CN_SCALE_PER_SECOND)
            cn_comparison_scale(c, i, 1 / run->seconds);
        else if (scaling == CN_SCALE_PER_TRACE)
            cn_comparison_scale(c, i, 1 / run->trace_count);
        else if (scaling == CN_SCALE_WEAK && run->side == CN_SIDE_A)
            cn_comparison_scale(c, i, wanted / (double)run->thread_count);
    }
    return true;
}
