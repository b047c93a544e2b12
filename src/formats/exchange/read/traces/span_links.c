#include "formats/exchange/read/traces/span_links.h"

#include "base/bytes/json_reader.h"
#include "formats/exchange/read/traces/span_set.h"
#include "model/traces/links.h"

/* Attributes that are not texts, numbers and truth values are left out. */
static void read_tag_attributes(struct cn_span_set *set, struct cn_bytes text)
{
    struct cn_json_reader json = cn_json_read(text);
    struct cn_json_token token;
    struct cn_error ignored;
    enum cn_json_kind kind = cn_json_next(&json, &token, &ignored);

    if (kind == CN_JSON_OBJECT)
        while ((kind = cn_json_next(&json, &token, &ignored)) == CN_JSON_KEY) {
            uint32_t key = cn_span_set_keyword(set, token.text);

            kind = cn_json_next(&json, &token, &ignored);
            if (kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
                cn_span_set_attribute(set, key, cn_span_set_text(set, token.text));
            else if (kind == CN_JSON_TRUE || kind == CN_JSON_FALSE)
                cn_span_set_attribute(
                    set, key,
                    (struct cn_trace_value){.kind = CN_VALUE_BOOL,
                                            .boolean = kind == CN_JSON_TRUE});
            else if (!cn_json_skip(&json, kind, &ignored))
                break;
        }
    cn_json_reader_done(&json);
}

bool cn_span_set_link_tag(struct cn_span_set *set, struct cn_bytes text)
{
    struct cn_bytes trace, span, state, rest;
    uint64_t high, low, id, dropped = 0, ignored;
    size_t at;

    if (!cn_bytes_take_until(&text, '|', &trace) ||
        !cn_bytes_take_until(&text, '|', &span) ||
        !cn_bytes_take_until(&text, '|', &state) ||
        !cn_span_id_parse(trace, &high, &low) || !cn_span_id_parse(span, &ignored, &id))
        return false;
    uint32_t state_word = cn_span_set_word(set, state);
    struct cn_trace_link *link = cn_span_set_link_begin(set);
    link->trace_high = high;
    link->trace_low = low;
    link->span_id = id;
    link->trace_state = state_word;
    for (at = text.len; at > 0 && text.ptr[at - 1] != '|';)
        at--;
    if (cn_bytes_from(text, at, &rest) && cn_json_as_u64(rest, &dropped))
        link->dropped_attributes = dropped <= UINT32_MAX ? (uint32_t)dropped : UINT32_MAX;
    if (at > 0)
        read_tag_attributes(set, (struct cn_bytes){text.ptr, at - 1});
    cn_span_set_link_end(set);
    return true;
}
