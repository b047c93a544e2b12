#include "formats/exchange/spans/span_text.h"

#include <inttypes.h>

#include "base/bytes/utf8.h"
#include "base/text.h"
#include "model/calls/call_values.h"

const char *cn_span_name(const struct cn_recording *rec, const struct cn_span *span,
                         char *buffer)
{
    return cn_call_name(rec, span->function, span->address, buffer);
}

void cn_span_values(const struct cn_recording *rec, uint32_t task,
                    const struct cn_span *span, struct cn_text *out)
{
    struct cn_text raw = {0};
    const char *values;

    cn_recording_print_arguments(rec, task, span->batch, span->call, &raw);
    values = cn_text_str(&raw);
    if (span->kind == CN_SPAN_END && strncmp(values, " = ", 3) == 0)
        values += 3;
    cn_text_clear(out);
    cn_utf8_add_printable(out, values);
    cn_text_done(&raw);
}

bool cn_span_event_data(const struct cn_recording *rec, const struct cn_span *span,
                        struct cn_text *out)
{
    struct cn_text raw = {0};
    bool has_data = span->kind == CN_SPAN_EVENT &&
                    cn_recording_print_event(rec, span->batch, span->call, false, &raw);

    cn_text_clear(out);
    cn_utf8_add_printable(out, cn_text_str(&raw));
    cn_text_done(&raw);
    return has_data;
}

const char *cn_span_event_name(const struct cn_recording *rec, const struct cn_span *span)
{
    const char *name =
        span->kind == CN_SPAN_LOST ? "lost" : cn_recording_event_name(rec, span->address);

    return name ? name : "event";
}
