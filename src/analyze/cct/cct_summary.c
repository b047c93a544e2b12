#include "analyze/cct/cct_summary.h"

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

/* The threads' values of one id, from `at` on; returns where the next one begins. */
static size_t tally_run(struct cn_value_batch plane, size_t at, unsigned id,
                        struct tally *out)
{
    *out = (struct tally){0};
    for (; at < plane.count && plane.values[at].metric == id; at++) {
        double value = plane.values[at].value;

        out->min = out->count == 0 || value < out->min ? value : out->min;
        out->max = out->count == 0 || value > out->max ? value : out->max;
        out->count++;
        out->sum += value;
        out->squares += value * value;
    }
    return at;
}

static size_t put(const struct tally *tally, unsigned id, uint32_t context, bool has_all,
                  struct cn_value *out)
{
    struct cn_statistic statistics[CN_CCT_STATISTICS_MAX];
    size_t statistic_count = cn_cct_statistics((uint16_t)id, has_all, statistics);
    size_t count = 0;

    for (size_t i = 0; i < statistic_count; i++) {
        out[count] = (struct cn_value){value_of(tally, &statistics[i]), context,
                                       statistics[i].stat_id};
        count += out[count].value != 0;
    }
    return count;
}

/* All scopes of a metric, whose first id is `id`. A thread that has a value in one
 * scope counts in all of them. */
static size_t summarise_scopes(struct cn_value_batch plane, size_t *at, unsigned id,
                               uint32_t context, bool has_all, struct cn_value *out)
{
    struct tally tallies[CN_CCT_SCOPES];
    double thread_count = 0;
    size_t count = 0;

    for (unsigned i = 0; i < CN_CCT_SCOPES; i++) {
        *at = tally_run(plane, *at, id + i, &tallies[i]);
        if (tallies[i].count > thread_count)
            thread_count = tallies[i].count;
    }
    for (unsigned i = 0; i < CN_CCT_SCOPES; i++) {
        tallies[i].count = thread_count;
        count += put(&tallies[i], id + i, context, has_all, out + count);
    }
    return count;
}

size_t cn_cct_summarise(struct cn_value_batch plane, uint32_t context, bool has_all,
                        struct cn_value *out)
{
    size_t count = 0;

    for (size_t at = 0; at < plane.count;) {
        unsigned id = plane.values[at].metric;
        struct tally tally;

        if (cn_cct_id_is_scoped(id)) {
            count += summarise_scopes(plane, &at, id / CN_CCT_SCOPES * CN_CCT_SCOPES,
                                      context, has_all, out + count);
            continue;
        }
        at = tally_run(plane, at, id, &tally);
        count += put(&tally, id, context, has_all, out + count);
    }
    return count;
}
