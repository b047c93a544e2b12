#include "support/check_costs.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/views/context_index.h"
#include "analyze/views/costs.h"
#include "support/effort.h"

/* Contexts of a large database that are asked for alone, spread over all of it. */
enum { CHECKED = 600 };

bool cn_same_value(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static bool check_node(struct cn_costs *costs, const struct cn_cost_rows *rows,
                       uint32_t context, size_t node, struct cn_error *err)
{
    double one[CN_COST_COLUMN_MAX], all[CN_COST_COLUMN_MAX];

    if (!cn_costs_of_context(costs, context, one, err))
        return false;
    cn_cost_rows_values(costs, rows, node, all);
    for (size_t i = 0; i < costs->column_count; i++)
        if (!cn_same_value(one[i], all[i]))
            return cn_fail(err, CN_ERR_FORMAT,
                           "%s of context %" PRIu32 ": %.17g alone, %.17g in one pass",
                           costs->columns[i].name, context, one[i], all[i]);
    return true;
}

bool cn_check_costs(struct cn_costs *costs, struct cn_error *err)
{
    const struct cn_cost_targets every_node_is_a_row = {0};
    struct cn_context_index index = {0};
    struct cn_cost_rows rows = {0};
    bool ok =
        cn_context_index_build(&index, costs->db, err) &&
        cn_costs_fill(costs, &index, &every_node_is_a_row, index.count, NULL, &rows, err);
    size_t step = cn_test_is_thorough() ? 1 : 1 + index.count / CHECKED;

    for (size_t node = 0; ok && node < index.count; node += step)
        ok = check_node(costs, &rows, index.nodes[node].id, node, err);
    cn_cost_rows_done(&rows);
    cn_context_index_done(&index);
    return ok;
}
