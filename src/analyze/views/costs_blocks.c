#include "analyze/views/costs_blocks.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/lens/database.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"
#include "base/run/pool.h"

enum {
    BLOCK_LEN = 2 << 20,  /* bytes of inputs that a worker has at a time */
    READ_MAX = 256 << 10, /* values before pages are given back */
    PLANE_LEN = 4 << 10,  /* the pages of a plane of few values, as so many of them */
};

struct costs_worker {
    double *inputs;
    uint64_t read_count;
    bool has_failed;
    struct cn_error err;
};

struct blocks {
    struct cn_costs *costs;
    struct cn_database *db; /* whose values are read */
    size_t id_limit, block_len, block_count;
    bool needs_threads;
    bool *is_summary; /* by input: threads do not count for it */
    struct costs_worker *workers;
    cn_cost_block_fn visit;
    void *arg;
    const struct cn_progress *progress;
    bool has_failed; /* from then on nothing is visited */
    struct cn_error err;
};

static uint32_t first_of(const struct blocks *blocks, size_t number)
{
    return (uint32_t)(number * blocks->block_len);
}

static uint32_t count_of(const struct blocks *blocks, size_t number)
{
    size_t rest = blocks->id_limit - number * blocks->block_len;

    return (uint32_t)(rest < blocks->block_len ? rest : blocks->block_len);
}

/* Whether a profile's values count for an input. */
static bool counts(const struct blocks *blocks, size_t input, uint32_t profile)
{
    const struct cn_cost_input *in = &blocks->costs->inputs[input];

    return (profile == 0 || !blocks->is_summary[input]) &&
           (in->profile == CN_NONE || in->profile == profile);
}

static void add_batch(const struct blocks *blocks, const struct cn_cost_routes *routes,
                      uint32_t profile, uint32_t first, double *inputs,
                      const struct cn_value_batch *batch)
{
    const struct cn_costs *costs = blocks->costs;

    for (size_t i = 0; i < batch->count; i++) {
        const struct cn_value *value = &batch->values[i];

        for (int k = routes->first[value->metric]; k >= 0; k = routes->next[k])
            if (counts(blocks, (size_t)k, profile))
                cn_cost_add(&costs->inputs[k],
                            &inputs[(size_t)(value->key - first) * costs->input_count +
                                    (size_t)k],
                            value->value);
    }
}

static bool add_plane(const struct blocks *blocks, struct costs_worker *worker,
                      size_t number, uint32_t profile)
{
    const struct cn_costs *costs = blocks->costs;
    const struct cn_cost_routes *routes =
        profile == 0 ? costs->summary_routes : costs->thread_routes;
    uint32_t first = first_of(blocks, number);
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step = CN_FAIL;

    if (cn_profile_values(blocks->db, profile, first,
                          first + count_of(blocks, number) - 1, &cursor, &worker->err))
        while ((step = cn_values_next(&cursor, &batch, &worker->err)) == CN_ITEM) {
            add_batch(blocks, routes, profile, first, worker->inputs, &batch);
            worker->read_count += batch.count;
        }
    worker->read_count += PLANE_LEN;
    if (worker->read_count > READ_MAX) {
        cn_database_forget(blocks->db);
        worker->read_count = 0;
    }
    return step == CN_END || cn_fail_in(&worker->err, "profile %" PRIu32, profile);
}

uint32_t cn_costs_choose_step(const struct cn_costs *costs, uint32_t thread_max,
                              uint32_t thread_many)
{
    uint32_t count = 0;

    if (!cn_costs_need_threads(costs) || cn_costs_need_tallies(costs))
        return 0;
    for (uint32_t i = 1; i < costs->db->profile_count; i++)
        count += cn_costs_is_selected(costs, i);
    return count <= thread_many ? 0 : count / thread_max;
}

/* Of each so many threads one that is chosen at random, but the same each time: threads of a
 * process often differ in a regular way. */
static bool is_read(const struct cn_costs *costs, uint32_t number)
{
    uint32_t step = costs->thread_step;

    return step < 2 || number % step == (number / step * 2654435761U >> 7) % step;
}

static bool add_threads(const struct blocks *blocks, struct costs_worker *worker,
                        size_t number)
{
    struct cn_costs *costs = blocks->costs;
    uint32_t selected = 0;

    for (uint32_t p = 1; p < blocks->db->profile_count; p++) {
        struct cn_profile profile;

        if (!cn_costs_is_selected(costs, p) || !is_read(costs, selected++))
            continue;
        if (!cn_database_profile(blocks->db, p, &profile, &worker->err) ||
            (!profile.is_summary && !add_plane(blocks, worker, number, p)) ||
            !cn_progress_check(blocks->progress, "reading threads", &worker->err))
            return false;
    }
    return true;
}

/* The threads that were read stand for all. */
static void scale_sums(const struct blocks *blocks, double *inputs, size_t count)
{
    const struct cn_costs *costs = blocks->costs;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < costs->input_count; k++)
            if (!blocks->is_summary[k] && costs->inputs[k].combine == CN_COMBINE_SUM)
                inputs[i * costs->input_count + k] *= blocks->costs->thread_step;
}

static void run(void *arg, size_t number, unsigned w)
{
    struct blocks *blocks = arg;
    struct costs_worker *worker = &blocks->workers[w];
    size_t count = count_of(blocks, number) * blocks->costs->input_count;

    for (size_t i = 0; i < count; i++)
        worker->inputs[i] = NAN;
    worker->has_failed = !add_plane(blocks, worker, number, 0) ||
                         (blocks->needs_threads && !add_threads(blocks, worker, number));
    if (blocks->costs->thread_step > 1)
        scale_sums(blocks, worker->inputs, count_of(blocks, number));
}

static void take(void *arg, size_t number, unsigned w)
{
    struct blocks *blocks = arg;
    struct costs_worker *worker = &blocks->workers[w];

    if (blocks->has_failed)
        return;
    blocks->visit(blocks->arg,
                  &(struct cn_cost_block){first_of(blocks, number),
                                          count_of(blocks, number), worker->inputs});
    if (worker->has_failed) {
        blocks->has_failed = true;
        blocks->err = worker->err;
        return;
    }
    blocks->has_failed =
        !cn_progress_report(blocks->progress, "reading values", number + 1,
                            blocks->block_count, "ranges", &blocks->err);
}

/* As many ranges as there are workers, more where they would not fit. */
static void divide(struct blocks *blocks, unsigned workers)
{
    size_t width = blocks->costs->input_count > 0 ? blocks->costs->input_count : 1;
    size_t len_max = BLOCK_LEN / sizeof(double) / width;

    blocks->block_len = (blocks->id_limit + workers - 1) / workers;
    if (blocks->block_len > len_max)
        blocks->block_len = len_max;
    blocks->block_count = (blocks->id_limit + blocks->block_len - 1) / blocks->block_len;
}

static bool visit_database(struct cn_costs *costs, struct cn_database *db,
                           size_t id_limit, cn_cost_block_fn visit, void *arg,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct blocks blocks = {
        .costs = costs,
        .db = db,
        .id_limit = id_limit,
        .needs_threads = cn_costs_need_threads(costs),
        .visit = visit,
        .arg = arg,
        .progress = progress,
    };
    unsigned workers = cn_pool_default_workers();

    if (id_limit == 0)
        return true;
    divide(&blocks, workers);
    blocks.is_summary = cn_alloc(costs->input_count, sizeof(*blocks.is_summary));
    for (size_t i = 0; i < costs->input_count; i++)
        blocks.is_summary[i] = cn_cost_input_is_summary(costs, &costs->inputs[i]);
    blocks.workers = cn_alloc(workers, sizeof(*blocks.workers));
    for (unsigned i = 0; i < workers; i++)
        blocks.workers[i].inputs =
            cn_alloc(blocks.block_len * costs->input_count, sizeof(double));
    cn_pool_run(&(struct cn_jobs){blocks.block_count, &blocks, run, take, NULL}, workers);
    for (unsigned i = 0; i < workers; i++)
        free(blocks.workers[i].inputs);
    free(blocks.workers);
    free(blocks.is_summary);
    cn_database_forget(db);
    if (blocks.has_failed)
        *err = blocks.err;
    return !blocks.has_failed;
}

struct gathering {
    struct cn_context_costs out;
    size_t width, input_capacity, value_capacity;
};

static void gather(void *arg, const struct cn_cost_block *block)
{
    struct gathering *g = arg;
    struct cn_context_costs *out = &g->out;

    for (size_t i = 0; i < block->count; i++) {
        const double *inputs = block->inputs + i * g->width;

        for (size_t k = 0; k < g->width; k++) {
            if (isnan(inputs[k]))
                continue;
            CN_GROW(out->inputs, out->count, g->input_capacity);
            CN_GROW(out->values, out->count, g->value_capacity);
            out->inputs[out->count] = (uint16_t)k;
            out->values[out->count++] = inputs[k];
        }
        out->start[block->first + i + 1] = out->count;
    }
    out->id_limit = (size_t)block->first + block->count;
}

static bool build_costs(struct cn_context_costs *out, struct cn_costs *costs,
                        struct cn_database *db, size_t id_limit,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct gathering g = {.width = costs->input_count};

    g.out.start = cn_alloc(id_limit + 1, sizeof(*g.out.start));
    bool ok = db ? visit_database(costs, db, id_limit, gather, &g, progress, err)
                 : cn_costs_visit_blocks(costs, id_limit, gather, &g, progress, err);
    if (g.out.count > 0) {
        g.out.inputs = cn_realloc(g.out.inputs, g.out.count, sizeof(*g.out.inputs));
        g.out.values = cn_realloc(g.out.values, g.out.count, sizeof(*g.out.values));
    }
    *out = g.out;
    return ok;
}

bool cn_context_costs_build(struct cn_context_costs *out, struct cn_costs *costs,
                            size_t id_limit, const struct cn_progress *progress,
                            struct cn_error *err)
{
    return build_costs(out, costs, NULL, id_limit, progress, err);
}

/* Contexts of a lens: their costs are sums of those of the whole database, which are read once. */
struct lens_blocks {
    struct cn_costs *costs;
    struct cn_context_costs whole;
    unsigned parts[CN_COST_INPUT_MAX]; /* enum cn_lens_part, by input */
    double *moved[CN_COST_INPUT_MAX];  /* what transfers add, by node; NULL: nothing */
    double *inputs;
};

/* The parts of inputs, and transfers added up along the tree. */
static void move_totals(struct lens_blocks *b)
{
    const struct cn_costs *costs = b->costs;
    size_t count, nodes = cn_lens_node_count(costs->db);
    const struct cn_lens_transfer *transfers = cn_lens_transfers(costs->db, &count);

    for (size_t i = 0; i < costs->input_count; i++) {
        const struct cn_cost_input *input = &costs->inputs[i];
        bool is_summary = cn_cost_input_is_summary(costs, input);
        int id = is_summary ? input->stat_id : input->prop_id;

        b->parts[i] =
            id == CN_NO_ID ? 0 : cn_lens_part_of(costs->db, (uint16_t)id, is_summary);
        if (count > 0 && b->parts[i] == CN_LENS_TOTAL)
            b->moved[i] = cn_alloc(nodes, sizeof(double));
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t from = transfers[i].context;

        for (size_t k = b->whole.start[from]; k < b->whole.start[from + 1]; k++)
            if (b->moved[b->whole.inputs[k]])
                b->moved[b->whole.inputs[k]][transfers[i].node] +=
                    transfers[i].sign * b->whole.values[k];
    }
    for (size_t i = 0; i < costs->input_count; i++)
        if (b->moved[i])
            cn_lens_add_up(costs->db, b->moved[i]);
}

/* The inputs of one context of the lens. */
static void add_sources(const struct lens_blocks *b, uint32_t context, double *inputs)
{
    const struct cn_costs *costs = b->costs;
    const struct cn_lens_source *sources;
    uint32_t node = cn_lens_node(costs->db, context);
    size_t count;

    for (size_t i = 0; i < costs->input_count; i++)
        inputs[i] = NAN;
    if (node == CN_NONE)
        return;
    sources = cn_lens_sources(costs->db, context, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t from = sources[i].context;

        for (size_t k = b->whole.start[from]; k < b->whole.start[from + 1]; k++)
            if (b->parts[b->whole.inputs[k]] & sources[i].parts)
                cn_cost_add(&costs->inputs[b->whole.inputs[k]],
                            &inputs[b->whole.inputs[k]], b->whole.values[k]);
    }
    for (size_t i = 0; i < costs->input_count; i++) {
        double own = isnan(inputs[i]) ? 0 : inputs[i];

        if (!b->moved[i] || b->moved[i][node] == 0)
            continue;
        /* What remains of a difference of equal sums is no value. */
        inputs[i] = own + b->moved[i][node];
        if (fabs(inputs[i]) <= CN_LENS_ROUNDING * fabs(b->moved[i][node]))
            inputs[i] = NAN;
    }
}

static bool visit_lens(struct cn_costs *costs, size_t id_limit, cn_cost_block_fn visit,
                       void *arg, const struct cn_progress *progress,
                       struct cn_error *err)
{
    struct lens_blocks *b = cn_alloc(1, sizeof(*b));
    size_t width = costs->input_count > 0 ? costs->input_count : 1;
    size_t len = BLOCK_LEN / sizeof(double) / width;
    bool ok;

    b->costs = costs;
    ok = build_costs(&b->whole, costs, cn_lens_whole(costs->db),
                     cn_lens_id_limit(costs->db), progress, err);
    move_totals(b);
    b->inputs = cn_alloc(len * width, sizeof(double));
    for (size_t first = 0; first < id_limit; first += len) {
        size_t count = id_limit - first < len ? id_limit - first : len;

        for (size_t i = 0; i < count; i++)
            add_sources(b, (uint32_t)(first + i), b->inputs + i * costs->input_count);
        visit(arg, &(struct cn_cost_block){(uint32_t)first, (uint32_t)count, b->inputs});
    }
    for (size_t i = 0; i < costs->input_count; i++)
        free(b->moved[i]);
    free(b->inputs);
    cn_context_costs_done(&b->whole);
    free(b);
    return ok;
}

bool cn_costs_visit_blocks(struct cn_costs *costs, size_t id_limit,
                           cn_cost_block_fn visit, void *arg,
                           const struct cn_progress *progress, struct cn_error *err)
{
    return cn_database_has_lens(costs->db)
               ? visit_lens(costs, id_limit, visit, arg, progress, err)
               : visit_database(costs, costs->db, id_limit, visit, arg, progress, err);
}

void cn_context_costs_done(struct cn_context_costs *costs)
{
    free(costs->start);
    free(costs->inputs);
    free(costs->values);
    *costs = (struct cn_context_costs){0};
}

uint64_t cn_context_costs_size(const struct cn_context_costs *costs)
{
    return costs->id_limit * sizeof(*costs->start) +
           costs->count * (sizeof(*costs->inputs) + sizeof(*costs->values));
}

struct column_reading {
    const struct cn_costs *costs;
    const struct cn_context_index *index;
    size_t column;
    double *out;
};

static void read_column(void *arg, const struct cn_cost_block *block)
{
    const struct column_reading *r = arg;

    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t node = cn_context_index_find(r->index, block->first + i);

        if (node != CN_NONE)
            r->out[node] = cn_cost_column_value(
                r->costs, r->column, block->inputs + i * r->costs->input_count, NULL);
    }
}

bool cn_costs_column_of_nodes(struct cn_costs *costs,
                              const struct cn_context_index *index, size_t column,
                              double *out, const struct cn_progress *progress,
                              struct cn_error *err)
{
    struct column_reading r = {costs, index, column, out};

    assert(costs->columns[column].stat == CN_STAT_SUM);
    for (size_t i = 0; i < index->count; i++)
        out[i] = NAN;
    return cn_costs_visit_blocks(costs, index->id_limit, read_column, &r, progress, err);
}
