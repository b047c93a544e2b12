/* OpenTelemetry traces as JSON: the messages of the protobuf, with ids in hexadecimal and
 * 64-bit numbers as strings. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes/json_reader.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/read/traces/span_links.h"
#include "formats/exchange/read/traces/span_set.h"

struct otlp_json_reading {
    bool has_spans; /* the member of all requests */
    struct cn_span_set *set;
    struct cn_json_reader json;
    uint32_t key; /* of the current attribute */
    struct cn_trace_value value;
};

/* An array of objects; any other value is empty. */
static bool read_array(struct otlp_json_reading *r, const struct cn_json_member *member,
                       cn_json_object_fn read, struct cn_error *err)
{
    return member->kind == CN_JSON_ARRAY ? cn_json_read_objects(&r->json, read, r, err)
                                         : cn_json_skip(&r->json, member->kind, err);
}

static bool read_object(struct otlp_json_reading *r, const struct cn_json_member *member,
                        cn_json_member_fn take, struct cn_error *err)
{
    if (member->kind == CN_JSON_OBJECT)
        return cn_json_read_object(&r->json, take, r, err);
    return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected an object",
                   member->token.off);
}

static struct cn_trace_value scalar_of(struct otlp_json_reading *r, const char *key,
                                       struct cn_bytes text)
{
    struct cn_trace_value value = {.kind = CN_VALUE_NULL};
    int64_t integer;
    double real;

    if (strcmp(key, "stringValue") == 0 || strcmp(key, "bytesValue") == 0)
        value = cn_span_set_text(r->set, text);
    else if (strcmp(key, "intValue") == 0 && cn_json_as_i64(text, &integer))
        value = (struct cn_trace_value){.kind = CN_VALUE_INT, .integer = integer};
    else if (strcmp(key, "doubleValue") == 0 && cn_json_as_f64(text, &real))
        value = (struct cn_trace_value){.kind = CN_VALUE_FLOAT, .real = real};
    return value;
}

/* Of a value, or of one in a list. */
static bool is_scalar_key(const char *key)
{
    return strcmp(key, "stringValue") == 0 || strcmp(key, "boolValue") == 0 ||
           strcmp(key, "intValue") == 0 || strcmp(key, "doubleValue") == 0 ||
           strcmp(key, "bytesValue") == 0;
}

/* Members of later versions of the protocol are no values. */
static bool skip_unknown(struct otlp_json_reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

    return kind != CN_JSON_FAIL && cn_json_skip(&r->json, kind, err);
}

/* The rest of the object of a value. A list has the scalars at any depth; maps are dropped. */
static bool read_value(struct otlp_json_reading *r, struct cn_error *err)
{
    unsigned outside = r->json.depth - 1;
    size_t first = r->set->value_count;
    bool is_list = false, is_map = false;
    char key[16] = "";

    while (r->json.depth > outside) {
        struct cn_trace_value value;
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
            is_map = is_map || strcmp(key, "kvlistValue") == 0;
            if (r->json.depth == outside + 1 && !is_scalar_key(key) &&
                strcmp(key, "arrayValue") != 0 && strcmp(key, "kvlistValue") != 0 &&
                !skip_unknown(r, err))
                return false;
            continue;
        }
        if (!is_scalar_key(key))
            continue;
        if (kind == CN_JSON_TRUE || kind == CN_JSON_FALSE)
            value = (struct cn_trace_value){.kind = CN_VALUE_BOOL,
                                            .boolean = kind == CN_JSON_TRUE};
        else if (kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
            value = scalar_of(r, key, token.text);
        else
            continue;
        if (is_map)
            continue;
        if (is_list)
            cn_span_set_list_add(r->set, first, value);
        else
            r->value = value;
    }
    r->set->losses.maps += is_map;
    if (is_list)
        r->value = cn_span_set_list(r->set, first);
    return true;
}

static bool take_attribute(void *arg, const struct cn_json_member *member,
                           struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "value") && member->kind == CN_JSON_OBJECT)
        return read_value(r, err);
    if (cn_json_key_is(member, "key") && member->kind == CN_JSON_STRING)
        r->key = cn_span_set_keyword(r->set, member->token.text);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_attribute(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    (void)off;
    r->key = 0;
    r->value = (struct cn_trace_value){.kind = CN_VALUE_NULL};
    if (!cn_json_read_object(&r->json, take_attribute, r, err))
        return false;
    cn_span_set_attribute(r->set, r->key, r->value);
    return true;
}

static bool take_event(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    if (cn_json_key_is(member, "name"))
        r->set->event_name =
            cn_words_add(&r->set->words, CN_WORD_TEXT, member->token.text);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_event(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    (void)off;
    cn_span_set_event_begin(r->set);
    if (!cn_json_read_object(&r->json, take_event, r, err))
        return false;
    cn_span_set_event_end(r->set);
    return true;
}

static bool take_id(const struct cn_json_member *member, uint64_t *high, uint64_t *low,
                    struct cn_error *err)
{
    return member->token.text.len == 0 ||
           cn_span_id_parse(member->token.text, high, low) ||
           cn_json_fail(&member->token, "an id", err);
}

static bool take_link(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct otlp_json_reading *r = arg;
    struct cn_set_link *link = &r->set->link;
    uint64_t ignored;
    bool ok = true;

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    if (cn_json_key_is(member, "traceId"))
        ok = take_id(member, &link->trace_high, &link->trace_low, err);
    else if (cn_json_key_is(member, "spanId"))
        ok = take_id(member, &ignored, &link->id, err);
    else if (cn_json_key_is(member, "traceState") && member->kind == CN_JSON_STRING)
        cn_span_set_link_state(r->set, member->token.text);
    return ok && cn_json_skip(&r->json, member->kind, err);
}

static bool read_link(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    cn_span_set_link_begin(r->set);
    if (!cn_json_read_object(&r->json, take_link, r, err))
        return cn_fail_in(err, "link at %" PRIu64, off);
    cn_span_set_link_end(r->set);
    return true;
}

static bool take_status(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "code"))
        cn_span_set_current(r->set)->is_error =
            cn_json_is(&member->token, "2") ||
            cn_json_is(&member->token, "STATUS_CODE_ERROR");
    else if (cn_json_key_is(member, "message"))
        cn_span_set_status_message(r->set, member->token.text);
    return cn_json_skip(&r->json, member->kind, err);
}

static uint64_t kind_of(const struct cn_json_member *member)
{
    static const char *const names[] = {"",
                                        "SPAN_KIND_INTERNAL",
                                        "SPAN_KIND_SERVER",
                                        "SPAN_KIND_CLIENT",
                                        "SPAN_KIND_PRODUCER",
                                        "SPAN_KIND_CONSUMER"};
    uint64_t kind = 0;

    if (!cn_json_as_u64(member->token.text, &kind))
        for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++)
            if (cn_json_is(&member->token, names[i]))
                kind = i;
    return kind;
}

static bool take_time(const struct cn_json_member *member, uint64_t *out,
                      struct cn_error *err)
{
    return cn_json_as_u64(member->token.text, out) ||
           cn_json_fail(&member->token, "a time", err);
}

static bool take_span(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct otlp_json_reading *r = arg;
    struct cn_set_span *span = cn_span_set_current(r->set);
    uint64_t ignored;
    bool ok = true;

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    if (cn_json_key_is(member, "events"))
        return read_array(r, member, read_event, err);
    if (cn_json_key_is(member, "links"))
        return read_array(r, member, read_link, err);
    if (cn_json_key_is(member, "status"))
        return read_object(r, member, take_status, err);
    if (cn_json_key_is(member, "traceId"))
        ok = take_id(member, &span->trace_high, &span->trace_low, err);
    else if (cn_json_key_is(member, "spanId"))
        ok = take_id(member, &ignored, &span->id, err);
    else if (cn_json_key_is(member, "parentSpanId"))
        ok = take_id(member, &ignored, &span->parent_id, err);
    else if (cn_json_key_is(member, "startTimeUnixNano"))
        ok = take_time(member, &span->time_ns, err);
    else if (cn_json_key_is(member, "endTimeUnixNano"))
        ok = take_time(member, &span->end_ns, err);
    else if (cn_json_key_is(member, "kind"))
        span->type = cn_span_set_kind(r->set, kind_of(member));
    else if (cn_json_key_is(member, "name"))
        span->name =
            cn_words_add(&r->set->words, CN_WORD_METHOD_NAME, member->token.text);
    return ok && cn_json_skip(&r->json, member->kind, err);
}

static bool read_span(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    cn_span_set_begin(r->set);
    return (cn_json_read_object(&r->json, take_span, r, err) &&
            cn_span_set_end(r->set, err)) ||
           cn_fail_in(err, "span at %" PRIu64, off);
}

static bool take_scope(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    return cn_json_key_is(member, "spans") ? read_array(r, member, read_span, err)
                                           : cn_json_skip(&r->json, member->kind, err);
}

static bool read_scope(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    (void)off;
    return cn_json_read_object(&r->json, take_scope, r, err);
}

static bool take_resource(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    return cn_json_key_is(member, "attributes")
               ? read_array(r, member, read_attribute, err)
               : cn_json_skip(&r->json, member->kind, err);
}

static bool take_resource_spans(void *arg, const struct cn_json_member *member,
                                struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    /* The second name is that of versions before 1.0. */
    if (cn_json_key_is(member, "scopeSpans") ||
        cn_json_key_is(member, "instrumentationLibrarySpans"))
        return read_array(r, member, read_scope, err);
    if (!cn_json_key_is(member, "resource"))
        return cn_json_skip(&r->json, member->kind, err);
    cn_span_set_resource_begin(r->set);
    bool ok = read_object(r, member, take_resource, err);
    cn_span_set_resource_end(r->set);
    return ok;
}

static bool read_resource_spans(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;
    size_t first_span = r->set->count;

    (void)off;
    if (!cn_json_read_object(&r->json, take_resource_spans, r, err))
        return false;
    cn_span_set_share_resource(r->set, first_span);
    return true;
}

static bool take_traces(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (!cn_json_key_is(member, "resourceSpans"))
        return cn_json_skip(&r->json, member->kind, err);
    r->has_spans = true;
    return read_array(r, member, read_resource_spans, err);
}

bool cn_otlp_json_read(struct cn_span_set *set, struct cn_bytes body,
                       struct cn_error *err)
{
    struct otlp_json_reading r = {.set = set, .json = cn_json_read(body)};
    struct cn_json_token token;
    bool ok = cn_json_expect(&r.json, CN_JSON_OBJECT, "an object", err) &&
              cn_json_read_object(&r.json, take_traces, &r, err) &&
              cn_json_next(&r.json, &token, err) == CN_JSON_END;

    if (ok && !r.has_spans)
        ok = cn_fail(err, CN_ERR_FORMAT,
                     "neither an array of spans nor an object with \"resourceSpans\"");
    cn_json_reader_done(&r.json);
    return ok;
}
