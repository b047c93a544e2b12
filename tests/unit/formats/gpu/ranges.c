#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/gpu/format.h"
#include "formats/gpu/ranges.h"
#include "formats/gpu/records.h"
#include "support/gpu_inputs.h"

enum { PID = 10, TID = 11, OTHER = 12 };
enum { A = 100, B, C };

static struct cn_gpu_range_event event(uint64_t time_ns, unsigned kind, uint32_t name)
{
    return (struct cn_gpu_range_event){
        .time_ns = time_ns, .pid = PID, .tid = TID, .name = name, .kind = (uint8_t)kind};
}

/* The names that are open, the outermost first. */
static void assert_open(const struct cn_gpu_ranges *ranges, uint32_t tid,
                        uint64_t time_ns, size_t count, const uint32_t *names)
{
    uint32_t node = cn_gpu_ranges_at(ranges, PID, tid, time_ns);

    for (size_t i = count; i > 0; i--) {
        assert_int_not_equal(node, 0);
        assert_int_equal(ranges->nodes[node].name, names[i - 1]);
        node = ranges->nodes[node].parent;
    }
    assert_int_equal(node, 0);
}
#define OPEN(tid, time_ns, ...)                                              \
    assert_open(ranges, tid, time_ns, sizeof((uint32_t[]){__VA_ARGS__}) / 4, \
                (const uint32_t[]){__VA_ARGS__})

static void what_is_open_is_below_what_began_before(void **state)
{
    /* As they were recorded, by blocks of threads. */
    struct cn_gpu_range_event events[] = {
        event(10, CN_GPU_RANGE_PUSH, A), event(20, CN_GPU_RANGE_PUSH, B),
        event(30, CN_GPU_RANGE_POP, 0),  event(40, CN_GPU_RANGE_PUSH, B),
        event(50, CN_GPU_RANGE_POP, 0),  event(60, CN_GPU_RANGE_POP, 0),
        event(15, CN_GPU_RANGE_PUSH, C), event(55, CN_GPU_RANGE_POP, 0),
    };

    (void)state;
    events[6].tid = events[7].tid = OTHER;
    struct cn_gpu_ranges *ranges =
        cn_gpu_ranges_new(events, sizeof(events) / sizeof(events[0]));
    assert_int_equal(ranges->track_count, 2);
    assert_int_equal(ranges->node_count, 4); /* B below A is one, and the first is none */
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, TID, 9), 0);
    OPEN(TID, 10, A);
    OPEN(TID, 29, A, B);
    OPEN(TID, 30, A);
    OPEN(TID, 45, A, B);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, TID, 60), 0);
    OPEN(OTHER, 54, C);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, OTHER, 55), 0);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, OTHER + 1, 20), 0);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID + 1, TID, 20), 0);
    assert_int_equal(ranges->unended_count, 0);
    cn_gpu_ranges_free(ranges);
}

static void domains_have_ranges_of_their_own(void **state)
{
    struct cn_gpu_range_event events[] = {
        event(10, CN_GPU_RANGE_PUSH, A),
        event(20, CN_GPU_RANGE_PUSH, B), /* of domain 1 */
        event(30, CN_GPU_RANGE_POP, 0),  /* of domain 0: ends A */
        event(40, CN_GPU_RANGE_POP, 0),  /* of domain 0: there is none */
        event(50, CN_GPU_RANGE_POP, 0),  /* of domain 1 */
    };

    (void)state;
    events[1].domain = events[4].domain = 1;
    struct cn_gpu_ranges *ranges = cn_gpu_ranges_new(events, 5);
    OPEN(TID, 25, A, B);
    OPEN(TID, 30, B);
    OPEN(TID, 45, B);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, TID, 50), 0);
    cn_gpu_ranges_free(ranges);
}

static void ranges_of_a_process_end_by_their_ids(void **state)
{
    struct cn_gpu_range_event events[] = {
        event(10, CN_GPU_RANGE_START, A),
        event(20, CN_GPU_RANGE_START, B),
        event(30, CN_GPU_RANGE_END, 0),
        event(40, CN_GPU_RANGE_END, 0),
    };

    (void)state;
    events[0].id = events[2].id = 1;
    events[1].id = events[3].id = 2;
    events[2].tid = OTHER;
    struct cn_gpu_ranges *ranges = cn_gpu_ranges_new(events, 4);
    assert_int_equal(ranges->track_count, 1);
    OPEN(0, 25, A, B);
    OPEN(0, 30, B);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, 0, 40), 0);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, TID, 25), 0);
    cn_gpu_ranges_free(ranges);
}

static void marks_are_short_and_states_in_order(void **state)
{
    struct cn_gpu_range_event events[] = {
        event(10, CN_GPU_RANGE_PUSH, A), event(20, CN_GPU_RANGE_MARK, B),
        event(20, CN_GPU_RANGE_MARK, C), event(20, CN_GPU_RANGE_POP, 0)};

    (void)state;
    struct cn_gpu_ranges *ranges = cn_gpu_ranges_new(events, 4);
    for (size_t i = 1; i < ranges->state_count; i++)
        assert_true(ranges->states[i - 1].time_ns <= ranges->states[i].time_ns);
    OPEN(TID, 19, A);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, TID, 30), 0);
    assert_int_equal(ranges->node_count, 4);
    cn_gpu_ranges_free(ranges);
}

static void ranges_that_do_not_end_are_counted(void **state)
{
    struct cn_gpu_range_event events[] = {event(10, CN_GPU_RANGE_PUSH, A),
                                          event(20, CN_GPU_RANGE_PUSH, B)};

    (void)state;
    struct cn_gpu_ranges *ranges = cn_gpu_ranges_new(events, 2);
    assert_int_equal(ranges->unended_count, 2);
    OPEN(TID, 19, A);
    assert_int_equal(ranges->states[ranges->state_count - 1].node, 0);
    cn_gpu_ranges_free(ranges);
    assert_null(cn_gpu_ranges_new(NULL, 0));
}

static void depth_is_limited(void **state)
{
    enum { DEPTH = CN_GPU_RANGE_DEPTH_MAX + 10 };
    struct cn_gpu_range_event events[2 * DEPTH];

    (void)state;
    for (uint32_t i = 0; i < DEPTH; i++) {
        events[i] = event(i, CN_GPU_RANGE_PUSH, i);
        events[DEPTH + i] = event(DEPTH + i, CN_GPU_RANGE_POP, 0);
    }
    struct cn_gpu_ranges *ranges = cn_gpu_ranges_new(events, 2 * (size_t)DEPTH);
    assert_int_equal(ranges->node_count, 1 + CN_GPU_RANGE_DEPTH_MAX);
    assert_int_equal(ranges->unended_count, 0);
    OPEN(TID, 2 * DEPTH - 2, 0);
    assert_int_equal(cn_gpu_ranges_at(ranges, PID, TID, 2 * DEPTH - 1), 0);
    cn_gpu_ranges_free(ranges);
}

static bool thread_of(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                      struct cn_error *err)
{
    (void)arg;
    (void)pid;
    (void)err;
    *out = tid;
    return true;
}

static void ranges_of_a_file_have_their_names(void **state)
{
    struct cn_gpu_records_to to = {.thread = thread_of};
    struct cn_gpu_records *r = cn_gpu_records_new(&to);
    struct cn_error err = {0};
    size_t len;
    uint8_t *file = cn_test_gpu_file(&len);

    (void)state;
    assert_true(cn_gpu_records_take_file(r, (struct cn_bytes){file, len}, &err));
    assert_true(cn_gpu_records_ranges_are_contexts(r));
    struct cn_gpu_ranges *ranges = cn_gpu_records_ranges(r);
    uint32_t node = cn_gpu_ranges_at(ranges, CN_TEST_GPU_PID, CN_TEST_GPU_TID, 10000000);
    assert_string_equal(cn_gpu_records_name(r, ranges->nodes[node].name), "step");
    node = cn_gpu_ranges_at(ranges, CN_TEST_GPU_PID, 0, 10000000);
    assert_string_equal(cn_gpu_records_name(r, ranges->nodes[node].name), "epoch");
    cn_gpu_ranges_free(ranges);
    cn_gpu_records_free(r);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_open_is_below_what_began_before),
        cmocka_unit_test(domains_have_ranges_of_their_own),
        cmocka_unit_test(ranges_of_a_process_end_by_their_ids),
        cmocka_unit_test(marks_are_short_and_states_in_order),
        cmocka_unit_test(ranges_that_do_not_end_are_counted),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(ranges_of_a_file_have_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
