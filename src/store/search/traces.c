#include "store/search/traces.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/search/page.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/search/state.h"
#include "store/search/trace_rows.h"

/* The numbers of traces that can be asked for. */
enum { TIME, DURATION, CALLS, RECORDS, ERRORS, FIELDS };

static const enum cn_store_field fields[FIELDS] = {
    CN_STORE_FIELD_time_ns, CN_STORE_FIELD_duration_ns, CN_STORE_FIELD_calls,
    CN_STORE_FIELD_records, CN_STORE_FIELD_errors,
};

/* Visits each matching trace once, at its first matching row. */
struct each {
    const struct cn_trace_table *table;
    uint64_t *seen;     /* a bit for each trace of several rows */
    bool needs[FIELDS]; /* numbers that `visit` reads */
    enum cn_trace_table_needs table_needs;
    cn_search_trace_visit visit;
    void *arg;
};

/* A number of the trace of one row, 0 if it is not needed. */
static uint64_t number_of(const struct each *each, const struct cn_store_index *index,
                          const struct cn_store_column *columns, unsigned i, uint32_t row)
{
    uint64_t value;

    if (!each->needs[i])
        return 0;
    value = cn_store_column_at(&columns[i], row);
    return index->joined.trace_count == 0
               ? value
               : cn_joined_number(&index->joined, fields[i], row, value);
}

static bool each_of_rows(void *arg, uint32_t segment, const struct cn_store_index *index,
                         const struct cn_rows *rows, struct cn_error *err)
{
    struct each *each = arg;
    const struct cn_trace_runs *runs = &each->table->runs[segment];
    struct cn_store_column columns[FIELDS];

    for (size_t i = 0; i < FIELDS; i++) {
        if (each->needs[i] &&
            !cn_columns_field(index->columns, fields[i], &columns[i], err))
            return false;
    }
    /* The last rows are mostly the newest. */
    for (uint32_t row = cn_rows_before(rows, rows->count); row < rows->count;
         row = cn_rows_before(rows, row)) {
        uint32_t number = cn_trace_runs_number(runs, row);
        struct cn_trace_sum sum;

        if (number > 0) {
            uint64_t bit = UINT64_C(1) << number % 64;

            if (!(each->seen[number / 64] & bit))
                each->visit(each->arg, &each->table->traces[number - 1]);
            each->seen[number / 64] |= bit;
            continue;
        }
        if (each->table->is_of_some)
            continue;
        sum = (struct cn_trace_sum){
            .time_ns = number_of(each, index, columns, TIME, row),
            .duration_ns = number_of(each, index, columns, DURATION, row),
            .calls = number_of(each, index, columns, CALLS, row),
            .records = (uint32_t)number_of(each, index, columns, RECORDS, row),
            .errors = (uint32_t)number_of(each, index, columns, ERRORS, row),
            .spans = 1,
            .segment = segment,
            .row = row,
        };
        each->visit(each->arg, &sum);
    }
    return true;
}

/* The newest segments, when the newest traces are wanted. */
struct newest {
    struct cn_search_newest table;
    bool is_cut; /* traces of other segments may be newer */
};

/* `goes_on` is as in cn_search_visitor, with the argument of `each`. `newest` may be NULL. */
static bool visit_each(struct cn_search *search, const struct cn_query *query,
                       struct each *each, bool (*goes_on)(void *arg, uint64_t time_ns),
                       struct newest *newest, struct cn_error *err)
{
    struct cn_search_visitor visitor = {.kind = CN_SEARCH_HITS,
                                        .is_rough = true,
                                        .visit = each_of_rows,
                                        .goes_on = goes_on,
                                        .arg = each};
    bool ok;

    if (newest) {
        visitor.end = newest->table.end;
        visitor.is_cut = &newest->is_cut;
    }
    if (!cn_search_newest_table(search, query, newest ? &newest->table : NULL,
                                cn_search_whole_needs(query, each->table_needs),
                                &each->table, err))
        return false;
    each->seen = cn_alloc((size_t)each->table->count / 64 + 1, sizeof(*each->seen));
    ok = cn_search_walk(search, query, &visitor, err);
    free(each->seen);
    return ok;
}

static bool read_id(void *search, uint32_t segment, uint32_t row, uint64_t id[3])
{
    const struct cn_store_index *index;
    struct cn_store_column high, low;
    struct cn_error ignored;

    if (!cn_search_index(search, segment, &index, &ignored) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_high, &high, &ignored) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &low, &ignored))
        return false;
    id[0] = cn_store_column_at(&high, row);
    id[1] = cn_store_column_at(&low, row);
    return true;
}

static void offer_trace(void *arg, const struct cn_trace_sum *sum)
{
    struct cn_search_page *page = arg;
    const uint64_t keys[] = {
        [CN_SEARCH_BY_TIME] = sum->time_ns,    [CN_SEARCH_BY_DURATION] = sum->duration_ns,
        [CN_SEARCH_BY_CALLS] = sum->calls,     [CN_SEARCH_BY_ERRORS] = sum->errors,
        [CN_SEARCH_BY_RECORDS] = sum->records, [CN_SEARCH_BY_SPANS] = sum->spans,
    };

    cn_search_page_offer(page, keys[page->order->sort], sum->time_ns, sum->segment,
                         sum->row);
}

/* A trace begins at the latest at each of its spans, so those that are only in older segments
 * are older. */
static bool may_improve(void *arg, uint64_t time_ns)
{
    const struct each *each = arg;

    return cn_search_page_may_improve(each->arg, time_ns);
}

/* The newest segments first, and more of them until no other trace can be newer. The result is the
 * same as that of all segments. */
static bool find_newest(struct cn_search *search, const struct cn_query *query,
                        struct each *each, struct cn_error *err)
{
    enum { FIRST = 2, SPARE = 32, FACTOR = 4, TRACES_FACTOR = 16 };
    struct cn_search_page *page = each->arg;
    size_t parts = FIRST, traces = page->best.limit + page->best.limit / 2 + SPARE;

    for (;;) {
        struct newest newest = {.table = {.end = cn_search_end_of(search, query, parts),
                                          .trace_max = traces}};

        cn_search_page_begin(page);
        if (!visit_each(search, query, each, may_improve, &newest, err))
            return false;
        cn_best_trim(&page->best);
        if (!newest.is_cut &&
            (newest.table.rest_ns == 0 || page->best.limit == 0 ||
             (page->best.has_worst && page->best.worst.key > newest.table.rest_ns)))
            return true;
        if (newest.is_cut)
            parts *= FACTOR;
        else
            traces *= TRACES_FACTOR;
        if (!cn_search_is_few(search, traces)) {
            cn_search_page_begin(page);
            return visit_each(search, query, each, may_improve, NULL, err);
        }
    }
}

/* The traces of a page by their first rows, to be freed. */
static bool find_page(struct cn_search *search, const struct cn_query *query,
                      const struct cn_search_order *order, struct cn_search_hit **hits,
                      size_t *count, struct cn_error *err)
{
    struct cn_search_page page = {.order = order, .read_id = read_id, .arg = search};
    struct each each = {
        .visit = offer_trace, .arg = &page, .table_needs = CN_TRACE_TABLE_ALL};
    bool is_newest = order->sort == CN_SEARCH_BY_TIME && !order->is_reversed, ok;

    each.needs[TIME] = true;
    each.needs[DURATION] = order->sort == CN_SEARCH_BY_DURATION;
    each.needs[CALLS] = order->sort == CN_SEARCH_BY_CALLS;
    each.needs[RECORDS] = order->sort == CN_SEARCH_BY_RECORDS;
    each.needs[ERRORS] = order->sort == CN_SEARCH_BY_ERRORS;
    cn_search_page_begin(&page);
    ok =
        is_newest && cn_search_is_few(search, page.best.limit)
            ? find_newest(search, query, &each, err)
            : visit_each(search, query, &each, is_newest ? may_improve : NULL, NULL, err);
    if (ok)
        *hits = cn_search_page_take(&page, count);
    cn_best_done(&page.best);
    return ok;
}

bool cn_search_traces(struct cn_search *search, const struct cn_query *query,
                      const struct cn_search_order *order, struct cn_search_traces *out,
                      struct cn_error *err)
{
    struct cn_search_hit *hits = NULL;
    size_t count = 0;
    bool ok = find_page(search, query, order, &hits, &count, err) &&
              cn_trace_rows_describe(search, hits, count, out, err);

    free(hits);
    return ok;
}

bool cn_search_trace_spans(struct cn_search *search, const struct cn_query *query,
                           const struct cn_search_order *order,
                           struct cn_search_hits *out, struct cn_error *err)
{
    struct cn_search_hit *hits = NULL;
    size_t count = 0;
    bool ok = find_page(search, query, order, &hits, &count, err) &&
              cn_trace_rows_list(search, hits, count, out, err);

    free(hits);
    return ok;
}

bool cn_search_spans_of(struct cn_search *search, const struct cn_search_hit *hits,
                        size_t count, struct cn_search_hits *out, struct cn_error *err)
{
    const struct cn_trace_table *table;

    return cn_search_trace_table(search, NULL, CN_TRACE_TABLE_ALL, &table, err) &&
           cn_trace_rows_list(search, hits, count, out, err);
}

void cn_search_traces_done(struct cn_search_traces *traces)
{
    free(traces->list);
    free(traces->services);
    cn_names_done(&traces->names);
    *traces = (struct cn_search_traces){0};
}

static void count_trace(void *arg, const struct cn_trace_sum *sum)
{
    struct cn_search_trace_count *count = arg;

    count->count++;
    count->first_ns = sum->time_ns < count->first_ns ? sum->time_ns : count->first_ns;
    count->last_ns = sum->time_ns > count->last_ns ? sum->time_ns : count->last_ns;
}

bool cn_search_count_traces(struct cn_search *search, const struct cn_query *query,
                            struct cn_search_trace_count *out, struct cn_error *err)
{
    struct cn_kept_query *kept = cn_kept_hits_of(&search->kept, query, true);
    struct cn_search_trace_count count = {.first_ns = UINT64_MAX};
    struct each each = {
        .visit = count_trace, .arg = &count, .table_needs = CN_TRACE_TABLE_TIMES};
    struct cn_error damage;

    if (query->found && query->found->has_traces) {
        *out = (struct cn_search_trace_count){
            query->found->trace_count, query->found->first_ns, query->found->last_ns};
        return true;
    }
    if (kept->is_counted) {
        *out = kept->traces;
        return true;
    }
    each.needs[TIME] = true;
    if (!visit_each(search, query, &each, NULL, NULL, err))
        return false;
    /* Damage may be gone at the next search: then the count is another one. */
    kept = cn_kept_hits_of(&search->kept, query, true);
    kept->is_counted = cn_search_check(search, &damage);
    kept->traces = count;
    *out = count;
    return true;
}

bool cn_search_each_trace(struct cn_search *search, const struct cn_query *query,
                          cn_search_trace_visit visit, void *arg, struct cn_error *err)
{
    struct each each = {.visit = visit, .arg = arg, .table_needs = CN_TRACE_TABLE_ALL};

    each.needs[TIME] = each.needs[DURATION] = each.needs[ERRORS] = true;
    return visit_each(search, query, &each, NULL, NULL, err);
}
