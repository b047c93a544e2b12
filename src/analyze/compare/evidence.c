#include "analyze/compare/evidence.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

const char *cn_verdict_name(enum cn_verdict verdict)
{
    static const char *const names[] = {"unknown", "real", "noise", "small"};

    return names[verdict];
}

/* The values of the runs of each side. */
struct evidence_samples {
    double *list[CN_SIDES];
    size_t count[CN_SIDES];
};

/* Returns the mean of both sides. */
static double test_row(struct cn_evidence *out, const struct evidence_samples *samples)
{
    struct cn_moments moments[CN_SIDES];
    double least;

    for (int side = 0; side < CN_SIDES; side++)
        moments[side] = cn_moments_of(samples->list[side], samples->count[side]);
    out->difference = cn_mean_test(&moments[CN_SIDE_A], &moments[CN_SIDE_B]);
    out->rank_p =
        cn_rank_test(samples->list[CN_SIDE_A], samples->count[CN_SIDE_A],
                     samples->list[CN_SIDE_B], samples->count[CN_SIDE_B], &least);
    /* Too few runs for 5 %: then no value of one side lies among those of the other. */
    if (out->rank_p > fmax(0.05, least * (1 + 1e-9)))
        out->difference.p = 1;
    return (moments[CN_SIDE_A].mean + moments[CN_SIDE_B].mean) / 2;
}

void cn_evidence_find(struct cn_evidence *out, size_t count, const double *values,
                      double whole, const struct cn_comparison *c)
{
    static const double too_small = 0.001, level = 0.01;
    double *p = cn_alloc(count, sizeof(*p));
    double *list = cn_alloc(2 * c->run_count, sizeof(*list)), limit;
    size_t tested = 0;

    for (size_t i = 0; i < count; i++) {
        struct evidence_samples samples = {{list, list + c->run_count}, {0, 0}};
        double sum = 0;

        out[i] = (struct cn_evidence){.rank_p = NAN,
                                      .difference = {.half_width = NAN, .p = 1}};
        if (c->side_runs[CN_SIDE_A] < 2 || c->side_runs[CN_SIDE_B] < 2)
            continue;
        out[i].verdict = CN_VERDICT_SMALL;
        for (size_t r = 0; r < c->run_count; r++) {
            enum cn_side side = c->runs[r].side;

            samples.list[side][samples.count[side]++] = values[i * c->run_count + r];
            sum += fabs(values[i * c->run_count + r]);
        }
        if (sum == 0 || fabs(test_row(&out[i], &samples)) < too_small * whole)
            continue;
        out[i].verdict = CN_VERDICT_NOISE;
        p[tested++] = out[i].difference.p;
    }
    limit = cn_significant_p(p, tested, level);
    for (size_t i = 0; i < count; i++)
        if (out[i].verdict == CN_VERDICT_NOISE && out[i].difference.p <= limit)
            out[i].verdict = CN_VERDICT_REAL;
    free(list);
    free(p);
}
