/* The traces that match, with what is shown of their spans; and the same as rows of a query. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/context.h"
#include "store/search/query.h"
#include "store/search/state.h"
#include "store/segment/reader.h"
#include "store/traceql/run.h"
#include "store/traceql/traceql.h"
#include "store/traceql/view.h"

static const char *keep_text(struct cn_arena *arena, const struct cn_tql_value *value)
{
    return value->type == CN_TQL_STRING
               ? cn_arena_copy(arena, (const char *)value->text.ptr, value->text.len)
               : "";
}

struct finding {
    const struct cn_tql_range *range;
    struct cn_tql_found *found;
    const uint32_t *fields; /* of the program, those that are shown */
    size_t field_count;
};

static bool keep_span(struct finding *finding, struct cn_tql_view *view,
                      const struct cn_tql_span *span, struct cn_tql_found_span *out,
                      struct cn_error *err)
{
    struct cn_arena *arena = &finding->found->arena;
    struct cn_tql_value *values =
        cn_arena_alloc(arena, finding->field_count + 1, sizeof(*values));
    struct cn_tql_value value;

    *out = (struct cn_tql_found_span){
        .time_ns = span->time_ns, .duration_ns = span->duration_ns, .values = values};
    if (!cn_tql_view_ids(view, span, &out->id, &out->parent_id, err) ||
        !cn_tql_view_word(view, span, CN_STORE_FIELD_method, &value, err))
        return false;
    out->name = keep_text(arena, &value);
    for (size_t i = 0; i < finding->field_count; i++) {
        if (!cn_tql_span_field(view, span, &view->program->fields[finding->fields[i]],
                               &value, err))
            return false;
        values[i] = cn_tql_keep(arena, &value);
    }
    return true;
}

static bool keep_set(struct finding *finding, struct cn_tql_eval *eval,
                     const struct cn_tql_spanset *set, struct cn_tql_found_set *out,
                     struct cn_error *err)
{
    struct cn_arena *arena = &finding->found->arena;
    size_t most = finding->range->span_max;
    size_t count = most > 0 && most < set->count ? most : set->count;
    struct cn_tql_found_span *spans = cn_arena_alloc(arena, count + 1, sizeof(*spans));
    const char **names = cn_arena_alloc(arena, set->attribute_count + 1, sizeof(*names));
    struct cn_tql_value *values =
        cn_arena_alloc(arena, set->attribute_count + 1, sizeof(*values));

    for (size_t i = 0; i < count; i++)
        if (!keep_span(finding, eval->view, &eval->trace->spans[set->spans[i]], &spans[i],
                       err))
            return false;
    for (size_t i = 0; i < set->attribute_count; i++) {
        names[i] = cn_arena_strdup(arena, set->attributes[i].name);
        values[i] = cn_tql_keep(arena, &set->attributes[i].value);
    }
    *out = (struct cn_tql_found_set){spans, count,  set->count,
                                     names, values, set->attribute_count};
    return true;
}

static bool keep_roots(struct finding *finding, struct cn_tql_eval *eval,
                       struct cn_tql_found_trace *out, struct cn_error *err)
{
    const struct cn_tql_trace *trace = eval->trace;
    struct cn_tql_value name, service;

    out->root_name = out->root_service = "";
    if (trace->root == CN_NONE)
        return true;
    if (!cn_tql_view_word(eval->view, &trace->spans[trace->root], CN_STORE_FIELD_method,
                          &name, err) ||
        !cn_tql_view_word(eval->view, &trace->spans[trace->root], CN_STORE_FIELD_service,
                          &service, err))
        return false;
    out->root_name = keep_text(&finding->found->arena, &name);
    out->root_service = keep_text(&finding->found->arena, &service);
    return true;
}

static bool keep_trace(void *arg, struct cn_tql_eval *eval,
                       const struct cn_tql_spansets *sets, struct cn_error *err)
{
    struct finding *finding = arg;
    const struct cn_tql_trace *trace = eval->trace;
    struct cn_tql_found_set *kept =
        cn_arena_alloc(&finding->found->arena, sets->count + 1, sizeof(*kept));
    struct cn_tql_found_trace found = {
        .high = trace->high,
        .low = trace->low,
        .time_ns = trace->begin_ns,
        .duration_ns = trace->end_ns - trace->begin_ns,
        .span_count = trace->count,
        .sets = kept,
        .set_count = sets->count,
    };

    if (!keep_roots(finding, eval, &found, err))
        return false;
    for (size_t i = 0; i < sets->count; i++)
        if (!keep_set(finding, eval, &sets->list[i], &kept[i], err))
            return false;
    CN_PUSH(finding->found->traces, finding->found->count, finding->found->capacity,
            found);
    return true;
}

static int newest_first(const void *a, const void *b)
{
    const struct cn_tql_found_trace *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    if (x->high != y->high)
        return x->high > y->high ? -1 : 1;
    return x->low > y->low ? -1 : x->low < y->low;
}

static void list_fields(struct finding *finding, const struct cn_tql_program *program)
{
    struct cn_arena *arena = &finding->found->arena;
    uint32_t *numbers = cn_arena_alloc(arena, program->field_count + 1, sizeof(*numbers));
    const char **names = cn_arena_alloc(arena, program->field_count + 1, sizeof(*names));

    for (uint32_t i = 0; i < program->field_count; i++) {
        numbers[i] = i;
        names[i] = cn_arena_strdup(arena, program->fields[i].text);
    }
    finding->fields = numbers;
    finding->field_count = finding->found->field_count = program->field_count;
    finding->found->fields = names;
}

static bool check_spansets(const struct cn_tql_program *program, struct cn_error *err)
{
    return !program->is_metrics ||
           cn_fail(err, CN_ERR_USAGE, "the query gives series over time, not traces");
}

bool cn_tql_search(struct cn_search *search, const struct cn_tql_program *program,
                   const struct cn_tql_range *range, struct cn_tql_found *out,
                   struct cn_error *err)
{
    struct cn_tql_found found = {0};
    struct finding finding = {.range = range, .found = &found};
    struct cn_tql_run run = {.search = search,
                             .program = program,
                             .first_ns = range->first_ns,
                             .last_ns = range->last_ns,
                             .trace_max = range->trace_max,
                             .take = keep_trace,
                             .arg = &finding};

    if (!check_spansets(program, err) || !cn_tql_run_begin(&run, err))
        return false;
    list_fields(&finding, program);
    bool ok = cn_tql_run_traces(&run, program->root, err);
    found.candidates = run.candidates.count;
    cn_tql_run_done(&run);
    if (!ok) {
        cn_tql_found_done(&found);
        return false;
    }
    if (found.count > 1)
        qsort(found.traces, found.count, sizeof(*found.traces), newest_first);
    if (range->trace_max > 0 && found.count > range->trace_max)
        found.count = range->trace_max;
    *out = found;
    return true;
}

void cn_tql_found_done(struct cn_tql_found *found)
{
    free(found->traces);
    cn_arena_done(&found->arena);
    *found = (struct cn_tql_found){0};
}

/* Rows of matching spans, by segment. */
struct row_finding {
    struct cn_query_found found;
};

static struct cn_rows *rows_of(struct row_finding *finding, struct cn_tql_view *view,
                               uint32_t segment)
{
    struct cn_rows *rows = &finding->found.rows[segment];

    if (!rows->words)
        cn_rows_init(rows, cn_segment_row_count(
                               cn_store_segment(cn_search_store(view->search), segment)));
    return rows;
}

static void note_row(struct row_finding *finding, struct cn_tql_view *view,
                     const struct cn_tql_span *span)
{
    cn_rows_set(rows_of(finding, view, span->segment), span->row);
}

static bool take_rows(void *arg, const struct cn_tql_rest *rest, uint32_t segment,
                      const struct cn_rows *rows, bool *is_taken, struct cn_error *err)
{
    (void)err;
    *is_taken = rest->count == 0;
    if (*is_taken && !cn_rows_is_empty(rows))
        cn_rows_or(rows_of(arg, rest->run->view, segment), rows);
    return true;
}

static bool take_row(void *arg, struct cn_tql_view *view, const struct cn_tql_span *span,
                     struct cn_error *err)
{
    (void)err;
    note_row(arg, view, span);
    return true;
}

static bool take_sets(void *arg, struct cn_tql_eval *eval,
                      const struct cn_tql_spansets *sets, struct cn_error *err)
{
    struct row_finding *finding = arg;
    struct cn_query_found *found = &finding->found;
    uint64_t begin_ns = eval->trace->begin_ns;

    (void)err;
    for (size_t i = 0; i < sets->count; i++)
        for (size_t k = 0; k < sets->list[i].count; k++)
            note_row(finding, eval->view, &eval->trace->spans[sets->list[i].spans[k]]);
    found->first_ns = found->trace_count == 0 || begin_ns < found->first_ns
                          ? begin_ns
                          : found->first_ns;
    found->last_ns = begin_ns > found->last_ns ? begin_ns : found->last_ns;
    found->trace_count++;
    return true;
}

/* So few rows are looked at with their traces, which are then known. */
static bool are_few(const struct cn_tql_run *run)
{
    enum { FEW = 1024 };

    for (size_t i = 0; i < run->candidates.filter_count; i++)
        if (run->candidates.row_counts[i] <= FEW)
            return true;
    return false;
}

static bool find_rows(struct cn_tql_run *run, struct row_finding *finding,
                      struct cn_error *err)
{
    const struct cn_tql_node *root = run->program->root;

    if (!cn_tql_run_begin(run, err))
        return false;
    bool is_of_rows =
        run->trace_max == 0 && cn_tql_is_of_spans(run->program, root) && !are_few(run);
    bool ok = is_of_rows ? cn_tql_run_rows(run, root, take_row, take_rows, finding, err)
                         : cn_tql_run_traces(run, root, err);
    finding->found.has_traces = !is_of_rows && run->trace_max == 0;
    if (finding->found.trace_count == 0)
        finding->found.first_ns = UINT64_MAX;
    cn_tql_run_done(run);
    return ok;
}

bool cn_tql_query(struct cn_query **out, struct cn_search *search,
                  const struct cn_tql_program *program, const struct cn_tql_range *range,
                  struct cn_error *err)
{
    struct row_finding finding = {.found = {.count = search->count}};
    struct cn_tql_run run = {.search = search,
                             .program = program,
                             .first_ns = range->first_ns,
                             .last_ns = range->last_ns,
                             .trace_max = range->trace_max,
                             .take = take_sets,
                             .arg = &finding};

    if (!check_spansets(program, err))
        return false;
    finding.found.rows = cn_alloc(search->count + 1, sizeof(struct cn_rows));
    finding.found.segments = cn_alloc(search->count + 1, sizeof(struct cn_segment *));
    for (size_t i = 0; i < search->count; i++)
        finding.found.segments[i] = cn_store_segment(cn_search_store(search), i);
    char *text = cn_strprintf("traceql %zu %" PRIu64 " %" PRIu64 " %s", range->trace_max,
                              range->first_ns, range->last_ns, program->text);
    bool ok = find_rows(&run, &finding, err);
    struct cn_query *query =
        cn_query_of_found(&finding.found, text, range->first_ns, range->last_ns);
    free(text);
    if (!ok)
        cn_query_free(query);
    else
        *out = query;
    return ok;
}
