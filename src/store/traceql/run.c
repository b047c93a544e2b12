#include "store/traceql/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/best.h"
#include "store/search/seen.h"
#include "store/search/segments.h"
#include "store/search/state.h"
#include "store/segment/index.h"
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

/* Evaluate one trace; `begin_ns` receives its start if it matches, else UINT64_MAX. */
static bool run_trace(struct cn_tql_run *run, const struct cn_tql_node *root,
                      const struct cn_tql_candidate *candidate,
                      struct cn_tql_trace *trace, uint64_t *begin_ns,
                      struct cn_error *err)
{
    struct cn_arena arena = {0};
    struct cn_tql_eval eval = {
        .view = run->view,
        .trace = trace,
        .filters = run->candidates.filters,
        .first_ns = run->first_ns,
        .last_ns = run->last_ns,
        .arena = &arena,
    };
    struct cn_tql_spansets sets;
    bool ok = cn_tql_view_trace(run->view, candidate->high, candidate->low, trace, err) &&
              cn_tql_eval_stages(&eval, root, &sets, err);

    *begin_ns = UINT64_MAX;
    if (ok && sets.count > 0) {
        *begin_ns = trace->begin_ns;
        ok = run->take(run->arg, &eval, &sets, err);
    }
    cn_arena_done(&arena);
    return ok;
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

bool cn_tql_run_traces(struct cn_tql_run *run, const struct cn_tql_node *root,
                       struct cn_error *err)
{
    enum { CLEAR_EVERY = 64, TRIM_EVERY = 16 };
    struct cn_tql_trace trace = {0};
    struct cn_best newest;
    uint64_t begin_ns;
    bool ok = cn_tql_candidates_list(&run->candidates, run->view, root, err);

    cn_best_init(&newest, run->trace_max);
    for (size_t i = 0; ok && i < run->candidates.count; i++) {
        const struct cn_tql_candidate *candidate = &run->candidates.list[i];
        struct cn_best_item item = {
            .key = candidate->time_ns, .second = UINT64_MAX, .id = UINT64_MAX};

        /* No later candidate began after this one's newest row. */
        if (run->trace_max > 0 && !cn_best_takes(&newest, &item))
            break;
        ok = run_trace(run, root, candidate, &trace, &begin_ns, err) ||
             note_damage(run, &trace, err);
        item = (struct cn_best_item){begin_ns, candidate->high, candidate->low};
        if (ok && begin_ns != UINT64_MAX && run->trace_max > 0)
            cn_best_offer(&newest, &item);
        if (newest.count >= run->trace_max && i % TRIM_EVERY == 0)
            cn_best_trim(&newest);
        if (i % CLEAR_EVERY == 0)
            cn_tql_view_clear(run->view);
    }
    cn_best_done(&newest);
    cn_tql_trace_done(&trace);
    return ok;
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

struct span_run {
    struct cn_tql_run *run;
    struct cn_tql_eval eval;
    uint32_t *filters;
    size_t filter_count, uncertain_count;
    bool has_table; /* of traces, which knows what is stored twice */
    cn_tql_take_row take;
    void *arg;
    struct cn_search_seen seen;
};

static bool run_row(struct span_run *rows, uint32_t segment, uint32_t row,
                    struct cn_error *err)
{
    struct cn_tql_view *view = rows->run->view;
    struct cn_tql_span span;
    bool is_match = true;

    if (!cn_tql_view_row_alone(view, segment, row, &span, err))
        return false;
    for (size_t i = 0; is_match && i < rows->uncertain_count; i++)
        if (!cn_tql_eval_filter(&rows->eval, rows->filters[i], &span, &is_match, err))
            return false;
    return !is_match || rows->take(rows->arg, view, &span, err);
}

static bool run_segment(struct span_run *rows, uint32_t segment, struct cn_error *err)
{
    enum { CLEAR_EVERY = 4096 };
    struct cn_tql_segment *opened;
    struct cn_error ignored;
    struct cn_rows may;
    uint32_t taken = 0;
    bool ok = true, is_kept = false;

    /* What cannot be opened was reported when its rows were matched. */
    if (!cn_tql_view_segment(rows->run->view, segment, &opened, &ignored) ||
        !may_match(rows->run, rows->filters, rows->filter_count, segment,
                   opened->index->columns->row_count, &may))
        return true;
    cn_joined_drop(&opened->index->joined, &may);
    if (rows->has_table)
        cn_search_drop_doubles(rows->run->search, segment, &may, &is_kept);
    else if (rows->run->is_once && rows->run->search->overlaps[segment])
        ok = cn_search_drop_seen(rows->run->search, &rows->seen, segment, opened->index,
                                 &may, &is_kept, err);
    for (uint32_t row = cn_rows_next(&may, 0); ok && row < may.count;
         row = cn_rows_next(&may, row + 1)) {
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
    return !rows->has_table || cn_search_trace_table(search, NULL, &table, err);
}

bool cn_tql_run_rows(struct cn_tql_run *run, const struct cn_tql_node *stages,
                     cn_tql_take_row take, void *arg, struct cn_error *err)
{
    struct span_run rows = {
        .run = run,
        .eval = {.view = run->view,
                 .filters = run->candidates.filters,
                 .first_ns = run->first_ns,
                 .last_ns = run->last_ns},
        .filters = cn_alloc(run->program->filter_count + 1, sizeof(uint32_t)),
        .take = take,
        .arg = arg,
    };
    bool ok;

    rows.filter_count = list_filters(run, stages, rows.filters, &rows.uncertain_count);
    ok = prepare_doubles(&rows, err);
    for (uint32_t i = 0; ok && i < run->search->count; i++)
        ok = run_segment(&rows, i, err);
    cn_search_seen_done(&rows.seen);
    free(rows.filters);
    return ok;
}
