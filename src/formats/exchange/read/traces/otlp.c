/* OpenTelemetry traces as protobuf: resources, in them scopes, in them spans. */

#include <inttypes.h>

#include "base/bytes/record.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/read/traces/span_set.h"

enum { SPAN_ID_LEN = 8, TRACE_ID_LEN = 16 };

/* 0 if the id has another length. */
static uint64_t span_id_of(struct cn_bytes id)
{
    return id.len == SPAN_ID_LEN ? cn_u64_be_get(id.ptr) : 0;
}

static void take_trace_id(struct cn_bytes id, uint64_t *high, uint64_t *low)
{
    *high = id.len == TRACE_ID_LEN ? cn_u64_be_get(id.ptr) : 0;
    *low = id.len == TRACE_ID_LEN ? cn_u64_be_get(id.ptr + SPAN_ID_LEN) : 0;
}

/* A value being read, and how many lists and maps are around it. */
struct otlp_value {
    struct cn_span_set *set;
    struct cn_trace_value value;
    unsigned depth;
};

static bool take_value(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err);

static bool take_element(void *arg, const struct cn_pb_reader *reader,
                         struct cn_pb_field *field, struct cn_error *err)
{
    const struct otlp_value *list = arg;
    struct otlp_value element = {.set = list->set, .depth = list->depth + 1};

    if (field->number != cn_otlp_array_values)
        return true;
    if (!cn_pb_read_message(reader, field, take_value, &element, err))
        return false;
    cn_span_set_list_add(list->set, element.value);
    return true;
}

struct otlp_attribute {
    struct otlp_value value;
    struct cn_bytes key;
};

static bool take_attribute(void *arg, const struct cn_pb_reader *reader,
                           struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_attribute *attribute = arg;

    if (field->number == cn_otlp_key_value_key)
        attribute->key = field->bytes;
    return field->number != cn_otlp_key_value_value ||
           cn_pb_read_message(reader, field, take_value, &attribute->value, err);
}

/* A key and a value of a map. */
static bool take_pair(void *arg, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, struct cn_error *err)
{
    const struct otlp_value *map = arg;
    struct otlp_attribute pair = {.value = {.set = map->set, .depth = map->depth + 1}};

    if (field->number != cn_otlp_array_values)
        return true;
    if (!cn_pb_read_message(reader, field, take_attribute, &pair, err))
        return false;
    cn_span_set_list_add(map->set, cn_span_set_text(map->set, pair.key));
    cn_span_set_list_add(map->set, pair.value.value);
    return true;
}

static bool take_list(struct otlp_value *v, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, bool is_map, struct cn_error *err)
{
    size_t first = cn_span_set_list_begin(v->set);

    if (v->depth == CN_OTLP_VALUE_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "values nest more than %d deep",
                       CN_OTLP_VALUE_DEPTH_MAX);
    if (!cn_pb_read_message(reader, field, is_map ? take_pair : take_element, v, err))
        return false;
    v->value = cn_span_set_list_end(v->set, first, is_map);
    return true;
}

static bool take_value(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_value *v = arg;

    switch (field->number) {
    case cn_otlp_value_string_value:
        v->value = cn_span_set_text(v->set, field->bytes);
        return true;
    case cn_otlp_value_bytes_value:
        v->value = cn_span_set_bytes(v->set, field->bytes);
        return true;
    case cn_otlp_value_bool_value:
        v->value =
            (struct cn_trace_value){.kind = CN_VALUE_BOOL, .boolean = field->value != 0};
        return true;
    case cn_otlp_value_int_value:
        v->value = (struct cn_trace_value){.kind = CN_VALUE_INT,
                                           .integer = cn_pb_as_i64(field->value)};
        return true;
    case cn_otlp_value_double_value:
        v->value = (struct cn_trace_value){.kind = CN_VALUE_FLOAT,
                                           .real = cn_pb_as_f64(field->value)};
        return true;
    case cn_otlp_value_array_value:
    case cn_otlp_value_kvlist_value:
        return take_list(v, reader, field, field->number == cn_otlp_value_kvlist_value,
                         err);
    default:
        return true;
    }
}

static bool read_attribute(struct cn_span_set *set, const struct cn_pb_reader *outer,
                           const struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_attribute attribute = {.value.set = set};
    struct cn_bytes key, text;

    if (field->wire == CN_PB_BYTES &&
        cn_pb_text_pair(field->bytes, cn_otlp_key_value_key, cn_otlp_key_value_value,
                        cn_otlp_value_string_value, &key, &text)) {
        attribute.key = key;
        attribute.value.value = cn_span_set_text(set, text);
    } else if (!cn_pb_read_message(outer, field, take_attribute, &attribute, err)) {
        return false;
    }
    cn_span_set_attribute(set, cn_span_set_key(set, attribute.key),
                          attribute.value.value);
    return true;
}

static bool take_event(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;
    struct cn_trace_event *event = cn_span_set_event(set);

    switch (field->number) {
    case cn_otlp_event_time_unix_nano:
        event->time_ns = field->value;
        return true;
    case cn_otlp_event_name:
        event->name = cn_span_set_word(set, field->bytes);
        return true;
    case cn_otlp_event_attributes:
        return read_attribute(set, reader, field, err);
    case cn_otlp_event_dropped_attributes_count:
        event->dropped_attributes = (uint32_t)field->value;
        return true;
    default:
        return true;
    }
}

static bool take_link(void *arg, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;
    struct cn_trace_link *link = cn_span_set_link(set);

    switch (field->number) {
    case cn_otlp_link_trace_id:
        take_trace_id(field->bytes, &link->trace_high, &link->trace_low);
        return true;
    case cn_otlp_link_span_id:
        link->span_id = span_id_of(field->bytes);
        return true;
    case cn_otlp_link_trace_state:
        link->trace_state = cn_span_set_word(set, field->bytes);
        return true;
    case cn_otlp_link_attributes:
        return read_attribute(set, reader, field, err);
    case cn_otlp_link_dropped_attributes_count:
        link->dropped_attributes = (uint32_t)field->value;
        return true;
    case cn_otlp_link_flags:
        link->flags = (uint32_t)field->value;
        return true;
    default:
        return true;
    }
}

static bool take_status(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;
    struct cn_set_span *span = cn_span_set_current(set);

    (void)reader, (void)err;
    if (field->number == cn_otlp_status_code)
        cn_span_set_status(set, field->value);
    else if (field->number == cn_otlp_status_message)
        span->span.status_message = cn_span_set_word(set, field->bytes);
    return true;
}

static bool take_inner(struct cn_span_set *set, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    switch (field->number) {
    case cn_otlp_span_attributes:
        return read_attribute(set, reader, field, err);
    case cn_otlp_span_events:
        (void)cn_span_set_event_begin(set);
        if (!cn_pb_read_message(reader, field, take_event, set, err))
            return false;
        cn_span_set_event_end(set);
        return true;
    case cn_otlp_span_links:
        (void)cn_span_set_link_begin(set);
        if (!cn_pb_read_message(reader, field, take_link, set, err))
            return false;
        cn_span_set_link_end(set);
        return true;
    case cn_otlp_span_status:
        return cn_pb_read_message(reader, field, take_status, set, err);
    default:
        return true;
    }
}

static bool take_span(void *arg, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;
    struct cn_set_span *read = cn_span_set_current(set);
    struct cn_trace_span *span = &read->span;

    switch (field->number) {
    case cn_otlp_span_trace_id:
        take_trace_id(field->bytes, &read->trace_high, &read->trace_low);
        return true;
    case cn_otlp_span_span_id:
        span->id = span_id_of(field->bytes);
        return true;
    case cn_otlp_span_trace_state:
        span->trace_state = cn_span_set_word(set, field->bytes);
        return true;
    case cn_otlp_span_parent_span_id:
        span->parent_id = span_id_of(field->bytes);
        return true;
    case cn_otlp_span_name:
        read->name = cn_words_add(&set->words, CN_WORD_METHOD_NAME, field->bytes);
        return true;
    case cn_otlp_span_kind:
        cn_span_set_kind(set, field->value);
        return true;
    case cn_otlp_span_start_time_unix_nano:
        span->time_ns = field->value;
        return true;
    case cn_otlp_span_end_time_unix_nano:
        span->end_ns = field->value;
        return true;
    case cn_otlp_span_flags:
        span->flags = (uint32_t)field->value;
        return true;
    case cn_otlp_span_dropped_attributes_count:
        span->dropped_attributes = (uint32_t)field->value;
        return true;
    case cn_otlp_span_dropped_events_count:
        span->dropped_events = (uint32_t)field->value;
        return true;
    case cn_otlp_span_dropped_links_count:
        span->dropped_links = (uint32_t)field->value;
        return true;
    default:
        return take_inner(set, reader, field, err);
    }
}

/* A resource or scope being read, and what is around it. */
struct otlp_shared {
    struct cn_span_set *set;
    struct cn_trace_shared shared;
};

/* A text of what many spans share is there whole, or not at all. */
static uint32_t whole_word(struct cn_span_set *set, const struct cn_pb_reader *reader,
                           const struct cn_pb_field *field)
{
    return reader->is_at_cut ? 0 : cn_span_set_word(set, field->bytes);
}

static bool take_scope(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_shared *scope = arg;

    switch (field->number) {
    case cn_otlp_scope_name:
        scope->shared.name = whole_word(scope->set, reader, field);
        return true;
    case cn_otlp_scope_version:
        scope->shared.version = whole_word(scope->set, reader, field);
        return true;
    case cn_otlp_scope_attributes:
        return read_attribute(scope->set, reader, field, err);
    case cn_otlp_scope_dropped_attributes_count:
        scope->shared.dropped_attributes = (uint32_t)field->value;
        return true;
    default:
        return true;
    }
}

static bool take_resource(void *arg, const struct cn_pb_reader *reader,
                          struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_shared *resource = arg;

    if (field->number == cn_otlp_resource_attributes)
        return read_attribute(resource->set, reader, field, err);
    if (field->number == cn_otlp_resource_dropped_attributes_count)
        resource->shared.dropped_attributes = (uint32_t)field->value;
    return true;
}

static bool read_shared(struct otlp_shared *to, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, cn_pb_field_fn take,
                        struct cn_error *err)
{
    cn_span_set_shared_begin(to->set);
    if (!cn_pb_read_message(reader, field, take, to, err))
        return false;
    to->shared.attributes = cn_span_set_shared_end(to->set);
    return true;
}

static bool take_scope_spans(void *arg, const struct cn_pb_reader *reader,
                             struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_shared *scope = arg;

    if (field->number == cn_otlp_scope_spans_scope)
        return read_shared(scope, reader, field, take_scope, err);
    if (field->number == cn_otlp_scope_spans_schema_url)
        scope->shared.schema_url = whole_word(scope->set, reader, field);
    if (field->number != cn_otlp_scope_spans_spans)
        return true;
    cn_span_set_begin_otlp(scope->set);
    return (cn_pb_read_message(reader, field, take_span, scope->set, err) &&
            cn_span_set_end(scope->set, err)) ||
           cn_fail_in(err, "span at %" PRIu64, field->off);
}

static bool read_scope_spans(struct cn_span_set *set, const struct cn_pb_reader *reader,
                             struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_shared scope = {.set = set, .shared.attributes = CN_TRACE_EMPTY_LIST};
    size_t first_span = set->count;
    bool ok = cn_pb_read_message(reader, field, take_scope_spans, &scope, err);

    cn_span_set_share_scope(set, first_span, &scope.shared);
    return ok;
}

static bool take_resource_spans(void *arg, const struct cn_pb_reader *reader,
                                struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_shared *resource = arg;

    if (field->number == cn_otlp_resource_spans_scope_spans)
        return read_scope_spans(resource->set, reader, field, err);
    if (field->number == cn_otlp_resource_spans_resource)
        return read_shared(resource, reader, field, take_resource, err);
    if (field->number == cn_otlp_resource_spans_schema_url)
        resource->shared.schema_url = whole_word(resource->set, reader, field);
    return true;
}

static bool take_traces(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_shared resource = {.set = arg, .shared.attributes = CN_TRACE_EMPTY_LIST};
    size_t first_span = resource.set->count;

    if (field->number != cn_otlp_traces_resource_spans)
        return true;
    bool ok = cn_pb_read_message(reader, field, take_resource_spans, &resource, err) ||
              cn_fail_in(err, "resource at %" PRIu64, field->off);
    cn_span_set_share_resource(resource.set, first_span, &resource.shared);
    return ok;
}

bool cn_otlp_read(struct cn_span_set *set, struct cn_bytes body, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(body);

    reader.takes_cut = set->stops_at_damage;
    return cn_pb_read_fields(&reader, take_traces, set, err);
}
