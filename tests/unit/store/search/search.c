/* Search finds exactly what a look at every trace finds: a thousand random queries over a store
 * of random traces, part of it sealed, part of it still being written to.
 * Label: threads. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "store/groups/group.h"
#include "store/groups/heat.h"
#include "store/search/names.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/writer.h"
#include "support/random_query.h"
#include "support/random_traces.h"
#include "support/scratch.h"
#include "support/trace_facts.h"

enum {
    SEALED_TRACES = 300,
    LIVE_TRACES = 700, /* a full block of postings, and rows that are in none */
    TRACES = SEALED_TRACES + LIVE_TRACES,
    QUERIES = 1000,
};

static struct cn_trace_facts facts[TRACES];
static size_t fact_count;
static struct cn_store *store;
static struct cn_search *search;
static struct cn_scratch *scratch;

static void add_traces(struct cn_store_writer *writer, size_t first, size_t count)
{
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;
    struct cn_store_added added = {0};

    for (size_t i = first; i < first + count; i++) {
        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_random_trace(&trace, words, i);
        if (!cn_store_writer_add(writer, &trace, &added, &err))
            fail_msg("%s", err.text);
    }
    assert_int_equal(added.traces, count);
    cn_trace_done(&trace);
}

static int make_store(void **state)
{
    struct cn_store_writer *writer = NULL;
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_error err = {0};
    const char *path = "store";

    (void)state;
    scratch = cn_scratch_enter();
    if (!cn_store_init(path, NULL, &err) ||
        !cn_store_writer_open(&writer, path, NULL, &err))
        fail_msg("%s", err.text);
    add_traces(writer, 0, SEALED_TRACES);
    assert_true(cn_store_writer_rotate(writer, &err));
    add_traces(writer, SEALED_TRACES, LIVE_TRACES);
    assert_true(cn_store_writer_commit(writer, &err));
    /* The writer stays open for a moment: what is not in a block is in no file. */
    if (!cn_store_open(&store, path, &err) || !cn_search_open(&search, store, &err))
        fail_msg("%s", err.text);
    for (uint32_t s = 0; s < cn_store_segment_count(store); s++) {
        for (uint32_t r = 0; r < cn_segment_row_count(cn_store_segment(store, s)); r++)
            cn_trace_facts_read(&facts[fact_count++], store, loader, s, r);
    }
    assert_int_equal(fact_count, TRACES);
    cn_segment_loader_free(loader);
    assert_true(cn_store_writer_close(writer, &err));
    return 0;
}

static int drop_store(void **state)
{
    (void)state;
    cn_search_close(search);
    cn_store_close(store);
    for (size_t i = 0; i < fact_count; i++)
        cn_trace_facts_done(&facts[i]);
    cn_scratch_leave(scratch);
    return 0;
}

/* Newest first; of two at the same time the one with the larger id. */
static int by_time(const void *a, const void *b)
{
    const struct cn_trace_facts *x = *(const struct cn_trace_facts *const *)a;
    const struct cn_trace_facts *y = *(const struct cn_trace_facts *const *)b;

    if (x->data.time_ns != y->data.time_ns)
        return x->data.time_ns > y->data.time_ns ? -1 : 1;
    if (x->data.trace_high != y->data.trace_high)
        return x->data.trace_high > y->data.trace_high ? -1 : 1;
    if (x->data.trace_low != y->data.trace_low)
        return x->data.trace_low > y->data.trace_low ? -1 : 1;
    return x->data.span_id > y->data.span_id ? -1 : 1;
}

static int by_duration(const void *a, const void *b)
{
    const struct cn_trace_facts *x = *(const struct cn_trace_facts *const *)a;
    const struct cn_trace_facts *y = *(const struct cn_trace_facts *const *)b;

    if (x->data.duration_ns != y->data.duration_ns)
        return x->data.duration_ns < y->data.duration_ns ? -1 : 1;
    return -by_time(a, b);
}

static void assert_hits(const char *text, const struct cn_query *query,
                        const struct cn_search_order *order,
                        const struct cn_trace_facts *const *expected, size_t count)
{
    struct cn_search_hits hits;
    struct cn_error err = {0};
    size_t shown = count > order->offset ? count - (size_t)order->offset : 0;

    shown = shown > order->limit ? (size_t)order->limit : shown;
    if (!cn_search_rows(search, query, order, &hits, &err))
        fail_msg("%s: %s", text, err.text);
    if (hits.count != shown)
        fail_msg("%s: %zu hits instead of %zu", text, hits.count, shown);
    for (size_t i = 0; i < shown; i++) {
        const struct cn_trace_facts *f = expected[i + (size_t)order->offset];

        if (hits.list[i].segment != f->segment || hits.list[i].row != f->row)
            fail_msg("%s: hit %zu is row %u", text, i, hits.list[i].row);
    }
    cn_search_hits_done(&hits);
}

static void check_query(const struct cn_random_query *tree, const char *text)
{
    static const struct cn_trace_facts *expected[TRACES];
    struct cn_search_order all = {.limit = UINT64_MAX};
    struct cn_search_order page = {.limit = 1 + cn_random_below(20),
                                   .offset = cn_random_below(10)};
    struct cn_search_order shortest = {.sort = CN_SEARCH_BY_DURATION,
                                       .is_reversed = true,
                                       .limit = 1 + cn_random_below(30)};
    struct cn_error err = {0};
    struct cn_query *query;
    uint64_t number;
    size_t count = 0;

    if (!cn_query_parse(&query, text, cn_random_begin_ns, &err))
        fail_msg("%s: %s", text, err.text);
    for (size_t i = 0; i < fact_count; i++) {
        if (cn_random_query_holds(tree, &facts[i]))
            expected[count++] = &facts[i];
    }
    assert_true(cn_search_count(search, query, &number, &err));
    if (number != count)
        fail_msg("%s: %" PRIu64 " match instead of %zu", text, number, count);
    qsort(expected, count, sizeof(*expected), by_time);
    assert_hits(text, query, &all, expected, count);
    assert_hits(text, query, &page, expected, count);
    qsort(expected, count, sizeof(*expected), by_duration);
    assert_hits(text, query, &shortest, expected, count);
    cn_query_free(query);
}

static void a_thousand_queries_find_what_a_look_at_every_trace_finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < QUERIES; i++) {
        struct cn_random_query *tree = cn_random_query_new(3, TRACES);
        struct cn_text text = {0};

        cn_random_query_print(tree, &text);
        check_query(tree, cn_text_str(&text));
        cn_text_done(&text);
        cn_random_query_free(tree);
    }
}

static const struct cn_group *find_group(const struct cn_groups *groups,
                                         const char *value)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct cn_bytes bytes = cn_word_bytes(&groups->values, groups->list[i].value);

        if (bytes.len == strlen(value) && memcmp(bytes.ptr, value, bytes.len) == 0)
            return &groups->list[i];
    }
    return NULL;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void groups_count_each_row_once_and_know_its_durations(void **state)
{
    struct cn_error err = {0};
    struct cn_query *query;
    struct cn_groups groups;
    size_t found = 0;

    (void)state;
    assert_true(cn_query_parse(&query, "duration > 20ms", 0, &err));
    assert_true(
        cn_search_group(search, query, CN_SEARCH_SPANS, "user", SIZE_MAX, &groups, &err));
    for (size_t t = 0; t < CN_RANDOM_TEXTS; t++) {
        const struct cn_group *group = find_group(&groups, cn_random_texts[t]);
        uint64_t durations[TRACES], errors = 0;
        size_t count = 0;

        for (size_t i = 0; i < fact_count; i++) {
            bool has = false;

            for (size_t a = 0; a < facts[i].attribute_count; a++)
                has |= strcmp(facts[i].attributes[a].name, "user") == 0 &&
                       strcmp(facts[i].attributes[a].value, cn_random_texts[t]) == 0;
            if (!has || facts[i].data.duration_ns <= 20000000)
                continue;
            durations[count++] = facts[i].data.duration_ns;
            errors += (facts[i].data.flags & CN_ROW_ERROR) != 0;
        }
        assert_true((count > 0) == (group != NULL));
        if (!group)
            continue;
        found++;
        qsort(durations, count, sizeof(*durations), compare_u64);
        assert_int_equal(group->count, count);
        assert_int_equal(group->error_count, errors);
        assert_int_equal(group->p50_ns, durations[(count * 50 + 99) / 100 - 1]);
        assert_int_equal(group->p99_ns, durations[(count * 99 + 99) / 100 - 1]);
        assert_int_equal(group->max_ns, durations[count - 1]);
    }
    assert_true(found > 5);
    cn_groups_done(&groups);
    assert_true(cn_search_group(search, query, CN_SEARCH_SPANS, "service", SIZE_MAX,
                                &groups, &err));
    assert_int_equal(groups.count, 2);
    cn_groups_done(&groups);
    assert_false(cn_search_group(search, query, CN_SEARCH_SPANS, "duration", SIZE_MAX,
                                 &groups, &err));
    cn_query_free(query);
}

static void groups_over_time_and_heat_count_each_span_once(void **state)
{
    enum { STEPS = 7 };
    uint64_t counts[STEPS] = {0}, rows[CN_HEAT_ROWS] = {0}, sum = 0, total_ns = 0;
    struct cn_grouping *grouping;
    struct cn_error err = {0};
    struct cn_query *query;
    struct cn_groups groups;
    struct cn_heat heat;
    enum cn_step step;

    (void)state;
    assert_true(cn_query_parse(&query, "", 0, &err));
    assert_true(
        cn_grouping_new(&grouping, search, query, CN_SEARCH_SPANS, "operation", &err));
    cn_grouping_count_steps(grouping, STEPS);
    while ((step = cn_grouping_next(grouping, &err)) == CN_ITEM)
        continue;
    assert_int_equal(step, CN_END);
    cn_grouping_groups(grouping, SIZE_MAX, &groups);
    assert_true(cn_search_heat(search, query, CN_SEARCH_SPANS, STEPS, &heat, &err));
    for (size_t i = 0; i < fact_count; i++) {
        uint64_t at = (facts[i].data.time_ns - groups.first_ns) / groups.step_ns;

        assert_true(at < STEPS);
        counts[at]++;
        total_ns += facts[i].data.duration_ns;
    }
    assert_true(groups.first_ns == heat.first_ns && groups.step_ns == heat.step_ns);
    assert_true(groups.total_ns == total_ns);
    for (size_t i = 0; i < groups.count; i++) {
        uint64_t of_group = 0;

        for (size_t k = 0; k < STEPS; k++) {
            of_group += groups.steps[i * STEPS + k].count;
            counts[k] -= groups.steps[i * STEPS + k].count;
        }
        assert_int_equal(of_group, groups.list[i].count);
    }
    for (size_t k = 0; k < STEPS; k++)
        assert_int_equal(counts[k], 0);
    for (size_t i = 0; i < STEPS * CN_HEAT_ROWS; i++) {
        rows[i % CN_HEAT_ROWS] += heat.cells[i].count;
        sum += heat.cells[i].count;
    }
    assert_true(sum == fact_count && heat.count == fact_count);
    for (size_t i = 0; i < fact_count; i++) {
        size_t row = 0;

        while (cn_heat_low(row + 1) <= (double)facts[i].data.duration_ns)
            row++;
        assert_true(rows[row]-- > 0);
    }
    cn_heat_done(&heat);
    cn_groups_done(&groups);
    cn_grouping_free(grouping);
    cn_query_free(query);
}

/* What is said about the names in a query. */
static void assert_said(const char *text, const char *expected)
{
    struct cn_error err = {0};
    struct cn_text said = {0};
    struct cn_query *query;

    assert_true(cn_query_parse(&query, text, 0, &err));
    cn_search_print_unknown(search, query, &said);
    assert_string_equal(cn_text_str(&said), expected);
    cn_text_done(&said);
    cn_query_free(query);
}

static void a_name_that_no_span_has_is_said_with_the_nearest_one(void **state)
{
    struct cn_names names = {0}, expected = {0};

    (void)state;
    for (size_t i = 0; i < fact_count; i++)
        for (size_t a = 0; a < facts[i].attribute_count; a++)
            (void)cn_names_add(&expected, facts[i].attributes[a].name);
    cn_search_names(search, SIZE_MAX, &names);
    assert_int_equal(names.count, expected.count);
    for (size_t i = 0; i < names.count; i++)
        assert_true(cn_names_add(&expected, names.list[i]) < names.count);
    cn_names_done(&names);
    cn_names_done(&expected);
    cn_search_service_names(search, SIZE_MAX, &names);
    assert_int_equal(names.count, 2);
    cn_names_done(&names);
    assert_said("duration > 5ms user = a root.user = b text ~ x @user exists", "");
    assert_said("duraton > 5ms", "no attribute 'duraton'; did you mean duration");
    assert_said("errors or not usr = 5 and usr = 6",
                "no attribute 'usr'; did you mean user");
    assert_said("root.usr exists @nothing.like.it = 1",
                "no attribute 'usr'; did you mean user; no attribute 'nothing.like.it'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_queries_find_what_a_look_at_every_trace_finds),
        cmocka_unit_test(groups_count_each_row_once_and_know_its_durations),
        cmocka_unit_test(groups_over_time_and_heat_count_each_span_once),
        cmocka_unit_test(a_name_that_no_span_has_is_said_with_the_nearest_one),
    };

    return cmocka_run_group_tests(tests, make_store, drop_store);
}
