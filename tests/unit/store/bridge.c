#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/calls/trace_calls.h"
#include "formats/formats.h"
#include "model/calls/recording.h"
#include "model/traces/trace.h"
#include "store/segment/reader.h"
#include "store/write/cut_recording.h"
#include "support/fixtures.h"
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
    char *path = cn_test_fixture("uftrace/args-manual");
    struct cn_segment_loader *loader;
    struct cn_recording *recording;
    struct cn_store_writer *writer;
    struct cn_store_added counts;
    struct cn_trace trace = {0};
    struct cn_store *store;
    struct cn_error err = {0};

    (void)state;
    if (!path)
        skip();
    loader = cn_segment_loader_new();
    if (!cn_format_open_recording(path, NULL, &recording, &err))
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_become_calls),
        CN_SCRATCH_TEST(calls_become_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
