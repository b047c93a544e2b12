#include "analyze/compare/call_evidence.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

/* Calls of about the same duration, of a row. */
struct entry {
    uint32_t row;
    enum cn_side side;
    double ns, calls;
};

/* What the durations of a row tell. */
struct spread {
    double count[CN_SIDES], mean[CN_SIDES], squares[CN_SIDES]; /* from the mean */
    double rank_p;
};

bool cn_call_test_is_exact(const double self[CN_SIDES], const double total[CN_SIDES])
{
    static const double nearly = 0.9;

    return self[CN_SIDE_A] >= nearly * total[CN_SIDE_A] &&
           self[CN_SIDE_B] >= nearly * total[CN_SIDE_B];
}

static uint32_t final_node(const struct cn_comparison *c, uint32_t node)
{
    while (node != CN_NONE && c->nodes[node].name == CN_NONE)
        node = c->nodes[node].into;
    return node;
}

/* The durations of all rows, by row and duration; to be freed. */
static struct entry *list_entries(const struct cn_comparison *c, const uint32_t *of_node,
                                  size_t *count)
{
    struct entry *list = NULL;
    size_t capacity = 0;

    *count = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        const struct cn_compared_run *run = &c->runs[r];

        for (size_t i = 0; i < run->duration_count; i++) {
            const struct cn_compared_duration *at = &run->durations[i];
            uint32_t node = final_node(c, at->node);

            if (node == CN_NONE || of_node[node] == CN_NONE)
                continue;
            CN_PUSH(list, *count, capacity,
                    (struct entry){of_node[node], run->side, at->ns, at->calls});
        }
    }
    CN_SORT(list, *count, CN_UP(struct entry, row), CN_UP(struct entry, ns),
            CN_UP(struct entry, side));
    return list;
}

/* Moments and rank test of the entries of one row. */
static struct spread measure(const struct entry *list, size_t count)
{
    struct spread s = {0};
    double *groups[CN_SIDES];
    size_t group_count = 0;

    for (int side = 0; side < CN_SIDES; side++)
        groups[side] = cn_alloc(count, sizeof(**groups));
    for (size_t i = 0; i < count; i++) {
        double before = s.count[list[i].side], delta = list[i].ns - s.mean[list[i].side];

        s.count[list[i].side] += list[i].calls;
        s.mean[list[i].side] += delta * list[i].calls / s.count[list[i].side];
        s.squares[list[i].side] +=
            delta * delta * before * list[i].calls / s.count[list[i].side];
        group_count += i == 0 || list[i].ns != list[i - 1].ns;
        groups[list[i].side][group_count - 1] += list[i].calls;
    }
    s.rank_p = cn_rank_test_grouped(groups[CN_SIDE_A], groups[CN_SIDE_B], group_count);
    for (int side = 0; side < CN_SIDES; side++)
        free(groups[side]);
    return s;
}

/* At least two calls wherever the row has cost, and most of them counted by duration. */
static bool is_known(const struct cn_call_test *test, const struct spread *s)
{
    for (int side = 0; side < CN_SIDES; side++)
        if (test->calls[side] > 0 || test->value[side] != 0)
            if (s->count[side] < 2 || s->count[side] < 0.5 * test->calls[side])
                return false;
    return s->count[CN_SIDE_A] + s->count[CN_SIDE_B] > 0;
}

static void judge(struct cn_evidence *out, const struct cn_call_test *test,
                  const struct spread *s)
{
    double sums[CN_SIDES], counts[CN_SIDES];
    bool is_same_count = fabs(s->count[CN_SIDE_B] - s->count[CN_SIDE_A]) <=
                         0.01 * fmax(s->count[CN_SIDE_A], s->count[CN_SIDE_B]);

    for (int side = 0; side < CN_SIDES; side++) {
        counts[side] = s->count[side];
        /* Of the sum of all calls, in seconds. */
        sums[side] = counts[side] > 1
                         ? counts[side] * s->squares[side] / (counts[side] - 1) * 1e-18
                         : 0;
    }
    out->difference =
        cn_sum_test(test->value[CN_SIDE_B] - test->value[CN_SIDE_A], sums, counts);
    /* More or fewer calls cost more or less, whatever their ranks. */
    if (test->is_exact && is_same_count)
        out->rank_p = s->rank_p;
    if (out->rank_p > 0.05)
        out->difference.p = 1;
    out->verdict = CN_VERDICT_NOISE;
}

void cn_call_evidence_find(struct cn_evidence *out, const struct cn_call_test *tests,
                           size_t count, const uint32_t *of_node,
                           const struct cn_comparison *c)
{
    static const double too_small = 0.001, level = 0.01;
    double whole = (fabs(c->whole[CN_SIDE_A]) + fabs(c->whole[CN_SIDE_B])) / 2, limit;
    double *p = cn_alloc(count, sizeof(*p));
    size_t entry_count, tested = 0, first = 0;
    struct entry *entries = list_entries(c, of_node, &entry_count);

    for (size_t i = 0; i < count; i++)
        out[i] = (struct cn_evidence){.rank_p = NAN,
                                      .difference = {.half_width = NAN, .p = 1}};
    while (first < entry_count) {
        uint32_t row = entries[first].row;
        const struct cn_call_test *test = &tests[row];
        size_t end = first;
        struct spread s;

        while (end < entry_count && entries[end].row == row)
            end++;
        s = measure(entries + first, end - first);
        first = end;
        if (!is_known(test, &s))
            continue;
        if ((fabs(test->value[CN_SIDE_A]) + fabs(test->value[CN_SIDE_B])) / 2 <
            too_small * whole) {
            out[row].verdict = CN_VERDICT_SMALL;
            continue;
        }
        judge(&out[row], test, &s);
        p[tested++] = out[row].difference.p;
    }
    limit = cn_significant_p(p, tested, level);
    for (size_t i = 0; i < count; i++)
        if (out[i].verdict == CN_VERDICT_NOISE)
            out[i].verdict = out[i].difference.p <= limit ? CN_VERDICT_REAL
                             : tests[i].is_exact          ? CN_VERDICT_NOISE
                                                          : CN_VERDICT_UNKNOWN;
    free(entries);
    free(p);
}
