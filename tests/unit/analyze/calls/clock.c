/* Times that the recorder's own cost is taken off. */

#include "analyze/calls/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/uftrace/text/info_reader.h"
#include "model/calls/recording.h"

enum { CALL_NS = 50, INNER_NS = 20, COUNT_MAX = 64 };

static struct cn_recording recording(void)
{
    return (struct cn_recording){
        .call_cost = {CALL_NS * 1000, INNER_NS * 1000},
    };
}

static struct cn_call call(enum cn_call_kind kind, uint64_t time_ns)
{
    return (struct cn_call){
        .kind = (uint8_t)kind, .time_ns = time_ns, .function = CN_NONE};
}

/* A call of 1000 ns that makes two calls of 100 ns, as a recorder sees it. */
static void takes_the_cost_off_a_call_and_its_callers(void **state)
{
    struct cn_recording rec = recording();
    struct cn_call_clock clock = {.rec = &rec};
    uint64_t before = CALL_NS - INNER_NS, children = 2 * (100 + CALL_NS);
    struct cn_call in[] = {
        call(CN_CALL_ENTER, 5000),
        call(CN_CALL_ENTER, 5000 + INNER_NS + 400),
        call(CN_CALL_EXIT, 5000 + INNER_NS + 400 + INNER_NS + 100),
        call(CN_CALL_ENTER, 5000 + 2 * INNER_NS + 500 + before),
        call(CN_CALL_EXIT, 5000 + 3 * INNER_NS + 600 + before),
        call(CN_CALL_EXIT, 5000 + INNER_NS + 800 + children),
    };
    struct cn_call out[COUNT_MAX];

    (void)state;
    cn_call_clock_correct(&clock, in, 6, out);
    assert_int_equal(out[0].time_ns, 5000);
    assert_int_equal(out[1].time_ns, 5400);
    assert_int_equal(out[2].time_ns, 5500);
    assert_int_equal(out[3].time_ns, 5501); /* one nanosecond, which the next call pays */
    assert_int_equal(out[4].time_ns, 5600);
    assert_int_equal(out[5].time_ns, 5000 + 1000);
}

static void gives_the_same_in_batches(void **state)
{
    struct cn_recording rec = recording();
    struct cn_call_clock whole = {.rec = &rec}, parts = {.rec = &rec};
    struct cn_call in[COUNT_MAX], at_once[COUNT_MAX], one[1];

    (void)state;
    for (unsigned i = 0; i < COUNT_MAX; i++)
        in[i] = call(i % 2 ? CN_CALL_EXIT : CN_CALL_ENTER, 10000 + i * 37 + i % 5 * 3);
    cn_call_clock_correct(&whole, in, COUNT_MAX, at_once);
    for (unsigned i = 0; i < COUNT_MAX; i++) {
        cn_call_clock_correct(&parts, &in[i], 1, one);
        assert_int_equal(one[0].time_ns, at_once[i].time_ns);
    }
}

/* Calls that took less than the recorder usually does. */
static void never_runs_backwards(void **state)
{
    struct cn_recording rec = recording();
    struct cn_call_clock clock = {.rec = &rec};
    struct cn_call in[COUNT_MAX], out[COUNT_MAX], later = call(CN_CALL_EXIT, 1010000),
                                                  end;

    (void)state;
    for (unsigned i = 0; i < COUNT_MAX; i++)
        in[i] = call(i % 2 ? CN_CALL_EXIT : CN_CALL_ENTER, 10000 + i);
    cn_call_clock_correct(&clock, in, COUNT_MAX, out);
    for (unsigned i = 1; i < COUNT_MAX; i++)
        assert_true(out[i].time_ns >= out[i - 1].time_ns);
    /* What could not be taken off is not held against what follows for ever. */
    cn_call_clock_correct(&clock, &later, 1, &end);
    assert_true(end.time_ns >= 1010000 - 20 * CALL_NS);
}

/* Calls that took less than the recorder usually does, then one of 100 ns. */
static void a_short_call_does_not_pay_for_those_before_it(void **state)
{
    struct cn_recording rec = recording();
    struct cn_call_clock clock = {.rec = &rec};
    struct cn_call in[COUNT_MAX], out[COUNT_MAX];

    (void)state;
    for (unsigned i = 0; i < COUNT_MAX; i++)
        in[i] = call(i % 2 ? CN_CALL_EXIT : CN_CALL_ENTER, 10000 + i);
    in[COUNT_MAX - 1].time_ns = in[COUNT_MAX - 2].time_ns + INNER_NS + 100;
    cn_call_clock_correct(&clock, in, COUNT_MAX, out);
    assert_true(out[COUNT_MAX - 1].time_ns - out[COUNT_MAX - 2].time_ns >= 80);
    for (unsigned i = 1; i < COUNT_MAX; i++)
        assert_true(out[i].time_ns > out[i - 1].time_ns);
}

/* Whatever was due when a clock was started, it soon goes as the others do. */
static void settles_anywhere(void **state)
{
    enum { LONG = 4096 };
    static struct cn_call in[LONG], out[LONG], later[LONG];
    struct cn_recording rec = {.call_cost = {43210, 17530}};
    struct cn_call_clock clock = {.rec = &rec};
    uint64_t time_ns = 5000;

    (void)state;
    for (unsigned i = 0; i < LONG; i++) {
        time_ns += i % 7 == 0 ? 200 : i % 3 * 12;
        in[i] = call(i % 2 ? CN_CALL_EXIT : CN_CALL_ENTER, time_ns);
    }
    cn_call_clock_correct(&clock, in, LONG, out);
    for (unsigned start = 1; start < LONG / 2; start += 13) {
        struct cn_call_settling settling = {.least.rec = &rec, .most.rec = &rec};
        unsigned at = start;
        uint64_t ahead_ns;

        while (!cn_call_clock_settle(&settling, &in[at]))
            assert_true(++at < start + LONG / 4);
        ahead_ns = settling.least.now_ns - out[at].time_ns;
        cn_call_clock_correct(&settling.least, in + at + 1, LONG - at - 1, later);
        for (unsigned i = at + 1; i < LONG; i++)
            assert_int_equal(later[i - at - 1].time_ns - ahead_ns, out[i].time_ns);
    }
}

/* Fractions of nanoseconds add up. */
static void takes_fractions_off_in_the_long_run(void **state)
{
    enum { CALLS = 20000 };
    struct cn_recording rec = {.call_cost = {10250, 5125}};
    struct cn_call_clock clock = {.rec = &rec};
    struct cn_call out = {0};
    double taken_ns;

    (void)state;
    for (unsigned i = 0; i < 2 * CALLS; i++) {
        struct cn_call in = call(i % 2 ? CN_CALL_EXIT : CN_CALL_ENTER, 1000 + i * 101);

        cn_call_clock_correct(&clock, &in, 1, &out);
    }
    taken_ns = 1000 + (2 * CALLS - 1) * 101 - (double)out.time_ns;
    assert_true(taken_ns > CALLS * 10.2 && taken_ns < CALLS * 10.3);
}

static void leaves_events_and_losses_where_they_belong(void **state)
{
    struct cn_recording rec = recording();
    struct cn_call_clock clock = {.rec = &rec};
    struct cn_call in[] = {
        call(CN_CALL_ENTER, 1000),
        call(CN_CALL_EVENT, 1100),
        call(CN_CALL_LOST, 0),
        call(CN_CALL_EXIT, 1200),
    };
    struct cn_call out[COUNT_MAX];

    (void)state;
    cn_call_clock_correct(&clock, in, 4, out);
    assert_int_equal(out[1].time_ns, 1100 - INNER_NS);
    assert_int_equal(out[2].time_ns, 0);
    assert_int_equal(out[3].time_ns, 1200 - INNER_NS);
}

static void knows_library_calls_by_their_type(void **state)
{
    static const struct cn_call_function functions[] = {{.type = 'T'}, {.type = 'P'}};
    struct cn_recording rec = {
        .call_cost = {2000, 1000},
        .libcall_cost = {20000, 10000},
        .functions = functions,
        .function_count = 2,
    };
    struct cn_call_clock clock = {.rec = &rec};
    struct cn_call in[] = {call(CN_CALL_ENTER, 100), call(CN_CALL_ENTER, 200),
                           call(CN_CALL_EXIT, 300)};
    struct cn_call out[COUNT_MAX];

    (void)state;
    in[0].function = 0;
    in[1].function = in[2].function = 1;
    cn_call_clock_correct(&clock, in, 3, out);
    assert_int_equal(out[1].time_ns, 200 - 1);
    assert_int_equal(out[2].time_ns, 300 - 11);
}

static void reads_what_the_recorder_says(void **state)
{
    struct cn_recording rec = {0};

    (void)state;
    cn_uft_hook_costs_parse("cairn 1.0 ( call-cost=31.250ns call-inner=14ns "
                            "libcall-cost=50ns libcall-inner=20.5ns )",
                            &rec);
    assert_int_equal(rec.call_cost.call_ps, 31250);
    assert_int_equal(rec.call_cost.inner_ps, 14000);
    assert_int_equal(rec.libcall_cost.call_ps, 50000);
    assert_int_equal(rec.libcall_cost.inner_ps, 20500);
    assert_int_equal(rec.left_out_ps, 0);
    assert_false(rec.has_value_costs);
}

static void reads_what_cannot_be_taken_off(void **state)
{
    struct cn_recording rec = {0};

    (void)state;
    cn_uft_hook_costs_parse("cairn 1.0 ( call-cost=31.250ns call-inner=14ns "
                            "left-out=12.500ns values )",
                            &rec);
    assert_int_equal(rec.left_out_ps, 12500);
    assert_true(rec.has_value_costs);
}

static void ignores_costs_that_cannot_be(void **state)
{
    static const char *const versions[] = {
        "v0.13 ( x86_64 dwarf python luajit tui perf sched dynamic )",
        "cairn ( call-cost=10ns call-inner=11ns )",
        "cairn ( call-cost=-1ns )",
        "cairn ( call-cost=1e300ns call-inner=nan )",
        "cairn ( call-cost=",
        "",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        struct cn_recording rec = {0};

        cn_uft_hook_costs_parse(versions[i], &rec);
        assert_int_equal(rec.call_cost.call_ps, 0);
        assert_int_equal(rec.call_cost.inner_ps, 0);
        assert_int_equal(rec.libcall_cost.call_ps, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_cost_off_a_call_and_its_callers),
        cmocka_unit_test(gives_the_same_in_batches),
        cmocka_unit_test(never_runs_backwards),
        cmocka_unit_test(a_short_call_does_not_pay_for_those_before_it),
        cmocka_unit_test(settles_anywhere),
        cmocka_unit_test(takes_fractions_off_in_the_long_run),
        cmocka_unit_test(leaves_events_and_losses_where_they_belong),
        cmocka_unit_test(knows_library_calls_by_their_type),
        cmocka_unit_test(reads_what_the_recorder_says),
        cmocka_unit_test(reads_what_cannot_be_taken_off),
        cmocka_unit_test(ignores_costs_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
