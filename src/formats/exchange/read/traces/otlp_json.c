/* OpenTelemetry traces as JSON: the messages of the protobuf, with ids in hexadecimal and
 * 64-bit numbers as strings. */

#include <inttypes.h>
#include <math.h>

#include "base/bytes/base64.h"
#include "base/bytes/json_reader.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/read/traces/span_set.h"
#include "model/traces/links.h"

struct otlp_json_reading {
    bool has_spans; /* the member of all requests */
    struct cn_span_set *set;
    struct cn_json_reader json;
    struct cn_trace_shared resource, scope; /* being read */
    struct cn_text bytes;                   /* scratch */
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

static bool read_numbered(const struct cn_json_member *member, uint32_t *out)
{
    uint64_t value;

    if (!cn_json_as_u64(member->token.text, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* A 32-bit number of the current object, if the member is it. */
static bool take_u32(const struct cn_json_member *member, const char *key, uint32_t *out)
{
    return cn_json_key_is(member, key) && read_numbered(member, out);
}

/* JSON has no numbers for these. */
static bool special_real(struct cn_bytes text, double *out)
{
    if (cn_bytes_equal(text, "NaN"))
        *out = NAN;
    else if (cn_bytes_equal(text, "Infinity"))
        *out = INFINITY;
    else if (cn_bytes_equal(text, "-Infinity"))
        *out = -INFINITY;
    else
        return false;
    return true;
}

/* A value being read, and how many lists and maps are around it; or a key and its value. */
struct otlp_json_value {
    struct otlp_json_reading *r;
    struct cn_trace_value value;
    unsigned depth;
    uint32_t key;
    bool is_key_word; /* of an attribute: the key is a keyword */
};

static bool take_scalar(struct otlp_json_value *v, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct cn_bytes text = member->token.text;
    bool is_string = member->kind == CN_JSON_STRING;
    int64_t integer;
    double real;

    if (cn_json_key_is(member, "stringValue") && is_string) {
        v->value = cn_span_set_text(v->r->set, text);
    } else if (cn_json_key_is(member, "boolValue") &&
               (member->kind == CN_JSON_TRUE || member->kind == CN_JSON_FALSE)) {
        v->value = (struct cn_trace_value){.kind = CN_VALUE_BOOL,
                                           .boolean = member->kind == CN_JSON_TRUE};
    } else if (cn_json_key_is(member, "intValue") && cn_json_as_i64(text, &integer)) {
        v->value = (struct cn_trace_value){.kind = CN_VALUE_INT, .integer = integer};
    } else if (cn_json_key_is(member, "doubleValue") &&
               (cn_json_as_f64(text, &real) ||
                (is_string && special_real(text, &real)))) {
        v->value = (struct cn_trace_value){.kind = CN_VALUE_FLOAT, .real = real};
    } else if (cn_json_key_is(member, "bytesValue") && is_string) {
        cn_text_clear(&v->r->bytes);
        if (!cn_base64_decode(&v->r->bytes, text))
            return cn_json_fail(&member->token, "bytes in base64", err);
        v->value = cn_span_set_bytes(
            v->r->set, (struct cn_bytes){(const uint8_t *)cn_text_str(&v->r->bytes),
                                         v->r->bytes.len});
    }
    /* Members of later versions of the protocol are no values. */
    return cn_json_skip(&v->r->json, member->kind, err);
}

static bool take_value(void *arg, const struct cn_json_member *member,
                       struct cn_error *err);
static bool take_pair(void *arg, const struct cn_json_member *member,
                      struct cn_error *err);

static bool read_element(void *arg, uint64_t off, struct cn_error *err)
{
    const struct otlp_json_value *list = arg;
    struct otlp_json_value element = {.r = list->r, .depth = list->depth + 1};

    (void)off;
    if (!cn_json_read_object(&list->r->json, take_value, &element, err))
        return false;
    cn_span_set_list_add(list->r->set, element.value);
    return true;
}

static bool read_pair(void *arg, uint64_t off, struct cn_error *err)
{
    const struct otlp_json_value *map = arg;
    struct otlp_json_value pair = {.r = map->r, .depth = map->depth + 1};

    (void)off;
    if (!cn_json_read_object(&map->r->json, take_pair, &pair, err))
        return false;
    cn_span_set_list_add(
        map->r->set, (struct cn_trace_value){.kind = CN_VALUE_WORD, .word = pair.key});
    cn_span_set_list_add(map->r->set, pair.value);
    return true;
}

static bool take_elements(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    const struct otlp_json_value *v = arg;

    return cn_json_key_is(member, "values") && member->kind == CN_JSON_ARRAY
               ? cn_json_read_objects(&v->r->json, read_element, arg, err)
               : cn_json_skip(&v->r->json, member->kind, err);
}

static bool take_pairs(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    const struct otlp_json_value *v = arg;

    return cn_json_key_is(member, "values") && member->kind == CN_JSON_ARRAY
               ? cn_json_read_objects(&v->r->json, read_pair, arg, err)
               : cn_json_skip(&v->r->json, member->kind, err);
}

static bool take_value(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct otlp_json_value *v = arg;
    bool is_map = cn_json_key_is(member, "kvlistValue");
    size_t first = cn_span_set_list_begin(v->r->set);

    if (member->kind != CN_JSON_OBJECT ||
        (!is_map && !cn_json_key_is(member, "arrayValue")))
        return take_scalar(v, member, err);
    if (v->depth == CN_OTLP_VALUE_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "JSON at %" PRIu64 ": values nest more than %d deep",
                       member->token.off, CN_OTLP_VALUE_DEPTH_MAX);
    if (!cn_json_read_object(&v->r->json, is_map ? take_pairs : take_elements, v, err))
        return false;
    v->value = cn_span_set_list_end(v->r->set, first, is_map);
    return true;
}

static bool take_pair(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct otlp_json_value *v = arg;
    struct cn_span_set *set = v->r->set;

    if (cn_json_key_is(member, "value") && member->kind == CN_JSON_OBJECT)
        return cn_json_read_object(&v->r->json, take_value, v, err);
    if (cn_json_key_is(member, "key") && member->kind == CN_JSON_STRING)
        v->key = v->is_key_word ? cn_span_set_keyword(set, member->token.text)
                                : cn_span_set_word(set, member->token.text);
    return cn_json_skip(&v->r->json, member->kind, err);
}

static bool read_attribute(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_value attribute = {.r = arg, .is_key_word = true};

    (void)off;
    if (!cn_json_read_object(&attribute.r->json, take_pair, &attribute, err))
        return false;
    cn_span_set_attribute(attribute.r->set, attribute.key, attribute.value);
    return true;
}

/* A text of the current object, if the member is it. */
static bool take_text(struct otlp_json_reading *r, const struct cn_json_member *member,
                      const char *key, uint32_t *out)
{
    if (!cn_json_key_is(member, key) || member->kind != CN_JSON_STRING)
        return false;
    *out = cn_span_set_word(r->set, member->token.text);
    return true;
}

static bool take_time(const struct cn_json_member *member, uint64_t *out,
                      struct cn_error *err)
{
    return cn_json_as_u64(member->token.text, out) ||
           cn_json_fail(&member->token, "a time", err);
}

static bool take_event(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct otlp_json_reading *r = arg;
    struct cn_trace_event *event = cn_span_set_event(r->set);

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    if (cn_json_key_is(member, "timeUnixNano") &&
        !take_time(member, &event->time_ns, err))
        return false;
    (void)(take_text(r, member, "name", &event->name) ||
           take_u32(member, "droppedAttributesCount", &event->dropped_attributes));
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_event(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    (void)cn_span_set_event_begin(r->set);
    if (!cn_json_read_object(&r->json, take_event, r, err))
        return cn_fail_in(err, "event at %" PRIu64, off);
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
    struct cn_trace_link *link = cn_span_set_link(r->set);
    uint64_t ignored;
    bool ok = true;

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    if (cn_json_key_is(member, "traceId"))
        ok = take_id(member, &link->trace_high, &link->trace_low, err);
    else if (cn_json_key_is(member, "spanId"))
        ok = take_id(member, &ignored, &link->span_id, err);
    else
        (void)(take_text(r, member, "traceState", &link->trace_state) ||
               take_u32(member, "flags", &link->flags) ||
               take_u32(member, "droppedAttributesCount", &link->dropped_attributes));
    return ok && cn_json_skip(&r->json, member->kind, err);
}

static bool read_link(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    (void)cn_span_set_link_begin(r->set);
    if (!cn_json_read_object(&r->json, take_link, r, err))
        return cn_fail_in(err, "link at %" PRIu64, off);
    cn_span_set_link_end(r->set);
    return true;
}

/* The number of an enumeration, which may be given by name; 0 if it is none of them. */
static uint64_t number_of(const struct cn_json_member *member, const char *const *names,
                          size_t count)
{
    uint64_t number = 0;

    if (!cn_json_as_u64(member->token.text, &number))
        for (size_t i = 1; i < count; i++)
            if (cn_json_is(&member->token, names[i]))
                number = i;
    return number;
}

static bool take_status(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    static const char *const names[] = {"", "STATUS_CODE_OK", "STATUS_CODE_ERROR"};
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "code"))
        cn_span_set_status(r->set, number_of(member, names, 3));
    (void)take_text(r, member, "message",
                    &cn_span_set_current(r->set)->span.status_message);
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

    return number_of(member, names, sizeof(names) / sizeof(*names));
}

/* A string or number of a span. */
static bool take_span_scalar(struct otlp_json_reading *r,
                             const struct cn_json_member *member, struct cn_error *err)
{
    struct cn_set_span *read = cn_span_set_current(r->set);
    struct cn_trace_span *span = &read->span;
    uint64_t ignored;

    if (cn_json_key_is(member, "traceId"))
        return take_id(member, &read->trace_high, &read->trace_low, err);
    if (cn_json_key_is(member, "spanId"))
        return take_id(member, &ignored, &span->id, err);
    if (cn_json_key_is(member, "parentSpanId"))
        return take_id(member, &ignored, &span->parent_id, err);
    if (cn_json_key_is(member, "startTimeUnixNano"))
        return take_time(member, &span->time_ns, err);
    if (cn_json_key_is(member, "endTimeUnixNano"))
        return take_time(member, &span->end_ns, err);
    if (cn_json_key_is(member, "kind"))
        cn_span_set_kind(r->set, kind_of(member));
    else if (cn_json_key_is(member, "name"))
        read->name =
            cn_words_add(&r->set->words, CN_WORD_METHOD_NAME, member->token.text);
    else
        (void)(take_text(r, member, "traceState", &span->trace_state) ||
               take_u32(member, "flags", &span->flags) ||
               take_u32(member, "droppedAttributesCount", &span->dropped_attributes) ||
               take_u32(member, "droppedEventsCount", &span->dropped_events) ||
               take_u32(member, "droppedLinksCount", &span->dropped_links));
    return true;
}

static bool take_span(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    if (cn_json_key_is(member, "events"))
        return read_array(r, member, read_event, err);
    if (cn_json_key_is(member, "links"))
        return read_array(r, member, read_link, err);
    if (cn_json_key_is(member, "status"))
        return read_object(r, member, take_status, err);
    return take_span_scalar(r, member, err) && cn_json_skip(&r->json, member->kind, err);
}

static bool read_span(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    cn_span_set_begin_otlp(r->set);
    return (cn_json_read_object(&r->json, take_span, r, err) &&
            cn_span_set_end(r->set, err)) ||
           cn_fail_in(err, "span at %" PRIu64, off);
}

static bool take_scope(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    (void)(take_text(r, member, "name", &r->scope.name) ||
           take_text(r, member, "version", &r->scope.version) ||
           take_u32(member, "droppedAttributesCount", &r->scope.dropped_attributes));
    return cn_json_skip(&r->json, member->kind, err);
}

static bool take_scope_spans(void *arg, const struct cn_json_member *member,
                             struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "spans"))
        return read_array(r, member, read_span, err);
    (void)take_text(r, member, "schemaUrl", &r->scope.schema_url);
    /* The second name is that of versions before 1.0. */
    if (member->kind != CN_JSON_OBJECT ||
        (!cn_json_key_is(member, "scope") &&
         !cn_json_key_is(member, "instrumentationLibrary")))
        return cn_json_skip(&r->json, member->kind, err);
    cn_span_set_shared_begin(r->set);
    if (!read_object(r, member, take_scope, err))
        return false;
    r->scope.attributes = cn_span_set_shared_end(r->set);
    return true;
}

static bool read_scope_spans(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;
    size_t first_span = r->set->count;

    (void)off;
    r->scope = (struct cn_trace_shared){.attributes = CN_TRACE_EMPTY_LIST};
    bool ok = cn_json_read_object(&r->json, take_scope_spans, r, err);
    cn_span_set_share_scope(r->set, first_span, &r->scope);
    return ok;
}

static bool take_resource(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    if (cn_json_key_is(member, "attributes"))
        return read_array(r, member, read_attribute, err);
    (void)take_u32(member, "droppedAttributesCount", &r->resource.dropped_attributes);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool take_resource_spans(void *arg, const struct cn_json_member *member,
                                struct cn_error *err)
{
    struct otlp_json_reading *r = arg;

    /* The second name is that of versions before 1.0. */
    if (cn_json_key_is(member, "scopeSpans") ||
        cn_json_key_is(member, "instrumentationLibrarySpans"))
        return read_array(r, member, read_scope_spans, err);
    (void)take_text(r, member, "schemaUrl", &r->resource.schema_url);
    if (!cn_json_key_is(member, "resource"))
        return cn_json_skip(&r->json, member->kind, err);
    cn_span_set_shared_begin(r->set);
    if (!read_object(r, member, take_resource, err))
        return false;
    r->resource.attributes = cn_span_set_shared_end(r->set);
    return true;
}

static bool read_resource_spans(void *arg, uint64_t off, struct cn_error *err)
{
    struct otlp_json_reading *r = arg;
    size_t first_span = r->set->count;

    (void)off;
    r->resource = (struct cn_trace_shared){.attributes = CN_TRACE_EMPTY_LIST};
    bool ok = cn_json_read_object(&r->json, take_resource_spans, r, err);
    cn_span_set_share_resource(r->set, first_span, &r->resource);
    return ok;
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
    cn_text_done(&r.bytes);
    return ok;
}
