#include "analyze/timeline/occupancy.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/timeline/main_path.h"
#include "analyze/timeline/spans.h"
#include "analyze/timeline/tally.h"
#include "analyze/timeline/time_pyramid.h"
#include "analyze/views/frames.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "model/contexts/database.h"

enum {
    CHOSEN_DEPTH_MAX = 64, /* the deepest cut tried when none was asked for */
    END_MAX = 8192,        /* samples read where the sums of a pyramid end */
    END_PARTS = 16,        /* of more, they are read here and there */
};

struct share {
    uint32_t frame;
    uint64_t ns;
};

/* What one thread did while it ran. */
struct occupancy_row {
    struct share *shares;
    size_t count;
};

struct occupancy_worker {
    struct occupancy_build *build;
    struct cn_tally tally; /* time by place, by frame, or by slot of the path */
    size_t tally_capacity;
    struct cn_main_path path; /* of stacks that are not cut */
    uint32_t only_frame;      /* of them, the only one in the column so far */
    uint64_t only_ns;         /* 0: there is none, or there are several */
    uint64_t *total_ns;       /* by function, over the rows of this worker */
    uint64_t scale;           /* what is added to them stands for so much */

    /* The row being drawn. */
    struct cn_slices slices;
    struct cn_occupancy_cell *cells;
    uint32_t column;
    uint64_t column_begin_ns, column_end_ns;
    bool *is_blocked;      /* contexts that were blocked; NULL: unknown */
    uint32_t preempted_at; /* place where the thread is pre-empted; CN_NONE: it is not */

    size_t failed_row; /* the first; rows are claimed in order */
    bool has_failed;
    struct cn_error err;
};

struct occupancy_build {
    struct cn_database *db;
    const struct cn_frames *frames;
    const struct cn_occupancy_request *request;
    struct cn_occupancy out;
    struct occupancy_worker *workers;
    unsigned worker_count;
    const struct cn_cut *cut;   /* at the depth shown */
    struct occupancy_row *rows; /* while a depth is chosen */
};

uint64_t cn_occupancy_column_ns(const struct cn_occupancy *occupancy, uint32_t column)
{
    uint64_t span = occupancy->end_ns - occupancy->begin_ns;
    uint64_t count = occupancy->column_count;

    /* span * column / count, without overflow. */
    return occupancy->begin_ns + span / count * column + span % count * column / count;
}

static void scan_or_fail(struct occupancy_worker *worker, size_t row, cn_span_fn add)
{
    const struct cn_occupancy_request *request = worker->build->request;
    uint32_t profile = request->profiles[row];

    worker->slices.db = worker->build->db;
    worker->slices.points = request->points;
    worker->slices.crowd_min = request->crowd_min;
    worker->slices.crowded_left =
        request->is_brief && request->is_brief[row] ? 0 : request->crowded_max;
    worker->slices.has_estimated = false;
    if (request->points > 0
            ? cn_slices_scan(&worker->slices, profile, &worker->build->out, worker->cells,
                             add, worker, &worker->err)
            : cn_spans_visit(worker->build->db, profile, request->begin_ns,
                             request->end_ns, add, worker, &worker->err)) {
        worker->build->out.is_estimated[row] = worker->slices.has_estimated;
        return;
    }
    (void)cn_timeline_fail_in(worker->build->db, profile, &worker->err);
    worker->has_failed = true;
    worker->failed_row = row;
}

static bool run_jobs(struct occupancy_build *build,
                     void (*run)(void *arg, size_t row, unsigned w), struct cn_error *err)
{
    const struct occupancy_worker *first = NULL;

    cn_pool_run(&(struct cn_jobs){build->request->profile_count, build, run, NULL, NULL},
                build->worker_count);
    for (unsigned i = 0; i < build->worker_count; i++) {
        const struct occupancy_worker *worker = &build->workers[i];

        if (worker->has_failed && (!first || worker->failed_row < first->failed_row))
            first = worker;
    }
    if (first)
        *err = first->err;
    return !first;
}

static void add_to_frame(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct occupancy_worker *worker = arg;
    const struct cn_frames *frames = worker->build->frames;
    uint32_t frame = cn_frames_find(frames, context);

    /* Streams of GPUs look the same at every depth. */
    if (context != 0 && !cn_frames_is_gpu(frames, frame))
        cn_tally_add(&worker->tally, frame, end_ns - begin_ns);
}

static void weigh_row(void *arg, size_t row, unsigned number)
{
    struct occupancy_build *build = arg;
    struct occupancy_worker *worker = &build->workers[number];
    struct cn_tally *tally = &worker->tally;

    if (worker->has_failed)
        return;
    scan_or_fail(worker, row, add_to_frame);
    struct share *shares = cn_alloc(tally->used_count, sizeof(*shares));
    for (size_t i = 0; i < tally->used_count; i++)
        shares[i] = (struct share){tally->used[i], tally->ns[tally->used[i]]};
    build->rows[row] = (struct occupancy_row){shares, tally->used_count};
    cn_tally_clear(tally);
}

/* The part of all running time that threads spend in whatever place each has most of. */
static double dominated_share(const struct occupancy_build *build,
                              const uint32_t *place_of_frame)
{
    struct cn_tally *tally = &build->workers[0].tally;
    double dominated = 0, total = 0;

    for (size_t i = 0; i < build->request->profile_count; i++) {
        const struct occupancy_row *row = &build->rows[i];

        for (size_t k = 0; k < row->count; k++) {
            cn_tally_add(tally, place_of_frame[row->shares[k].frame], row->shares[k].ns);
            total += (double)row->shares[k].ns;
        }
        if (tally->used_count > 0)
            dominated += (double)tally->ns[cn_tally_max(tally)];
        cn_tally_clear(tally);
    }
    return total > 0 ? dominated / total : 1;
}

static uint32_t choose_depth(const struct occupancy_build *build)
{
    const double telling = 0.9;
    uint32_t *places = cn_alloc(build->frames->count, sizeof(*places));
    uint32_t depth_max = build->frames->depth_max, best = 1;
    double best_share = 2;

    if (depth_max > CHOSEN_DEPTH_MAX)
        depth_max = CHOSEN_DEPTH_MAX;
    for (uint32_t depth = 1; depth <= depth_max && best_share > telling; depth++) {
        cn_frames_cut(build->frames, depth, places);
        double share = dominated_share(build, places);
        if (share < best_share) {
            best_share = share;
            best = depth;
        }
    }
    free(places);
    return best;
}

static void add_stack(struct occupancy_worker *worker, uint32_t frame, uint64_t ns)
{
    uint32_t slot = cn_main_path_slot(&worker->path, frame);

    cn_tally_reserve(&worker->tally, worker->path.slot_count, &worker->tally_capacity);
    cn_tally_add(&worker->tally, slot, ns);
}

/* Add time in a frame to the column. Most columns have one: it needs no slot. */
static void add_frame(struct occupancy_worker *worker, uint32_t frame, uint64_t ns)
{
    if (worker->tally.used_count == 0 &&
        (worker->only_ns == 0 || worker->only_frame == frame)) {
        worker->only_frame = frame;
        worker->only_ns += ns;
        return;
    }
    if (worker->only_ns > 0)
        add_stack(worker, worker->only_frame, worker->only_ns);
    worker->only_ns = 0;
    add_stack(worker, frame, ns);
}

/* The place that stands for the slice that was read, its time, and that in which the thread
 * ran. */
static uint32_t choose_place(struct occupancy_worker *worker, uint64_t *ns,
                             uint64_t *busy_ns)
{
    struct cn_tally *tally = &worker->tally;
    uint32_t idle = worker->build->out.idle;

    if (worker->only_ns > 0) {
        *ns = worker->only_ns;
        *busy_ns = worker->only_frame == idle ? 0 : *ns;
        worker->total_ns[cn_frames_function(worker->path.frames, CN_DEPTH_ALL,
                                            worker->only_frame)] += *ns;
        worker->only_ns = 0;
        return worker->only_frame;
    }
    if (worker->path.frames)
        return cn_main_path_choose(&worker->path, tally, ns, busy_ns);
    uint32_t place = cn_tally_max(tally);
    *ns = place == CN_NONE ? 0 : tally->ns[place];
    *busy_ns = 0;
    for (size_t i = 0; i < tally->used_count; i++)
        if (tally->used[i] != idle)
            *busy_ns += tally->ns[tally->used[i]];
    return place;
}

/* The place with the most running time, else the one where the thread is pre-empted; else `idle`. */
static uint32_t choose_running(const struct occupancy_worker *worker, uint32_t idle,
                               uint64_t *ns)
{
    const struct cn_tally *tally = &worker->tally;
    uint32_t best = CN_NONE;

    for (size_t i = 0; i < tally->used_count; i++) {
        uint32_t place = tally->used[i];

        if (place != idle && (best == CN_NONE || tally->ns[place] > tally->ns[best]))
            best = place;
    }
    if (best == CN_NONE)
        return worker->preempted_at == CN_NONE ? idle : worker->preempted_at;
    *ns = tally->ns[best];
    return best;
}

static uint32_t function_of(const struct occupancy_worker *worker, uint32_t slot)
{
    return worker->path.frames ? cn_frames_function(worker->path.frames, CN_DEPTH_ALL,
                                                    worker->path.slots[slot].frame)
                               : slot;
}

static void close_column(struct occupancy_worker *worker)
{
    struct cn_tally *tally = &worker->tally;
    double width_ns = (double)(worker->column_end_ns - worker->column_begin_ns);
    struct cn_occupancy_cell *cell = &worker->cells[worker->column];
    uint64_t ns, busy_ns;

    cell->place = choose_place(worker, &ns, &busy_ns);
    if (worker->build->request->prefers_running && cell->place == worker->build->out.idle)
        cell->place = choose_running(worker, cell->place, &ns);
    cell->share = (double)ns / width_ns;
    cell->busy = (double)busy_ns / width_ns;
    for (size_t i = 0; i < tally->used_count; i++)
        worker->total_ns[function_of(worker, tally->used[i])] +=
            tally->ns[tally->used[i]];
    cn_tally_clear(tally);
    worker->column++;
    worker->column_begin_ns = worker->column_end_ns;
    worker->column_end_ns =
        cn_occupancy_column_ns(&worker->build->out, worker->column + 1);
}

static uint32_t place_of(const struct occupancy_build *build, uint32_t context)
{
    return cn_cut_find(build->cut, context);
}

/* True if waiting in a context may be blocking. */
static bool was_blocked(const struct occupancy_worker *worker, uint32_t context)
{
    return !worker->is_blocked || context >= worker->build->db->context_limit ||
           worker->is_blocked[context];
}

static void add_to_cells(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct occupancy_worker *worker = arg;
    uint32_t place = place_of(worker->build, context);

    while (begin_ns < end_ns) {
        while (begin_ns >= worker->column_end_ns)
            close_column(worker);
        uint64_t until_ns =
            end_ns < worker->column_end_ns ? end_ns : worker->column_end_ns;
        if (worker->path.frames)
            add_frame(worker, place, until_ns - begin_ns);
        else
            cn_tally_add(&worker->tally, place, until_ns - begin_ns);
        begin_ns = until_ns;
    }
    if (context != 0)
        worker->preempted_at = was_blocked(worker, context) ? CN_NONE : place;
}

static void add_to_totals(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct occupancy_worker *worker = arg;

    worker->total_ns[cn_frames_function(worker->build->frames, worker->build->out.depth,
                                        place_of(worker->build, context))] +=
        (end_ns - begin_ns) * worker->scale;
}

/* Add up what is before or after the sums of a pyramid. Of many samples some stand for all. */
static bool add_end(struct occupancy_worker *worker, size_t row, uint64_t begin_ns,
                    uint64_t end_ns, struct cn_error *err)
{
    struct cn_database *db = worker->build->db;
    uint32_t profile = worker->build->request->profiles[row];
    uint64_t part_ns = (end_ns - begin_ns) / END_PARTS, first, last;
    struct cn_timeline timeline;
    bool ok = true;

    worker->scale = 1;
    if (begin_ns == end_ns)
        return true;
    if (!cn_timeline_open(db, profile, &timeline, err) ||
        !cn_timeline_find(db, &timeline, begin_ns, &first, err) ||
        !cn_timeline_find(db, &timeline, end_ns, &last, err))
        return false;
    if (last <= first || last - first <= END_MAX)
        return cn_spans_visit(db, profile, begin_ns, end_ns, add_to_totals, worker, err);
    worker->build->out.is_estimated[row] = true;
    worker->scale = (last - first + END_MAX - 1) / END_MAX;
    for (unsigned i = 0; ok && i < END_PARTS; i++, begin_ns += part_ns)
        ok = cn_spans_visit(db, profile, begin_ns, begin_ns + part_ns / worker->scale,
                            add_to_totals, worker, err);
    return ok;
}

/* Look the cells up; only the sums at both ends need samples. */
static bool draw_from_pyramid(struct occupancy_worker *worker, size_t row,
                              const struct cn_time_pyramid *pyramid, struct cn_error *err)
{
    struct occupancy_build *build = worker->build;
    const struct cn_occupancy *out = &build->out;
    uint64_t width_ns = (out->end_ns - out->begin_ns) / out->column_count;
    uint64_t begin_ns, end_ns;

    cn_time_pyramid_cells(pyramid, out->begin_ns, width_ns, out->column_count,
                          worker->cells);
    cn_time_pyramid_add(pyramid, out->begin_ns, out->end_ns, worker->total_ns, &begin_ns,
                        &end_ns);
    return add_end(worker, row, out->begin_ns, begin_ns, err) &&
           add_end(worker, row, end_ns, out->end_ns, err);
}

/* The pyramid of a row, if it has the columns asked for. */
static const struct cn_time_pyramid *pyramid_of(const struct occupancy_build *build,
                                                size_t row)
{
    const struct cn_occupancy_request *request = build->request;
    uint64_t span_ns = request->end_ns - request->begin_ns;

    if (!request->pyramids || !request->pyramids[row] ||
        span_ns % request->column_count != 0 ||
        !cn_time_pyramid_has(request->pyramids[row], request->begin_ns,
                             span_ns / request->column_count))
        return NULL;
    return request->pyramids[row];
}

/* Find the contexts in which a thread was blocked. Without a metric of that, and of a thread that was
 * never pre-empted, as of a stream of a GPU, waiting has no kind. */
static void find_blocked(struct occupancy_worker *worker, uint32_t profile)
{
    struct cn_database *db = worker->build->db;
    int metric = cn_metrics_find(&db->metrics, CN_BLOCKED_TIME_NAME);
    int preempted = cn_metrics_find(&db->metrics, CN_PREEMPTED_TIME_NAME);
    int scope = cn_metrics_find_scope_type(&db->metrics, CN_SCOPE_POINT);
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error damage; /* the timeline is shown nevertheless */
    enum cn_step step = CN_FAIL;
    bool was_preempted = false;

    if (metric == CN_NO_ID || preempted == CN_NO_ID || scope == CN_NO_ID)
        return;
    metric = cn_metric_prop_id(&db->metrics.list[metric], (unsigned)scope);
    preempted = cn_metric_prop_id(&db->metrics.list[preempted], (unsigned)scope);
    worker->is_blocked = cn_alloc(db->context_limit, sizeof(bool));
    if (cn_profile_values(db, profile, 0, UINT32_MAX, &cursor, &damage))
        while ((step = cn_values_next(&cursor, &batch, &damage)) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++) {
                const struct cn_value *value = &batch.values[i];

                was_preempted = was_preempted || value->metric == preempted;
                if (value->metric == metric && value->key < db->context_limit)
                    worker->is_blocked[value->key] = true;
            }
    if (step == CN_END && was_preempted)
        return;
    free(worker->is_blocked);
    worker->is_blocked = NULL;
}

static void draw_row(void *arg, size_t row, unsigned number)
{
    struct occupancy_build *build = arg;
    struct occupancy_worker *worker = &build->workers[number];
    const struct cn_time_pyramid *pyramid = pyramid_of(build, row);

    if (worker->has_failed)
        return;
    worker->cells = build->out.cells + row * build->out.column_count;
    if (pyramid) {
        if (!draw_from_pyramid(worker, row, pyramid, &worker->err)) {
            worker->has_failed = true;
            worker->failed_row = row;
        }
        return;
    }
    worker->column = 0;
    worker->column_begin_ns = build->out.begin_ns;
    worker->column_end_ns = cn_occupancy_column_ns(&build->out, 1);
    worker->preempted_at = CN_NONE;
    if (build->request->prefers_running)
        find_blocked(worker, build->request->profiles[row]);
    scan_or_fail(worker, row, add_to_cells);
    free(worker->is_blocked);
    worker->is_blocked = NULL;
    while (worker->column < build->out.column_count)
        close_column(worker);
}

static void begin(struct occupancy_build *build)
{
    const struct cn_occupancy_request *request = build->request;
    bool is_nested = request->depth == CN_DEPTH_ALL;
    size_t function_count = build->frames->names.count + 1; /* and waiting */
    size_t slot_count = is_nested                               ? 0
                        : function_count > build->frames->count ? function_count
                                                                : build->frames->count;

    build->worker_count =
        request->workers > 0 ? request->workers : cn_pool_default_workers();
    build->workers = cn_alloc(build->worker_count, sizeof(*build->workers));
    for (unsigned i = 0; i < build->worker_count; i++) {
        build->workers[i] = (struct occupancy_worker){
            .build = build,
            .tally = {.ns = cn_alloc(slot_count, sizeof(uint64_t)),
                      .used = cn_alloc(slot_count, sizeof(uint32_t))},
            .total_ns = cn_alloc(function_count, sizeof(uint64_t)),
        };
        if (is_nested)
            cn_main_path_init(&build->workers[i].path, build->frames);
    }
    build->rows = cn_alloc(request->profile_count, sizeof(*build->rows));
    build->out = (struct cn_occupancy){
        .row_count = request->profile_count,
        .column_count = request->column_count,
        .begin_ns = request->begin_ns,
        .end_ns = request->end_ns,
        .depth = request->depth,
        .idle = (uint32_t)cn_frames_place_count(build->frames, request->depth),
        .cells = cn_alloc(request->profile_count * request->column_count,
                          sizeof(*build->out.cells)),
        .function_ns = cn_alloc(function_count, sizeof(uint64_t)),
        .is_estimated = cn_alloc(request->profile_count, sizeof(bool)),
    };
}

static void add_totals(struct occupancy_build *build)
{
    for (unsigned w = 0; w < build->worker_count; w++)
        for (size_t i = 0; i <= build->frames->names.count; i++)
            build->out.function_ns[i] += build->workers[w].total_ns[i];
    for (size_t i = 0; i < build->out.row_count; i++)
        build->out.is_estimate |= build->out.is_estimated[i];
}

static void end(struct occupancy_build *build)
{
    for (unsigned i = 0; i < build->worker_count; i++) {
        free(build->workers[i].tally.ns);
        free(build->workers[i].tally.used);
        free(build->workers[i].total_ns);
        cn_main_path_done(&build->workers[i].path);
    }
    for (size_t i = 0; i < build->request->profile_count; i++)
        free(build->rows[i].shares);
    free(build->workers);
    free(build->rows);
}

bool cn_occupancy_build(struct cn_occupancy *out, struct cn_database *db,
                        const struct cn_frames *frames,
                        const struct cn_occupancy_request *request, struct cn_error *err)
{
    struct occupancy_build build = {.db = db, .frames = frames, .request = request};
    struct cn_cut own_cut = {0};
    bool ok = true;

    assert(request->begin_ns < request->end_ns && request->column_count > 0 &&
           request->column_count <= request->end_ns - request->begin_ns);
    begin(&build);
    if (build.out.depth == 0) {
        ok = run_jobs(&build, weigh_row, err);
        build.out.depth = ok ? choose_depth(&build) : 1;
    }
    if (ok) {
        build.cut = request->cut;
        if (!build.cut) {
            cn_cut_init(&own_cut, frames, build.out.depth);
            build.cut = &own_cut;
        }
        ok = run_jobs(&build, draw_row, err);
    }
    if (ok)
        add_totals(&build);
    end(&build);
    cn_cut_done(&own_cut);
    if (!ok) {
        cn_occupancy_done(&build.out);
        return false;
    }
    *out = build.out;
    return true;
}

void cn_occupancy_done(struct cn_occupancy *occupancy)
{
    free(occupancy->cells);
    free(occupancy->function_ns);
    free(occupancy->is_estimated);
    *occupancy = (struct cn_occupancy){0};
}
