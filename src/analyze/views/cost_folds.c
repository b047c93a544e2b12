/* What folded contexts hold moves from the rows that called them to those they count for.
 *
 * A move is a loss of one row and a gain of another; either holds for the rows above as
 * well, where both are below the same row they cancel out. So moves are noted at the two
 * rows, added up towards the top, and applied: one pass, however deep the tree.
 */
#include <math.h>
#include <stdlib.h>

#include "analyze/views/cost_tree.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"

/* What is neither total nor adds up does not move. */
static bool moves(const struct cn_cost_input *input)
{
    return input->side == CN_TOTAL && input->combine == CN_COMBINE_SUM;
}

/* [group][input]: what is gained by each row itself. */
static double *note_moves(const struct cn_cost_tree *tree, const struct cn_costs *costs,
                          const struct cn_cost_rows *rows)
{
    size_t width = costs->input_count;
    double *gains = cn_alloc(tree->group_count * width, sizeof(*gains));

    for (size_t i = 0; i < tree->fold_count; i++) {
        const struct cn_cost_fold *fold = &tree->folds[i];
        const double *values = rows->inputs + (tree->group_count + i) * width;

        for (size_t k = 0; k < width; k++) {
            if (isnan(values[k]) || !moves(&costs->inputs[k]))
                continue;
            gains[fold->from * width + k] -= values[k];
            gains[fold->to * width + k] += values[k];
        }
    }
    return gains;
}

static void apply(const double *gains, size_t width, double *inputs)
{
    for (size_t k = 0; k < width; k++) {
        bool was_cost = inputs[k] >= 0;

        if (gains[k] == 0)
            continue;
        inputs[k] = isnan(inputs[k]) ? gains[k] : inputs[k] + gains[k];
        if (was_cost && inputs[k] < 0) /* no more than rounding */
            inputs[k] = 0;
    }
}

void cn_cost_tree_unfold(const struct cn_cost_tree *tree, const struct cn_costs *costs,
                         struct cn_cost_rows *rows)
{
    size_t width = costs->input_count;
    double *gains = note_moves(tree, costs, rows);

    /* Parents have smaller numbers than their children. */
    for (size_t i = tree->group_count; i-- > 0;) {
        uint32_t parent = tree->groups[i].parent;

        apply(gains + i * width, width, rows->inputs + i * width);
        for (size_t k = 0; parent != CN_NONE && k < width; k++)
            gains[parent * width + k] += gains[i * width + k];
    }
    free(gains);
    rows->row_count = tree->group_count;
    rows->inputs =
        cn_realloc(rows->inputs, tree->group_count, width * sizeof(*rows->inputs));
}
