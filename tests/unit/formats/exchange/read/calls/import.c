#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/exchange/read/calls/import.h"
#include "model/calls/recording.h"

enum { MANY = 4200000, STEP_NS = 10 }; /* more than stay in memory, twice */

static struct cn_bytes name_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static uint32_t track_of(struct cn_call_import *import, uint64_t tid)
{
    struct cn_error err;
    uint32_t track;

    assert_true(cn_call_import_track(import, 1, tid, (struct cn_bytes){0}, &track, &err));
    return track;
}

static struct cn_recording *finish(struct cn_call_import *import)
{
    struct cn_error err;
    struct cn_recording *rec;

    assert_true(cn_call_import_finish(import, 0, &rec, &err));
    return rec;
}

/* Calls that come in the wrong order, more than fit into memory: each comes back once, in
 * order. */
static void sorts_more_than_fits_into_memory(void **state)
{
    struct cn_call_import *import = cn_call_import_new("test");
    uint32_t tracks[2] = {track_of(import, 5), track_of(import, 6)};
    uint32_t name = cn_call_import_name(import, name_of("f"));
    struct cn_error err = {0};
    struct cn_recording *rec;

    (void)state;
    for (uint64_t i = MANY; i-- > 0;)
        assert_true(
            cn_call_import_add(import, tracks[i % 2], (i ^ 5) * STEP_NS, 3, name, &err));
    rec = finish(import);
    assert_int_equal(rec->task_count, 2);
    for (uint32_t task = 0; task < 2; task++) {
        struct cn_call_stream *stream;
        struct cn_call_batch batch;
        uint64_t count = 0, last_ns = 0;

        assert_true(cn_recording_stream_open(rec, task, cn_time_always, &stream, &err));
        while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM) {
            for (size_t i = 0; i < batch.count; i++)
                if (batch.calls[i].time_ns < last_ns || batch.calls[i].depth != 0)
                    fail_msg("call %zu of a batch is out of order", i);
                else
                    last_ns = batch.calls[i].time_ns;
            count += batch.count;
        }
        assert_int_equal(count, MANY); /* half of the calls, two records each */
        cn_call_stream_close(stream);
    }
    cn_recording_close(rec);
}

static void only_the_time_range_is_delivered(void **state)
{
    struct cn_call_import *import = cn_call_import_new("test");
    uint32_t track = track_of(import, 5);
    uint32_t name = cn_call_import_name(import, name_of("f"));
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err = {0};
    struct cn_recording *rec;

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        assert_true(cn_call_import_add(import, track, i * STEP_NS, 3, name, &err));
    rec = finish(import);
    assert_true(
        cn_recording_stream_open(rec, 0, (struct cn_time_range){20, 32}, &stream, &err));
    assert_int_equal(cn_call_stream_next(stream, &batch, &err), CN_ITEM);
    assert_int_equal(batch.count, 3);
    assert_int_equal(batch.calls[2].time_ns, 30);
    assert_int_equal(cn_call_stream_next(stream, &batch, &err), CN_END);
    cn_call_stream_close(stream);
    cn_recording_close(rec);
}

/* What rounding explains is cut, ends without a beginning ignored, what is open ends with the track. */
static void calls_are_made_to_nest(void **state)
{
    static const struct {
        uint64_t time_ns;
        uint8_t kind, depth;
    } expected[] = {
        {10, CN_CALL_ENTER, 0}, {15, CN_CALL_ENTER, 1}, {20, CN_CALL_EXIT, 1},
        {20, CN_CALL_EXIT, 0},  {30, CN_CALL_ENTER, 0}, {40, CN_CALL_EXIT, 0},
    };
    struct cn_call_import *import = cn_call_import_new("test");
    uint32_t track = track_of(import, 5);
    uint32_t name = cn_call_import_name(import, name_of("f"));
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err = {0};
    struct cn_recording *rec;

    (void)state;
    assert_true(cn_call_import_end(import, track, 5, &err));
    assert_true(cn_call_import_add(import, track, 15, 10, name, &err));
    assert_true(cn_call_import_add(import, track, 10, 10, name, &err));
    assert_true(cn_call_import_add(import, track, 30, CN_CALL_BEGIN, name, &err));
    assert_true(cn_call_import_add(import, track_of(import, 7), 1, 1, name, &err));
    assert_true(cn_call_import_end(import, track, 40, &err));
    assert_true(cn_call_import_end(import, track, 41, &err));
    rec = finish(import);
    assert_true(cn_recording_stream_open(rec, 0, cn_time_always, &stream, &err));
    assert_int_equal(cn_call_stream_next(stream, &batch, &err), CN_ITEM);
    assert_int_equal(batch.count, sizeof(expected) / sizeof(*expected));
    for (size_t i = 0; i < batch.count; i++) {
        assert_int_equal(batch.calls[i].time_ns, expected[i].time_ns);
        assert_int_equal(batch.calls[i].kind, expected[i].kind);
        assert_int_equal(batch.calls[i].depth, expected[i].depth);
    }
    cn_call_stream_close(stream);
    cn_recording_close(rec);
}

/* The calls of a task: their durations, in the order of their ends. */
static size_t durations_of(struct cn_recording *rec, uint32_t task, uint64_t *out)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err = {0};
    uint64_t begins[8];
    size_t count = 0;

    assert_true(cn_recording_stream_open(rec, task, cn_time_always, &stream, &err));
    while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.calls[i].kind == CN_CALL_ENTER)
                begins[batch.calls[i].depth] = batch.calls[i].time_ns;
            else
                out[count++] = batch.calls[i].time_ns - begins[batch.calls[i].depth];
    cn_call_stream_close(stream);
    return count;
}

static void calls_that_overlap_get_lanes(void **state)
{
    struct cn_call_import *import = cn_call_import_new("test");
    uint32_t track = track_of(import, 5);
    uint32_t name = cn_call_import_name(import, name_of("f"));
    struct cn_error err = {0};
    struct cn_recording *rec;
    uint64_t us = 1000, found[8];
    uint32_t first;

    (void)state;
    cn_call_import_track_name(import, track, name_of("worker"));
    assert_true(cn_call_import_add(import, track, 0, 70 * us, name, &err));
    assert_true(cn_call_import_add(import, track, 10 * us, 90 * us, name, &err));
    assert_true(cn_call_import_add(import, track, 20 * us, 30 * us, name, &err));
    assert_true(cn_call_import_add(import, track, 80 * us, 100 * us, name, &err));
    rec = finish(import);
    assert_null(rec->warnings);
    assert_int_equal(rec->task_count, 2);
    assert_string_equal(rec->tasks[0].name, "worker");
    assert_string_equal(rec->tasks[1].name, "worker");
    assert_int_equal(rec->tasks[0].pid, rec->tasks[1].pid);
    first = rec->tasks[0].tid == 5 ? 0 : 1;
    assert_int_equal(durations_of(rec, first, found), 3);
    assert_int_equal(found[0], 30 * us);
    assert_int_equal(found[1], 70 * us);
    assert_int_equal(found[2], 100 * us);
    assert_int_equal(durations_of(rec, 1 - first, found), 1);
    assert_int_equal(found[0], 90 * us);
    cn_recording_close(rec);
}

/* Calls beyond the lanes, and calls that begin inside another and end outside it. */
static void calls_that_are_cut_are_counted(void **state)
{
    struct cn_call_import *import = cn_call_import_new("test");
    uint32_t track = track_of(import, 5);
    uint32_t name = cn_call_import_name(import, name_of("f"));
    struct cn_error err = {0};
    struct cn_recording *rec;
    uint64_t us = 1000;

    (void)state;
    for (uint64_t i = 0; i < CN_CALL_STRAND_MAX + 10; i++)
        assert_true(cn_call_import_add(import, track, 2 * i * us, 900 * us, name, &err));
    track = track_of(import, 6);
    assert_true(cn_call_import_add(import, track, 0, 10 * us, name, &err));
    assert_true(cn_call_import_add(import, track, 5 * us, CN_CALL_BEGIN, name, &err));
    assert_true(cn_call_import_end(import, track, 20 * us, &err));
    track = track_of(import, 7);
    assert_true(cn_call_import_add(import, track, 0, CN_CALL_BEGIN, name, &err));
    assert_true(cn_call_import_add(import, track, 5 * us, 10 * us, name, &err));
    assert_true(cn_call_import_end(import, track, 8 * us, &err));
    rec = finish(import);
    assert_int_equal(rec->task_count, CN_CALL_STRAND_MAX + 2);
    assert_non_null(rec->warnings);
    assert_string_equal(rec->warnings->text,
                        "12 calls overlap others: they end with their callers");
    cn_recording_close(rec);
}

static void add_flow(struct cn_call_import *import, uint32_t track, uint64_t time_ns,
                     enum cn_flow_step step, uint64_t id)
{
    struct cn_error err = {0};

    assert_true(cn_call_import_flow(import, track, time_ns, step, id, CN_NONE, &err));
}

/* An import with a call in two tracks, in the order of tids the second one first. */
static struct cn_call_import *begin_flows(uint32_t tracks[2])
{
    struct cn_call_import *import = cn_call_import_new("test");
    uint32_t name = cn_call_import_name(import, name_of("f"));
    struct cn_error err = {0};

    tracks[0] = track_of(import, 6);
    tracks[1] = track_of(import, 5);
    for (int i = 0; i < 2; i++)
        assert_true(cn_call_import_add(import, tracks[i], 0, 1000, name, &err));
    return import;
}

/* From a start to a step, from there to two ends; another start of the same id; and points
 * without another end: a start, an end, a start before a start. */
static void flows_are_joined_in_the_order_of_time(void **state)
{
    static const struct {
        uint32_t from, to;
        uint64_t from_ns, to_ns;
    } expected[] = {{1, 0, 10, 20}, {0, 1, 20, 30}, {0, 1, 20, 40}, {1, 1, 50, 50}};
    uint32_t tracks[2];
    struct cn_call_import *import = begin_flows(tracks);
    struct cn_recording *rec;

    (void)state;
    add_flow(import, tracks[0], 40, CN_FLOW_END, 7);
    add_flow(import, tracks[1], 20, CN_FLOW_STEP, 7);
    add_flow(import, tracks[0], 50, CN_FLOW_END, 7);
    add_flow(import, tracks[0], 30, CN_FLOW_END, 7);
    add_flow(import, tracks[0], 10, CN_FLOW_START, 7);
    add_flow(import, tracks[0], 50, CN_FLOW_START, 7);
    add_flow(import, tracks[0], 1, CN_FLOW_START, 8);
    add_flow(import, tracks[0], 1, CN_FLOW_END, 9);
    add_flow(import, tracks[0], 9, CN_FLOW_START, 7);
    rec = finish(import);
    assert_int_equal(rec->flow_count, 4);
    for (uint32_t i = 0; i < rec->flow_count; i++) {
        assert_int_equal(rec->flows[i].from_task, expected[i].from);
        assert_int_equal(rec->flows[i].to_task, expected[i].to);
        assert_int_equal(rec->flows[i].from_ns, expected[i].from_ns);
        assert_int_equal(rec->flows[i].to_ns, expected[i].to_ns);
        assert_string_equal(rec->flows[i].name, "");
    }
    assert_string_equal(rec->warnings->text, "3 ends of flows have no other end");
    cn_recording_close(rec);
}

static void flows_after_the_limit_are_counted(void **state)
{
    uint32_t tracks[2];
    struct cn_call_import *import = begin_flows(tracks);
    struct cn_recording *rec;

    (void)state;
    for (uint64_t i = 0; i < CN_FLOW_MAX + 5; i++)
        add_flow(import, tracks[i % 2], 100, i == 0 ? CN_FLOW_START : CN_FLOW_END, 1);
    rec = finish(import);
    assert_int_equal(rec->flow_count, CN_FLOW_MAX - 1);
    assert_string_equal(rec->warnings->text,
                        "5 ends of flows after the first 1048576 are skipped");
    cn_recording_close(rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_more_than_fits_into_memory),
        cmocka_unit_test(only_the_time_range_is_delivered),
        cmocka_unit_test(calls_are_made_to_nest),
        cmocka_unit_test(calls_that_overlap_get_lanes),
        cmocka_unit_test(calls_that_are_cut_are_counted),
        cmocka_unit_test(flows_are_joined_in_the_order_of_time),
        cmocka_unit_test(flows_after_the_limit_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
