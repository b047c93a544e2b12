#include "analyze/cct_summary.h"

#include <string.h>

struct tally {
    double count, sum, squares, min, max;
};

static double value_of(const struct tally *tally, const struct cn_statistic *statistic)
{
    if (statistic->combine == CN_COMBINE_MIN)
        return tally->min;
    if (statistic->combine == CN_COMBINE_MAX)
        return tally->max;
    if (strcmp(statistic->formula, "1") == 0)
        return tally->count;
    return strcmp(statistic->formula, "$$") == 0 ? tally->sum : tally->squares;
}

/* The threads' values of one metric, from `at` on; returns where the next one begins. */
static size_t tally_run(struct cn_value_batch plane, size_t at, struct tally *out)
{
    uint16_t metric = plane.values[at].metric;
    struct tally tally = {.min = plane.values[at].value, .max = plane.values[at].value};

    for (; at < plane.count && plane.values[at].metric == metric; at++) {
        double value = plane.values[at].value;

        tally.count++;
        tally.sum += value;
        tally.squares += value * value;
        tally.min = value < tally.min ? value : tally.min;
        tally.max = value > tally.max ? value : tally.max;
    }
    *out = tally;
    return at;
}

size_t cn_cct_summarise(struct cn_value_batch plane, uint32_t context, bool has_all,
                        struct cn_value *out)
{
    struct cn_statistic statistics[CN_CCT_STATISTICS_MAX];
    size_t count = 0;

    for (size_t at = 0; at < plane.count;) {
        uint16_t metric = plane.values[at].metric;
        size_t statistic_count = cn_cct_statistics(metric, has_all, statistics);
        struct tally tally;

        at = tally_run(plane, at, &tally);
        for (size_t i = 0; i < statistic_count; i++)
            out[count++] = (struct cn_value){value_of(&tally, &statistics[i]), context,
                                             statistics[i].stat_id};
    }
    return count;
}
