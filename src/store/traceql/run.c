#include "store/traceql/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/best.h"
#include "base/run/pool.h"
#include "store/search/seen.h"
#include "store/search/segments.h"
#include "store/search/state.h"
#include "store/segment/index.h"
#include "store/traceql/places.h"
#include "store/traceql/view.h"

bool cn_tql_run_begin(struct cn_tql_run *run, struct cn_error *err)
{
    run->view = cn_tql_view_new(run->search, run->program);
    if (cn_tql_candidates_match(&run->candidates, run->search, run->program,
                                run->first_ns, run->last_ns, err))
        return true;
    cn_tql_view_free(run->view);
    run->view = NULL;
    return false;
}

void cn_tql_run_done(struct cn_tql_run *run)
{
    cn_tql_candidates_done(&run->candidates);
    cn_tql_view_free(run->view);
    run->view = NULL;
}

/* A trace that is evaluated, and what it gave. */
struct evaluated_trace {
    struct cn_tql_trace trace;
    struct cn_tql_eval eval;
    struct cn_tql_spansets sets;
    bool ok;
    struct cn_error err;
};

static void evaluate(const struct cn_tql_run *run, struct cn_tql_view *view,
                     const struct cn_tql_node *root,
                     const struct cn_tql_candidate *candidate, struct cn_arena *arena,
                     struct evaluated_trace *out)
{
    out->eval = (struct cn_tql_eval){
        .view = view,
        .trace = &out->trace,
        .filters = run->candidates.filters,
        .first_ns = run->first_ns,
        .last_ns = run->last_ns,
        .arena = arena,
    };
    out->ok = cn_tql_view_trace(view, candidate->high, candidate->low, &out->trace,
                                &out->err) &&
              cn_tql_eval_stages(&out->eval, root, &out->sets, &out->err);
}

/* A trace that cannot be read costs its answer alone: the search reports it. */
static bool note_damage(struct cn_tql_run *run, const struct cn_tql_trace *trace,
                        struct cn_error *err)
{
    if (err->kind == CN_ERR_USAGE || trace->count == 0)
        return false;
    run->search->failures[trace->spans[0].segment] = *err;
    return true;
}

/* Take a trace that matches; `begin_ns` receives its start, or UINT64_MAX. */
static bool take_trace(struct cn_tql_run *run, struct evaluated_trace *done,
                       uint64_t *begin_ns, struct cn_error *err)
{
    bool ok = done->ok;

    *begin_ns = UINT64_MAX;
    if (!ok) {
        *err = done->err;
    } else if (done->sets.count > 0) {
        *begin_ns = done->trace.begin_ns;
        ok = run->take(run->arg, &done->eval, &done->sets, err);
    }
    return ok || note_damage(run, &done->trace, err);
}

/* The newest traces: one after the other, until no other can be newer. */
static bool run_newest(struct cn_tql_run *run, const struct cn_tql_node *root,
                       struct cn_error *err)
{
    enum { CLEAR_EVERY = 64, TRIM_EVERY = 16 };
    struct evaluated_trace done = {.ok = true};
    struct cn_arena arena = {0};
    struct cn_best newest;
    uint64_t begin_ns;
    bool ok = true;

    cn_best_init(&newest, run->trace_max);
    for (size_t i = 0; ok && i < run->candidates.count; i++) {
        const struct cn_tql_candidate *candidate = &run->candidates.list[i];
        struct cn_best_item item = {
            .key = candidate->time_ns, .second = UINT64_MAX, .id = UINT64_MAX};

        /* No later candidate began after this one's newest row. */
        if (run->trace_max > 0 && !cn_best_takes(&newest, &item))
            break;
        evaluate(run, run->view, root, candidate, &arena, &done);
        ok = take_trace(run, &done, &begin_ns, err);
        cn_arena_done(&arena);
        item = (struct cn_best_item){begin_ns, candidate->high, candidate->low};
        if (ok && begin_ns != UINT64_MAX && run->trace_max > 0)
            cn_best_offer(&newest, &item);
        if (newest.count >= run->trace_max && i % TRIM_EVERY == 0)
            cn_best_trim(&newest);
        if (i % CLEAR_EVERY == 0)
            cn_tql_view_clear(run->view);
    }
    cn_best_done(&newest);
    cn_tql_trace_done(&done.trace);
    return ok;
}

enum { BATCH = 32 /* traces of a job */ };

/* All traces, by several workers; taken in their order. */
struct traces_run {
    struct cn_tql_run *run;
    const struct cn_tql_node *root;
    struct traces_worker {
        struct cn_tql_view *view;
        struct cn_arena arena; /* of the traces */
        struct evaluated_trace traces[BATCH];
    } * workers;
    bool ok;
    struct cn_error *err;
};

static size_t batch_count(const struct traces_run *all, size_t job)
{
    size_t left = all->run->candidates.count - job * BATCH;

    return left < BATCH ? left : BATCH;
}

static void run_batch(void *arg, size_t job, unsigned worker)
{
    const struct traces_run *all = arg;
    struct traces_worker *self = &all->workers[worker];

    for (size_t i = 0; i < batch_count(all, job); i++)
        evaluate(all->run, self->view, all->root,
                 &all->run->candidates.list[job * BATCH + i], &self->arena,
                 &self->traces[i]);
}

static void take_batch(void *arg, size_t job, unsigned worker)
{
    struct traces_run *all = arg;
    uint64_t ignored;

    for (size_t i = 0; all->ok && i < batch_count(all, job); i++)
        all->ok =
            take_trace(all->run, &all->workers[worker].traces[i], &ignored, all->err);
}

static void finish_batch(void *arg, size_t job, unsigned worker)
{
    const struct traces_run *all = arg;
    struct traces_worker *self = &all->workers[worker];

    (void)job;
    cn_arena_done(&self->arena);
    cn_tql_view_clear(self->view);
}

static bool run_all(struct cn_tql_run *run, const struct cn_tql_node *root,
                    unsigned workers, struct cn_error *err)
{
    struct traces_run all = {.run = run, .root = root, .ok = true, .err = err};
    struct cn_jobs jobs = {.count = (run->candidates.count + BATCH - 1) / BATCH,
                           .arg = &all,
                           .run = run_batch,
                           .take = take_batch,
                           .finish = finish_batch};
    struct cn_tql_places places;
    bool has_places = cn_tql_places_find(&places, run->view, &run->candidates);

    all.workers = cn_alloc(workers, sizeof(*all.workers));
    cn_tql_view_open_all(run->search);
    for (unsigned i = 0; i < workers; i++) {
        all.workers[i].view = cn_tql_view_new(run->search, run->program);
        all.workers[i].view->places = has_places ? &places : NULL;
    }
    cn_pool_run(&jobs, workers);
    for (unsigned i = 0; i < workers; i++) {
        for (size_t k = 0; k < BATCH; k++)
            cn_tql_trace_done(&all.workers[i].traces[k].trace);
        cn_tql_view_free(all.workers[i].view);
    }
    free(all.workers);
    if (has_places)
        cn_tql_places_done(&places);
    return all.ok;
}

/* Patterns belong to one thread. */
static bool has_patterns(const struct cn_tql_program *program)
{
    for (size_t i = 0; i < program->step_count; i++)
        if (program->steps[i].regex)
            return true;
    return false;
}

bool cn_tql_run_traces(struct cn_tql_run *run, const struct cn_tql_node *root,
                       struct cn_error *err)
{
    enum { FEW = 256 };

    if (!cn_tql_candidates_list(&run->candidates, run->view, root, err))
        return false;
    if (run->trace_max > 0 || run->candidates.count < FEW)
        return run_newest(run, root, err);
    return run_all(run, root, has_patterns(run->program) ? 1 : cn_pool_default_workers(),
                   err);
}

static bool reads_trace(const struct cn_tql_program *program,
                        const struct cn_tql_node *node)
{
    for (size_t i = 0; i < node->field_count; i++)
        if (cn_tql_field_needs_trace(&program->fields[node->fields[i]]))
            return true;
    return false;
}

bool cn_tql_is_of_spans(const struct cn_tql_program *program,
                        const struct cn_tql_node *stage)
{
    for (; stage; stage = stage->next) {
        if (stage->kind == CN_TQL_PIPELINE && !stage->next)
            return cn_tql_is_of_spans(program, stage->stages);
        if (stage->kind == CN_TQL_FILTER
                ? program->filters[stage->filter].needs_trace
                : stage->kind != CN_TQL_SELECT || reads_trace(program, stage))
            return false;
    }
    return true;
}

/* True if the rows of a filter do match it: spans need not be looked at. */
static bool is_certain(const struct cn_tql_run *run, uint32_t number)
{
    const struct cn_tql_rows *rows = &run->candidates.filters[number];
    const struct cn_tql_filter *filter = &run->program->filters[number];

    if (!rows->segments)
        return filter->is_exact && !filter->condition[0] && !filter->is_none;
    for (size_t i = 0; rows->doubts && i < run->search->count; i++)
        if (rows->doubts[i].words)
            return false;
    return rows->is_exact;
}

/* The filters of such stages, which a span has to match all: those that rows are chosen by, the ones
 * that are not certain first. */
static size_t list_filters(const struct cn_tql_run *run, const struct cn_tql_node *stages,
                           uint32_t *out, size_t *uncertain_count)
{
    size_t count = 0;

    if (stages->kind == CN_TQL_PIPELINE)
        stages = stages->stages;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (const struct cn_tql_node *stage = stages; stage; stage = stage->next)
            if (stage->kind == CN_TQL_FILTER &&
                is_certain(run, stage->filter) == (pass == 1))
                out[count++] = stage->filter;
        if (pass == 0)
            *uncertain_count = count;
    }
    return count;
}

/* Rows of a segment that may match all filters. */
static bool may_match(const struct cn_tql_run *run, const uint32_t *filters, size_t count,
                      uint32_t segment, uint32_t row_count, struct cn_rows *out)
{
    cn_rows_init(out, row_count);
    cn_rows_set_range(out, 0, row_count);
    for (size_t i = 0; i < count; i++) {
        const struct cn_rows *rows = run->candidates.filters[filters[i]].segments;

        if (!rows)
            continue;
        if (!rows[segment].words) {
            cn_rows_done(out);
            return false;
        }
        cn_rows_and(out, &rows[segment]);
    }
    return true;
}

bool cn_tql_rest_match(const struct cn_tql_rest *rest, struct cn_tql_view *view,
                       const struct cn_tql_span *span, bool *is_match,
                       struct cn_error *err)
{
    struct cn_tql_eval eval = {.view = view,
                               .filters = rest->run->candidates.filters,
                               .first_ns = rest->run->first_ns,
                               .last_ns = rest->run->last_ns};

    *is_match = true;
    for (size_t i = 0; *is_match && i < rest->count; i++)
        if (!cn_tql_eval_filter(&eval, rest->filters[i], span, is_match, err))
            return false;
    return true;
}

bool cn_tql_rest_has_patterns(const struct cn_tql_rest *rest)
{
    return rest->count > 0 && has_patterns(rest->run->program);
}

struct span_run {
    struct cn_tql_run *run;
    uint32_t *filters;
    size_t filter_count;
    struct cn_tql_rest rest;
    bool has_table; /* of traces, which knows what is stored twice */
    cn_tql_take_row take;
    cn_tql_take_rows take_rows;
    void *arg;
    struct cn_search_seen seen;
};

static bool run_row(struct span_run *rows, uint32_t segment, uint32_t row,
                    struct cn_error *err)
{
    struct cn_tql_view *view = rows->run->view;
    struct cn_tql_span span;
    bool is_match;

    return cn_tql_view_row_alone(view, segment, row, &span, err) &&
           cn_tql_rest_match(&rows->rest, view, &span, &is_match, err) &&
           (!is_match || rows->take(rows->arg, view, &span, err));
}

static bool run_segment(struct span_run *rows, uint32_t segment, struct cn_error *err)
{
    enum { CLEAR_EVERY = 4096 };
    struct cn_tql_segment *opened;
    struct cn_error ignored;
    struct cn_rows may;
    uint32_t taken = 0;
    bool ok = true, is_kept = false, is_taken = false;

    /* What cannot be opened was reported when its rows were matched. */
    if (!cn_tql_view_segment(rows->run->view, segment, 0, &opened, &ignored) ||
        !may_match(rows->run, rows->filters, rows->filter_count, segment,
                   opened->index->columns->row_count, &may))
        return true;
    cn_joined_drop(&opened->index->joined, &may);
    if (rows->has_table)
        cn_search_drop_doubles(rows->run->search, segment, &may, &is_kept);
    else if (rows->run->is_once && rows->run->search->overlaps[segment])
        ok = cn_search_drop_seen(rows->run->search, &rows->seen, segment, opened->index,
                                 &may, &is_kept, err);
    if (ok)
        ok = rows->take_rows(rows->arg, &rows->rest, segment, &may, &is_taken, err);
    for (uint32_t row = is_taken ? may.count : cn_rows_next(&may, 0);
         ok && row < may.count; row = cn_rows_next(&may, row + 1)) {
        ok = run_row(rows, segment, row, err);
        if (!ok && err->kind != CN_ERR_USAGE) {
            rows->run->search->failures[segment] = *err;
            ok = true;
        }
        if (++taken % CLEAR_EVERY == 0)
            cn_tql_view_clear(rows->run->view);
    }
    cn_rows_done(&may);
    cn_tql_view_clear(rows->run->view);
    return ok;
}

/* True if all rows of a segment may match all filters. */
static bool may_all_match(const struct span_run *rows, uint32_t segment)
{
    for (size_t i = 0; i < rows->filter_count; i++) {
        const struct cn_rows *may =
            rows->run->candidates.filters[rows->filters[i]].segments;

        if (may && cn_rows_size(&may[segment]) < may[segment].count)
            return false;
    }
    return true;
}

/* Of all rows, the table of traces tells faster which are of spans that are stored twice, in less memory. */
static bool prepare_doubles(struct span_run *rows, struct cn_error *err)
{
    struct cn_search *search = rows->run->search;
    const struct cn_trace_table *table;

    rows->has_table = rows->run->is_once && search->overlap_count > 0;
    for (uint32_t i = 0; rows->has_table && i < search->count; i++)
        rows->has_table = may_all_match(rows, i);
    return !rows->has_table ||
           cn_search_trace_table(search, NULL, CN_TRACE_TABLE_DOUBLES, &table, err);
}

bool cn_tql_run_rows(struct cn_tql_run *run, const struct cn_tql_node *stages,
                     cn_tql_take_row take, cn_tql_take_rows take_rows, void *arg,
                     struct cn_error *err)
{
    struct span_run rows = {
        .run = run,
        .filters = cn_alloc(run->program->filter_count + 1, sizeof(uint32_t)),
        .take = take,
        .take_rows = take_rows,
        .arg = arg,
    };
    bool ok;

    rows.rest = (struct cn_tql_rest){.run = run, .filters = rows.filters};
    rows.filter_count = list_filters(run, stages, rows.filters, &rows.rest.count);
    ok = prepare_doubles(&rows, err);
    for (uint32_t i = 0; ok && i < run->search->count; i++)
        ok = run_segment(&rows, i, err);
    cn_search_seen_done(&rows.seen);
    free(rows.filters);
    return ok;
}
