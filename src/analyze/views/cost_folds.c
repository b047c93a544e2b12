/* What folded contexts hold moves from the rows that called them to those they count for.
 *
 * A move is a loss of one row and a gain of another; either holds for the rows above as
 * well, where both are below the same row they cancel out. So moves are noted at the two
 * rows, added up towards the top, and applied: one pass, however deep the tree.
 */
#include <math.h>
#include <stdlib.h>

#include "analyze/lens/database.h"
#include "analyze/views/cost_tree.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"

/* What is neither total nor adds up does not move. */
static bool moves(const struct cn_cost_input *input)
{
    return input->side == CN_TOTAL && input->combine == CN_COMBINE_SUM;
}

/* What a row gains, and the sum of all that it gains or loses. */
struct gain {
    double value, scale;
};

static void add_gain(struct gain *gain, double value, double scale)
{
    gain->value += value;
    gain->scale += scale;
}

/* By group: what is gained by each row itself. */
static void note_moves(const struct cn_cost_tree *tree, const struct cn_cost_rows *rows,
                       size_t width, size_t input, struct gain *gains)
{
    for (size_t i = 0; i < tree->fold_count; i++) {
        const struct cn_cost_fold *fold = &tree->folds[i];
        double value = rows->inputs[(tree->group_count + i) * width + input];

        if (isnan(value))
            continue;
        if (fold->from != CN_NONE)
            add_gain(&gains[fold->from], -value, fabs(value));
        add_gain(&gains[fold->to], value, fabs(value));
    }
}

static void apply(const struct gain *gain, double *value)
{
    double sum = isnan(*value) ? gain->value : *value + gain->value;

    /* What remains of a difference of equal sums is no value. */
    if (fabs(sum) <= CN_LENS_ROUNDING * gain->scale)
        sum = NAN;
    *value = sum;
}

/* Parents have smaller numbers than their children. What is gained is 0 afterwards. */
static void add_up(const struct cn_cost_tree *tree, struct cn_cost_rows *rows,
                   size_t width, size_t input, struct gain *gains)
{
    for (size_t i = tree->group_count; i-- > 0;) {
        uint32_t parent = tree->groups[i].parent;

        if (gains[i].scale == 0)
            continue;
        apply(&gains[i], &rows->inputs[i * width + input]);
        if (parent != CN_NONE)
            add_gain(&gains[parent], gains[i].value, gains[i].scale);
        gains[i] = (struct gain){0};
    }
}

void cn_cost_tree_unfold(const struct cn_cost_tree *tree, const struct cn_costs *costs,
                         struct cn_cost_rows *rows)
{
    size_t width = costs->input_count;
    struct gain *gains = cn_alloc(tree->group_count, sizeof(*gains));

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
