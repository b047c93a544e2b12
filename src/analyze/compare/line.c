#include "analyze/compare/line.h"

#include <math.h>

static struct cn_compare_line make(const struct cn_comparison *c, const double *value,
                                   const double *calls,
                                   const struct cn_evidence *evidence, double gross)
{
    double a = value[CN_SIDE_A], b = value[CN_SIDE_B];
    /* Values were scaled to the calls of B. */
    double unit =
        c->scaling == CN_SCALE_PER_CALL && calls[CN_SIDE_B] > 0 ? calls[CN_SIDE_B] : 1;
    bool is_tested =
        evidence->verdict == CN_VERDICT_REAL || evidence->verdict == CN_VERDICT_NOISE;

    return (struct cn_compare_line){
        .value = {a / unit, b / unit},
        .difference = (b - a) / unit,
        .ratio = a > 0 ? b / a : NAN,
        .share_percent = gross > 0 ? 100 * (b - a) / gross : NAN,
        .half_width = is_tested ? evidence->difference.half_width / unit : NAN,
        .p = is_tested ? evidence->difference.p : NAN,
        .rank_p = is_tested ? evidence->rank_p : NAN,
        .calls = {c->has_calls ? calls[CN_SIDE_A] : NAN,
                  c->has_calls ? calls[CN_SIDE_B] : NAN},
        .verdict = evidence->verdict,
    };
}

struct cn_compare_line cn_compare_line_of_change(const struct cn_comparison *c,
                                                 const struct cn_change *change,
                                                 double gross)
{
    return make(c, change->value, change->calls, &change->evidence, gross);
}

struct cn_compare_line cn_compare_line_of_row(const struct cn_comparison *c,
                                              const struct cn_compare_row *row,
                                              double gross)
{
    return make(c, row->value, row->calls, &row->evidence, gross);
}
