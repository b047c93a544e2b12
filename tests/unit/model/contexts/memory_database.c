#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/contexts/memory.h"
#include "model/contexts/walk.h"
#include "support/compare.h"
#include "support/sample.h"

enum { POINT, FUNCTION, LEX_AWARE, EXECUTION };
enum { COUNT, SUM, SQUARES, MIN, MAX };

/* A function with a loop nest: main > outer loop > { line, inner loop > line }, and a call of
 * another function from the inner line. */
struct nest {
    struct cn_memory_database *m;
    uint32_t entry, main, outer, outer_line, inner, inner_line, callee;
};

static uint32_t add(struct cn_memory_database *m, uint32_t parent,
                    enum cn_context_kind kind, enum cn_relation relation)
{
    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){
                                              .kind = (uint8_t)kind,
                                              .relation = (uint8_t)relation,
                                              .propagation = relation == CN_LEXICAL,
                                          });
}

static struct nest make_nest(void)
{
    struct nest n = {.m = cn_memory_database_new("t", "d")};

    cn_memory_database_add_usual_scopes(n.m);
    (void)cn_memory_database_add_usual_metric(n.m, "time");
    n.entry = add(n.m, 0, CN_CONTEXT_ENTRY, CN_LEXICAL);
    n.main = add(n.m, n.entry, CN_CONTEXT_FUNCTION, CN_CALL);
    n.outer = add(n.m, n.main, CN_CONTEXT_LOOP, CN_LEXICAL);
    n.outer_line = add(n.m, n.outer, CN_CONTEXT_LINE, CN_LEXICAL);
    n.inner = add(n.m, n.outer, CN_CONTEXT_LOOP, CN_LEXICAL);
    n.inner_line = add(n.m, n.inner, CN_CONTEXT_LINE, CN_LEXICAL);
    n.callee = add(n.m, n.inner_line, CN_CONTEXT_FUNCTION, CN_CALL);
    return n;
}

static double value_of(struct cn_database *db, uint32_t profile, uint32_t context,
                       unsigned metric)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};
    double value = 0;

    assert_true(cn_profile_values(db, profile, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            assert_int_equal(batch.values[i].key, context);
            if (batch.values[i].metric == metric)
                value = batch.values[i].value;
        }
    return value;
}

static void expect(struct cn_database *db, uint32_t context, double function,
                   double lex_aware, double execution)
{
    assert_float_equal(value_of(db, 1, context, FUNCTION), function, 0);
    assert_float_equal(value_of(db, 1, context, LEX_AWARE), lex_aware, 0);
    assert_float_equal(value_of(db, 1, context, EXECUTION), execution, 0);
}

static void propagates_along_the_tree(void **state)
{
    struct nest n = make_nest();
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    (void)cn_memory_database_add_profile(n.m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(n.m, 1, n.outer_line, POINT, 1);
    cn_memory_database_add_value(n.m, 1, n.inner_line, POINT, 10);
    cn_memory_database_add_value(n.m, 1, n.callee, POINT, 100);
    assert_true(cn_memory_database_propagate(n.m, &err));
    db = cn_memory_database_finish(n.m);
    expect(db, n.callee, 100, 100, 100);
    expect(db, n.inner_line, 10, 10, 110);
    expect(db, n.inner, 10, 10, 110);
    expect(db, n.outer, 11, 1, 111);
    expect(db, n.main, 11, 11, 111);
    expect(db, n.entry, 0, 0, 111);
    expect(db, 0, 0, 0, 111);
    assert_float_equal(value_of(db, 1, n.outer_line, POINT), 1, 0);
    cn_database_close(db);
}

static double statistic(struct cn_database *db, uint32_t context, unsigned which,
                        unsigned scope)
{
    return value_of(db, 0, context, which * 4 + scope);
}

static void summarises_over_threads(void **state)
{
    struct nest n = make_nest();
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        (void)cn_memory_database_add_profile(n.m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(n.m, 1, n.outer_line, POINT, 3);
    cn_memory_database_add_value(n.m, 2, n.outer_line, POINT, 5);
    cn_memory_database_add_value(n.m, 3, n.callee, POINT, 7);
    assert_true(cn_memory_database_propagate(n.m, &err));
    db = cn_memory_database_finish(n.m);
    assert_float_equal(statistic(db, n.outer, COUNT, EXECUTION), 3, 0);
    assert_float_equal(statistic(db, n.outer, SUM, EXECUTION), 15, 0);
    assert_float_equal(statistic(db, n.outer, SQUARES, EXECUTION), 9 + 25 + 49, 0);
    assert_float_equal(statistic(db, n.outer, MIN, EXECUTION), 3, 0);
    assert_float_equal(statistic(db, n.outer, MAX, EXECUTION), 7, 0);
    /* The third thread has the metric here, but nothing in this scope: it counts for the mean,
     * not for the minimum. */
    assert_float_equal(statistic(db, n.outer, COUNT, FUNCTION), 3, 0);
    assert_float_equal(statistic(db, n.outer, SUM, FUNCTION), 8, 0);
    assert_float_equal(statistic(db, n.outer, MIN, FUNCTION), 3, 0);
    cn_database_close(db);
}

static void a_formula_that_is_none_is_a_failure(void **state)
{
    struct nest n = make_nest();
    struct cn_error err = {0};

    (void)state;
    cn_memory_database_add_statistic(
        n.m, 0, (struct cn_statistic){POINT, 99, CN_COMBINE_SUM, "($$"});
    (void)cn_memory_database_add_profile(n.m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(n.m, 1, n.callee, POINT, 1);
    assert_false(cn_memory_database_propagate(n.m, &err));
    assert_non_null(strstr(err.text, "metric time"));
    cn_memory_database_free(n.m);
}

static void hidden_contexts_have_values_but_are_not_listed(void **state)
{
    struct nest n = make_nest();
    uint32_t hidden = cn_memory_database_add_hidden(n.m, n.inner_line);
    const struct cn_context *context;
    struct cn_walk walk;
    struct cn_error err = {0};
    struct cn_database *db;
    enum cn_walk_event event;
    size_t entered = 0;

    (void)state;
    (void)cn_memory_database_add_profile(n.m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(n.m, 1, hidden, POINT, 4);
    assert_true(cn_memory_database_propagate(n.m, &err));
    db = cn_memory_database_finish(n.m);
    expect(db, n.main, 4, 4, 4);
    expect(db, n.outer, 4, 0, 4);
    assert_float_equal(value_of(db, 1, hidden, POINT), 4, 0);
    assert_true(cn_walk_begin(&walk, db, &err));
    while (cn_walk_next(&walk, &event, &context, &err) == CN_ITEM) {
        entered += event == CN_WALK_ENTER;
        assert_int_not_equal(context->id, hidden);
    }
    assert_int_equal(entered, 7);
    cn_walk_done(&walk);
    cn_database_close(db);
}

static void delivers_values_sorted_and_by_range(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("t", "d");
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(m, 1, 9, 1, 91);
    cn_memory_database_add_value(m, 1, 4, 2, 42);
    cn_memory_database_add_value(m, 1, 9, 0, 90);
    cn_memory_database_add_value(m, 1, 7, 0, 70);
    db = cn_memory_database_finish(m);
    assert_int_equal(db->context_limit, 10);
    assert_true(cn_profile_values(db, 1, 5, 9, &cursor, &err));
    assert_int_equal(cn_values_next(&cursor, &batch, &err), CN_ITEM);
    assert_int_equal(batch.count, 3);
    assert_float_equal(batch.values[0].value, 70, 0);
    assert_float_equal(batch.values[1].value, 90, 0);
    assert_float_equal(batch.values[2].value, 91, 0);
    assert_int_equal(cn_values_next(&cursor, &batch, &err), CN_END);
    assert_true(cn_profile_values(db, 1, 5, 6, &cursor, &err));
    assert_int_equal(cn_values_next(&cursor, &batch, &err), CN_END);
    cn_database_close(db);
}

static void the_sample_agrees_with_itself(void **state)
{
    struct cn_database *a = cn_sample_database();
    struct cn_database *b = cn_sample_database();
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_compare_databases(a, b, false, &err));
    assert_true(cn_compare_planes(a, &err));
    assert_int_equal(a->profile_count, 5);
    assert_true(a->has_timelines);
    cn_database_close(a);
    cn_database_close(b);
}

static void the_comparison_notices_a_difference(void **state)
{
    struct nest n[2] = {make_nest(), make_nest()};
    struct cn_error err = {0};
    struct cn_database *a, *b;

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        (void)cn_memory_database_add_profile(n[i].m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(n[0].m, 1, n[0].callee, POINT, 1);
    cn_memory_database_add_value(n[1].m, 1, n[1].callee, POINT, 2);
    a = cn_memory_database_finish(n[0].m);
    b = cn_memory_database_finish(n[1].m);
    assert_false(cn_compare_databases(a, b, false, &err));
    assert_string_equal(err.text, "values: as many, but not the same");
    cn_database_close(a);
    cn_database_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(propagates_along_the_tree),
        cmocka_unit_test(summarises_over_threads),
        cmocka_unit_test(a_formula_that_is_none_is_a_failure),
        cmocka_unit_test(hidden_contexts_have_values_but_are_not_listed),
        cmocka_unit_test(delivers_values_sorted_and_by_range),
        cmocka_unit_test(the_sample_agrees_with_itself),
        cmocka_unit_test(the_comparison_notices_a_difference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
