#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/timeline/processor_tracks.h"
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

static void add_call(struct cn_memory_recording *m, uint32_t task, uint64_t time_ns,
                     enum cn_call_kind kind)
{
    cn_memory_recording_add_call(
        m, task,
        (struct cn_call){.time_ns = time_ns, .function = CN_NONE, .kind = (uint8_t)kind},
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
    struct cn_state_sums all;

    (void)state;
    add_states(m);
    tracks = read_tracks(m, 100);
    cn_task_tracks_sum(&tracks, 0, 1000, &all);
    assert_int_equal(all.ns[CN_TASK_RUNNING], 50 + 20 + 170);
    assert_int_equal(all.ns[CN_TASK_BLOCKED], 50);
    assert_int_equal(all.ns[CN_TASK_PREEMPTED], 10);
    assert_int_equal(all.ns[CN_TASK_UNKNOWN], 100 + 600);
    for (uint64_t at = 0; at < 500; at += 7) {
        struct cn_state_sums before, after;

        cn_task_tracks_sum(&tracks, 0, at, &before);
        cn_task_tracks_sum(&tracks, at, 1000, &after);
        for (unsigned i = 0; i < CN_TASK_STATES; i++)
            assert_int_equal(before.ns[i] + after.ns[i], all.ns[i]);
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

static void after_the_limit_only_the_sums_of_all_are_known(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;
    struct cn_state_sums sums;

    (void)state;
    add_states(m);
    tracks = read_tracks(m, 2);
    cn_task_tracks_sum(&tracks, 101, 400, &sums);
    assert_int_equal(sums.ns[CN_TASK_BLOCKED], 50);
    assert_int_equal(sums.ns[CN_TASK_RUNNING], 49 + 20);
    assert_int_equal(sums.ns[CN_TASK_PREEMPTED], 0);
    assert_int_equal(sums.ns[CN_TASK_UNKNOWN], 180);
    cn_task_tracks_sum(&tracks, 0, 1000, &sums);
    assert_int_equal(sums.ns[CN_TASK_RUNNING], 50 + 20 + 170);
    assert_int_equal(sums.ns[CN_TASK_PREEMPTED], 10);
    assert_int_equal(sums.ns[CN_TASK_UNKNOWN], 100 + 600);
    cn_task_tracks_done(&tracks);
}

/* A call from 100 to 300; two tasks, the second without scheduler events from 250 to 500. */
static void states_of_tasks_add_up_to_the_wall_time(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_task_states states;
    struct cn_recording *rec;
    struct cn_error err = {0};
    uint64_t sum_ns;

    (void)state;
    add_call(m, 0, 100, CN_CALL_ENTER);
    add_event(m, 150, CN_EVENT_SCHED_OUT);
    add_event(m, 190, CN_EVENT_SCHED_IN);
    add_call(m, 0, 300, CN_CALL_EXIT);
    add_event(m, 310, CN_EVENT_SCHED_OUT);
    add_event(m, 380, CN_EVENT_SCHED_IN);
    add_event(m, 390, CN_EVENT_SCHED_OUT_PREEMPT);
    add_event(m, 393, CN_EVENT_SCHED_IN);
    add_event(m, 400, CN_EVENT_USER);
    (void)cn_memory_recording_add_task(
        m, (struct cn_task){.tid = 2, .pid = 1, .name = "u", .has_file = true});
    add_call(m, 1, 250, CN_CALL_ENTER);
    add_call(m, 1, 500, CN_CALL_EXIT);
    rec = cn_memory_recording_finish(m);
    assert_true(cn_task_states_build(&states, rec, cn_time_always, 2, NULL, &err));
    assert_true(states.is_known);
    assert_int_equal(states.wall_ns, 400);
    for (size_t task = 0; task < 2; task++) {
        sum_ns = 0;
        for (unsigned i = 0; i < CN_TASK_STATES; i++)
            sum_ns += states.list[task].ns[i];
        assert_int_equal(sum_ns, 400);
    }
    assert_int_equal(states.list[0].ns[CN_TASK_BLOCKED], 40 + 70);
    assert_int_equal(states.list[0].outside_ns[CN_TASK_BLOCKED], 70);
    assert_int_equal(states.list[0].ns[CN_TASK_PREEMPTED], 3);
    assert_int_equal(cn_state_sums_waiting_outside(&states.list[0]), 73);
    assert_int_equal(states.list[0].ns[CN_TASK_UNKNOWN], 100);
    assert_int_equal(states.list[1].ns[CN_TASK_RUNNING], 250);
    assert_int_equal(states.list[1].outside_ns[CN_TASK_RUNNING], 0);
    cn_task_states_done(&states);
    assert_true(cn_task_states_build(&states, rec, (struct cn_time_range){160, 350}, 1,
                                     NULL, &err));
    assert_int_equal(states.wall_ns, 190);
    assert_int_equal(states.list[0].ns[CN_TASK_BLOCKED], 30 + 40);
    assert_int_equal(states.list[0].ns[CN_TASK_UNKNOWN], 0);
    cn_task_states_done(&states);
    cn_recording_close(rec);
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

        add_call(m, 0, time_ns, CN_CALL_ENTER);
        add_call(m, 0, time_ns + 50, CN_CALL_EXIT);
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

static void add_switch(struct cn_memory_recording *m, uint64_t time_ns, uint64_t id,
                       uint16_t processor)
{
    cn_memory_recording_add_call(m, 0,
                                 (struct cn_call){.time_ns = time_ns,
                                                  .address = id,
                                                  .function = CN_NONE,
                                                  .depth = (uint16_t)(1 + processor),
                                                  .kind = CN_CALL_EVENT},
                                 (struct cn_bytes){0});
}

/* From 100 on processor 1, from 200 to 220 on 0, from 230 to the last record on 1. */
static void events_tell_on_which_processor_a_task_ran(void **state)
{
    static const struct cn_thread_run expected[] = {
        {100, 150, 1}, {200, 220, 0}, {230, 400, 1}};
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;

    (void)state;
    add_event(m, 100, CN_EVENT_USER);
    add_switch(m, 150, CN_EVENT_SCHED_OUT, 1);
    add_switch(m, 200, CN_EVENT_SCHED_IN, 0);
    add_switch(m, 220, CN_EVENT_SCHED_OUT_PREEMPT, 0);
    add_switch(m, 230, CN_EVENT_SCHED_IN, 1);
    add_event(m, 400, CN_EVENT_USER);
    tracks = read_tracks(m, 100);
    assert_int_equal(tracks.runs.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tracks.runs.list[i].begin_ns, expected[i].begin_ns);
        assert_int_equal(tracks.runs.list[i].end_ns, expected[i].end_ns);
        assert_int_equal(tracks.runs.list[i].processor, expected[i].processor);
    }
    cn_task_tracks_done(&tracks);
}

static void without_processors_no_runs_are_known(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_task_tracks tracks;

    (void)state;
    add_states(m);
    tracks = read_tracks(m, 100);
    assert_int_equal(tracks.runs.count, 0);
    cn_task_tracks_done(&tracks);
}

static void runs_are_in_order_and_do_not_overlap(void **state)
{
    struct cn_thread_runs runs = {0};

    (void)state;
    cn_thread_runs_add(&runs, 10, 20, 3);
    cn_thread_runs_add(&runs, 20, 30, 3);                /* continues it */
    cn_thread_runs_add(&runs, 25, 40, 2);                /* from 30 on */
    cn_thread_runs_add(&runs, 35, 38, 2);                /* there already */
    cn_thread_runs_add(&runs, 50, 60, CN_PROCESSOR_MAX); /* damaged */
    cn_thread_runs_add(&runs, 70, 70, 2);
    assert_int_equal(runs.count, 2);
    assert_int_equal(runs.list[0].end_ns, 30);
    assert_int_equal(runs.list[1].begin_ns, 30);
    assert_int_equal(runs.list[1].end_ns, 40);
    cn_thread_runs_done(&runs);
}

static const struct cn_thread_runs *runs_at(void *arg, uint32_t thread)
{
    const struct cn_thread_runs *runs = arg;

    return thread == 3 ? NULL : &runs[thread];
}

static void a_processor_shows_the_thread_that_ran_longest(void **state)
{
    struct cn_thread_runs runs[3] = {0};
    struct cn_processor_tracks tracks;
    struct cn_processor_question question = {.runs_of = runs_at,
                                             .arg = runs,
                                             .first_thread = 1,
                                             .thread_end = 4,
                                             .begin_ns = 100,
                                             .end_ns = 200,
                                             .column_count = 10,
                                             .processor_max = 8};

    (void)state;
    cn_thread_runs_add(&runs[1], 50, 113, 0);
    cn_thread_runs_add(&runs[1], 150, 250, 7);
    cn_thread_runs_add(&runs[2], 113, 120, 0);
    cn_thread_runs_add(&runs[2], 300, 310, 5); /* outside */
    cn_processor_tracks_build(&tracks, &question);
    assert_int_equal(tracks.count, 3);
    assert_int_equal(tracks.list[0].number, 0);
    assert_int_equal(tracks.list[1].number, 5);
    assert_int_equal(tracks.list[2].number, 7);
    assert_int_equal(tracks.list[0].cells[0].thread, 1);
    assert_int_equal(tracks.list[0].cells[1].thread, 2);
    assert_int_equal(tracks.list[0].cells[1].most_ns, 7);
    assert_int_equal(tracks.list[0].cells[1].busy_ns, 10);
    assert_int_equal(tracks.list[0].cells[2].busy_ns, 0); /* a gap */
    assert_int_equal(tracks.list[0].busy_ns, 20);
    assert_int_equal(tracks.list[1].busy_ns, 0);
    assert_int_equal(tracks.list[2].busy_ns, 50);
    assert_int_equal(tracks.list[2].cells[4].busy_ns, 0);
    assert_int_equal(tracks.list[2].cells[5].thread, 1);
    cn_processor_tracks_done(&tracks);
    question.processor_max = 1;
    cn_processor_tracks_build(&tracks, &question);
    assert_int_equal(tracks.count, 1);
    assert_int_equal(tracks.list[0].busy_ns, 20);
    cn_processor_tracks_done(&tracks);
    for (size_t i = 0; i < 3; i++)
        cn_thread_runs_done(&runs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_add_up_to_the_time_asked_for),
        cmocka_unit_test(a_column_has_the_state_with_most_of_its_time),
        cmocka_unit_test(after_the_limit_only_the_sums_of_all_are_known),
        cmocka_unit_test(states_of_tasks_add_up_to_the_wall_time),
        cmocka_unit_test(readings_at_the_end_of_calls_add_to_those_at_their_begin),
        cmocka_unit_test(the_rate_of_calls_adds_up_to_their_number),
        cmocka_unit_test(events_tell_on_which_processor_a_task_ran),
        cmocka_unit_test(without_processors_no_runs_are_known),
        cmocka_unit_test(runs_are_in_order_and_do_not_overlap),
        cmocka_unit_test(a_processor_shows_the_thread_that_ran_longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
