/* A later look at a store knows what the earlier one knew of sealed segments, and finds exactly what
 * a first look finds.
 * Label: threads. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/traces/trace.h"
#include "store/groups/group.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/writer.h"
#include "support/random_traces.h"
#include "support/scratch.h"

struct look {
    struct cn_store *store;
    struct cn_search *search;
};

static const char *const questions[] = {
    "",         "errors",          "duration > 20ms",          "user exists", "get",
    "text ~ o", "not user exists", "errors or duration < 5ms", "last 1h",
};
enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

static size_t trace_count;

static void add_traces(struct cn_store_writer *writer, size_t count, bool is_sealed)
{
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;

    for (size_t i = 0; i < count; i++) {
        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_random_trace(&trace, words, trace_count++);
        assert_true(cn_store_writer_add(writer, &trace, NULL, &err));
    }
    cn_trace_done(&trace);
    assert_true(is_sealed ? cn_store_writer_rotate(writer, &err)
                          : cn_store_writer_commit(writer, &err));
}

static struct cn_store_writer *make_store(void)
{
    struct cn_store_writer *writer;
    struct cn_error err = {0};

    trace_count = 0;
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    add_traces(writer, 120, true);
    add_traces(writer, 80, true);
    add_traces(writer, 40, false);
    return writer;
}

static struct look look_first(void)
{
    struct cn_error err = {0};
    struct look look;

    assert_true(cn_store_open(&look.store, "store", &err));
    assert_true(cn_search_open(&look.search, look.store, &err));
    return look;
}

static struct look look_again(const struct look *earlier)
{
    struct cn_error err = {0};
    struct look look;

    assert_true(cn_store_open_again(&look.store, "store", earlier->store, &err));
    assert_true(cn_search_open_again(&look.search, look.store, earlier->search, &err));
    return look;
}

static void end_look(struct look *look)
{
    cn_search_close(look->search);
    cn_store_close(look->store);
}

static struct cn_search_hits hits_of(const struct look *look, const char *question)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_DURATION, .limit = UINT64_MAX};
    uint64_t now_ns = cn_random_begin_ns + UINT64_C(3700000000000), count;
    struct cn_search_hits hits;
    struct cn_error err = {0};
    struct cn_query *query;

    assert_true(cn_query_parse(&query, question, now_ns, &err));
    assert_true(cn_search_count(look->search, query, &count, &err));
    assert_true(cn_search_rows(look->search, query, &order, &hits, &err));
    assert_int_equal(hits.count, count);
    cn_query_free(query);
    return hits;
}

static void expect_same(const struct look *a, const struct look *b)
{
    size_t sum = 0;

    for (size_t q = 0; q < QUESTIONS; q++) {
        struct cn_search_hits x = hits_of(a, questions[q]), y = hits_of(b, questions[q]);

        assert_int_equal(x.count, y.count);
        for (size_t i = 0; i < x.count; i++) {
            assert_int_equal(x.list[i].segment, y.list[i].segment);
            assert_int_equal(x.list[i].row, y.list[i].row);
        }
        sum += x.count;
        cn_search_hits_done(&x);
        cn_search_hits_done(&y);
    }
    assert_true(sum > trace_count);
}

static void a_later_look_finds_what_a_first_look_finds(void **state)
{
    struct cn_store_writer *writer = make_store();
    struct look earlier = look_first(), later, fresh;
    struct cn_error err = {0};

    (void)state;
    for (size_t q = 0; q < QUESTIONS; q += 2) {
        struct cn_search_hits hits = hits_of(&earlier, questions[q]);

        cn_search_hits_done(&hits);
    }
    add_traces(writer, 60, true);
    add_traces(writer, 30, false);
    later = look_again(&earlier);
    fresh = look_first();
    assert_int_equal(cn_store_segment_count(later.store), 4);
    assert_ptr_equal(cn_store_segment(later.store, 0),
                     cn_store_segment(earlier.store, 0));
    assert_ptr_equal(cn_store_segment(later.store, 1),
                     cn_store_segment(earlier.store, 1));
    assert_ptr_not_equal(cn_store_segment(later.store, 2),
                         cn_store_segment(earlier.store, 2));
    expect_same(&later, &fresh);
    end_look(&fresh);
    fresh = look_first();
    /* The earlier one goes on to work, and may end first. */
    for (size_t q = 0; q < QUESTIONS; q++) {
        struct cn_search_hits hits = hits_of(&earlier, questions[q]);

        cn_search_hits_done(&hits);
    }
    end_look(&earlier);
    expect_same(&later, &fresh);
    end_look(&fresh);
    end_look(&later);
    assert_true(cn_store_writer_close(writer, &err));
}

static void a_segment_that_may_have_changed_is_opened_again(void **state)
{
    struct cn_store_writer *writer = make_store();
    struct look earlier = look_first(), later;
    struct cn_error err = {0};

    (void)state;
    cn_scratch_write("store/000001/other", "x", 1);
    assert_int_equal(unlink("store/000001/other"), 0);
    later = look_again(&earlier);
    assert_ptr_equal(cn_store_segment(later.store, 0),
                     cn_store_segment(earlier.store, 0));
    assert_ptr_not_equal(cn_store_segment(later.store, 1),
                         cn_store_segment(earlier.store, 1));
    end_look(&later);
    end_look(&earlier);
    assert_true(cn_store_writer_close(writer, &err));
}

/* More queries than are kept, again and again. */
static void queries_that_were_forgotten_are_matched_again(void **state)
{
    struct cn_store_writer *writer = make_store();
    struct look look = look_first();
    size_t counts[60];
    struct cn_error err = {0};

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 60; i++) {
            struct cn_search_hits hits;
            char question[40];

            (void)snprintf(question, sizeof(question), "duration > %ums", i);
            hits = hits_of(&look, question);
            assert_true(round == 0 || counts[i] == hits.count);
            assert_true(i == 0 || counts[i - 1] >= hits.count);
            counts[i] = hits.count;
            cn_search_hits_done(&hits);
        }
    }
    assert_true(counts[0] > counts[59]);
    end_look(&look);
    assert_true(cn_store_writer_close(writer, &err));
}

static void groups_grow_segment_by_segment(void **state)
{
    struct cn_store_writer *writer = make_store();
    struct look look = look_first();
    struct cn_grouping *grouping;
    struct cn_groups groups, all;
    struct cn_query *query;
    struct cn_error err = {0};
    uint64_t before = 0, sum = 0;
    unsigned steps = 0;

    (void)state;
    assert_true(cn_query_parse(&query, "", 0, &err));
    assert_true(
        cn_grouping_new(&grouping, look.search, query, CN_SEARCH_SPANS, "service", &err));
    while (cn_grouping_next(grouping, &err) == CN_ITEM) {
        cn_grouping_groups(grouping, SIZE_MAX, &groups);
        sum = 0;
        for (size_t i = 0; i < groups.count; i++)
            sum += groups.list[i].count;
        assert_true(sum > before);
        before = sum;
        steps++;
        cn_groups_done(&groups);
    }
    assert_int_equal(steps, 3);
    assert_true(cn_search_group(look.search, query, CN_SEARCH_SPANS, "service", SIZE_MAX,
                                &all, &err));
    for (size_t i = 0; i < all.count; i++)
        sum -= all.list[i].count;
    assert_int_equal(sum, 0);
    cn_groups_done(&all);
    cn_grouping_free(grouping);
    cn_query_free(query);
    end_look(&look);
    assert_true(cn_store_writer_close(writer, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_later_look_finds_what_a_first_look_finds),
        CN_SCRATCH_TEST(a_segment_that_may_have_changed_is_opened_again),
        CN_SCRATCH_TEST(queries_that_were_forgotten_are_matched_again),
        CN_SCRATCH_TEST(groups_grow_segment_by_segment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
