#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/calls/from_traces.h"
#include "model/calls/recording.h"
#include "model/traces/trace.h"
#include "open/open.h"
#include "store/recording.h"
#include "store/segment/reader.h"
#include "store/write/cut_recording.h"
#include "support/data.h"
#include "support/made_traces.h"
#include "support/scratch.h"

/* Every entry has its exit, times do not run backwards. */
static void traces_become_calls(void **state)
{
    struct cn_trace_calls *calls = cn_trace_calls_new();
    struct cn_recording *recording;
    struct cn_trace trace = {0};
    struct cn_words words = {0};
    struct cn_error err = {0};
    uint64_t expected = 0, entries = 0;

    (void)state;
    for (uint32_t i = 0; i < 50; i++) {
        cn_made_trace(&trace, &words, i);
        expected += trace.node_count;
        cn_trace_calls_add(calls, &trace);
    }
    recording = cn_trace_calls_finish(calls);
    for (uint32_t task = 0; task < recording->task_count; task++) {
        struct cn_call_stream *stream;
        struct cn_call_batch batch;
        uint32_t depth = 0;
        uint64_t last_ns = 0;

        assert_true(
            cn_recording_stream_open(recording, task, cn_time_always, &stream, &err));
        while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++) {
                const struct cn_call *call = &batch.calls[i];

                assert_true(call->time_ns >= last_ns);
                last_ns = call->time_ns;
                if (call->kind == CN_CALL_ENTER) {
                    assert_int_equal(call->depth, depth++);
                    entries++;
                } else {
                    assert_int_equal(call->depth, --depth);
                }
                assert_true(call->function < recording->function_count);
            }
        assert_int_equal(depth, 0);
        cn_call_stream_close(stream);
    }
    assert_int_equal(entries, expected);
    cn_recording_close(recording);
    cn_trace_calls_free(calls);
    cn_trace_done(&trace);
    cn_words_done(&words);
}

static void calls_become_traces(void **state)
{
    char *path = cn_test_data("uftrace/args-manual");
    struct cn_segment_loader *loader;
    struct cn_recording *recording;
    struct cn_store_writer *writer;
    struct cn_store_added counts;
    struct cn_trace trace = {0};
    struct cn_store *store;
    struct cn_error err = {0};

    (void)state;
    loader = cn_segment_loader_new();
    if (!cn_open_recording(path, NULL, &recording, &err))
        fail_msg("%s", err.text);
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    assert_false(cn_store_cut_recording(writer, recording, "nobody", &counts, &err));
    if (!cn_store_cut_recording(writer, recording, "main", &counts, &err))
        fail_msg("%s", err.text);
    assert_true(counts.traces >= 1);
    assert_true(counts.records > counts.traces);
    assert_true(cn_store_cut_recording(writer, recording, "main", &counts, &err));
    assert_int_equal(counts.traces, 0);
    assert_true(cn_store_writer_close(writer, &err));
    assert_true(cn_store_open(&store, "store", &err));
    if (!cn_segment_load(loader, cn_store_segment(store, 0), 0, &trace, &err))
        fail_msg("%s", err.text);
    assert_true(trace.node_count > 1);
    assert_true(trace.attribute_count > 0);
    cn_store_close(store);
    cn_segment_loader_free(loader);
    cn_trace_done(&trace);
    cn_recording_close(recording);
    free(path);
}

enum { BEGIN_NS = 100 };
static const uint64_t epoch_ns = UINT64_C(1700000000000000000);

static uint32_t method_of(struct cn_words *words, const char *name)
{
    uint32_t parts[3] = {cn_words_add_str(words, CN_WORD_CLASS, "shop.App"),
                         cn_words_add_str(words, CN_WORD_METHOD_NAME, name),
                         cn_words_add_str(words, CN_WORD_SIGNATURE, "()V")};

    return cn_words_add_parts(words, CN_WORD_METHOD, parts, 3);
}

/* A span query() that takes 50 ns; inside of handle(), or on its own, with other ids. An agent
 * that does not trace across processes sends both. */
static void add_query(struct cn_store_writer *writer, struct cn_words *words, uint64_t id,
                      uint64_t time_ns, bool is_inner, bool is_sent)
{
    struct cn_trace trace = {.words = words, .id_high = 1, .id_low = id};
    struct cn_error err = {0};
    uint64_t begin_ns = 0;

    trace.current = CN_NONE;
    if (is_inner) {
        assert_true(cn_trace_enter(&trace, method_of(words, "handle"), 0, &err));
        cn_trace_add_span(&trace, time_ns)->id = id * 10;
        begin_ns = BEGIN_NS;
    }
    assert_true(cn_trace_enter(&trace, method_of(words, "query"), begin_ns, &err));
    cn_trace_add_span(&trace, time_ns)->id = id * 10 + 1;
    if (is_inner && is_sent)
        cn_trace_mark(&trace, CN_TRACE_SENT);
    cn_trace_leave(&trace, begin_ns + 50, 1);
    if (is_inner)
        cn_trace_leave(&trace, begin_ns + 100, 2);
    cn_trace_settle(&trace);
    if (!cn_store_writer_add(writer, &trace, NULL, &err))
        fail_msg("%s", err.text);
    cn_trace_done(&trace);
}

static uint64_t count_calls(struct cn_recording *recording)
{
    struct cn_error err = {0};
    uint64_t count = 0;

    for (uint32_t task = 0; task < recording->task_count; task++) {
        struct cn_call_stream *stream;
        struct cn_call_batch batch;

        assert_true(
            cn_recording_stream_open(recording, task, cn_time_always, &stream, &err));
        while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++)
                count += batch.calls[i].kind == CN_CALL_ENTER;
        cn_call_stream_close(stream);
    }
    return count;
}

static void spans_that_were_sent_twice_count_once(void **state)
{
    struct cn_store_writer *writer;
    struct cn_recording *recording;
    struct cn_words words = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    /* The inner span arrives first, and begins in the same millisecond as its caller. */
    add_query(writer, &words, 1, epoch_ns, false, false);
    add_query(writer, &words, 2, epoch_ns, true, true);
    /* Another that took as long, once more than inside. */
    add_query(writer, &words, 3, epoch_ns, false, false);
    /* One that the agent did not send: two different spans. */
    add_query(writer, &words, 4, epoch_ns + 1000, true, false);
    add_query(writer, &words, 5, epoch_ns + 1000, false, false);
    assert_true(cn_store_writer_close(writer, &err));
    if (!cn_store_recording_open(&recording, "store", "", &err))
        fail_msg("%s", err.text);
    assert_int_equal(count_calls(recording), 2 + 1 + 2 + 1);
    cn_recording_close(recording);
    /* Without its caller, the span counts. */
    if (!cn_store_recording_open(&recording, "store",
                                 "id = 00000000000000010000000000000001", &err))
        fail_msg("%s", err.text);
    assert_int_equal(count_calls(recording), 1);
    cn_recording_close(recording);
    /* A span inside another one is analysed with its trace. */
    if (!cn_store_recording_open(&recording, "store", "root = query", &err))
        fail_msg("%s", err.text);
    assert_int_equal(count_calls(recording), 1 + 1 + 2 + 1);
    cn_recording_close(recording);
    cn_words_done(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_become_calls),
        CN_SCRATCH_TEST(spans_that_were_sent_twice_count_once),
    };
    const struct CMUnitTest on_data[] = {
        CN_SCRATCH_TEST(calls_become_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
