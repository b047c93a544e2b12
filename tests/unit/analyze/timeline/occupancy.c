/* Label: threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/timeline/occupancy.h"
#include "analyze/waits.h"
#include "support/world.h"

static const char *cell_name(const struct cn_world *w, const struct cn_occupancy *o,
                             size_t row, uint32_t column)
{
    uint32_t place = o->cells[row * o->column_count + column].place;

    if (place == CN_NONE)
        return "none";
    return place == o->idle ? "idle" : w->frames.names.list[place];
}

static double cell_share(const struct cn_occupancy *o, size_t row, uint32_t column)
{
    return o->cells[row * o->column_count + column].share;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static uint64_t time_of(const struct cn_world *w, const struct cn_occupancy *o,
                        const char *name)
{
    for (size_t i = 0; i < w->frames.names.count; i++) {
        if (strcmp(w->frames.names.list[i], name) == 0)
            return o->function_ns[i];
    }
    return 0;
}

static struct cn_occupancy build(struct cn_world *w, struct cn_occupancy_request request)
{
    struct cn_occupancy occupancy;
    struct cn_error err = {0};

    if (!cn_occupancy_build(&occupancy, w->db, &w->frames, &request, &err))
        fail_msg("%s", err.text);
    return occupancy;
}

static void a_cell_shows_what_took_most_of_its_slice(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t profile;

    (void)state;
    cn_world_begin(&w);
    profile = cn_world_add_thread(
        &w,
        (struct cn_sample[]){
            {1000, w.line}, {1006, w.rest}, {1015, 0}, {1030, w.leaf}, {1035, w.main}},
        5);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = &profile,
                                                .profile_count = 1,
                                                .begin_ns = 1000,
                                                .end_ns = 1040,
                                                .column_count = 4,
                                                .depth = 2});
    assert_string_equal(cell_name(&w, &o, 0, 0), "work");
    assert_true(is_near(cell_share(&o, 0, 0), 0.6));
    assert_string_equal(cell_name(&w, &o, 0, 1), "rest");
    assert_true(is_near(cell_share(&o, 0, 1), 0.5));
    assert_string_equal(cell_name(&w, &o, 0, 2), "idle");
    assert_true(is_near(cell_share(&o, 0, 2), 1.0));
    assert_string_equal(cell_name(&w, &o, 0, 3), "work");
    assert_true(is_near(cell_share(&o, 0, 3), 0.5));
    assert_int_equal(time_of(&w, &o, "work"), 6 + 5);
    assert_int_equal(time_of(&w, &o, "rest"), 9);
    assert_int_equal(time_of(&w, &o, "main"), 0); /* the last sample lasts no time */
    assert_int_equal(o.function_ns[o.idle], 15);
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

/* Blocked and pre-empted time of a thread in one context each. */
static void add_waits(struct cn_world *w, uint32_t profile, uint32_t blocked,
                      uint32_t preempted)
{
    static const char *const names[] = {CN_BLOCKED_TIME_NAME, CN_PREEMPTED_TIME_NAME};
    uint32_t contexts[] = {blocked, preempted};
    uint16_t point = cn_memory_database_add_scope(w->m, "point", CN_SCOPE_POINT, 0);

    for (uint16_t i = 0; i < 2; i++) {
        uint32_t metric = cn_memory_database_add_metric(w->m, names[i]);

        cn_memory_database_add_instance(
            w->m, metric, (struct cn_scope_instance){point, (uint16_t)(3 + i)});
        cn_memory_database_add_value(w->m, profile, contexts[i], (uint16_t)(3 + i), 1);
    }
}

static void running_and_preempted_threads_show_their_function(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t profile;

    (void)state;
    cn_world_begin(&w);
    profile = cn_world_add_thread(&w,
                                  (struct cn_sample[]){{1000, 0},
                                                       {1010, w.rest},
                                                       {1012, 0},
                                                       {1030, w.leaf},
                                                       {1032, 0},
                                                       {1050, w.rest},
                                                       {1060, 0}},
                                  7);
    add_waits(&w, profile, w.rest, w.leaf);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = &profile,
                                                .profile_count = 1,
                                                .begin_ns = 1000,
                                                .end_ns = 1060,
                                                .column_count = 6,
                                                .depth = 2,
                                                .prefers_running = true});
    assert_string_equal(cell_name(&w, &o, 0, 0), "idle"); /* nothing before it */
    assert_string_equal(cell_name(&w, &o, 0, 1), "rest"); /* ran for a fifth */
    assert_true(is_near(cell_share(&o, 0, 1), 0.2));
    assert_string_equal(cell_name(&w, &o, 0, 2), "idle"); /* blocked in rest */
    assert_string_equal(cell_name(&w, &o, 0, 3), "work");
    assert_string_equal(cell_name(&w, &o, 0, 4), "work"); /* pre-empted in leaf */
    assert_true(is_near(cell_share(&o, 0, 4), 1.0));
    assert_string_equal(cell_name(&w, &o, 0, 5), "rest");
    assert_int_equal(time_of(&w, &o, "work"), 2); /* waiting stays waiting */
    assert_int_equal(o.function_ns[o.idle], 10 + 18 + 18);
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

/* A stream of a GPU is never pre-empted: where it has nothing to do, it does nothing. */
static void others_wait_where_they_have_nothing_to_do(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t thread, stream;

    (void)state;
    cn_world_begin(&w);
    thread = cn_world_add_thread(&w, (struct cn_sample[]){{1000, w.rest}, {1060, 0}}, 2);
    stream = cn_world_add_thread(
        &w, (struct cn_sample[]){{1000, w.leaf}, {1002, 0}, {1058, w.leaf}, {1060, 0}},
        4);
    add_waits(&w, thread, w.rest, w.rest);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = &stream,
                                                .profile_count = 1,
                                                .begin_ns = 1000,
                                                .end_ns = 1060,
                                                .column_count = 3,
                                                .depth = 2,
                                                .prefers_running = true});
    assert_string_equal(cell_name(&w, &o, 0, 0), "work");
    assert_string_equal(cell_name(&w, &o, 0, 1), "idle");
    assert_string_equal(cell_name(&w, &o, 0, 2), "work");
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

static void depth_cuts_stacks_and_shallow_ones_show_their_innermost_frame(void **state)
{
    static const struct {
        uint32_t depth;
        const char *names[5];
    } cases[] = {
        {1, {"<main thread>", "main", "main", "main", "main"}},
        {2, {"<main thread>", "main", "work", "work", "work"}},
        {3, {"<main thread>", "main", "work", "leaf", "leaf"}},
        {4, {"<main thread>", "main", "work", "leaf", "work"}},
        {99, {"<main thread>", "main", "work", "leaf", "work"}},
    };
    struct cn_world w;
    uint32_t profile;

    (void)state;
    cn_world_begin(&w);
    profile = cn_world_add_thread(&w,
                                  (struct cn_sample[]){{0, w.entry},
                                                       {10, w.main},
                                                       {20, w.line},
                                                       {30, w.leaf},
                                                       {40, w.again},
                                                       {50, 0}},
                                  6);
    cn_world_finish(&w);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_occupancy o =
            build(&w, (struct cn_occupancy_request){.profiles = &profile,
                                                    .profile_count = 1,
                                                    .end_ns = 50,
                                                    .column_count = 5,
                                                    .depth = cases[i].depth});

        for (uint32_t k = 0; k < 5; k++)
            assert_string_equal(cell_name(&w, &o, 0, k), cases[i].names[k]);
        cn_occupancy_done(&o);
    }
    cn_world_end(&w);
}

static void samples_outside_the_range_count_only_where_they_reach_into_it(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t profiles[3];

    (void)state;
    cn_world_begin(&w);
    profiles[0] = cn_world_add_thread(
        &w, (struct cn_sample[]){{0, w.main}, {10, w.rest}, {95, w.main}, {200, 0}}, 4);
    profiles[1] = cn_world_add_thread(&w, (struct cn_sample[]){{25, w.rest}, {28, 0}}, 2);
    profiles[2] = cn_world_add_thread(&w, NULL, 0);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = profiles,
                                                .profile_count = 3,
                                                .begin_ns = 20,
                                                .end_ns = 100,
                                                .column_count = 8,
                                                .depth = 2});
    for (uint32_t i = 0; i < 7; i++)
        assert_string_equal(cell_name(&w, &o, 0, i), "rest");
    assert_int_equal(time_of(&w, &o, "main"), 5);
    assert_int_equal(time_of(&w, &o, "rest"), 75 + 3);
    assert_string_equal(cell_name(&w, &o, 1, 0), "rest");
    assert_true(is_near(cell_share(&o, 1, 0), 0.3));
    assert_string_equal(cell_name(&w, &o, 1, 1), "none");
    assert_string_equal(cell_name(&w, &o, 2, 0), "none");
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

/* Much longer than a chunk of samples, with slices that do not divide the range evenly:
 * compared with counting nanosecond by nanosecond. */
static void long_timelines_add_up_exactly(void **state)
{
    enum { COUNT = 5000, COLUMNS = 7, BEGIN = 1234, END = 13579 };
    static struct cn_sample samples[COUNT];
    uint64_t expected[COLUMNS] = {0}, total = 0;
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t profile;
    size_t at = 0;

    (void)state;
    cn_world_begin(&w);
    for (size_t i = 0; i < COUNT; i++)
        samples[i] = (struct cn_sample){i * 3 + i % 2, i % 4 == 0 ? 0 : w.work};
    profile = cn_world_add_thread(&w, samples, COUNT);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = &profile,
                                                .profile_count = 1,
                                                .begin_ns = BEGIN,
                                                .end_ns = END,
                                                .column_count = COLUMNS,
                                                .depth = 2});
    for (uint64_t ns = BEGIN; ns < END; ns++) {
        uint32_t column = 0;

        while (at + 1 < COUNT && samples[at + 1].time_ns <= ns)
            at++;
        while (ns >= cn_occupancy_column_ns(&o, column + 1))
            column++;
        expected[column] += samples[at].context != 0;
        total += samples[at].context != 0;
    }
    for (uint32_t i = 0; i < COLUMNS; i++) {
        uint64_t width =
            cn_occupancy_column_ns(&o, i + 1) - cn_occupancy_column_ns(&o, i);

        assert_string_equal(cell_name(&w, &o, 0, i), "work");
        assert_true(is_near(cell_share(&o, 0, i), (double)expected[i] / (double)width));
    }
    assert_int_equal(time_of(&w, &o, "work"), total);
    assert_int_equal(o.function_ns[o.idle], END - BEGIN - total);
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

static void the_chosen_depth_is_the_first_that_tells_something(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t profile;

    (void)state;
    cn_world_begin(&w);
    profile = cn_world_add_thread(
        &w, (struct cn_sample[]){{0, w.main}, {2, w.line}, {50, w.leaf}, {100, 0}}, 4);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = &profile,
                                                .profile_count = 1,
                                                .end_ns = 100,
                                                .column_count = 10});
    assert_int_equal(o.depth, 3); /* at depth 2, work has 98 % */
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

static void contexts_without_a_record_are_shown_as_unknown(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t profile, hidden;

    (void)state;
    cn_world_begin(&w);
    hidden = cn_memory_database_add_hidden(w.m, w.main);
    profile = cn_world_add_thread(
        &w, (struct cn_sample[]){{0, hidden}, {10, 4000000000}, {20, 0}}, 3);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = &profile,
                                                .profile_count = 1,
                                                .end_ns = 20,
                                                .column_count = 2});
    assert_string_equal(cell_name(&w, &o, 0, 0), "<unknown context>");
    assert_string_equal(cell_name(&w, &o, 0, 1), "<unknown context>");
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

static void refuses_time_that_runs_backwards(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    struct cn_error err = {0};
    uint32_t profiles[2];

    (void)state;
    cn_world_begin(&w);
    profiles[0] = cn_world_add_thread(&w, (struct cn_sample[]){{0, w.main}, {9, 0}}, 2);
    profiles[1] = cn_world_add_thread(
        &w, (struct cn_sample[]){{0, w.main}, {9, w.work}, {7, 0}}, 3);
    cn_world_finish(&w);
    assert_false(cn_occupancy_build(&o, w.db, &w.frames,
                                    &(struct cn_occupancy_request){.profiles = profiles,
                                                                   .profile_count = 2,
                                                                   .end_ns = 20,
                                                                   .column_count = 2,
                                                                   .depth = 1},
                                    &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_string_equal(err.text,
                        "timeline of profile 2: time runs backwards: 7 after 9");
    cn_world_end(&w);
}

static void any_number_of_workers_gives_the_same_result(void **state)
{
    enum { THREADS = 9, COLUMNS = 11 };
    struct cn_world w;
    struct cn_occupancy first = {0};
    uint32_t profiles[THREADS];

    (void)state;
    cn_world_begin(&w);
    for (uint32_t i = 0; i < THREADS; i++)
        profiles[i] = cn_world_add_thread(
            &w,
            (struct cn_sample[]){
                {i, w.line}, {20 + 3 * i, w.rest}, {60 + i, w.again}, {100, 0}},
            4);
    cn_world_finish(&w);
    for (unsigned workers = 1; workers <= 5; workers += 2) {
        struct cn_occupancy o =
            build(&w, (struct cn_occupancy_request){.profiles = profiles,
                                                    .profile_count = THREADS,
                                                    .end_ns = 100,
                                                    .column_count = COLUMNS,
                                                    .workers = workers});

        if (!first.cells) {
            first = o;
            continue;
        }
        assert_int_equal(o.depth, first.depth);
        for (size_t i = 0; i < THREADS * COLUMNS; i++) {
            assert_int_equal(o.cells[i].place, first.cells[i].place);
            assert_true(is_near(o.cells[i].share, first.cells[i].share));
        }
        for (uint32_t i = 0; i <= o.idle; i++)
            assert_int_equal(o.function_ns[i], first.function_ns[i]);
        cn_occupancy_done(&o);
    }
    cn_occupancy_done(&first);
    cn_world_end(&w);
}

static struct cn_occupancy occupy(struct cn_world *w, uint32_t profile, uint32_t points)
{
    struct cn_occupancy_request request = {
        .profiles = &profile,
        .profile_count = 1,
        .begin_ns = 500,
        .end_ns = 90000,
        .column_count = 77,
        .depth = 2,
        .points = points,
        .workers = 1,
    };
    struct cn_occupancy occupancy;
    struct cn_error err;

    assert_true(cn_occupancy_build(&occupancy, w->db, &w->frames, &request, &err));
    return occupancy;
}

static void enough_points_are_exact_and_few_count_every_sample(void **state)
{
    struct cn_occupancy exact, all, few;
    uint64_t counted = 0;
    struct cn_world w;
    uint32_t profile;

    (void)state;
    cn_world_begin(&w);
    profile = cn_world_add_uneven_thread(&w, 1500);
    cn_world_finish(&w);
    exact = occupy(&w, profile, 0);
    all = occupy(&w, profile, 100000);
    few = occupy(&w, profile, 3);
    assert_false(all.is_estimate);
    assert_true(few.is_estimate);
    for (uint32_t i = 0; i < exact.column_count; i++) {
        assert_int_equal(all.cells[i].place, exact.cells[i].place);
        assert_true(fabs(all.cells[i].share - exact.cells[i].share) < 1e-9);
        assert_int_equal(all.cells[i].sample_count, few.cells[i].sample_count);
        counted += few.cells[i].sample_count;
    }
    for (size_t i = 0; i <= w.frames.names.count; i++)
        assert_int_equal(all.function_ns[i], exact.function_ns[i]);
    assert_true(counted > 1000 && counted <= 1500);
    cn_occupancy_done(&exact);
    cn_occupancy_done(&all);
    cn_occupancy_done(&few);
    cn_world_end(&w);
}

/* The path of a cell, outermost first: "main>work". */
static const char *path_of(const struct cn_world *w, const struct cn_occupancy *o,
                           uint32_t column, char *text, size_t size)
{
    uint32_t frame = o->cells[column].place;

    if (frame == CN_NONE || frame == o->idle)
        return frame == CN_NONE ? "none" : "idle";
    text[0] = '\0';
    for (; w->frames.list[frame].depth > 0; frame = w->frames.list[frame].parent) {
        const char *name = w->frames.names.list[w->frames.list[frame].place];
        size_t had = strlen(text), len = strlen(name);

        assert_true(had + len + 2 < size);
        memmove(text + len + (had > 0), text, had + 1);
        memcpy(text, name, len);
        if (had > 0)
            text[len] = '>';
        else
            text[len] = '\0';
    }
    return text;
}

/* In the first slice, callees of main have most of the time, and of them work, although no
 * other stack lasts as long as that of rest. The second one shows what ran, although the thread
 * waited longer. */
static void a_cell_of_whole_stacks_has_the_main_path(void **state)
{
    struct cn_world w;
    struct cn_occupancy o;
    uint32_t profile;
    char text[100];

    (void)state;
    cn_world_begin(&w);
    profile = cn_world_add_thread(&w,
                                  (struct cn_sample[]){{0, w.main},
                                                       {10, w.rest},
                                                       {40, w.line},
                                                       {60, w.leaf},
                                                       {75, w.again},
                                                       {100, 0},
                                                       {160, w.main},
                                                       {200, w.main},
                                                       {260, w.rest},
                                                       {300, 0}},
                                  10);
    cn_world_finish(&w);
    o = build(&w, (struct cn_occupancy_request){.profiles = &profile,
                                                .profile_count = 1,
                                                .end_ns = 400,
                                                .column_count = 4,
                                                .depth = CN_DEPTH_ALL});
    assert_string_equal(path_of(&w, &o, 0, text, sizeof(text)), "main>work>leaf>work");
    assert_true(is_near(cell_share(&o, 0, 0), 0.25));
    assert_string_equal(path_of(&w, &o, 1, text, sizeof(text)), "main");
    assert_true(is_near(cell_share(&o, 0, 1), 0.4));
    assert_true(is_near(o.cells[1].busy, 0.4));
    assert_string_equal(path_of(&w, &o, 2, text, sizeof(text)), "main");
    assert_true(is_near(cell_share(&o, 0, 2), 1.0));
    assert_string_equal(path_of(&w, &o, 3, text, sizeof(text)), "none");
    assert_int_equal(time_of(&w, &o, "rest"), 30 + 40);
    assert_int_equal(o.function_ns[w.frames.names.count], 60);
    cn_occupancy_done(&o);
    cn_world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_shows_what_took_most_of_its_slice),
        cmocka_unit_test(running_and_preempted_threads_show_their_function),
        cmocka_unit_test(others_wait_where_they_have_nothing_to_do),
        cmocka_unit_test(depth_cuts_stacks_and_shallow_ones_show_their_innermost_frame),
        cmocka_unit_test(samples_outside_the_range_count_only_where_they_reach_into_it),
        cmocka_unit_test(long_timelines_add_up_exactly),
        cmocka_unit_test(the_chosen_depth_is_the_first_that_tells_something),
        cmocka_unit_test(contexts_without_a_record_are_shown_as_unknown),
        cmocka_unit_test(refuses_time_that_runs_backwards),
        cmocka_unit_test(any_number_of_workers_gives_the_same_result),
        cmocka_unit_test(enough_points_are_exact_and_few_count_every_sample),
        cmocka_unit_test(a_cell_of_whole_stacks_has_the_main_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
