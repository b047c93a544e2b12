/* A time range as a database: its values, its threads, and what it does not list. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/timeline/range_database.h"
#include "analyze/timeline/range_sums.h"
#include "analyze/views/context_index.h"
#include "model/contexts/memory.h"

enum { POINT, FUNCTION, EXECUTION };

/* main (1) calls work (2), which has a line (3), and never (4). */
static struct cn_database *make_whole(void)
{
    static const struct cn_sample samples[2][4] = {
        {{100, 1}, {200, 3}, {400, 0}, {500, 0}},
        {{100, 4}, {150, 2}, {300, 1}, {350, 0}},
    };
    struct cn_memory_database *m = cn_memory_database_new("whole", "");
    struct cn_context call = {.kind = CN_CONTEXT_FUNCTION, .relation = CN_CALL};
    struct cn_context line = {.kind = CN_CONTEXT_LINE, .propagation = 1};

    (void)cn_memory_database_add_kind(m, "THREAD");
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_context(m, 0, call);
    (void)cn_memory_database_add_context(m, 1, call);
    (void)cn_memory_database_add_context(m, 2, line);
    (void)cn_memory_database_add_context(m, 1, call);
    for (size_t t = 0; t < 2; t++) {
        struct cn_identity_tuple identity = {.count = 1};
        uint32_t profile;

        identity.ids[0].logical = (uint32_t)t;
        profile = cn_memory_database_add_profile(m, identity);
        for (size_t i = 0; i < 4; i++)
            cn_memory_database_add_sample(m, profile, samples[t][i]);
    }
    return cn_memory_database_finish(m);
}

struct opened {
    struct cn_database *whole, *db;
    struct cn_context_index index;
};

static void open_range(struct opened *opened, bool has_threads)
{
    static const uint32_t profiles[] = {1, 2};
    struct cn_error err = {0};
    struct cn_range_request request = {profiles, 2, 160, 320, 0, 0};

    *opened = (struct opened){.whole = make_whole()};
    assert_true(cn_context_index_build(&opened->index, opened->whole, &err));
    request.id_limit = opened->index.id_limit;
    assert_true(cn_range_database_open(&opened->db, opened->whole, &opened->index,
                                       &request, has_threads, NULL, &err));
}

static void close_range(struct opened *opened)
{
    cn_database_close(opened->db);
    cn_context_index_done(&opened->index);
    cn_database_close(opened->whole);
}

static void expect_values(struct cn_database *db, uint32_t profile,
                          const struct cn_value *expected, size_t count)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_profile about;
    struct cn_error err = {0};

    assert_true(cn_profile_values(db, profile, 0, UINT32_MAX, &cursor, &err));
    assert_int_equal(cn_values_next(&cursor, &batch, &err), CN_ITEM);
    assert_int_equal(batch.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(batch.values[i].key, expected[i].key);
        assert_int_equal(batch.values[i].metric, expected[i].metric);
        assert_int_equal(lround(batch.values[i].value * 1e9), lround(expected[i].value));
    }
    assert_true(cn_database_profile(db, profile, &about, &err));
    assert_int_equal(about.value_count, count);
}

static void sums_are_those_of_the_range(void **state)
{
    static const struct cn_value expected[] = {
        {320, 0, EXECUTION}, {60, 1, POINT},  {60, 1, FUNCTION},
        {320, 1, EXECUTION}, {140, 2, POINT}, {260, 2, FUNCTION},
        {260, 2, EXECUTION}, {120, 3, POINT}, {120, 3, FUNCTION},
        {120, 3, EXECUTION},
    };
    struct opened opened;

    (void)state;
    open_range(&opened, false);
    assert_int_equal(opened.db->profile_count, 1);
    assert_false(opened.db->has_timelines);
    assert_string_equal(opened.db->metrics.list[0].name, "time (sec)");
    expect_values(opened.db, 0, expected, sizeof(expected) / sizeof(*expected));
    close_range(&opened);
}

static void threads_have_values_and_samples(void **state)
{
    static const struct cn_value expected[] = {
        {160, 0, EXECUTION}, {20, 1, POINT},     {20, 1, FUNCTION},   {160, 1, EXECUTION},
        {140, 2, POINT},     {140, 2, FUNCTION}, {140, 2, EXECUTION},
    };
    static const struct cn_sample cut[] = {{160, 2}, {300, 1}, {320, 0}};
    struct cn_sample samples[3];
    struct cn_timeline timeline;
    struct cn_profile profile;
    struct cn_error err = {0};
    struct opened opened;

    (void)state;
    open_range(&opened, true);
    assert_int_equal(opened.db->profile_count, 3);
    assert_int_equal(opened.db->begin_ns, 160);
    assert_int_equal(opened.db->end_ns, 320);
    expect_values(opened.db, 2, expected, sizeof(expected) / sizeof(*expected));
    assert_true(cn_database_profile(opened.db, 2, &profile, &err));
    assert_int_equal(profile.identity.ids[0].logical, 1);
    assert_true(cn_timeline_open(opened.db, 2, &timeline, &err));
    assert_int_equal(timeline.count, 3);
    assert_true(cn_timeline_read(opened.db, &timeline, 0, 3, samples, &err));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(samples[i].time_ns, cut[i].time_ns);
        assert_int_equal(samples[i].context, cut[i].context);
    }
    close_range(&opened);
}

static void contexts_without_time_are_not_listed(void **state)
{
    struct cn_context_cursor cursor;
    struct cn_context top, child;
    struct cn_error err = {0};
    struct opened opened;

    (void)state;
    open_range(&opened, false);
    assert_true(cn_context_children(opened.db, NULL, &cursor, &err));
    assert_int_equal(cn_context_next(opened.db, &cursor, &top, &err), CN_ITEM);
    assert_true(cn_context_children(opened.db, &top, &cursor, &err));
    assert_int_equal(cn_context_next(opened.db, &cursor, &child, &err), CN_ITEM);
    assert_int_equal(child.id, 2);
    assert_int_equal(cn_context_next(opened.db, &cursor, &child, &err), CN_END);
    close_range(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_range),
        cmocka_unit_test(threads_have_values_and_samples),
        cmocka_unit_test(contexts_without_time_are_not_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
