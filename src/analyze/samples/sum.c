#include "analyze/samples/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"

static bool can_restart(const struct cn_measured_metric *metric,
                        bool is_hpcprof_compatible)
{
    for (size_t i = 0; is_hpcprof_compatible && i < metric->statistic_count; i++)
        if (metric->statistics[i] == CN_SAMPLED_MIN)
            return true;
    return false;
}

size_t cn_sampled_number_count(const struct cn_measured_metric *metric,
                               bool is_hpcprof_compatible)
{
    size_t lists = metric->statistic_count;

    return CN_SAMPLED_SCOPE_COUNT *
           (lists + can_restart(metric, is_hpcprof_compatible) + 1);
}

/* Add the value of one more thread to a statistic. hpcprof's sum of squares does not square,
 * and its minimum starts again when a thread has no value. */
static double combine(uint8_t statistic, double sum, double value, bool is_compatible)
{
    switch (statistic) {
    case CN_SAMPLED_COUNT:
        return sum + 1;
    case CN_SAMPLED_SUM:
        return sum + value;
    case CN_SAMPLED_SQUARES:
        return sum + (is_compatible ? value : value * value);
    case CN_SAMPLED_MIN:
        if (value == 0 && !is_compatible)
            return sum;
        return sum == 0 ? value : fmin(sum, value);
    default:
        return sum == 0 ? value : fmax(sum, value);
    }
}

void cn_sampled_numbers_add(const struct cn_measured_metric *metric,
                            bool is_hpcprof_compatible, double *numbers,
                            const double of_scope[CN_SAMPLED_SCOPE_COUNT])
{
    for (size_t i = 0; i < metric->statistic_count; i++) {
        uint8_t statistic = metric->statistics[i];

        for (size_t scope = 0; scope < CN_SAMPLED_SCOPE_COUNT; scope++)
            numbers[scope] = statistic == CN_SAMPLED_SUM
                                 ? numbers[scope] + of_scope[scope]
                                 : combine(statistic, numbers[scope], of_scope[scope],
                                           is_hpcprof_compatible);
        numbers += CN_SAMPLED_SCOPE_COUNT;
    }
    if (is_hpcprof_compatible && can_restart(metric, true))
        for (size_t scope = 0; scope < CN_SAMPLED_SCOPE_COUNT; scope++)
            if (of_scope[scope] == 0)
                numbers[scope] = 1;
}

/* Merge a statistic of earlier threads with that of later ones. */
static double merge_numbers(uint8_t statistic, double left, double right)
{
    switch (statistic) {
    case CN_SAMPLED_MIN:
        if (left == 0 || right == 0)
            return left == 0 ? right : left;
        return fmin(left, right);
    case CN_SAMPLED_MAX:
        return left == 0 ? right : fmax(left, right);
    default:
        return left + right;
    }
}

/* Merge the numbers of a cell of later threads into those of earlier ones. */
static void merge_cell(const struct cn_measured_metric *metric,
                       bool is_hpcprof_compatible, double *left, const double *right)
{
    bool restarts = can_restart(metric, is_hpcprof_compatible);
    size_t own_count = CN_SAMPLED_SCOPE_COUNT * (size_t)metric->statistic_count;

    for (size_t i = 0; i < own_count; i++) {
        uint8_t statistic = metric->statistics[i / CN_SAMPLED_SCOPE_COUNT];
        bool is_restarted = restarts && statistic == CN_SAMPLED_MIN &&
                            right[own_count + i % CN_SAMPLED_SCOPE_COUNT] != 0;

        left[i] = is_restarted ? right[i] : merge_numbers(statistic, left[i], right[i]);
    }
    for (size_t i = own_count; restarts && i < own_count + CN_SAMPLED_SCOPE_COUNT; i++)
        left[i] = fmax(left[i], right[i]);
    own_count += restarts ? CN_SAMPLED_SCOPE_COUNT : 0;
    for (size_t i = own_count; i < own_count + CN_SAMPLED_SCOPE_COUNT; i++)
        left[i] += right[i];
}

struct cn_sampled_sum *cn_sampled_sum_new(size_t count, size_t number_count)
{
    struct cn_sampled_sum *sum = cn_alloc(1, sizeof(*sum));

    sum->cells = cn_realloc(NULL, count, sizeof(*sum->cells));
    sum->numbers = cn_realloc(NULL, number_count, sizeof(*sum->numbers));
    return sum;
}

void cn_sampled_sum_free(void *arg)
{
    struct cn_sampled_sum *sum = arg;

    if (!sum)
        return;
    free(sum->cells);
    free(sum->numbers);
    free(sum);
}

void cn_sampled_sum_add(struct cn_sampled_sum *sum, struct cn_sampled_sum_cell cell,
                        const double *numbers, size_t number_count)
{
    sum->cells[sum->count++] = cell;
    memcpy(sum->numbers + sum->number_count, numbers, number_count * sizeof(*numbers));
    sum->number_count += number_count;
}

static int compare_cells(const struct cn_sampled_sum_cell *a,
                         const struct cn_sampled_sum_cell *b)
{
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return (a->metric > b->metric) - (a->metric < b->metric);
}

void *cn_sampled_sum_merge(void *arg, void *left_sum, void *right_sum)
{
    const struct cn_sampled_sum_rules *rules = arg;
    struct cn_sampled_sum *sums[2] = {left_sum, right_sum};
    struct cn_sampled_sum *out = cn_sampled_sum_new(
        sums[0]->count + sums[1]->count, sums[0]->number_count + sums[1]->number_count);
    size_t at[2] = {0}, number[2] = {0};

    while (at[0] < sums[0]->count || at[1] < sums[1]->count) {
        int order = at[0] == sums[0]->count ? 1
                    : at[1] == sums[1]->count
                        ? -1
                        : compare_cells(&sums[0]->cells[at[0]], &sums[1]->cells[at[1]]);
        unsigned from = order > 0;
        struct cn_sampled_sum_cell cell = sums[from]->cells[at[from]];
        const struct cn_measured_metric *metric = &rules->metrics->list[cell.metric];
        size_t count = cn_sampled_number_count(metric, rules->is_hpcprof_compatible);

        cn_sampled_sum_add(out, cell, sums[from]->numbers + number[from], count);
        if (order == 0)
            merge_cell(metric, rules->is_hpcprof_compatible,
                       out->numbers + out->number_count - count,
                       sums[1]->numbers + number[1]);
        at[from]++;
        number[from] += count;
        at[1] += order == 0;
        number[1] += order == 0 ? count : 0;
    }
    cn_sampled_sum_free(left_sum);
    cn_sampled_sum_free(right_sum);
    return out;
}

void cn_sampled_sum_list(const struct cn_sampled_sum *sum,
                         const struct cn_sampled_sum_rules *rules,
                         struct cn_value_list *out)
{
    const double *numbers = sum->numbers;

    out->count = 0;
    out->context_count = 0;
    for (size_t i = 0; i < sum->count; i++) {
        const struct cn_sampled_sum_cell *cell = &sum->cells[i];
        const struct cn_measured_metric *metric = &rules->metrics->list[cell->metric];
        size_t own_count = CN_SAMPLED_SCOPE_COUNT * (size_t)metric->statistic_count;

        for (size_t k = 0; k < own_count; k++) {
            if (numbers[k] == 0 ||
                !cn_measured_metric_has(metric, k % CN_SAMPLED_SCOPE_COUNT))
                continue;
            out->context_count +=
                out->count == 0 || out->values[out->count - 1].key != cell->context;
            cn_value_list_add(out, (struct cn_value){numbers[k], cell->context,
                                                     (uint16_t)(metric->first_id + k)});
        }
        numbers += cn_sampled_number_count(metric, rules->is_hpcprof_compatible);
    }
}

static void encode_sum(const struct cn_merge *merge, struct cn_text *message)
{
    const struct cn_sampled_sum *sum = merge->part;

    cn_wire_u32(message, merge->level);
    cn_wire_u64(message, merge->number);
    cn_wire_u64(message, sum->count);
    for (size_t i = 0; i < sum->count; i++) {
        cn_wire_u32(message, sum->cells[i].context);
        cn_wire_u32(message, sum->cells[i].metric);
    }
    for (size_t i = 0; i < sum->number_count; i++) {
        uint64_t bits;

        memcpy(&bits, &sum->numbers[i], sizeof(bits));
        cn_wire_u64(message, bits);
    }
}

void cn_sampled_sums_encode(const struct cn_merges *merges, struct cn_text *message)
{
    for (size_t i = 0; i < merges->pending_count; i++)
        encode_sum(&merges->pending[i], message);
}

static bool take_cells(const struct cn_sampled_sum_rules *rules, size_t context_count,
                       struct cn_bytes *from, struct cn_sampled_sum *sum, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cn_sampled_sum_cell *cell = &sum->cells[i];

        if (!cn_wire_u32_take(from, &cell->context) ||
            !cn_wire_u32_take(from, &cell->metric) || cell->context >= context_count ||
            cell->metric >= rules->metrics->count ||
            (i > 0 && compare_cells(cell - 1, cell) >= 0))
            return false;
        sum->count++;
        sum->number_count += cn_sampled_number_count(&rules->metrics->list[cell->metric],
                                                     rules->is_hpcprof_compatible);
    }
    if (sum->number_count > from->len / sizeof(double))
        return false;
    sum->numbers = cn_realloc(sum->numbers, sum->number_count, sizeof(*sum->numbers));
    for (size_t i = 0; i < sum->number_count; i++) {
        uint64_t bits;

        if (!cn_wire_u64_take(from, &bits))
            return false;
        memcpy(&sum->numbers[i], &bits, sizeof(bits));
    }
    return true;
}

static bool take_sum(struct cn_merges *merges, size_t context_count,
                     struct cn_bytes *from)
{
    enum { CELL_LEN = 8 };
    uint64_t number;
    uint32_t level;
    size_t count;

    if (!cn_wire_u32_take(from, &level) || !cn_wire_u64_take(from, &number) ||
        !cn_merges_has(merges, level, (size_t)number) ||
        !cn_wire_count_take(from, CELL_LEN, &count))
        return false;
    struct cn_sampled_sum *sum = cn_sampled_sum_new(count, 0);
    if (!take_cells(merges->arg, context_count, from, sum, count)) {
        cn_sampled_sum_free(sum);
        return false;
    }
    cn_merges_put(merges, (struct cn_merge){level, (size_t)number, sum});
    return true;
}

bool cn_sampled_sums_take(struct cn_merges *merges, size_t context_count,
                          struct cn_bytes message, struct cn_error *err)
{
    while (message.len > 0)
        if (!take_sum(merges, context_count, &message))
            return cn_fail(err, CN_ERR_FORMAT, "damaged summary of another process");
    return true;
}
