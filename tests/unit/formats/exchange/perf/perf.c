#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/read/readers.h"
#include "model/thread_states.h"
#include "support/exchange_inputs.h"
#include "support/imported.h"
#include "support/perf_inputs.h"

/* Before the exec the mapping is known, in the fork too; after it nothing is. */
static void check_perf(enum cn_test_perf_form form)
{
    size_t len;
    uint8_t *bytes = cn_test_perf(form, &len);
    struct cn_database *db = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len});
    struct cn_timeline timeline;
    struct cn_error err;

    assert_int_equal(db->metrics.count, 3);
    assert_string_equal(db->metrics.list[0].name, "cpu-clock (sec)");
    assert_string_equal(db->metrics.list[1].name, "page-faults");
    assert_string_equal(db->metrics.list[2].name, "latency (sec)");
    assert_int_equal(db->profile_count, 3);
    assert_float_equal(cn_imported_value(db, "", 0), 500e-9, 1e-18);
    assert_float_equal(cn_imported_value(db, "", 1), 250, 0);
    assert_int_equal(db->module_count, 1);
    assert_float_equal(
        cn_imported_value(db, "[unknown];[unknown] [app];[unknown] [app]", 1), 250, 0);
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    assert_int_equal(timeline.count, 2);
    cn_database_close(db);
    free(bytes);
}

static void perf_data_is_read_in_the_order_of_time(void **state)
{
    (void)state;
    for (enum cn_test_perf_form form = 0; form < CN_TEST_PERF_FORMS; form++)
        check_perf(form);
}

/* Time, cpu time, blocked and pre-empted time add up; a thread that waits has context 0. */
static void switches_in_perf_data_become_time_by_state(void **state)
{
    static const char *const names[] = {"time (sec)",         "cpu time (sec)",
                                        "blocked time (sec)", "pre-empted time (sec)",
                                        "cpu-clock (sec)",    "context-switches",
                                        "latency (sec)"};
    static const struct {
        const char *path;
        double ns[4];
    } want[] = {{"", {110, 65, 40, 5}},
                {"[unknown] [work]", {65, 65, 0, 0}},
                {"[unknown] [wait]", {40, 0, 40, 0}},
                {"[unknown]", {5, 0, 0, 5}}};
    static const struct {
        uint64_t time_ns;
        bool waits;
    } samples[] = {{20, false}, {40, false},  {50, true}, {90, false},
                   {91, false}, {100, false}, {110, true}};
    /* Of the pre-emption there is no sample. */
    static const struct {
        uint64_t time_ns;
        enum cn_task_state state;
        bool has_context;
    } states[] = {{10, CN_TASK_RUNNING, false},  {50, CN_TASK_BLOCKED, true},
                  {90, CN_TASK_RUNNING, false},  {110, CN_TASK_PREEMPTED, false},
                  {115, CN_TASK_RUNNING, false}, {120, CN_TASK_UNKNOWN, false}};
    size_t len;
    uint8_t *bytes = cn_test_perf_switches(&len);
    struct cn_database *db = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len});
    struct cn_timeline timeline;
    struct cn_sample sample;
    struct cn_error err;

    (void)state;
    assert_int_equal(db->metrics.count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(db->metrics.list[i].name, names[i]);
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        for (uint32_t k = 0; k < 4; k++)
            assert_float_equal((float)(1e9 * cn_imported_value(db, want[i].path, k)),
                               (float)want[i].ns[k], 1e-4F);
    /* One thread: it has all of the time in which it runs. */
    assert_float_equal((float)(1e9 * cn_imported_value(db, "", 6)), 65, 1e-4F);
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    assert_int_equal(timeline.count, sizeof(samples) / sizeof(*samples));
    for (size_t i = 0; i < timeline.count; i++) {
        assert_true(cn_timeline_read(db, &timeline, i, 1, &sample, &err));
        assert_int_equal(sample.time_ns, samples[i].time_ns);
        assert_int_equal(sample.context == 0, samples[i].waits);
    }
    assert_int_equal(db->sample_count, 3);
    assert_int_equal(db->begin_ns, 10);
    assert_int_equal(db->end_ns, 120);
    assert_int_equal(db->states[1].count, sizeof(states) / sizeof(*states));
    for (size_t i = 0; i < db->states[1].count; i++) {
        assert_int_equal(db->states[1].list[i].time_ns, states[i].time_ns);
        assert_int_equal(db->states[1].list[i].state, states[i].state);
        assert_int_equal(db->states[1].list[i].context != 0, states[i].has_context);
    }
    cn_database_close(db);
    free(bytes);
}

static void interrupted_addresses_are_exact(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_perf_fault(&len);
    struct cn_database *db = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len});

    (void)state;
    assert_float_equal((float)(1e9 * cn_imported_value(db, "[unknown] [wait]", 0)), 250,
                       1e-4F);
    cn_database_close(db);
    free(bytes);
}

/* The total of a metric of the context at this path. */
static double value_of(struct cn_database *db, const char *path, const char *metric)
{
    for (uint32_t i = 0; i < db->metrics.count; i++)
        if (strcmp(db->metrics.list[i].name, metric) == 0)
            return cn_imported_value(db, path, i);
    fail_msg("no metric %s", metric);
    return 0;
}

static void gpu_work_is_below_its_launch(void **state)
{
    static const char launch[] = "[unknown];[unknown];[unknown] [work];cuLaunchKernel";
    size_t len;
    uint8_t *bytes = cn_test_perf_gpu(&len);
    struct cn_database *db = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len});
    struct cn_text path = {0};

    (void)state;
    cn_text_printf(&path, "%s;<gpu kernel>;scale(float*, int)", launch);
    assert_int_equal(lround(1e9 * value_of(db, cn_text_str(&path), "GKER (sec)")), 5000);
    cn_text_clear(&path);
    cn_text_printf(&path, "%s;<gpu copyin>", launch);
    assert_int_equal(value_of(db, cn_text_str(&path), "GXCOPY:H2D (B)"), 4096);
    assert_int_equal(lround(1e9 * value_of(db, "<launch not recorded>", "GKER (sec)")),
                     2000);
    assert_int_equal(
        value_of(db, "<path not recorded>;cuLaunchKernel;<gpu sync>", "GSYNC:COUNT"), 1);
    cn_text_done(&path);
    cn_database_close(db);
    free(bytes);
}

static void allocations_are_below_their_callers(void **state)
{
    static const char mapping[] = "[unknown] [work];mmap";
    size_t len, warnings = 0;
    uint8_t *bytes = cn_test_perf_memory(&len);
    struct cn_database *db = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len});

    (void)state;
    assert_int_equal(value_of(db, "", "allocated (B)"), 1100);
    assert_int_equal(value_of(db, "", "allocations"), 3);
    assert_int_equal(value_of(db, "", "live at end (B)"), 700);
    assert_int_equal(value_of(db, "", "live at peak (B)"), 1000);
    assert_int_equal(value_of(db, "", "temporary allocations"), 1);
    assert_int_equal(value_of(db, "", "waste (B)"), 8);
    assert_int_equal(value_of(db, "", "sampled allocations"), 0);
    assert_int_equal(value_of(db, mapping, "live at end (B)"), 100);
    for (const struct cn_warning *w = db->warnings; w; w = w->next)
        warnings += strstr(w->text, "1 sampled allocation was lost") ||
                    strstr(w->text, "frees of");
    assert_int_equal(warnings, 2);
    cn_database_close(db);
    free(bytes);
}

/* Records before the cut are read, once there are events; a warning tells that
 * something is missing. */
static void perf_data_that_is_cut_off_is_read_up_to_there(void **state)
{
    for (enum cn_test_perf_form form = 0; form < CN_TEST_PERF_FORMS; form++) {
        size_t len, read_count = 0;
        uint8_t *bytes = cn_test_perf(form, &len);

        (void)state;
        for (size_t cut = 0; cut <= len; cut++) {
            struct cn_import *import = cn_import_new("t", "d");
            struct cn_error err = {0};
            struct cn_database *db;

            if (!cn_perf_read(import, (struct cn_bytes){bytes, cut}, &err)) {
                assert_true(err.text[0] != '\0');
                assert_int_equal(read_count, 0);
                cn_import_free(import);
                continue;
            }
            read_count++;
            assert_true(cn_import_finish(import, &db, &err));
            if (form != CN_TEST_PERF_PIPE)
                assert_int_equal(cn_imported_is_damaged(db), cut < len);
            cn_database_close(db);
        }
        assert_true(read_count > 100);
        free(bytes);
    }
}

/* The clock of the records began at `real_ns`, when it showed `clock_ns`. */
static struct cn_text with_clock(uint64_t real_ns, uint64_t clock_ns)
{
    size_t len;
    uint8_t *bytes = cn_test_perf(CN_TEST_PERF_PIPE, &len);
    uint8_t record[40] = {0};
    struct cn_text text = {0};

    cn_u32_put(record, CN_PERF_HEADER_FEATURE);
    record[6] = sizeof(record);
    cn_u64_put(record + 8, CN_PERF_FEATURE_CLOCK_DATA);
    cn_u64_put(record + 24, real_ns);
    cn_u64_put(record + 32, clock_ns);
    cn_text_add(&text, (const char *)bytes, len);
    cn_text_add(&text, (const char *)record, sizeof(record));
    free(bytes);
    return text;
}

static void times_that_do_not_fit_are_refused(void **state)
{
    struct cn_text good = with_clock(1000000, 1000), late = with_clock(UINT64_MAX, 0),
                   back = with_clock(0, 1000);
    struct cn_import *import = cn_import_new("t", "d");
    struct cn_error err = {0};

    (void)state;
    cn_database_close(
        cn_imported(cn_perf_read, (struct cn_bytes){(uint8_t *)good.chars, good.len}));
    cn_database_close(
        cn_imported(cn_perf_read, (struct cn_bytes){(uint8_t *)back.chars, back.len}));
    assert_false(
        cn_perf_read(import, (struct cn_bytes){(uint8_t *)late.chars, late.len}, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_non_null(strstr(err.text, "of a clock that began at 18446744073709551615 ns"));
    cn_import_free(import);
    cn_text_done(&good);
    cn_text_done(&late);
    cn_text_done(&back);
}

static void damaged_perf_data_is_refused(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_perf(CN_TEST_PERF_PACKED, &len);
    struct cn_error err = {0};

    (void)state;
    for (size_t at = 0; at < len; at++) {
        struct cn_import *import = cn_import_new("t", "d");
        bool ok;

        bytes[at] ^= 0x55;
        ok = cn_perf_read(import, (struct cn_bytes){bytes, len}, &err);
        bytes[at] ^= 0x55;
        assert_true(ok || err.text[0] != '\0');
        cn_import_free(import);
    }
    free(bytes);
}

static void perf_script_has_threads_and_inlined_calls(void **state)
{
    struct cn_database *db =
        cn_imported(cn_perf_script_read, cn_bytes_of(cn_test_perf_script));

    (void)state;
    assert_float_equal(cn_imported_value(db, "main;operator();leaf", 0), 1000, 0);
    assert_float_equal(cn_imported_value(db, "[unknown]", 0), 500, 0);
    assert_string_equal(db->metrics.list[0].name, "cycles:u");
    cn_database_close(db);
}

/* The clock ticks every millisecond while the thread runs: it waits from 3 to 9 ms, and the sample at
 * 10.9 ms is only late. A clock without a period says nothing, and neither do other events. */
static void missing_ticks_of_a_clock_are_waiting(void **state)
{
    static const char *const heads[] = {"1000000 cpu-clock", "cpu-clock",
                                        "1000000 cycles"};
    static const uint64_t want_us[] = {1000, 2000, 3000, 9000, 10900};
    static const bool waits[] = {false, false, true, false, false};
    struct cn_timeline timeline;
    struct cn_sample sample;
    struct cn_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        struct cn_database *db;
        char text[512];

        (void)snprintf(text, sizeof(text),
                       "app 7 0.001000: %s:\n\t 1 main (app)\n\n"
                       "app 7 0.002000: %s:\n\t 1 main (app)\n\n"
                       "app 7 0.009000: %s:\n\t 1 main (app)\n\n"
                       "app 7 0.010900: %s:\n\t 1 main (app)\n",
                       heads[i], heads[i], heads[i], heads[i]);
        db = cn_imported(cn_perf_script_read, cn_bytes_of(text));
        assert_true(cn_timeline_open(db, 1, &timeline, &err));
        assert_int_equal(timeline.count, i == 0 ? 5 : 4);
        for (size_t k = 0; i == 0 && k < timeline.count; k++) {
            assert_true(cn_timeline_read(db, &timeline, k, 1, &sample, &err));
            assert_int_equal(sample.time_ns, 1000 * want_us[k]);
            assert_int_equal(sample.context == 0, waits[k]);
        }
        cn_database_close(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_data_is_read_in_the_order_of_time),
        cmocka_unit_test(switches_in_perf_data_become_time_by_state),
        cmocka_unit_test(interrupted_addresses_are_exact),
        cmocka_unit_test(gpu_work_is_below_its_launch),
        cmocka_unit_test(allocations_are_below_their_callers),
        cmocka_unit_test(perf_data_that_is_cut_off_is_read_up_to_there),
        cmocka_unit_test(damaged_perf_data_is_refused),
        cmocka_unit_test(times_that_do_not_fit_are_refused),
        cmocka_unit_test(perf_script_has_threads_and_inlined_calls),
        cmocka_unit_test(missing_ticks_of_a_clock_are_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
