/* Any bytes as a stored record: what can be read is written again, and reads as the same. */

#include <assert.h>

#include "formats/zorka/record.h"
#include "support/fuzz.h"
#include "support/made_traces.h"

static void write_again(struct cn_trace *trace, const struct cn_words *words)
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_cbor_out out = {0};
    struct cn_trace again = {0};
    struct cn_zorka_part part;
    struct cn_error err = {0};
    bool is_same;

    cn_zorka_record_encode_java(trace, &out);
    out.len = 0;
    cn_zorka_record_encode(&encoder, trace, 0, &out, &part);
    again.words = words;
    is_same = cn_zorka_record_decode((struct cn_bytes){out.bytes, out.len}, &again, NULL,
                                     &err) &&
              again.node_count == trace->node_count;
    assert(is_same);
    cn_zorka_encoder_done(&encoder);
    cn_cbor_out_done(&out);
    cn_trace_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_words words = {0};
    struct cn_trace trace = {.words = &words};
    struct cn_zorka_part part;
    struct cn_error err;
    size_t taken;

    (void)cn_zorka_record_is_java(bytes);
    if (cn_zorka_record_part(bytes, &part, &err))
        assert(part.record_len <= len);
    if (cn_zorka_record_decode(bytes, &trace, &taken, &err)) {
        assert(taken <= len);
        write_again(&trace, &words);
    }
    cn_trace_done(&trace);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_cbor_out out = {0};
    struct cn_trace trace = {0};
    struct cn_words words = {0};
    struct cn_zorka_part part;

    for (uint32_t i = 0; i < 20; i++) {
        cn_made_trace(&trace, &words, i);
        out.len = 0;
        cn_zorka_record_encode(&encoder, &trace, 0, &out, &part);
        emit(out.bytes, out.len);
        out.len = 0;
        cn_zorka_record_encode_java(&trace, &out);
        emit(out.bytes, out.len);
    }
    cn_zorka_encoder_done(&encoder);
    cn_cbor_out_done(&out);
    cn_trace_done(&trace);
    cn_words_done(&words);
}
