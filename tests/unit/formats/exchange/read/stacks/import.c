#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/pprof_format.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"
#include "formats/exchange/read/traces/span_set.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"
#include "model/contexts/database.h"
#include "model/gpu/work.h"
#include "model/thread_states.h"
#include "model/traces/links.h"
#include "model/traces/span.h"
#include "support/exchange_inputs.h"
#include "support/imported.h"
#include "support/scratch.h"

static void folded_stacks_are_summed(void **state)
{
    struct cn_database *db = cn_imported(cn_folded_read, cn_bytes_of(cn_test_folded));

    (void)state;
    assert_float_equal(cn_imported_value(db, "", 0), 20, 0);
    assert_float_equal(cn_imported_value(db, "main", 0), 16, 0);
    assert_float_equal(cn_imported_value(db, "main;solve;dot", 0), 12, 0);
    cn_database_close(db);
}

static void pprof_has_stacks_units_and_threads(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_pprof(&len);
    struct cn_database *db = cn_imported(cn_pprof_read, (struct cn_bytes){bytes, len});
    struct cn_profile profile;
    struct cn_error err;

    (void)state;
    assert_string_equal(db->metrics.list[0].name, "time (sec)");
    assert_float_equal(cn_imported_value(db, "main;f", 0), 2, 1e-12);
    assert_true(cn_database_profile(db, 1, &profile, &err));
    assert_int_equal(profile.identity.ids[0].logical, 42);
    cn_database_close(db);
    free(bytes);
}

/* Where the only sample of cn_test_pprof() ends. */
static size_t end_of_sample(struct cn_bytes bytes)
{
    struct cn_pb_reader reader = cn_pb_read(bytes);
    struct cn_pb_field field;
    struct cn_error err;

    do
        assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FIELD);
    while (field.number != cn_pprof_profile_sample);
    return (size_t)reader.off;
}

/* Wherever a profile is cut, its sample counts if it is whole, and the damage is told. */
static void pprof_is_read_up_to_the_damage(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_pprof(&len);
    size_t first = end_of_sample((struct cn_bytes){bytes, len});

    (void)state;
    for (size_t cut = 0; cut < first; cut++) {
        struct cn_import *import = cn_import_new("t", "d");
        struct cn_error err = {0};

        assert_false(cn_pprof_read(import, (struct cn_bytes){bytes, cut}, &err));
        assert_int_equal(err.kind, CN_ERR_FORMAT);
        cn_import_free(import);
    }
    for (size_t cut = first; cut < len; cut++) {
        struct cn_database *db =
            cn_imported(cn_pprof_read, (struct cn_bytes){bytes, cut});
        bool is_time = strcmp(db->metrics.list[0].name, "time (sec)") == 0;

        assert_true(cn_imported_is_damaged(db));
        assert_null(db->copied_as);
        assert_float_equal(cn_imported_value(db, "", 0), is_time ? 2 : 2e9, 1e-12);
        if (cut == first)
            assert_float_equal(cn_imported_value(db, "[unknown];[unknown]", 0), 2e9, 0);
        cn_database_close(db);
    }
    free(bytes);
}

/* A message that is wrong inside hides no other; values of types without names stay apart. */
static void pprof_skips_what_is_wrong(void **state)
{
    static const char profile[] = "\x0a\x04\x08\x09\x10\x09"         /* a type */
                                  "\x0a\x04\x08\x0a\x10\x09"         /* another */
                                  "\x12\x06\x0a\x01\x07\x12\x7f\x01" /* cut off inside */
                                  "\x12\x07\x0a\x01\x07\x12\x02\x03\x05"
                                  "\x32\x00";
    struct cn_database *db = cn_imported(
        cn_pprof_read, (struct cn_bytes){(const uint8_t *)profile, sizeof(profile) - 1});

    (void)state;
    assert_string_equal(
        db->warnings->text,
        "messages that cannot be read are skipped: 1; the first: sample at "
        "14: field 2 at 17 is cut off: it has 127 bytes, and 1 follow");
    assert_true(cn_imported_is_damaged(db));
    assert_string_equal(db->metrics.list[0].name, "value 2");
    assert_float_equal(cn_imported_value(db, "[unknown]", 0), 5, 0);
    assert_float_equal(cn_imported_value(db, "[unknown]", 1), 3, 0);
    cn_database_close(db);
}

/* The type of the period is a message among numbers. */
static void pprof_is_recognised_by_its_fields(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_pprof(&len);
    size_t otlp_len;
    uint8_t *otlp = cn_test_otlp(&otlp_len);

    (void)state;
    cn_scratch_write("p", bytes, len);
    cn_scratch_write("o", otlp, otlp_len);
    assert_true(cn_pprof_probe("p"));
    assert_false(cn_pprof_probe("o"));
    free(bytes);
    free(otlp);
}

static void speedscope_has_samples_and_events(void **state)
{
    struct cn_database *db =
        cn_imported(cn_speedscope_read, cn_bytes_of(cn_test_speedscope));

    (void)state;
    assert_float_equal(cn_imported_value(db, "main", 0), 0.003, 1e-12);
    assert_float_equal(cn_imported_value(db, "main;f", 0), 0.001, 1e-12);
    cn_database_close(db);
    db = cn_imported(cn_speedscope_read, cn_bytes_of(cn_test_speedscope_calls));
    assert_float_equal(cn_imported_value(db, "main", 0), 8e-6, 1e-12);
    assert_float_equal(cn_imported_value(db, "main;f", 0), 2.5e-6, 1e-12);
    cn_database_close(db);
}

struct expected {
    uint64_t time_ns;
    const char *name;
    enum cn_call_kind kind;
};

static void expect_calls(const struct cn_recording *rec, uint32_t tid,
                         const struct expected *list, size_t count)
{
    uint32_t task = cn_recording_find_task(rec, tid);
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err;
    size_t at = 0;

    assert_int_not_equal(task, CN_NONE);
    assert_true(cn_recording_stream_open(rec, task, cn_time_always, &stream, &err));
    while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++, at++) {
            assert_true(at < count);
            assert_int_equal(batch.calls[i].time_ns, list[at].time_ns);
            assert_int_equal(batch.calls[i].kind, list[at].kind);
            assert_string_equal(rec->functions[batch.calls[i].function].name,
                                list[at].name);
        }
    assert_int_equal(at, count);
    cn_call_stream_close(stream);
}

static void chrome_events_become_calls(void **state)
{
    static const struct expected complete[] = {
        {1001000, "outer", CN_CALL_ENTER},
        {1002500, "inner", CN_CALL_ENTER},
        {1006500, "inner", CN_CALL_EXIT},
        {1011001, "outer", CN_CALL_EXIT},
    };
    static const struct expected halves[] = {
        {1001000, "a", CN_CALL_ENTER},
        {1002000, "b", CN_CALL_ENTER},
        {1003000, "b", CN_CALL_EXIT},
        {1004000, "a", CN_CALL_EXIT},
    };
    static const struct expected async[] = {
        {1003000, "read", CN_CALL_ENTER},
        {1009000, "read", CN_CALL_EXIT},
    };
    struct cn_recording *rec;
    struct cn_error err = {0};

    (void)state;
    if (!cn_chrome_read(cn_bytes_of(cn_test_chrome), &rec, &err))
        fail_msg("%s", err.text);
    expect_calls(rec, 8, complete, 4);
    expect_calls(rec, 9, halves, 4);
    expect_calls(rec, 1, async, 2);
    assert_string_equal(rec->tasks[cn_recording_find_task(rec, 8)].name, "w\xc3\xa4");
    assert_non_null(strstr(rec->warnings->text, "1 events"));
    assert_int_equal(rec->flow_count, 1);
    assert_int_equal(rec->flows->from_task, cn_recording_find_task(rec, 8));
    assert_int_equal(rec->flows->to_task, cn_recording_find_task(rec, 9));
    assert_int_equal(rec->flows->to_ns, 1003500);
    cn_recording_close(rec);
    assert_true(cn_chrome_read(cn_bytes_of(cn_test_chrome_array), &rec, &err));
    assert_int_equal(rec->tasks[0].first_ns, 1000000);
    cn_recording_close(rec);
}

/* A trace of torch.profiler: the kernel has the thread and time of its launch, the copy and the
 * synchronization have no launch. */
static void kineto_operations_find_their_launches(void **state)
{
    struct cn_recording *rec;
    struct cn_error err = {0};

    (void)state;
    if (!cn_chrome_read(cn_bytes_of(cn_test_kineto), &rec, &err))
        fail_msg("%s", err.text);
    const struct cn_gpu_work *work = rec->gpu;
    assert_non_null(work);
    assert_int_equal(work->op_count, 3);
    assert_int_equal(work->lonely_count, 2);
    assert_int_equal(work->stream_count, 1);
    assert_int_equal(work->streams[0].number, 7);
    assert_int_equal(work->streams[0].context, 1);
    assert_string_equal(work->devices[0].name, "Test");
    const struct cn_gpu_op *kernel = &work->ops[0], *copy = &work->ops[1];
    assert_int_equal(kernel->kind, CN_GPU_KERNEL);
    assert_int_equal(kernel->begin_ns, 1000010000);
    assert_int_equal(kernel->end_ns, 1000016000);
    assert_int_equal(kernel->launch_ns, 1000002000);
    assert_int_equal(kernel->thread, cn_recording_find_task(rec, 9));
    assert_string_equal(rec->functions[kernel->place].name, "k(int)");
    assert_int_equal(work->shapes[kernel->shape].block[0], 64);
    assert_int_equal(work->shapes[kernel->shape].max_warps, 64);
    assert_int_equal(copy->kind, CN_GPU_COPY);
    assert_int_equal(copy->detail, CN_GPU_DEVICE_TO_HOST);
    assert_int_equal(copy->bytes, 64);
    assert_int_equal(work->ops[2].kind, CN_GPU_SYNC);
    assert_int_equal(work->ops[2].detail, CN_GPU_SYNC_STREAM);
    uint32_t stream = cn_recording_find_task(rec, 7);
    assert_int_equal(work->streams[0].thread, stream);
    assert_true(rec->tasks[stream].is_stream);
    assert_int_equal(rec->tasks[stream].pid, 9);
    assert_non_null(strstr(rec->warnings->text, "2 of 3 GPU operations"));
    /* The function of Python has its location. */
    uint32_t function = 0;
    while (strcmp(rec->functions[function].name, "f") != 0)
        function++;
    assert_string_equal(rec->functions[function].file, "a.py");
    assert_int_equal(rec->functions[function].line, 3);
    cn_recording_close(rec);
}

/* Readings in the order of time, those of one time in the order of the file, each with the
 * calls around it. */
static void chrome_counters_are_readings(void **state)
{
    static const char text[] =
        "[{\"ph\":\"X\",\"pid\":7,\"tid\":8,\"ts\":10,\"dur\":10,\"name\":\"f\"},\n"
        "{\"name\":\"heap\",\"args\":{\"used\":0.1,\"free\":-7e3},\"id\":\"0x1\",\"ts\":"
        "15,"
        "\"ph\":\"C\",\"pid\":7,\"tid\":8},\n"
        "{\"ph\":\"C\",\"pid\":7,\"tid\":8,\"ts\":30,\"name\":\"n\",\"args\":{\"value\":"
        "2}},\n"
        "{\"ph\":\"C\",\"pid\":7,\"tid\":8,\"ts\":5,\"name\":\"n\",\"args\":{\"value\":9}"
        "},\n"
        "{\"ph\":\"C\",\"pid\":7,\"tid\":8,\"ts\":30,\"name\":\"n\",\"args\":{\"value\":"
        "3}},\n"
        "{\"ph\":\"C\",\"pid\":7,\"ts\":1,\"name\":\"a\\nb\",\"args\":{\"x\":\"y\",\"z\":"
        "4}},"
        "\n"
        "{\"ph\":\"C\",\"pid\":7,\"ts\":1,\"name\":\"none\",\"args\":{\"x\":1e999}}]";
    static const struct {
        uint32_t tid;
        uint64_t time_ns;
        const char *name; /* NULL: a call */
        double value;
    } expected[] = {
        {7, 1000, "a b: z", 4},
        {8, 5000, "n", 9},
        {8, 10000, NULL, 0},
        {8, 15000, "heap[0x1]: used", 0.1},
        {8, 15000, "heap[0x1]: free", -7000},
        {8, 20000, NULL, 0},
        {8, 30000, "n", 2},
        {8, 30000, "n", 3},
    };
    struct cn_recording *rec;
    struct cn_error err = {0};
    size_t at = 0;

    (void)state;
    if (!cn_chrome_read(cn_bytes_of(text), &rec, &err))
        fail_msg("%s", err.text);
    for (uint32_t task = 0; task < rec->task_count; task++) {
        struct cn_call_stream *stream;
        struct cn_call_batch batch;

        assert_true(cn_recording_stream_open(rec, task, cn_time_always, &stream, &err));
        while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++, at++) {
                const struct cn_call *call = &batch.calls[i];
                uint32_t number;
                double value;

                assert_true(at < sizeof(expected) / sizeof(*expected));
                assert_int_equal(rec->tasks[task].tid, expected[at].tid);
                assert_int_equal(call->time_ns, expected[at].time_ns);
                assert_int_equal(
                    cn_recording_named_reading(rec, &batch, call, &number, &value),
                    expected[at].name != NULL);
                if (!expected[at].name)
                    continue;
                assert_float_equal(value, expected[at].value, 0);
                assert_string_equal(cn_recording_event_name(rec, call->address),
                                    expected[at].name);
            }
        cn_call_stream_close(stream);
    }
    assert_int_equal(at, sizeof(expected) / sizeof(*expected));
    assert_int_equal(cn_recording_begin_ns(rec), 10000); /* timelines begin with calls */
    assert_non_null(strstr(rec->warnings->text, "1 events"));
    cn_recording_close(rec);
}

static void spans_are_joined_by_their_parents(void **state)
{
    struct cn_span_set set = {0};
    struct cn_trace trace = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_span_set_read(&set, cn_bytes_of(cn_test_zipkin), &err));
    assert_int_equal(cn_span_set_next(&set, &trace, &err), CN_ITEM);
    assert_int_equal(trace.node_count, 2);
    assert_int_equal(trace.id_high, 1);
    assert_int_equal(trace.id_low, 2);
    assert_int_equal(trace.spans[0].id, 0xa);
    assert_int_equal(trace.nodes[1].start_ns, 100000);
    assert_int_equal(trace.nodes[1].duration_ns, 50000);
    assert_true(trace.nodes[1].flags & CN_TRACE_ERROR);
    assert_false(trace.nodes[0].flags & CN_TRACE_ERROR);
    assert_int_equal(cn_span_set_next(&set, &trace, &err), CN_END);
    cn_span_set_done(&set);
}

static void exceptions_and_lists_of_opentelemetry_are_stored(void **state)
{
    struct cn_span_set set = {0};
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    const struct cn_trace_value *value;

    (void)state;
    assert_true(cn_span_set_read(&set, cn_bytes_of(cn_test_otlp_json), &err));
    assert_int_equal(cn_span_set_next(&set, &trace, &err), CN_ITEM);
    assert_int_not_equal(trace.nodes[0].exception, 0);
    assert_true(trace.nodes[0].flags & CN_TRACE_ERROR);
    value = cn_trace_find_attribute(
        &trace, 0, cn_words_find(&set.words, CN_WORD_KEYWORD, cn_bytes_of("n")));
    assert_int_equal(value->integer, 3);
    value = cn_trace_find_attribute(
        &trace, 0, cn_words_find(&set.words, CN_WORD_KEYWORD, cn_bytes_of("l")));
    assert_int_equal(value->kind, CN_VALUE_LIST);
    assert_int_equal(value->list.count, 2);
    cn_span_set_done(&set);
}

/* Spans of all systems here have the same link, before one without ids. */
static void links_are_stored(void **state)
{
    size_t len;
    uint8_t *otlp = cn_test_otlp(&len);
    struct cn_bytes bodies[] = {
        {otlp, len}, cn_bytes_of(cn_test_otlp_json), cn_bytes_of(cn_test_zipkin)};

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        struct cn_span_set set = {0};
        struct cn_trace trace = {0};
        struct cn_error err = {0};
        struct cn_text text = {0};
        const struct cn_trace_span *span;

        assert_true(cn_span_set_read(&set, bodies[i], &err));
        assert_int_equal(cn_span_set_next(&set, &trace, &err), CN_ITEM);
        span = &trace.spans[trace.span_count - 1];
        assert_true(span->link_count > 0);
        cn_trace_link_print(&trace, cn_trace_span_links(&trace, span), &text);
        assert_string_equal(cn_text_str(&text),
                            "0102030405060708090a0b0c0d0e0f10/0203040506070809 "
                            "(trace_state = s=1, via = queue)");
        cn_text_done(&text);
        cn_span_set_done(&set);
    }
    free(otlp);
}

static uint32_t count_spans(struct cn_span_set *set, uint32_t *event_count)
{
    uint32_t span_count = 0;
    struct cn_trace trace;
    struct cn_error err = {0};

    *event_count = 0;
    while (cn_span_set_next(set, &trace, &err) == CN_ITEM) {
        span_count += trace.span_count;
        for (uint32_t i = 0; i < trace.span_count; i++)
            *event_count += trace.spans[i].event_count;
    }
    return span_count;
}

/* Nothing of one body, read or refused, is in the traces of the next. */
static void a_set_reads_one_body_after_the_other(void **state)
{
    size_t len;
    uint8_t *otlp = cn_test_otlp(&len);
    struct cn_bytes bodies[] = {
        {otlp, len}, cn_bytes_of(cn_test_otlp_json), cn_bytes_of(cn_test_zipkin)};
    struct cn_span_set set = {0};
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < 12; i++) {
        struct cn_bytes body = bodies[i % 3], cut = {body.ptr, body.len - 3};
        struct cn_span_set fresh = {0};
        uint32_t events, expected_events;

        assert_true(cn_span_set_read(&fresh, body, &err));
        uint32_t expected = count_spans(&fresh, &expected_events);
        cn_span_set_clear(&set);
        assert_false(cn_span_set_read(&set, cut, &err));
        cn_span_set_clear(&set);
        assert_true(cn_span_set_read(&set, body, &err));
        assert_int_equal(count_spans(&set, &events), expected);
        assert_int_equal(events, expected_events);
        assert_int_equal(set.words.count >= fresh.words.count, 1);
        cn_span_set_done(&fresh);
    }
    cn_span_set_done(&set);
    free(otlp);
}

/* Messages have the offset; a stack that is cut off is refused. */
static void says_where_input_is_wrong(void **state)
{
    static const struct {
        cn_import_fn read;
        const char *text, *message;
    } cases[] = {
        {cn_folded_read, "# no\na\nc\n", "line 2: expected a stack and a value"},
        {cn_folded_read, "2 @ 0x44cb3e 0x45045e\n",
         "line 1: expected a stack and a value"},
        {cn_perf_script_read, "nonsense\n", "line 1: expected a sample or a frame"},
        {cn_speedscope_read, "{\"profiles\":[{\"samples\":[[0]]}]}",
         "profile 0: JSON at 26: '0' is not the number of a frame"},
        {cn_speedscope_read,
         "{\"profiles\":[{\"type\":\"evented\",\"samples\":[[],[]],\"weights\":[1]}]}",
         "profile 0: 2 samples with 1 weights"},
        {cn_speedscope_read, "{\"a\":tru}",
         "JSON at 5: byte 0x74 where a value should be"},
        {cn_perf_read, "PERFILE1xxxxxxxx", "does not begin with PERFILE2"},
        {cn_pprof_read, "\x0a\x7f", "field at 0 is cut off"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_import *import = cn_import_new("t", "d");
        struct cn_error err = {0};

        assert_false(cases[i].read(import, cn_bytes_of(cases[i].text), &err));
        if (i + 1 < sizeof(cases) / sizeof(*cases))
            assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.kind, CN_ERR_FORMAT);
        cn_import_free(import);
    }
}

static void refuses_what_nests_too_deeply(void **state)
{
    char text[1000];
    struct cn_recording *rec;
    struct cn_error err = {0};

    (void)state;
    memset(text, '[', sizeof(text) - 1);
    memcpy(text, "{\"traceEvents\":[{\"args\":", strlen("{\"traceEvents\":[{\"args\":"));
    text[sizeof(text) - 1] = '\0';
    assert_false(cn_chrome_read(cn_bytes_of(text), &rec, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_stacks_are_summed),
        cmocka_unit_test(pprof_has_stacks_units_and_threads),
        cmocka_unit_test(pprof_is_read_up_to_the_damage),
        cmocka_unit_test(pprof_skips_what_is_wrong),
        CN_SCRATCH_TEST(pprof_is_recognised_by_its_fields),
        cmocka_unit_test(speedscope_has_samples_and_events),
        cmocka_unit_test(chrome_events_become_calls),
        cmocka_unit_test(kineto_operations_find_their_launches),
        cmocka_unit_test(chrome_counters_are_readings),
        cmocka_unit_test(spans_are_joined_by_their_parents),
        cmocka_unit_test(exceptions_and_lists_of_opentelemetry_are_stored),
        cmocka_unit_test(links_are_stored),
        cmocka_unit_test(a_set_reads_one_body_after_the_other),
        cmocka_unit_test(says_where_input_is_wrong),
        cmocka_unit_test(refuses_what_nests_too_deeply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
