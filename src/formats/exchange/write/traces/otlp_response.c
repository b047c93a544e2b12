#include "formats/exchange/write/traces/otlp_response.h"

#include "base/bytes/json.h"
#include "base/text.h"
#include "formats/exchange/otlp_format.h"

static void write_json(struct cn_text *out, uint64_t rejected, const char *message)
{
    struct cn_json json = {.text = out};

    if (rejected == 0) {
        cn_text_str_add(out, "{}");
        return;
    }
    cn_json_object(&json);
    cn_json_add_object(&json, "partialSuccess");
    cn_json_add_id(&json, "rejectedSpans", rejected);
    cn_json_add_str(&json, "errorMessage", message);
    cn_json_end(&json);
    cn_json_end(&json);
}

void cn_otlp_response(struct cn_text *out, bool is_json, uint64_t rejected,
                      const char *message)
{
    struct cn_pb pb = {0};

    if (is_json) {
        write_json(out, rejected, message);
        return;
    }
    if (rejected == 0)
        return;
    size_t at = cn_pb_open(&pb, cn_otlp_response_partial_success);
    cn_pb_u64(&pb, cn_otlp_partial_success_rejected_spans, rejected);
    cn_pb_str(&pb, cn_otlp_partial_success_error_message, message);
    cn_pb_close(&pb, at);
    cn_text_add(out, (const char *)pb.bytes, pb.len);
    cn_pb_done(&pb);
}
