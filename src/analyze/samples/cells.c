#include "analyze/samples/internal.h"

#include "base/alloc.h"
#include "base/bytes/wire.h"

enum { CELL_LEN = 12 }; /* in a message */

static bool is_damaged(struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "damaged counts of values of another process");
}

bool cn_sampled_cells_list(struct cn_cells *cells, const struct cn_sampled_sum *sum,
                           const struct cn_sampled_sum_rules *rules, struct cn_error *err)
{
    const double *numbers = sum->numbers;
    size_t capacity = 0;

    for (size_t i = 0; i < sum->count; i++) {
        const struct cn_sampled_sum_cell *cell = &sum->cells[i];
        const struct cn_measured_metric *metric = &rules->metrics->list[cell->metric];

        numbers += cn_sampled_number_count(metric, rules->is_hpcprof_compatible) -
                   CN_SAMPLED_SCOPE_COUNT;
        for (uint16_t scope = 0; scope < CN_SAMPLED_SCOPE_COUNT; scope++) {
            double count = *numbers++;

            if (count == 0)
                continue;
            if (!(count >= 1 && count <= UINT32_MAX))
                return is_damaged(err);
            CN_PUSH(cells->list, cells->count, capacity,
                    (struct cn_cell){cell->context, (uint32_t)count,
                                     (uint16_t)(metric->first_id + scope)});
        }
    }
    return true;
}

void cn_sampled_cells_encode(const struct cn_cells *cells, struct cn_text *message)
{
    for (size_t i = 0; i < cells->count; i++) {
        cn_wire_u32(message, cells->list[i].context);
        cn_wire_u32(message, cells->list[i].metric);
        cn_wire_u32(message, cells->list[i].count);
    }
}

bool cn_sampled_cells_decode(struct cn_cells *cells, struct cn_bytes from,
                             struct cn_error *err)
{
    cells->list = cn_alloc(from.len / CELL_LEN, sizeof(*cells->list));
    while (from.len > 0) {
        uint32_t metric;

        if (from.len < CELL_LEN)
            return is_damaged(err);
        struct cn_cell *cell = &cells->list[cells->count];
        if (!cn_wire_u32_take(&from, &cell->context) ||
            !cn_wire_u32_take(&from, &metric) || !cn_wire_u32_take(&from, &cell->count) ||
            metric > UINT16_MAX || cell->count == 0 ||
            (cells->count > 0 &&
             (cell[-1].context > cell->context ||
              (cell[-1].context == cell->context && cell[-1].metric >= metric))))
            return is_damaged(err);
        cell->metric = (uint16_t)metric;
        cells->count++;
    }
    return true;
}
