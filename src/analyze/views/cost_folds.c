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

/* By group: what is gained by each row itself. */
static void note_moves(const struct cn_cost_tree *tree, const struct cn_cost_rows *rows,
                       size_t width, size_t input, double *gains)
{
    for (size_t i = 0; i < tree->fold_count; i++) {
        const struct cn_cost_fold *fold = &tree->folds[i];
        double value = rows->inputs[(tree->group_count + i) * width + input];

        if (isnan(value))
            continue;
        if (fold->from != CN_NONE)
            gains[fold->from] -= value;
        gains[fold->to] += value;
    }
}

static void apply(double gain, double *value)
{
    bool was_cost = *value >= 0;

    *value = isnan(*value) ? gain : *value + gain;
    if (was_cost && *value < 0) /* no more than rounding */
        *value = 0;
}

/* Parents have smaller numbers than their children. What is gained is 0 afterwards. */
static void add_up(const struct cn_cost_tree *tree, struct cn_cost_rows *rows,
                   size_t width, size_t input, double *gains)
{
    for (size_t i = tree->group_count; i-- > 0;) {
        uint32_t parent = tree->groups[i].parent;

        if (gains[i] == 0)
            continue;
        apply(gains[i], &rows->inputs[i * width + input]);
        if (parent != CN_NONE)
            gains[parent] += gains[i];
        gains[i] = 0;
    }
}

void cn_cost_tree_unfold(const struct cn_cost_tree *tree, const struct cn_costs *costs,
                         struct cn_cost_rows *rows)
{
    size_t width = costs->input_count;
    double *gains = cn_alloc(tree->group_count, sizeof(*gains));

    for (size_t k = 0; k < width; k++) {
        if (!moves(&costs->inputs[k]))
            continue;
        note_moves(tree, rows, width, k, gains);
        add_up(tree, rows, width, k, gains);
    }
    free(gains);
    rows->row_count = tree->group_count;
    rows->inputs =
        cn_realloc(rows->inputs, tree->group_count, width * sizeof(*rows->inputs));
}
