/* Any bytes as Chrome's trace events, or as events of speedscope: they are read or refused, and
 * the calls that were read nest. */

#include <assert.h>
#include <string.h>

#include "formats/exchange/read/readers.h"
#include "model/calls/recording.h"
#include "support/exchange_inputs.h"
#include "support/fuzz.h"

static void walk(const struct cn_recording *rec, uint32_t task)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err = {0};
    uint64_t last_ns = 0;
    unsigned depth = 0;
    enum cn_step step;

    assert(cn_recording_stream_open(rec, task, cn_time_always, &stream, &err));
    while ((step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_call *call = &batch.calls[i];

            assert(call->time_ns >= last_ns);
            assert((call->kind == CN_CALL_EVENT) == (call->function == CN_NONE));
            assert(call->kind == CN_CALL_EVENT || call->function < rec->function_count);
            last_ns = call->time_ns;
            depth -= call->kind == CN_CALL_EXIT;
            assert(call->depth == depth);
            depth += call->kind == CN_CALL_ENTER;
        }
    assert(step == CN_FAIL || depth == 0);
    cn_call_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_error err = {0};
    struct cn_recording *rec;

    if (!cn_chrome_read(bytes, &rec, &err) &&
        !cn_speedscope_read_calls(bytes, &rec, &err)) {
        assert(err.text[0] != '\0');
        return 0;
    }
    for (uint32_t i = 0; i < rec->task_count && i < 100; i++)
        walk(rec, i);
    for (uint32_t i = 0; i < rec->flow_count; i++)
        assert(rec->flows[i].from_task < rec->task_count && rec->flows[i].name &&
               rec->flows[i].to_task < rec->task_count);
    cn_recording_close(rec);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    emit((const uint8_t *)cn_test_chrome, strlen(cn_test_chrome));
    emit((const uint8_t *)cn_test_chrome_array, strlen(cn_test_chrome_array));
    emit((const uint8_t *)cn_test_chrome_js, strlen(cn_test_chrome_js));
    emit((const uint8_t *)cn_test_kineto, strlen(cn_test_kineto));
    emit((const uint8_t *)cn_test_speedscope_calls, strlen(cn_test_speedscope_calls));
}
