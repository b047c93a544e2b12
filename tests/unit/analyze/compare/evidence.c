#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/compare/evidence.h"
#include "analyze/compare/explain.h"
#include "base/alloc.h"
#include "support/made_profile.h"

/* As assert_float_equal(), in double precision. */
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", found, expected);
}

/* Values from tables of the exact distribution. */
static void the_rank_test_is_exact(void **state)
{
    static const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
    static const double mixed[] = {3.5, 4.5, 6, 7, 8};
    double least;

    (void)state;
    assert_near(cn_rank_test(low, 5, high, 5, &least), 2.0 / 252, 1e-12);
    assert_near(least, 2.0 / 252, 1e-12);
    assert_near(cn_rank_test(low, 3, high, 3, &least), 2.0 / 20, 1e-12);
    /* U = 3: 7 of 252 arrangements have at most 3. */
    assert_near(cn_rank_test(low, 5, mixed, 5, &least), 14.0 / 252, 1e-12);
    assert_near(cn_rank_test(low, 5, low, 5, &least), 1, 1e-12);
    assert_near(cn_rank_test(low, 0, low, 5, &least), 1, 1e-12);
}

static void the_confidence_interval_is_that_of_welch(void **state)
{
    static const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                               21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
    static const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                               24.8, 20.2, 21.9, 22.1, 22.9, 30.0, 23.9};
    struct cn_moments x = cn_moments_of(a, 15), y = cn_moments_of(b, 14);
    struct cn_difference found = cn_mean_test(&x, &y);

    (void)state;
    assert_near(found.difference, 2.7442857, 1e-6);
    /* t = 2.72069, 26.999 degrees of freedom; by numerical integration */
    assert_near(found.p, 0.01125855, 1e-8);
    assert_near(found.half_width, 2.06963, 1e-5);
    /* Counts that never vary: a difference is one. */
    x = cn_moments_of((const double[]){5, 5}, 2);
    y = cn_moments_of((const double[]){6, 6}, 2);
    assert_true(cn_mean_test(&x, &y).p == 0);
    assert_true(cn_mean_test(&x, &x).p == 1);
    y = cn_moments_of((const double[]){6}, 1);
    assert_true(cn_mean_test(&x, &y).p == 1 && isnan(cn_mean_test(&x, &y).half_width));
}

static void few_of_many_tests_are_wrong(void **state)
{
    double p[] = {0.5, 0.001, 0.2, 0.011, 0.9};

    (void)state;
    assert_true(cn_significant_p(p, 5, 0.05) == 0.011);
    assert_true(cn_significant_p(p, 5, 0.01) == 0.001);
    assert_true(cn_significant_p(p, 5, 0.001) == -1);
    assert_true(cn_significant_p(p, 0, 0.05) == -1);
}

enum { TRIALS = 100, RUNS = 5, FUNCTIONS = 24, NAME_LEN = 16 };

static uint64_t random_state;

static double uniform(void)
{
    random_state =
        random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(random_state >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
    double radius = sqrt(-2 * log(uniform()));

    return radius * cos(6.283185307179586 * uniform());
}

/* A program: what its functions cost and call. */
struct shape {
    struct cn_made_call calls[FUNCTIONS + 2]; /* the last one may be added */
    char names[FUNCTIONS][NAME_LEN];
};

static void make_shape(struct shape *shape)
{
    unsigned depth = 0;

    *shape = (struct shape){0};
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        (void)snprintf(shape->names[i], NAME_LEN, "f%u", i);
        depth = i == 0 ? 0 : 1 + (unsigned)(uniform() * (depth < 5 ? depth + 1 : 5));
        shape->calls[i] =
            (struct cn_made_call){depth, shape->names[i], 1 + 9 * uniform(), 0};
    }
}

/* Every function varies by 1 %, the whole by another percent. */
static void add_noise(struct cn_compared_run *run)
{
    double speed = 1 + 0.01 * normal();

    for (size_t i = 0; i < run->count; i++)
        run->self[i] *= speed * (1 + 0.01 * normal());
}

/* Add the database, and run it again with other noise: as if it was added many times. */
static void add_runs(struct cn_comparison *c, enum cn_side side, struct cn_database *db)
{
    size_t first = c->run_count;
    struct cn_error err;

    assert_true(cn_comparison_add(c, &(struct cn_compare_run){.side = side, .db = db},
                                  NULL, &err));
    for (size_t i = 1; i < RUNS; i++) {
        struct cn_compared_run again = c->runs[first];

        again.self = cn_alloc(again.count, sizeof(*again.self));
        memcpy(again.self, c->runs[first].self, again.count * sizeof(*again.self));
        c->runs = cn_grow(c->runs, c->run_count, &c->run_capacity, sizeof(*c->runs));
        c->runs[c->run_count++] = again;
        c->side_runs[side]++;
    }
    for (size_t i = first; i < c->run_count; i++)
        add_noise(&c->runs[i]);
}

/* Compares runs of two programs. Returns whether something is called real, and in `first` the
 * name of what is. */
static bool try(const struct shape *a, const struct shape *b, char first[NAME_LEN])
{
    struct cn_database *db_a = cn_made_profile(a->calls, "time (sec)");
    struct cn_database *db_b = cn_made_profile(b->calls, "time (sec)");
    struct cn_comparison c;
    struct cn_explanation e;
    bool is_real;

    cn_comparison_init(&c);
    add_runs(&c, CN_SIDE_A, db_a);
    add_runs(&c, CN_SIDE_B, db_b);
    cn_comparison_finish(&c);
    cn_explain(&e, &c, 10);
    is_real = e.real_count > 0;
    (void)snprintf(first, NAME_LEN, "%s", is_real ? c.names.list[e.list[0].name] : "");
    cn_explanation_done(&e);
    cn_comparison_done(&c);
    cn_database_close(db_a);
    cn_database_close(db_b);
    return is_real;
}

/* With fixed seeds: programs of 24 functions, five runs on each side. */
static void injected_slowdowns_are_named_first(void **state)
{
    int slower = 0, added = 0, wrong = 0;

    (void)state;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct shape a, b;
        char first[NAME_LEN];
        size_t chosen;

        random_state = (uint64_t)trial * 7919 + 1;
        make_shape(&a);
        chosen = (size_t)(uniform() * FUNCTIONS);
        b = a;
        wrong += try(&a, &b, first);
        /* A function that has a few percent of the whole, 10 % slower. */
        a.calls[chosen].self = b.calls[chosen].self = 8;
        b.calls[chosen].self *= 1.1;
        slower += try(&a, &b, first) && strcmp(first, a.names[chosen]) == 0;
        b.calls[chosen].self = 8;
        b.calls[FUNCTIONS] = (struct cn_made_call){1, "added", 0.5, 0};
        added += try(&a, &b, first) && strcmp(first, "added") == 0;
    }
    printf("named first: slower %d, added %d of %d; wrongly real: %d\n", slower, added,
           TRIALS, wrong);
    assert_true(slower >= 95);
    assert_true(added >= 95);
    assert_true(wrong <= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rank_test_is_exact),
        cmocka_unit_test(the_confidence_interval_is_that_of_welch),
        cmocka_unit_test(few_of_many_tests_are_wrong),
        cmocka_unit_test(injected_slowdowns_are_named_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
