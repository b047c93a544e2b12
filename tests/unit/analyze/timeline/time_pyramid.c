/* Label: threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/timeline/occupancy.h"
#include "analyze/timeline/time_pyramid.h"
#include "base/alloc.h"
#include "support/world.h"

static const double PART = 1.0 / 0xffff; /* how exact parts of a cell are kept */

/* The same columns from all samples and from a pyramid. */
static void compare_pyramid(struct cn_world *w, const struct cn_time_pyramid *pyramid,
                            uint32_t profile, uint32_t depth, uint64_t first,
                            unsigned shift, uint32_t columns)
{
    struct cn_occupancy_request request = {
        .profiles = &profile,
        .profile_count = 1,
        .begin_ns = w->db->begin_ns + (first << shift),
        .end_ns = w->db->begin_ns + ((first + columns) << shift),
        .column_count = columns,
        .depth = depth,
        .workers = 1,
    };
    struct cn_occupancy exact, quick, few;
    struct cn_error err;

    assert_true(cn_occupancy_build(&exact, w->db, &w->frames, &request, &err));
    request.points = 3;
    assert_true(cn_occupancy_build(&few, w->db, &w->frames, &request, &err));
    request.pyramids = &pyramid;
    assert_true(cn_occupancy_build(&quick, w->db, &w->frames, &request, &err));
    assert_false(quick.is_estimate);
    for (uint32_t i = 0; i < columns; i++) {
        assert_int_equal(quick.cells[i].place, exact.cells[i].place);
        assert_true(fabs(quick.cells[i].share - exact.cells[i].share) <= PART);
        assert_true(fabs(quick.cells[i].busy - exact.cells[i].busy) <= PART);
        assert_int_equal(quick.cells[i].sample_count, few.cells[i].sample_count);
    }
    for (size_t i = 0; i <= w->frames.names.count; i++)
        assert_int_equal(quick.function_ns[i], exact.function_ns[i]);
    cn_occupancy_done(&exact);
    cn_occupancy_done(&quick);
    cn_occupancy_done(&few);
}

static void check_pyramid(uint32_t depth)
{
    struct cn_time_pyramid *pyramid;
    struct cn_cut cut;
    struct cn_error err;
    struct cn_world w;
    uint32_t profile;

    cn_world_begin(&w);
    profile = cn_world_add_uneven_thread(&w, 5000);
    cn_world_finish(&w);
    cn_cut_init(&cut, &w.frames, depth);
    assert_true(cn_time_pyramid_build(&pyramid, w.db, &cut, profile, &err));
    assert_false(cn_time_pyramid_has(pyramid, w.db->begin_ns, 1));
    assert_false(cn_time_pyramid_has(pyramid, w.db->begin_ns, 3 << 12));
    assert_false(cn_time_pyramid_has(pyramid, w.db->begin_ns + 1, 1 << 12));
    for (unsigned shift = 11; shift < 30; shift++) {
        assert_true(cn_time_pyramid_has(pyramid, w.db->begin_ns, UINT64_C(1) << shift));
        compare_pyramid(&w, pyramid, profile, depth, 0, shift, 60);
        compare_pyramid(&w, pyramid, profile, depth, 7, shift, 13);
        compare_pyramid(&w, pyramid, profile, depth, 33, shift, 1);
    }
    assert_true(cn_time_pyramid_size(pyramid) < 5000 * 12);
    cn_time_pyramid_free(pyramid);
    cn_cut_done(&cut);
    cn_world_end(&w);
}

static void a_pyramid_knows_what_all_samples_say(void **state)
{
    (void)state;
    check_pyramid(2);
}

static void a_pyramid_of_whole_stacks_knows_it_as_well(void **state)
{
    (void)state;
    check_pyramid(CN_DEPTH_ALL);
}

/* A thread with samples of so many functions with two callers each, one a microsecond. */
static uint32_t add_random_thread(struct cn_world *w, uint32_t functions,
                                  uint32_t samples)
{
    uint32_t count = 2 * functions;
    uint32_t *contexts = cn_alloc(count, sizeof(*contexts));
    uint32_t profile = cn_world_add_thread(w, NULL, 0), number = 1;
    char name[16];

    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "f%u", i % functions);
        contexts[i] = cn_world_add_call(w->m, i < functions ? w->main : w->work, name);
    }
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t at = functions == samples ? i : (number >> 8) % count;

        number = number * 1103515245U + 12345U;
        cn_memory_database_add_sample(
            w->m, profile,
            (struct cn_sample){1000000 + (uint64_t)i * 1000, contexts[at]});
    }
    free(contexts);
    return profile;
}

static void a_pyramid_of_many_functions_stays_small(void **state)
{
    struct cn_time_pyramid *pyramid;
    struct cn_cut cut;
    struct cn_error err;
    struct cn_world w;
    uint32_t profile;

    (void)state;
    cn_world_begin(&w);
    profile = add_random_thread(&w, 3000, 30000);
    cn_world_finish(&w);
    cn_cut_init(&cut, &w.frames, CN_DEPTH_ALL);
    assert_true(cn_time_pyramid_build(&pyramid, w.db, &cut, profile, &err));
    for (unsigned shift = 15; shift < 25; shift += 3) {
        compare_pyramid(&w, pyramid, profile, CN_DEPTH_ALL, 0, shift, 60);
        compare_pyramid(&w, pyramid, profile, CN_DEPTH_ALL, 1, shift, 13);
    }
    assert_true(cn_time_pyramid_size(pyramid) < 360 << 10);
    cn_time_pyramid_free(pyramid);
    cn_cut_done(&cut);
    cn_world_end(&w);
}

/* A pyramid in which no two samples share a function has one sum for all of the time. */
static void sums_of_part_of_a_pyramid_are_estimated(void **state)
{
    enum { SAMPLES = 24000, SHIFT = 18, COLUMNS = 60 };
    struct cn_time_pyramid *pyramid;
    const struct cn_time_pyramid *const *pyramids;
    struct cn_occupancy_request request = {
        .profile_count = 1, .column_count = COLUMNS, .depth = CN_DEPTH_ALL, .points = 1};
    struct cn_occupancy occupancy;
    struct cn_cut cut;
    struct cn_error err;
    struct cn_world w;
    uint32_t profile;
    uint64_t sum = 0, span = (uint64_t)COLUMNS << SHIFT;

    (void)state;
    cn_world_begin(&w);
    profile = add_random_thread(&w, SAMPLES, SAMPLES);
    cn_world_finish(&w);
    cn_cut_init(&cut, &w.frames, CN_DEPTH_ALL);
    assert_true(cn_time_pyramid_build(&pyramid, w.db, &cut, profile, &err));
    compare_pyramid(&w, pyramid, profile, CN_DEPTH_ALL, 0, SHIFT + 4,
                    COLUMNS); /* all of it */
    pyramids = (const struct cn_time_pyramid *const *)&pyramid;
    request.profiles = &profile;
    request.pyramids = pyramids;
    request.begin_ns = w.db->begin_ns;
    request.end_ns = w.db->begin_ns + span;
    assert_true(cn_occupancy_build(&occupancy, w.db, &w.frames, &request, &err));
    assert_true(occupancy.is_estimate);
    for (size_t i = 0; i <= w.frames.names.count; i++)
        sum += occupancy.function_ns[i];
    assert_true(sum > span - span / 100 && sum <= span);
    cn_occupancy_done(&occupancy);
    cn_time_pyramid_free(pyramid);
    cn_cut_done(&cut);
    cn_world_end(&w);
}

static void a_pyramid_refuses_time_that_runs_backwards(void **state)
{
    struct cn_time_pyramid *pyramid;
    struct cn_error err;
    struct cn_world w;
    struct cn_sample samples[] = {{100, 0}, {300, 0}, {200, 0}, {400, 0}};
    uint32_t back, beyond;
    struct cn_cut cut;

    (void)state;
    cn_world_begin(&w);
    back = cn_world_add_thread(&w, samples, 4);
    samples[2].time_ns = 900;
    beyond = cn_world_add_thread(&w, samples, 4);
    cn_world_finish(&w);
    cn_cut_init(&cut, &w.frames, 2);
    assert_false(cn_time_pyramid_build(&pyramid, w.db, &cut, back, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_false(cn_time_pyramid_build(&pyramid, w.db, &cut, beyond, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    cn_cut_done(&cut);
    cn_world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pyramid_knows_what_all_samples_say),
        cmocka_unit_test(a_pyramid_of_whole_stacks_knows_it_as_well),
        cmocka_unit_test(a_pyramid_of_many_functions_stays_small),
        cmocka_unit_test(sums_of_part_of_a_pyramid_are_estimated),
        cmocka_unit_test(a_pyramid_refuses_time_that_runs_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
