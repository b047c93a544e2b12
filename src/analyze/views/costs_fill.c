/* The numbers of many rows: sums from ranges of contexts, other statistics in one pass over
 * the planes of profiles. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lens/database.h"
#include "analyze/views/costs_blocks.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"

struct fill {
    struct cn_costs *costs;
    const struct cn_context_index *index;
    const struct cn_cost_targets *targets;
    struct cn_cost_rows rows;
    double
        *thread_inputs; /* [row][input] of the thread being read; NULL without tallies */
    double *thread_scales; /* what was added or subtracted there; NULL: nothing is */
    uint32_t *touched;     /* rows with thread inputs */
    size_t touched_count;
    bool *is_touched;
};

static double *new_inputs(size_t row_count, size_t width)
{
    double *inputs = cn_alloc(row_count * width, sizeof(*inputs));

    for (size_t i = 0; i < row_count * width; i++)
        inputs[i] = NAN;
    return inputs;
}

static void touch(struct fill *fill, uint32_t row)
{
    if (!fill->is_touched[row]) {
        fill->is_touched[row] = true;
        fill->touched[fill->touched_count++] = row;
    }
}

/* A value of one input goes to a row: into the sum, and into the thread's own. */
static void add_to_row(struct fill *fill, uint32_t row, size_t input, double value,
                       bool into_sum)
{
    const struct cn_cost_input *in = &fill->costs->inputs[input];
    size_t at = row * fill->costs->input_count + input;

    if (into_sum)
        cn_cost_add(in, &fill->rows.inputs[at], value);
    if (fill->thread_inputs) {
        cn_cost_add(in, &fill->thread_inputs[at], value);
        if (fill->thread_scales)
            fill->thread_scales[at] += fabs(value);
        touch(fill, row);
    }
}

static void add_to_targets(struct fill *fill, uint32_t node, size_t input, double value,
                           bool into_sum)
{
    const struct cn_cost_targets *targets = fill->targets;
    unsigned side = 1U << fill->costs->inputs[input].side;

    if (!targets->start) {
        add_to_row(fill, node, input, value, into_sum);
        return;
    }
    for (size_t t = targets->start[node]; t < targets->start[node + 1]; t++)
        if (targets->list[t].row_and_sides & side)
            add_to_row(fill, targets->list[t].row_and_sides >> 2, input, value, into_sum);
}

/* A value that feeds an input: one of the summary, or one of a thread that counts. */
static void add_value(struct fill *fill, uint32_t profile, uint32_t node, size_t input,
                      double value)
{
    const struct cn_cost_input *in = &fill->costs->inputs[input];
    bool is_summed = profile == 0 || !cn_cost_input_is_summary(fill->costs, in);

    if (in->profile == CN_NONE || in->profile == profile)
        add_to_targets(fill, node, input, value, is_summed);
}

/* A value, for all inputs that it feeds. */
struct fed_value {
    struct fill *fill;
    uint32_t profile;
    int first_input;
    double value;
};

static void feed(void *arg, uint32_t context, double factor)
{
    const struct fed_value *fed = arg;
    struct fill *fill = fed->fill;
    const struct cn_cost_routes *routes =
        fed->profile == 0 ? fill->costs->summary_routes : fill->costs->thread_routes;
    uint32_t node = cn_context_index_find(fill->index, context);

    for (int input = fed->first_input; node != CN_NONE && input >= 0;
         input = routes->next[input])
        add_value(fill, fed->profile, node, (size_t)input, factor * fed->value);
}

/* With a lens, the plane of the whole database is read: one pass, whatever goes where. */
static bool read_plane(struct fill *fill, uint32_t profile, struct cn_error *err)
{
    const struct cn_cost_routes *routes =
        profile == 0 ? fill->costs->summary_routes : fill->costs->thread_routes;
    struct cn_database *db = fill->costs->db;
    bool has_lens = cn_database_has_lens(db);
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(has_lens ? cn_lens_whole(db) : db, profile, 0, UINT32_MAX,
                           &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM) {
        for (size_t v = 0; v < batch.count; v++) {
            const struct cn_value *value = &batch.values[v];
            struct fed_value fed = {fill, profile, routes->first[value->metric],
                                    value->value};

            if (fed.first_input < 0)
                continue;
            if (has_lens)
                cn_lens_spread(db, value->key,
                               cn_lens_part_of(db, value->metric, profile == 0), feed,
                               &fed);
            else
                feed(&fed, value->key, 1);
        }
    }
    return step == CN_END;
}

/* The thread is complete: evaluate its columns and make room for the next one. */
static void tally_touched(struct fill *fill)
{
    size_t width = fill->costs->input_count;

    for (size_t i = 0; i < fill->touched_count; i++) {
        uint32_t row = fill->touched[i];
        double *inputs = fill->thread_inputs + row * width;

        for (size_t k = 0; fill->thread_scales && k < width; k++) {
            double *scale = &fill->thread_scales[row * width + k];

            if (fill->costs->inputs[k].combine == CN_COMBINE_SUM &&
                fabs(inputs[k]) <= CN_LENS_ROUNDING * *scale)
                inputs[k] = NAN;
            *scale = 0;
        }
        cn_cost_tally_thread(fill->costs, inputs,
                             fill->rows.tallies + row * fill->costs->column_count);
        for (size_t k = 0; k < width; k++)
            inputs[k] = NAN;
        fill->is_touched[row] = false;
    }
    fill->touched_count = 0;
}

static bool read_threads(struct fill *fill, const struct cn_progress *progress,
                         struct cn_error *err)
{
    uint32_t count = fill->costs->db->profile_count;

    for (uint32_t p = 1; p < count; p++) {
        struct cn_profile profile;

        if (!cn_costs_is_selected(fill->costs, p))
            continue;
        if (!cn_database_profile(fill->costs->db, p, &profile, err))
            return false;
        if (profile.is_summary)
            continue;
        if (!read_plane(fill, p, err))
            return cn_fail_in(err, "profile %" PRIu32, p);
        tally_touched(fill);
        cn_database_forget(fill->costs->db);
        if (!cn_progress_report(progress, "reading threads", p, count - 1, "threads",
                                err))
            return false;
    }
    return true;
}

static void begin(struct fill *fill, size_t row_count)
{
    size_t width = fill->costs->input_count;

    fill->rows.row_count = row_count;
    fill->rows.inputs = new_inputs(row_count, width);
    if (!cn_costs_need_tallies(fill->costs))
        return;
    fill->rows.tallies =
        cn_alloc(row_count * fill->costs->column_count, sizeof(*fill->rows.tallies));
    fill->thread_inputs = new_inputs(row_count, width);
    if (cn_database_has_lens(fill->costs->db))
        fill->thread_scales = cn_alloc(row_count * width, sizeof(*fill->thread_scales));
    fill->touched = cn_alloc(row_count, sizeof(*fill->touched));
    fill->is_touched = cn_alloc(row_count, sizeof(*fill->is_touched));
}

/* The summary's values belong to no thread. */
static bool read_summary(struct fill *fill, struct cn_error *err)
{
    double *thread_inputs = fill->thread_inputs;

    fill->thread_inputs = NULL;
    bool ok = read_plane(fill, 0, err) || cn_fail_in(err, "profile 0");
    fill->thread_inputs = thread_inputs;
    return ok;
}

/* What a context costs goes to a row: the inputs of the sides that count there. */
static inline void add_inputs(const struct cn_costs *costs, const double *inputs,
                              uint32_t sides, double *row)
{
    for (size_t i = 0; i < costs->input_count; i++)
        if (inputs[i] == inputs[i] && sides >> costs->inputs[i].side & 1) /* not NAN */
            cn_cost_add(&costs->inputs[i], &row[i], inputs[i]);
}

static void add_block(void *arg, const struct cn_cost_block *block)
{
    const struct fill *fill = arg;
    const struct cn_cost_targets *targets = fill->targets;
    size_t width = fill->costs->input_count;

    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t node = cn_context_index_find(fill->index, block->first + i);
        const double *inputs = block->inputs + i * width;

        if (node != CN_NONE && !targets->start)
            memcpy(fill->rows.inputs + node * width, inputs, width * sizeof(*inputs));
        if (node == CN_NONE || !targets->start)
            continue;
        for (size_t t = targets->start[node]; t < targets->start[node + 1]; t++) {
            uint32_t target = targets->list[t].row_and_sides;

            add_inputs(fill->costs, inputs, target & 3,
                       fill->rows.inputs + (target >> 2) * width);
        }
    }
}

bool cn_costs_fill(struct cn_costs *costs, const struct cn_context_index *index,
                   const struct cn_cost_targets *targets, size_t row_count,
                   const struct cn_progress *progress, struct cn_cost_rows *out,
                   struct cn_error *err)
{
    struct fill fill = {.costs = costs, .index = index, .targets = targets};
    bool ok;

    begin(&fill, row_count);
    if (fill.thread_inputs) {
        ok = read_summary(&fill, err);
        cn_database_forget(costs->db);
        ok = ok && read_threads(&fill, progress, err);
    } else {
        ok = cn_costs_visit_blocks(costs, index->id_limit, add_block, &fill, progress,
                                   err);
    }
    *out = fill.rows;
    free(fill.thread_inputs);
    free(fill.thread_scales);
    free(fill.touched);
    free(fill.is_touched);
    return ok;
}

void cn_costs_fill_known(struct cn_costs *costs, const struct cn_context_index *index,
                         const struct cn_cost_targets *targets, size_t row_count,
                         const struct cn_context_costs *known, struct cn_cost_rows *out)
{
    struct fill fill = {.costs = costs, .index = index, .targets = targets};

    begin(&fill, row_count);
    assert(!fill.thread_inputs);
    for (uint32_t id = 0; id < known->id_limit; id++) {
        uint32_t node = cn_context_index_find(index, id);

        for (size_t i = known->start[id]; node != CN_NONE && i < known->start[id + 1];
             i++)
            add_to_targets(&fill, node, known->inputs[i], known->values[i], true);
    }
    *out = fill.rows;
}

void cn_cost_rows_done(struct cn_cost_rows *rows)
{
    free(rows->inputs);
    free(rows->tallies);
    *rows = (struct cn_cost_rows){0};
}

void cn_cost_rows_values(const struct cn_costs *costs, const struct cn_cost_rows *rows,
                         size_t row, double *values)
{
    const struct cn_cost_tally *tallies =
        rows->tallies ? rows->tallies + row * costs->column_count : NULL;

    cn_cost_columns(costs, rows->inputs + row * costs->input_count, tallies, values);
}
