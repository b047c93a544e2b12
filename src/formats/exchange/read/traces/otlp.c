/* OpenTelemetry traces as protobuf: resources, in them scopes, in them spans. */

#include <inttypes.h>

#include "formats/exchange/otlp_format.h"
#include "formats/exchange/read/traces/span_links.h"
#include "formats/exchange/read/traces/span_set.h"

enum { ID_LEN = 8 };

static uint64_t id_of(struct cn_bytes bytes, size_t at)
{
    uint64_t id = 0;
    struct cn_bytes half;

    if (!cn_bytes_slice(bytes, at, ID_LEN, &half))
        return 0;
    for (size_t i = 0; i < ID_LEN; i++)
        id = id << 8 | half.ptr[i];
    return id;
}

/* A value being read. Inside a list it is a scalar: a list in a list is dropped. */
struct otlp_value {
    struct cn_span_set *set;
    struct cn_trace_value value;
    bool is_in_list;
    size_t first; /* of a list: its first value in the set */
};

static bool take_value(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err);

static bool take_element(void *arg, const struct cn_pb_reader *reader,
                         struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_value *list = arg;
    struct otlp_value element = {.set = list->set, .is_in_list = true};

    if (field->number != cn_otlp_array_values)
        return true;
    if (!cn_pb_read_message(reader, field, take_value, &element, err))
        return false;
    cn_span_set_list_add(list->set, list->first, element.value);
    return true;
}

static bool take_value(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_value *v = arg;

    switch (field->number) {
    case cn_otlp_value_string_value:
    case cn_otlp_value_bytes_value:
        v->value = cn_span_set_text(v->set, field->bytes);
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
        if (v->is_in_list) {
            v->set->losses.maps++;
            return true;
        }
        v->first = v->set->value_count;
        if (!cn_pb_read_message(reader, field, take_element, v, err))
            return false;
        v->value = cn_span_set_list(v->set, v->first);
        return true;
    case cn_otlp_value_kvlist_value:
        v->set->losses.maps++;
        return true;
    default:
        return true;
    }
}

struct otlp_attribute {
    struct otlp_value value;
    uint32_t key;
};

static bool take_attribute(void *arg, const struct cn_pb_reader *reader,
                           struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_attribute *attribute = arg;

    if (field->number == cn_otlp_key_value_key)
        attribute->key = cn_span_set_keyword(attribute->value.set, field->bytes);
    return field->number != cn_otlp_key_value_value ||
           cn_pb_read_message(reader, field, take_value, &attribute->value, err);
}

static bool read_attribute(struct cn_span_set *set, const struct cn_pb_reader *outer,
                           const struct cn_pb_field *field, struct cn_error *err)
{
    struct otlp_attribute attribute = {.value.set = set};

    if (!cn_pb_read_message(outer, field, take_attribute, &attribute, err))
        return false;
    cn_span_set_attribute(set, attribute.key, attribute.value.value);
    return true;
}

static bool take_event(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;

    if (field->number == cn_otlp_event_name)
        set->event_name = cn_words_add(&set->words, CN_WORD_TEXT, field->bytes);
    return field->number != cn_otlp_event_attributes ||
           read_attribute(set, reader, field, err);
}

static bool take_link(void *arg, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;

    switch (field->number) {
    case cn_otlp_link_trace_id:
        set->link.trace_high = id_of(field->bytes, 0);
        set->link.trace_low = id_of(field->bytes, ID_LEN);
        return true;
    case cn_otlp_link_span_id:
        set->link.id = id_of(field->bytes, 0);
        return true;
    case cn_otlp_link_trace_state:
        cn_span_set_link_state(set, field->bytes);
        return true;
    case cn_otlp_link_attributes:
        return read_attribute(set, reader, field, err);
    default:
        return true;
    }
}

static bool take_status(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;

    (void)reader, (void)err;
    if (field->number == cn_otlp_status_code)
        cn_span_set_current(set)->is_error = field->value == CN_OTLP_STATUS_ERROR;
    else if (field->number == cn_otlp_status_message)
        cn_span_set_status_message(set, field->bytes);
    return true;
}

static bool take_span(void *arg, const struct cn_pb_reader *reader,
                      struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;
    struct cn_set_span *span = cn_span_set_current(set);

    switch (field->number) {
    case cn_otlp_span_trace_id:
        span->trace_high = id_of(field->bytes, 0);
        span->trace_low = id_of(field->bytes, ID_LEN);
        return true;
    case cn_otlp_span_span_id:
        span->id = id_of(field->bytes, 0);
        return true;
    case cn_otlp_span_parent_span_id:
        span->parent_id = id_of(field->bytes, 0);
        return true;
    case cn_otlp_span_name:
        span->name = cn_words_add(&set->words, CN_WORD_METHOD_NAME, field->bytes);
        return true;
    case cn_otlp_span_kind:
        span->type = cn_span_set_kind(set, field->value);
        return true;
    case cn_otlp_span_start_time_unix_nano:
        span->time_ns = field->value;
        return true;
    case cn_otlp_span_end_time_unix_nano:
        span->end_ns = field->value;
        return true;
    case cn_otlp_span_attributes:
        return read_attribute(set, reader, field, err);
    case cn_otlp_span_events:
        cn_span_set_event_begin(set);
        if (!cn_pb_read_message(reader, field, take_event, set, err))
            return false;
        cn_span_set_event_end(set);
        return true;
    case cn_otlp_span_links:
        cn_span_set_link_begin(set);
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

static bool take_scope(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;

    if (field->number != cn_otlp_scope_spans_spans)
        return true;
    cn_span_set_begin(set);
    return (cn_pb_read_message(reader, field, take_span, set, err) &&
            cn_span_set_end(set, err)) ||
           cn_fail_in(err, "span at %" PRIu64, field->off);
}

static bool take_resource(void *arg, const struct cn_pb_reader *reader,
                          struct cn_pb_field *field, struct cn_error *err)
{
    return field->number != cn_otlp_resource_attributes ||
           read_attribute(arg, reader, field, err);
}

static bool take_resource_spans(void *arg, const struct cn_pb_reader *reader,
                                struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;

    if (field->number == cn_otlp_resource_spans_scope_spans)
        return cn_pb_read_message(reader, field, take_scope, set, err);
    if (field->number != cn_otlp_resource_spans_resource)
        return true;
    cn_span_set_resource_begin(set);
    bool ok = cn_pb_read_message(reader, field, take_resource, set, err);
    cn_span_set_resource_end(set);
    return ok;
}

static bool take_traces(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_span_set *set = arg;
    size_t first_span = set->count;

    if (field->number != cn_otlp_traces_resource_spans)
        return true;
    if (!cn_pb_read_message(reader, field, take_resource_spans, set, err))
        return cn_fail_in(err, "resource at %" PRIu64, field->off);
    cn_span_set_share_resource(set, first_span);
    return true;
}

bool cn_otlp_read(struct cn_span_set *set, struct cn_bytes body, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(body);

    return cn_pb_read_fields(&reader, take_traces, set, err);
}
