/* Traces of OpenTelemetry as JSON: the same messages as protobuf, with ids in
 * hexadecimal and large numbers as strings. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/json_reader.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/traces/span_set.h"

enum { LIST_MAX = 1 << 16 };

struct reading {
    struct cn_span_set *set;
    struct cn_json_reader json;
    bool is_loose; /* attributes belong to no span */
    size_t first_shared, shared_count;
    uint32_t event_name;
};

typedef bool (*take_fn)(struct reading *r, const char *key, struct cn_error *err);

/* The rest of an object: `take` is given each key and reads its value. */
static bool read_object(struct reading *r, take_fn take, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        char key[40];

        (void)snprintf(
            key, sizeof(key), "%.*s",
            (int)(token.text.len < sizeof(key) ? token.text.len : sizeof(key) - 1),
            (const char *)token.text.ptr);
        if (!take(r, key, err))
            return false;
    }
    return kind == CN_JSON_OBJECT_END;
}

static bool skip_value(struct reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

    return cn_json_skip(&r->json, kind, err);
}

/* An array of objects, each read by `read`; null is an empty one. */
static bool read_array(struct reading *r,
                       bool (*read)(struct reading *, struct cn_error *),
                       struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

    if (kind != CN_JSON_ARRAY)
        return cn_json_skip(&r->json, kind, err);
    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_OBJECT)
        if (!read(r, err))
            return false;
    if (kind == CN_JSON_FAIL || kind == CN_JSON_ARRAY_END)
        return kind != CN_JSON_FAIL;
    return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": an object should be here",
                   token.off);
}

static void take_scalar(struct reading *r, const char *key, struct cn_bytes text,
                        struct cn_trace_value *out)
{
    int64_t integer;
    double real;

    if (strcmp(key, "stringValue") == 0 || strcmp(key, "bytesValue") == 0)
        *out = cn_span_set_text(r->set, text);
    else if (strcmp(key, "intValue") == 0 && cn_json_as_i64(text, &integer))
        *out = (struct cn_trace_value){.kind = CN_VALUE_INT, .integer = integer};
    else if (strcmp(key, "doubleValue") == 0 && cn_json_as_f64(text, &real))
        *out = (struct cn_trace_value){.kind = CN_VALUE_FLOAT, .real = real};
    else
        r->set->left_out++;
}

static void add_to_list(struct reading *r, struct cn_trace_value value, size_t first)
{
    struct cn_span_set *set = r->set;

    if (set->value_count - first >= LIST_MAX)
        return;
    set->values = cn_grow(set->values, set->value_count, &set->value_capacity,
                          sizeof(*set->values));
    set->values[set->value_count++] = value;
}

/* A value, inside its object. Of a list the scalars are kept, at whatever depth. */
static bool read_value(struct reading *r, struct cn_trace_value *out,
                       struct cn_error *err)
{
    unsigned outside = r->json.depth - 1;
    size_t first = r->set->value_count;
    bool is_list = false;
    char key[16] = "";

    while (r->json.depth > outside) {
        struct cn_trace_value value = {.kind = CN_VALUE_NULL};
        struct cn_json_token token;
        enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

        if (kind == CN_JSON_FAIL)
            return false;
        if (kind == CN_JSON_KEY) {
            (void)snprintf(
                key, sizeof(key), "%.*s",
                (int)(token.text.len < sizeof(key) ? token.text.len : sizeof(key) - 1),
                (const char *)token.text.ptr);
            is_list = is_list || strcmp(key, "arrayValue") == 0;
            continue;
        }
        if (kind == CN_JSON_TRUE || kind == CN_JSON_FALSE)
            value = (struct cn_trace_value){.kind = CN_VALUE_BOOL,
                                            .boolean = kind == CN_JSON_TRUE};
        else if (kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
            take_scalar(r, key, token.text, &value);
        else
            continue;
        if (is_list)
            add_to_list(r, value, first);
        else
            *out = value;
    }
    if (is_list)
        *out = (struct cn_trace_value){
            .kind = CN_VALUE_LIST,
            .list = {(uint32_t)first, (uint32_t)(r->set->value_count - first)}};
    return true;
}

static bool read_attribute(struct reading *r, struct cn_error *err)
{
    struct cn_trace_value value = {.kind = CN_VALUE_NULL};
    struct cn_json_token token;
    enum cn_json_kind kind;
    uint32_t key = 0;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        bool is_key = cn_json_is(&token, "key"), is_value = cn_json_is(&token, "value");

        kind = cn_json_next(&r->json, &token, err);
        if (is_key && kind == CN_JSON_STRING)
            key = cn_span_set_keyword(r->set, token.text);
        else if (is_value && kind == CN_JSON_OBJECT) {
            if (!read_value(r, &value, err))
                return false;
        } else if (!cn_json_skip(&r->json, kind, err))
            return false;
    }
    if (r->is_loose)
        cn_span_set_loose(r->set, key, value);
    else
        cn_span_set_attribute(r->set, key, value);
    return kind == CN_JSON_OBJECT_END;
}

/* The text of the next value, which lives until the token after it. */
static bool take_text(struct reading *r, struct cn_json_token *token,
                      struct cn_error *err)
{
    enum cn_json_kind kind = cn_json_next(&r->json, token, err);

    if (kind != CN_JSON_STRING && kind != CN_JSON_NUMBER)
        token->text = (struct cn_bytes){(const uint8_t *)"", 0};
    return cn_json_skip(&r->json, kind, err);
}

static bool take_of_event(struct reading *r, const char *key, struct cn_error *err)
{
    struct cn_json_token token;

    if (strcmp(key, "attributes") == 0)
        return read_array(r, read_attribute, err);
    if (strcmp(key, "name") != 0)
        return skip_value(r, err);
    if (!take_text(r, &token, err))
        return false;
    r->event_name = cn_words_add(&r->set->words, CN_WORD_TEXT, token.text);
    return true;
}

static bool read_event(struct reading *r, struct cn_error *err)
{
    size_t first = r->set->attribute_count;
    bool ok;

    r->event_name = 0;
    r->is_loose = true;
    ok = read_object(r, take_of_event, err);
    r->is_loose = false;
    if (ok)
        cn_span_set_event(r->set, r->event_name, first);
    return ok;
}

static bool take_of_status(struct reading *r, const char *key, struct cn_error *err)
{
    struct cn_json_token token;

    if (!take_text(r, &token, err))
        return false;
    if (strcmp(key, "code") == 0)
        r->set->spans[r->set->count - 1].is_error =
            cn_json_is(&token, "2") || cn_json_is(&token, "STATUS_CODE_ERROR");
    else if (strcmp(key, "message") == 0 && token.text.len > 0)
        cn_span_set_attribute(
            r->set, cn_words_add_str(&r->set->words, CN_WORD_KEYWORD, "status.message"),
            cn_span_set_text(r->set, token.text));
    return true;
}

static bool take_kind(struct reading *r, struct cn_error *err)
{
    static const char *const names[] = {"",
                                        "SPAN_KIND_INTERNAL",
                                        "SPAN_KIND_SERVER",
                                        "SPAN_KIND_CLIENT",
                                        "SPAN_KIND_PRODUCER",
                                        "SPAN_KIND_CONSUMER"};
    struct cn_json_token token;
    uint64_t kind = 0;

    if (!take_text(r, &token, err))
        return false;
    if (!cn_json_as_u64(token.text, &kind))
        for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++)
            if (cn_json_is(&token, names[i]))
                kind = i;
    r->set->spans[r->set->count - 1].type = cn_span_set_kind(r->set, kind);
    return true;
}

static bool take_id(struct reading *r, uint64_t *high, uint64_t *low,
                    struct cn_error *err)
{
    struct cn_json_token token;

    if (!take_text(r, &token, err))
        return false;
    return token.text.len == 0 || cn_span_id_parse(token.text, high, low) ||
           cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": '%.*s' is no id", token.off,
                   (int)(token.text.len < 40 ? token.text.len : 40),
                   (const char *)token.text.ptr);
}

static bool take_time(struct reading *r, uint64_t *out, struct cn_error *err)
{
    struct cn_json_token token;

    if (!take_text(r, &token, err))
        return false;
    return cn_json_as_u64(token.text, out) ||
           cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": '%.*s' is no time",
                   token.off, (int)(token.text.len < 40 ? token.text.len : 40),
                   (const char *)token.text.ptr);
}

static bool take_of_span(struct reading *r, const char *key, struct cn_error *err)
{
    struct cn_set_span *span = &r->set->spans[r->set->count - 1];
    struct cn_json_token token;
    uint64_t ignored;

    if (strcmp(key, "traceId") == 0)
        return take_id(r, &span->trace_high, &span->trace_low, err);
    if (strcmp(key, "spanId") == 0)
        return take_id(r, &ignored, &span->id, err);
    if (strcmp(key, "parentSpanId") == 0)
        return take_id(r, &ignored, &span->parent_id, err);
    if (strcmp(key, "startTimeUnixNano") == 0)
        return take_time(r, &span->time_ns, err);
    if (strcmp(key, "endTimeUnixNano") == 0)
        return take_time(r, &span->duration_ns, err); /* its end, until all is read */
    if (strcmp(key, "kind") == 0)
        return take_kind(r, err);
    if (strcmp(key, "attributes") == 0)
        return read_array(r, read_attribute, err);
    if (strcmp(key, "events") == 0)
        return read_array(r, read_event, err);
    if (strcmp(key, "status") == 0)
        return cn_json_expect(&r->json, CN_JSON_OBJECT, "an object", err) &&
               read_object(r, take_of_status, err);
    if (strcmp(key, "name") != 0)
        return skip_value(r, err);
    if (!take_text(r, &token, err))
        return false;
    span->name = cn_words_add(&r->set->words, CN_WORD_METHOD_NAME, token.text);
    return true;
}

static bool read_span(struct reading *r, struct cn_error *err)
{
    size_t off = r->json.at;
    struct cn_set_span *span;

    (void)cn_span_set_begin(r->set);
    if (!read_object(r, take_of_span, err))
        return cn_fail_in(err, "span at %zu", off);
    span = &r->set->spans[r->set->count - 1];
    span->duration_ns =
        span->duration_ns > span->time_ns ? span->duration_ns - span->time_ns : 0;
    if (span->id == 0 || (span->trace_high | span->trace_low) == 0)
        return cn_fail(err, CN_ERR_FORMAT, "span at %zu needs \"traceId\" and \"spanId\"",
                       off);
    return true;
}

static bool take_of_scope(struct reading *r, const char *key, struct cn_error *err)
{
    return strcmp(key, "spans") == 0 ? read_array(r, read_span, err) : skip_value(r, err);
}

static bool read_scope(struct reading *r, struct cn_error *err)
{
    return read_object(r, take_of_scope, err);
}

static bool take_of_resource(struct reading *r, const char *key, struct cn_error *err)
{
    return strcmp(key, "attributes") == 0 ? read_array(r, read_attribute, err)
                                          : skip_value(r, err);
}

static bool take_of_resource_spans(struct reading *r, const char *key,
                                   struct cn_error *err)
{
    bool ok;

    if (strcmp(key, "scopeSpans") == 0)
        return read_array(r, read_scope, err);
    if (strcmp(key, "resource") != 0)
        return skip_value(r, err);
    r->first_shared = r->set->attribute_count;
    r->is_loose = true;
    ok = cn_json_expect(&r->json, CN_JSON_OBJECT, "an object", err) &&
         read_object(r, take_of_resource, err);
    r->is_loose = false;
    r->shared_count = r->set->attribute_count - r->first_shared;
    return ok;
}

static bool read_resource_spans(struct reading *r, struct cn_error *err)
{
    size_t first_span = r->set->count;

    r->first_shared = r->shared_count = 0;
    if (!read_object(r, take_of_resource_spans, err))
        return false;
    cn_span_set_share(r->set, first_span, r->first_shared, r->shared_count);
    return true;
}

static bool take_of_traces(struct reading *r, const char *key, struct cn_error *err)
{
    return strcmp(key, "resourceSpans") == 0 ? read_array(r, read_resource_spans, err)
                                             : skip_value(r, err);
}

bool cn_otlp_json_read(struct cn_span_set *set, struct cn_bytes body,
                       struct cn_error *err)
{
    struct reading r = {.set = set, .json = cn_json_read(body)};
    struct cn_json_token token;
    bool ok = cn_json_expect(&r.json, CN_JSON_OBJECT, "an object", err) &&
              read_object(&r, take_of_traces, err) &&
              cn_json_next(&r.json, &token, err) == CN_JSON_END;

    cn_json_reader_done(&r.json);
    return ok;
}
