#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/timeline/task_tracks.h"
#include "base/bytes/record.h"
#include "model/calls/recording_memory.h"

/* A task that has a name at 50, runs from 100 to 400, blocked from 150 to 200 and pre-empted from 220 to 230. */
static struct cn_memory_recording *begin(void)
{
    struct cn_memory_recording *m = cn_memory_recording_new();

    (void)cn_memory_recording_add_task(
        m, (struct cn_task){.tid = 1, .pid = 1, .name = "t", .has_file = true});
    return m;
}

static void add_event(struct cn_memory_recording *m, uint64_t time_ns, uint64_t id)
{
    cn_memory_recording_add_call(m, 0,
                                 (struct cn_call){.time_ns = time_ns,
                                                  .address = id,
                                                  .function = CN_NONE,
                                                  .kind = CN_CALL_EVENT},
                                 (struct cn_bytes){0});
}

static void add_memory(struct cn_memory_recording *m, uint64_t time_ns, uint64_t id,
                       uint64_t resident)
{
    uint8_t data[3 * 8] = {0};

    cn_u64_put(data + 8, resident);
    cn_memory_recording_add_call(m, 0,
                                 (struct cn_call){.time_ns = time_ns,
                                                  .address = id,
                                                  .function = CN_NONE,
                                                  .kind = CN_CALL_EVENT,
                                                  .flags = CN_CALL_HAS_DATA},
                                 (struct cn_bytes){data, sizeof(data)});
}

static void add_states(struct cn_memory_recording *m)
{
    add_event(m, 50, CN_EVENT_TASK_NAME);
    add_event(m, 100, CN_EVENT_USER);
    add_event(m, 150, CN_EVENT_SCHED_OUT);
    add_event(m, 200, CN_EVENT_SCHED_IN);
    add_event(m, 220, CN_EVENT_SCHED_OUT_PREEMPT);
    add_event(m, 230, CN_EVENT_SCHED_IN);
    add_event(m, 400, CN_EVENT_USER);
}

static struct cn_task_tracks read_tracks(struct cn_memory_recording *m, size_t item_max)
{
    struct cn_recording *rec = cn_memory_recording_finish(m);
    struct cn_task_tracks tracks;
    struct cn_error err = {0};

    if (!cn_task_tracks_read(&tracks, rec, 0, item_max, NULL, &err))
        fail_msg("%s", err.text);
    cn_recording_close(rec);
    return tracks;
}

static void states_add_up_to_the_time_asked_for(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;
    uint64_t ns[CN_TASK_STATES];

    (void)state;
    add_states(m);
    tracks = read_tracks(m, 100);
    assert_true(tracks.has_states);
    cn_task_tracks_sum(&tracks, 0, 1000, ns);
    assert_int_equal(ns[CN_TASK_RUNNING], 50 + 20 + 170);
    assert_int_equal(ns[CN_TASK_BLOCKED], 50);
    assert_int_equal(ns[CN_TASK_PREEMPTED], 10);
    assert_int_equal(ns[CN_TASK_UNKNOWN], 100 + 600);
    for (uint64_t at = 0; at < 500; at += 7) {
        uint64_t before[CN_TASK_STATES], after[CN_TASK_STATES];

        cn_task_tracks_sum(&tracks, 0, at, before);
        cn_task_tracks_sum(&tracks, at, 1000, after);
        for (unsigned i = 0; i < CN_TASK_STATES; i++)
            assert_int_equal(before[i] + after[i], ns[i]);
    }
    cn_task_tracks_done(&tracks);
}

static void a_column_has_the_state_with_most_of_its_time(void **state)
{
    static const uint8_t expected[] = {CN_TASK_UNKNOWN, CN_TASK_UNKNOWN, CN_TASK_RUNNING,
                                       CN_TASK_BLOCKED, CN_TASK_RUNNING, CN_TASK_RUNNING,
                                       CN_TASK_RUNNING, CN_TASK_RUNNING, CN_TASK_UNKNOWN};
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;
    uint8_t found[9];

    (void)state;
    add_states(m);
    tracks = read_tracks(m, 100);
    cn_task_tracks_columns(&tracks, 0, 450, 9, found);
    assert_memory_equal(found, expected, sizeof(found));
    cn_task_tracks_columns(&tracks, 219, 231, 2, found);
    assert_int_equal(found[0], CN_TASK_PREEMPTED);
    assert_int_equal(found[1], CN_TASK_PREEMPTED);
    cn_task_tracks_done(&tracks);
}

static void after_the_limit_states_are_unknown(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;
    uint64_t ns[CN_TASK_STATES];

    (void)state;
    add_states(m);
    tracks = read_tracks(m, 2);
    cn_task_tracks_sum(&tracks, 100, 400, ns);
    assert_int_equal(ns[CN_TASK_BLOCKED], 50);
    assert_int_equal(ns[CN_TASK_RUNNING], 50 + 20);
    assert_int_equal(ns[CN_TASK_UNKNOWN], 180);
    cn_task_tracks_done(&tracks);
}

static void readings_at_the_end_of_calls_add_to_those_at_their_begin(void **state)
{
    static const int64_t expected[] = {1000, 1100, 1050, 1300};
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;

    (void)state;
    add_memory(m, 10, CN_EVENT_DIFF_STATM, 5); /* of a call that began before */
    add_memory(m, 20, CN_EVENT_READ_STATM, 1000);
    add_memory(m, 30, CN_EVENT_READ_STATM, 1100);
    add_memory(m, 40, CN_EVENT_DIFF_STATM, (uint64_t)-50);
    add_memory(m, 50, CN_EVENT_DIFF_STATM, 300);
    tracks = read_tracks(m, 100);
    assert_false(tracks.has_states);
    assert_int_equal(tracks.readings[CN_COUNTER_CYCLES].count, 0);
    assert_int_equal(tracks.readings[CN_COUNTER_VMRSS].count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tracks.readings[CN_COUNTER_VMRSS].list[i].value, expected[i]);
        assert_int_equal(tracks.readings[CN_COUNTER_VMRSS].list[i].time_ns, 20 + 10 * i);
    }
    cn_task_tracks_done(&tracks);
}

/* Calls every 100 ns for a while, none for as long, then one. */
static void the_rate_of_calls_adds_up_to_their_number(void **state)
{
    enum { CALLS = 5000, STEP_NS = 100, BUSY_NS = CALLS * STEP_NS };
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;
    double sum = 0;

    (void)state;
    for (uint64_t i = 0; i <= CALLS; i++) {
        uint64_t time_ns = 1000 + (i == CALLS ? 2 * BUSY_NS : i * STEP_NS);

        for (unsigned k = 0; k < 2; k++)
            cn_memory_recording_add_call(
                m, 0,
                (struct cn_call){.time_ns = time_ns + 50 * k,
                                 .function = CN_NONE,
                                 .kind = k == 0 ? CN_CALL_ENTER : CN_CALL_EXIT},
                (struct cn_bytes){0});
    }
    tracks = read_tracks(m, 0);
    assert_true(tracks.call_rate.count > 2 && tracks.call_rate.count <= 64 + 1);
    assert_int_equal(tracks.call_rate.list[0].time_ns, 1000);
    assert_float_equal(tracks.call_rate.list[0].value, 1e9 / STEP_NS, 1e5);
    for (size_t i = 0; i + 1 < tracks.call_rate.count; i++) {
        const struct cn_reading *at = &tracks.call_rate.list[i];

        sum += at->value * (double)(at[1].time_ns - at->time_ns) * 1e-9;
        if (at->time_ns > 1000 + BUSY_NS && at->time_ns < 2 * BUSY_NS - BUSY_NS / 16)
            assert_float_equal(at->value, 0, 0);
    }
    assert_float_equal(sum, CALLS + 1, 1e-6);
    assert_float_equal(tracks.call_rate.list[tracks.call_rate.count - 1].value, 0, 0);
    assert_int_equal(tracks.call_rate.list[tracks.call_rate.count - 1].time_ns,
                     1000 + 2 * BUSY_NS + 50);
    cn_task_tracks_done(&tracks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_add_up_to_the_time_asked_for),
        cmocka_unit_test(a_column_has_the_state_with_most_of_its_time),
        cmocka_unit_test(after_the_limit_states_are_unknown),
        cmocka_unit_test(readings_at_the_end_of_calls_add_to_those_at_their_begin),
        cmocka_unit_test(the_rate_of_calls_adds_up_to_their_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
