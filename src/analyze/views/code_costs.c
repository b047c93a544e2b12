#include "analyze/views/code_costs.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "model/contexts/points.h"

/* The function around a context, CN_NONE if there is none, and whether it is inlined there.
 * `node` is one of the index. */
static bool find_function(struct cn_database *db, const struct cn_context_index *index,
                          uint32_t node, uint32_t *function, bool *is_inlined,
                          struct cn_error *err)
{
    *function = CN_NONE;
    *is_inlined = false;
    for (; node != CN_NONE; node = index->nodes[node].parent) {
        struct cn_context context;

        if (!cn_context_at(db, index->nodes[node].at, &context, err))
            return false;
        if (context.kind != CN_CONTEXT_FUNCTION)
            continue;
        *function = context.has_function ? context.function : CN_NONE;
        *is_inlined = context.relation == CN_INLINED_CALL;
        return true;
    }
    return true;
}

static bool is_in(const struct cn_code_range *range, uint32_t module, uint64_t offset)
{
    return module == range->module && offset >= range->begin && offset < range->end;
}

/* The number of the cost of an instruction in a function. */
static uint32_t cost_at(struct cn_code_costs *costs, struct cn_map *numbers,
                        uint64_t offset, uint32_t function, bool is_inlined)
{
    uint64_t key[2] = {offset, (uint64_t)function << 1 | is_inlined};
    uint32_t at =
        *cn_map_at(numbers, XXH3_64bits(key, sizeof(key)), (uint32_t)costs->count);

    if (at == costs->count) {
        CN_PUSH(costs->list, costs->count, costs->capacity,
                (struct cn_code_cost){offset, function, is_inlined, 0});
    }
    return at;
}

static bool is_code(const struct cn_context *context)
{
    return context->kind == CN_CONTEXT_INSTRUCTION && context->has_point;
}

static bool add_contexts(struct cn_code_costs *out, struct cn_map *numbers,
                         struct cn_costs *costs, const struct cn_context_index *index,
                         size_t column, const struct cn_code_range *range,
                         struct cn_error *err)
{
    double values[CN_COST_COLUMN_MAX];

    for (uint32_t i = 0; i < index->count; i++) {
        struct cn_context context;
        uint32_t function, at;
        bool is_inlined;

        if (!cn_context_at(costs->db, index->nodes[i].at, &context, err))
            return false;
        if (!is_code(&context) || !is_in(range, context.module, context.offset))
            continue;
        if (!cn_costs_of_context(costs, context.id, values, err) ||
            !find_function(costs->db, index, i, &function, &is_inlined, err))
            return false;
        if (isnan(values[column]) || values[column] == 0)
            continue;
        at = cost_at(out, numbers, context.offset, function, is_inlined);
        out->list[at].value += values[column];
    }
    return true;
}

/* The metric of an input, CN_NONE if threads have no values of it. */
static uint32_t metric_of(const struct cn_database *db, const struct cn_cost_input *input)
{
    for (uint32_t i = 0; i < db->metrics.count; i++)
        for (size_t k = 0; k < db->metrics.list[i].instance_count; k++)
            if (db->metrics.list[i].instances[k].prop_id == input->prop_id)
                return i;
    return CN_NONE;
}

/* Add up the inputs of the self costs of selected threads. */
static void fill_inputs(const struct cn_costs *costs, const struct cn_points *points,
                        const uint32_t *row_of_point, struct cn_cost_rows *rows)
{
    uint32_t metrics[CN_COST_INPUT_MAX];

    for (size_t i = 0; i < costs->input_count; i++)
        metrics[i] = costs->inputs[i].side == CN_SELF
                         ? metric_of(costs->db, &costs->inputs[i])
                         : CN_NONE;
    for (size_t i = 0; i < points->value_count; i++) {
        const struct cn_point_value *value = &points->values[i];
        uint32_t row = row_of_point[value->point];

        if (row == CN_NONE || !cn_costs_is_selected(costs, value->profile))
            continue;
        for (size_t k = 0; k < costs->input_count; k++) {
            double *sum = &rows->inputs[row * costs->input_count + k];
            uint32_t only = costs->inputs[k].profile;

            if (metrics[k] == value->metric &&
                (only == CN_NONE || only == value->profile))
                *sum = isnan(*sum) ? value->value : *sum + value->value;
        }
    }
}

static bool add_points(struct cn_code_costs *out, struct cn_map *numbers,
                       struct cn_costs *costs, const struct cn_context_index *index,
                       size_t column, const struct cn_code_range *range,
                       struct cn_error *err)
{
    const struct cn_points *points = costs->db->points;
    uint32_t *row_of_point = cn_alloc(points->count, sizeof(*row_of_point));
    double values[CN_COST_COLUMN_MAX];
    struct cn_cost_rows rows = {0};
    bool ok = true;

    for (size_t i = 0; i < points->count; i++) {
        const struct cn_point *point = &points->list[i];
        uint32_t function;
        bool is_inlined;

        row_of_point[i] = CN_NONE;
        if (!ok || !is_in(range, point->module, point->offset))
            continue;
        ok = find_function(costs->db, index, cn_context_index_find(index, point->context),
                           &function, &is_inlined, err);
        if (ok)
            row_of_point[i] = cost_at(out, numbers, point->offset, function, is_inlined);
    }
    rows.row_count = out->count;
    rows.inputs = cn_alloc(out->count * costs->input_count + 1, sizeof(*rows.inputs));
    for (size_t i = 0; i < out->count * costs->input_count; i++)
        rows.inputs[i] = NAN;
    if (ok)
        fill_inputs(costs, points, row_of_point, &rows);
    for (size_t i = 0; i < out->count && ok; i++) {
        cn_cost_rows_values(costs, &rows, i, values);
        out->list[i].value = isnan(values[column]) ? 0 : values[column];
    }
    cn_cost_rows_done(&rows);
    free(row_of_point);
    return ok;
}

bool cn_code_costs_exist(struct cn_database *db, const struct cn_context_index *index,
                         bool *out, struct cn_error *err)
{
    *out = db->points != NULL;
    for (size_t i = 0; i < index->count && !*out; i++) {
        struct cn_context context;

        if (!cn_context_at(db, index->nodes[i].at, &context, err))
            return false;
        *out = is_code(&context);
    }
    return true;
}

bool cn_code_costs_find(struct cn_code_costs *out, struct cn_costs *costs,
                        const struct cn_context_index *index, size_t column,
                        struct cn_code_range range, struct cn_error *err)
{
    struct cn_map numbers = {0};

    *out = (struct cn_code_costs){0};
    bool ok = (costs->db->points ? add_points : add_contexts)(out, &numbers, costs, index,
                                                              column, &range, err);
    cn_map_done(&numbers);
    return ok;
}

void cn_code_costs_done(struct cn_code_costs *costs)
{
    free(costs->list);
    *costs = (struct cn_code_costs){0};
}
