/* A search for traces finds what a look at every span finds, however the spans of a trace are
 * distributed over segments: random queries over two stores of the same random spans. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/traces/trace.h"
#include "store/groups/group.h"
#include "store/groups/services.h"
#include "store/groups/steps.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/search/traces.h"
#include "store/segment/reader.h"
#include "store/write/writer.h"
#include "support/random_query.h"
#include "support/random_traces.h"
#include "support/scratch.h"
#include "support/trace_facts.h"

enum { SPANS = 600, TRACES = 200, QUERIES = 300, STORES = 2 };

/* Spans are added in an order of their own, and a segment ends after so many of them. */
static const size_t strides[STORES] = {1, 7}, segment_rows[STORES] = {250, 90};

static struct cn_trace_facts facts[SPANS];
static struct cn_store *made; /* the spans that both stores are copies of */
static struct cn_store *stores[STORES];
static struct cn_search *searches[STORES];
static struct cn_scratch *scratch;

/* What the spans of a trace add up to. */
struct expected {
    uint64_t low, time_ns, end_ns, root_ns, calls;
    uint32_t spans, errors, records, root_count;
    const struct cn_trace_facts *list[SPANS];
    const struct cn_trace_facts *root;
    const char *services[4];
    size_t service_count;
};

static uint64_t id_of(size_t span)
{
    return (span % 3 == 0 ? span / 3 : span * 13 % TRACES) + 1;
}

/* Span `i`: a new one, or that of the store that was made first. Copies are equal: storing a
 * duration rounds it once. */
static void make_span(struct cn_trace *trace, struct cn_store_writer *writer,
                      struct cn_segment_loader *loader, size_t i)
{
    struct cn_words *words;
    struct cn_error err = {0};

    assert_true(cn_store_writer_begin(writer, &words, &err));
    if (made) {
        assert_true(
            cn_segment_load(loader, cn_store_segment(made, 0), (uint32_t)i, trace, &err));
        return;
    }
    cn_random_trace(trace, words, i);
    trace->id_high = (id_of(i) - 1) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    trace->id_low =
        id_of(i); /* as that of another random trace, so that queries find it */
    /* The caller is a span of the same trace, or none, or unknown. */
    trace->spans[0].parent_id = i % 3 == 0   ? 0
                                : i % 3 == 1 ? (id_of(i) - 1) * 3 + 1
                                             : 9999;
}

static void fill(const char *path, size_t stride, size_t rows)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    struct cn_store_writer *writer;
    struct cn_store_added added = {0};
    struct cn_error err = {0};

    assert_true(cn_store_init(path, NULL, &err));
    assert_true(cn_store_writer_open(&writer, path, NULL, &err));
    for (size_t i = 0; i < SPANS; i++) {
        make_span(&trace, writer, loader, i * stride % SPANS);
        if (!cn_store_writer_add(writer, &trace, &added, &err))
            fail_msg("%s", err.text);
        if (i % rows == rows - 1)
            assert_true(cn_store_writer_rotate(writer, &err));
    }
    assert_int_equal(added.traces, TRACES);
    assert_int_equal(added.parts, SPANS - TRACES);
    assert_true(cn_store_writer_close(writer, &err));
    cn_segment_loader_free(loader);
    cn_trace_done(&trace);
}

static void read_facts(void)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    size_t count = 0;

    for (uint32_t s = 0; s < cn_store_segment_count(stores[0]); s++) {
        for (uint32_t r = 0; r < cn_segment_row_count(cn_store_segment(stores[0], s));
             r++)
            cn_trace_facts_read(&facts[count++], stores[0], loader, s, r);
    }
    assert_int_equal(count, SPANS);
    cn_segment_loader_free(loader);
}

static int make_stores(void **state)
{
    static const char *const paths[STORES] = {"a", "b"};
    struct cn_error err = {0};

    (void)state;
    scratch = cn_scratch_enter();
    fill("made", 1, SPANS + 1);
    assert_true(cn_store_open(&made, "made", &err));
    for (size_t i = 0; i < STORES; i++) {
        fill(paths[i], strides[i], segment_rows[i]);
        if (!cn_store_open(&stores[i], paths[i], &err) ||
            !cn_search_open(&searches[i], stores[i], &err))
            fail_msg("%s", err.text);
    }
    read_facts();
    return 0;
}

static int drop_stores(void **state)
{
    (void)state;
    for (size_t i = 0; i < STORES; i++) {
        cn_search_close(searches[i]);
        cn_store_close(stores[i]);
    }
    cn_store_close(made);
    for (size_t i = 0; i < SPANS; i++)
        cn_trace_facts_done(&facts[i]);
    cn_scratch_leave(scratch);
    return 0;
}

static bool is_better_root(const struct cn_store_row *a, const struct cn_store_row *b)
{
    if ((a->parent_id == 0) != (b->parent_id == 0))
        return a->parent_id == 0;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns;
    return a->span_id < b->span_id;
}

static void add_span(struct expected *trace, const struct cn_trace_facts *span)
{
    const struct cn_store_row *row = &span->data;
    bool is_new = span->service != NULL;

    if (row->time_ns < trace->time_ns)
        trace->time_ns = row->time_ns;
    if (row->time_ns + row->duration_ns > trace->end_ns)
        trace->end_ns = row->time_ns + row->duration_ns;
    if (row->parent_id == 0) {
        trace->root_ns = row->duration_ns;
        trace->root_count++;
    }
    trace->list[trace->spans++] = span;
    trace->errors += row->errors;
    trace->calls += row->calls;
    trace->records += row->records;
    if (!trace->root || is_better_root(row, &trace->root->data))
        trace->root = span;
    for (size_t i = 0; i < trace->service_count; i++)
        is_new = is_new && strcmp(trace->services[i], span->service) != 0;
    if (is_new)
        trace->services[trace->service_count++] = span->service;
}

static uint64_t duration_of(const struct expected *trace)
{
    return trace->root_count == 1 ? trace->root_ns : trace->end_ns - trace->time_ns;
}

static bool is_match(const struct cn_random_query *tree, const struct expected *trace)
{
    const struct cn_store_row numbers = {
        .duration_ns = duration_of(trace),
        .errors = trace->errors,
        .calls = trace->calls,
        .records = trace->records,
    };

    return trace->spans > 0 &&
           (!tree || cn_random_query_holds_in(tree, trace->list, trace->spans, &numbers));
}

static size_t expect(const struct cn_random_query *tree, struct expected *list)
{
    static struct expected all[TRACES + 1];
    size_t count = 0;

    for (size_t i = 0; i <= TRACES; i++)
        all[i] = (struct expected){.low = i, .time_ns = UINT64_MAX};
    for (size_t i = 0; i < SPANS; i++) {
        add_span(&all[facts[i].data.trace_low], &facts[i]);
    }
    for (size_t i = 0; i <= TRACES; i++) {
        if (is_match(tree, &all[i]))
            list[count++] = all[i];
    }
    return count;
}

static const struct cn_search_order *sorted_by;

static uint64_t key_of(const struct expected *trace)
{
    switch ((unsigned)sorted_by->sort) {
    case CN_SEARCH_BY_DURATION:
        return duration_of(trace);
    case CN_SEARCH_BY_ERRORS:
        return trace->errors;
    case CN_SEARCH_BY_SPANS:
        return trace->spans;
    default:
        return trace->time_ns;
    }
}

static int compare(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;
    int sign = sorted_by->is_reversed ? -1 : 1;

    if (key_of(x) != key_of(y))
        return key_of(x) > key_of(y) ? -sign : sign;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -sign : sign;
    return x->root->data.trace_high > y->root->data.trace_high ? -sign : sign;
}

static void check_trace(const struct cn_search_traces *found,
                        const struct cn_search_trace *trace,
                        const struct expected *expected, size_t s)
{
    struct cn_store_row row;
    struct cn_error err = {0};

    assert_int_equal(trace->trace_low, expected->low);
    assert_int_equal(trace->sum.time_ns, expected->time_ns);
    assert_int_equal(trace->sum.duration_ns, duration_of(expected));
    assert_int_equal(trace->sum.spans, expected->spans);
    assert_int_equal(trace->sum.errors, expected->errors);
    assert_true(cn_search_hit_row(searches[s], &trace->root, &row, &err));
    assert_int_equal(row.span_id, expected->root->data.span_id);
    assert_int_equal(trace->service_count, expected->service_count);
    if (expected->root->service)
        assert_string_equal(cn_search_trace_service(found, trace, 0),
                            expected->root->service);
    for (size_t i = 2; i < trace->service_count; i++)
        assert_true(strcmp(cn_search_trace_service(found, trace, i - 1),
                           cn_search_trace_service(found, trace, i)) < 0);
}

static void check_page(const struct cn_query *query, struct expected *expected,
                       size_t count, const struct cn_search_order *order)
{
    size_t shown = count > order->offset ? count - (size_t)order->offset : 0;
    struct cn_search_traces found;
    struct cn_error err = {0};

    shown = shown > order->limit ? (size_t)order->limit : shown;
    sorted_by = order;
    qsort(expected, count, sizeof(*expected), compare);
    for (size_t s = 0; s < STORES; s++) {
        assert_true(cn_search_traces(searches[s], query, order, &found, &err));
        if (found.count != shown)
            fail_msg("%s: %zu traces instead of %zu", query->text, found.count, shown);
        for (size_t i = 0; i < shown; i++)
            check_trace(&found, &found.list[i], &expected[(size_t)order->offset + i], s);
        cn_search_traces_done(&found);
    }
}

/* A search that has not grouped all rows by trace reads the newest segments first. */
static void check_first_search(const struct cn_query *query, struct expected *expected,
                               size_t count)
{
    const struct cn_search_order order = {.limit = 1 + cn_random_below(4)};
    struct cn_search *earlier[STORES];
    struct cn_error err = {0};

    for (size_t s = 0; s < STORES; s++) {
        earlier[s] = searches[s];
        assert_true(cn_search_open(&searches[s], stores[s], &err));
        assert_true(s == 0 || cn_search_is_few(searches[s], (size_t)order.limit));
    }
    check_page(query, expected, count, &order);
    check_page(query, expected, count, &order);
    for (size_t s = 0; s < STORES; s++) {
        cn_search_close(searches[s]);
        searches[s] = earlier[s];
    }
}

/* A search that makes a table of the traces that it finds, first of their times alone. */
static void check_only_search(const struct cn_query *query, struct expected *expected,
                              size_t count)
{
    const struct cn_search_order order = {.sort = CN_SEARCH_BY_DURATION,
                                          .limit = 1 + cn_random_below(TRACES)};
    struct cn_search *earlier[STORES];
    struct cn_search_trace_count number;
    struct cn_error err = {0};

    for (size_t s = 0; s < STORES; s++) {
        earlier[s] = searches[s];
        assert_true(cn_search_open(&searches[s], stores[s], &err));
        assert_true(cn_search_count_traces(searches[s], query, &number, &err));
        assert_int_equal(number.count, count);
    }
    check_page(query, expected, count, &order);
    for (size_t s = 0; s < STORES; s++) {
        cn_search_close(searches[s]);
        searches[s] = earlier[s];
    }
}

static void check_query(const struct cn_random_query *tree, const char *text)
{
    static struct expected expected[TRACES + 1];
    const struct cn_search_order orders[] = {
        {.limit = UINT64_MAX},
        {.limit = 1 + cn_random_below(20), .offset = cn_random_below(10)},
        {.limit = 5, .is_reversed = true},
        {.sort = CN_SEARCH_BY_DURATION, .limit = 1 + cn_random_below(30)},
        {.sort = CN_SEARCH_BY_ERRORS, .limit = 10, .offset = 3},
        {.sort = CN_SEARCH_BY_SPANS, .limit = 10, .is_reversed = true},
    };
    size_t count = expect(tree, expected);
    struct cn_search_trace_count number;
    struct cn_error err = {0};
    struct cn_query *query;

    if (!cn_query_parse(&query, text, cn_random_begin_ns, &err))
        fail_msg("%s: %s", text, err.text);
    for (size_t s = 0; s < STORES; s++) {
        assert_true(cn_search_count_traces(searches[s], query, &number, &err));
        if (number.count != count)
            fail_msg("%s: %" PRIu64 " traces instead of %zu", text, number.count, count);
    }
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        check_page(query, expected, count, &orders[i]);
    check_first_search(query, expected, count);
    check_only_search(query, expected, count);
    cn_query_free(query);
}

static void queries_find_the_traces_that_a_look_at_every_span_finds(void **state)
{
    (void)state;
    check_query(NULL, "");
    for (size_t i = 0; i < QUERIES; i++) {
        struct cn_random_query *tree = cn_random_query_new(3, SPANS);
        struct cn_text text = {0};

        cn_random_query_print(tree, &text);
        check_query(tree, cn_text_str(&text));
        cn_text_done(&text);
        cn_random_query_free(tree);
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void steps_count_every_trace_at_its_start_and_know_its_duration(void **state)
{
    static struct expected expected[TRACES + 1];
    size_t count = expect(NULL, expected), seen = 0;
    struct cn_search_steps steps;
    struct cn_error err = {0};
    struct cn_query *query;

    (void)state;
    assert_true(cn_query_parse(&query, "", 0, &err));
    assert_true(cn_search_steps(searches[1], query, CN_SEARCH_TRACES, 7, &steps, &err));
    for (size_t s = 0; s < steps.count; s++) {
        uint64_t durations[TRACES], first_ns = steps.first_ns + s * steps.step_ns;
        size_t members = 0, errors = 0;

        for (size_t i = 0; i < count; i++) {
            if (expected[i].time_ns < first_ns ||
                expected[i].time_ns >= first_ns + steps.step_ns)
                continue;
            durations[members++] = duration_of(&expected[i]);
            errors += expected[i].errors > 0;
        }
        assert_int_equal(steps.list[s].count, members);
        assert_int_equal(steps.list[s].error_count, errors);
        if (members == 0)
            continue;
        qsort(durations, members, sizeof(*durations), by_number);
        assert_int_equal(steps.list[s].p50_ns, durations[(members * 50 + 99) / 100 - 1]);
        assert_int_equal(steps.list[s].p90_ns, durations[(members * 90 + 99) / 100 - 1]);
        seen += members;
    }
    assert_int_equal(seen, count);
    cn_search_steps_done(&steps);
    assert_true(cn_search_steps(searches[0], query, CN_SEARCH_SPANS, 3, &steps, &err));
    assert_int_equal(steps.list[0].count + steps.list[1].count + steps.list[2].count,
                     SPANS);
    cn_search_steps_done(&steps);
    cn_query_free(query);
}

static const struct cn_trace_facts *find_caller(const struct cn_trace_facts *span)
{
    for (size_t i = 0; i < SPANS; i++) {
        if (facts[i].data.trace_low == span->data.trace_low &&
            facts[i].data.span_id == span->data.parent_id)
            return &facts[i];
    }
    return NULL;
}

/* Spans by the service of their caller, wherever it is stored. */
static void services_are_joined_over_segments(void **state)
{
    struct cn_error err = {0};
    struct cn_services services;
    struct cn_query *query;
    uint64_t edges = 0, expected = 0, joined = 0;

    (void)state;
    assert_true(cn_query_parse(&query, "", 0, &err));
    for (size_t s = 0; s < STORES; s++) {
        assert_true(cn_search_services(searches[s], query, false, &services, &err));
        edges = expected = joined = 0;
        for (size_t e = 0; e < services.count; e++) {
            const struct cn_service_edge *edge = &services.edges[e];

            edges += edge->count;
            joined += edge->caller == CN_NONE ? 0 : edge->count;
        }
        for (size_t i = 0; i < SPANS; i++) {
            const struct cn_trace_facts *caller =
                facts[i].data.parent_id ? find_caller(&facts[i]) : NULL;
            const char *from = caller ? caller->service : NULL;

            if (!facts[i].service || (from && strcmp(from, facts[i].service) == 0))
                continue;
            expected++;
            joined -= from != NULL;
        }
        assert_int_equal(edges, expected);
        assert_int_equal(joined, 0);
        cn_services_done(&services);
    }
    cn_query_free(query);
}

/* A group has the traces that the query finds with the value added. */
static void groups_count_each_trace_once(void **state)
{
    struct cn_search_trace_count range;
    struct cn_error err = {0};
    struct cn_groups groups;
    struct cn_query *query;

    (void)state;
    assert_true(cn_query_parse(&query, "duration > 20ms", 0, &err));
    assert_true(cn_search_group(searches[1], query, CN_SEARCH_TRACES, "service", SIZE_MAX,
                                &groups, &err));
    cn_query_free(query);
    assert_int_equal(groups.count, 2);
    for (size_t i = 0; i < groups.count; i++) {
        struct cn_search_order longest = {.sort = CN_SEARCH_BY_DURATION, .limit = 1};
        struct cn_text text = {0};
        struct cn_search_traces found;

        cn_text_str_add(&text, "duration > 20ms service = ");
        cn_words_print(&groups.values, groups.list[i].value, &text);
        assert_true(cn_query_parse(&query, cn_text_str(&text), 0, &err));
        assert_true(cn_search_count_traces(searches[1], query, &range, &err));
        assert_int_equal(groups.list[i].count, range.count);
        assert_true(cn_search_traces(searches[1], query, &longest, &found, &err));
        assert_int_equal(groups.list[i].max_ns, found.list[0].sum.duration_ns);
        cn_search_traces_done(&found);
        cn_query_free(query);
        cn_text_done(&text);
    }
    cn_groups_done(&groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_find_the_traces_that_a_look_at_every_span_finds),
        cmocka_unit_test(steps_count_every_trace_at_its_start_and_know_its_duration),
        cmocka_unit_test(services_are_joined_over_segments),
        cmocka_unit_test(groups_count_each_trace_once),
    };

    return cmocka_run_group_tests(tests, make_stores, drop_stores);
}
