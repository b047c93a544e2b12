/* Any bytes as spans of Zipkin or OpenTelemetry: they are read or refused, and each span is in
 * one trace. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/exchange/read/traces/span_set.h"
#include "support/exchange_inputs.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_span_set set = {0};
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    size_t count = 0;

    if (!cn_span_set_read(&set, (struct cn_bytes){data, len}, &err)) {
        assert(err.text[0] != '\0');
        cn_span_set_done(&set);
        return 0;
    }
    while (cn_span_set_next(&set, &trace, &err) == CN_ITEM) {
        assert(trace.node_count > 0 && trace.current == CN_NONE);
        count += trace.node_count;
    }
    assert(count == set.count);
    cn_span_set_done(&set);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    size_t len;
    uint8_t *bytes = cn_test_otlp(&len);

    emit(bytes, len);
    free(bytes);
    emit((const uint8_t *)cn_test_zipkin, strlen(cn_test_zipkin));
    emit((const uint8_t *)cn_test_otlp_json, strlen(cn_test_otlp_json));
}
