/* Traces of OpenTelemetry as protobuf: resources, in them scopes, in them spans. */

#include <inttypes.h>

#include "base/alloc.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/traces/span_set.h"

enum { ID_LEN = 8, LIST_MAX = 1 << 16 };

static uint64_t id_of(struct cn_bytes bytes, size_t at)
{
    uint64_t id = 0;
    struct cn_bytes part;

    if (!cn_bytes_slice(bytes, at, ID_LEN, &part))
        return 0;
    for (size_t i = 0; i < ID_LEN; i++)
        id = id << 8 | part.ptr[i];
    return id;
}

static bool read_list(struct cn_span_set *set, const struct cn_pb_reader *outer,
                      const struct cn_pb_field *field, struct cn_trace_value *out,
                      struct cn_error *err);

/* A value; one inside a list is a scalar, as lists in lists are left out. */
static bool read_value(struct cn_span_set *set, const struct cn_pb_reader *outer,
                       const struct cn_pb_field *field, bool is_inside,
                       struct cn_trace_value *out, struct cn_error *err)
{
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD)
        switch (inner.number) {
        case cn_otlp_value_string_value:
        case cn_otlp_value_bytes_value:
            *out = cn_span_set_text(set, inner.bytes);
            break;
        case cn_otlp_value_bool_value:
            out->kind = CN_VALUE_BOOL;
            out->boolean = inner.value != 0;
            break;
        case cn_otlp_value_int_value:
            out->kind = CN_VALUE_INT;
            out->integer = cn_pb_as_i64(inner.value);
            break;
        case cn_otlp_value_double_value:
            out->kind = CN_VALUE_FLOAT;
            out->real = cn_pb_as_f64(inner.value);
            break;
        case cn_otlp_value_array_value:
            if (!is_inside && !read_list(set, &reader, &inner, out, err))
                return false;
            set->left_out += is_inside;
            break;
        default:
            set->left_out++;
            break;
        }
    return step == CN_PB_END;
}

static bool read_list(struct cn_span_set *set, const struct cn_pb_reader *outer,
                      const struct cn_pb_field *field, struct cn_trace_value *out,
                      struct cn_error *err)
{
    size_t first = set->value_count;
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD) {
        struct cn_trace_value value = {.kind = CN_VALUE_NULL};

        if (inner.number != cn_otlp_array_values || set->value_count - first == LIST_MAX)
            continue;
        if (!read_value(set, &reader, &inner, true, &value, err))
            return false;
        set->values = cn_grow(set->values, set->value_count, &set->value_capacity,
                              sizeof(*set->values));
        set->values[set->value_count++] = value;
    }
    out->kind = CN_VALUE_LIST;
    out->list.first = (uint32_t)first;
    out->list.count = (uint32_t)(set->value_count - first);
    return step == CN_PB_END;
}

static bool read_attribute(struct cn_span_set *set, const struct cn_pb_reader *outer,
                           const struct cn_pb_field *field, bool is_loose,
                           struct cn_error *err)
{
    struct cn_trace_value value = {.kind = CN_VALUE_NULL};
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;
    uint32_t key = 0;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD) {
        if (inner.number == cn_otlp_key_value_key)
            key = cn_span_set_keyword(set, inner.bytes);
        else if (inner.number == cn_otlp_key_value_value &&
                 !read_value(set, &reader, &inner, false, &value, err))
            return false;
    }
    if (is_loose)
        cn_span_set_loose(set, key, value);
    else
        cn_span_set_attribute(set, key, value);
    return step == CN_PB_END;
}

static bool read_event(struct cn_span_set *set, const struct cn_pb_reader *outer,
                       const struct cn_pb_field *field, struct cn_error *err)
{
    size_t first = set->attribute_count;
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;
    uint32_t name = 0;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD) {
        if (inner.number == cn_otlp_event_name)
            name = cn_words_add(&set->words, CN_WORD_TEXT, inner.bytes);
        else if (inner.number == cn_otlp_event_attributes &&
                 !read_attribute(set, &reader, &inner, true, err))
            return false;
    }
    cn_span_set_event(set, name, first);
    return step == CN_PB_END;
}

static bool read_status(struct cn_span_set *set, const struct cn_pb_reader *outer,
                        const struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD) {
        if (inner.number == cn_otlp_status_code)
            set->spans[set->count - 1].is_error = inner.value == CN_OTLP_STATUS_ERROR;
        else if (inner.number == cn_otlp_status_message && inner.bytes.len > 0)
            cn_span_set_attribute(
                set, cn_words_add_str(&set->words, CN_WORD_KEYWORD, "status.message"),
                cn_span_set_text(set, inner.bytes));
    }
    return step == CN_PB_END;
}

static bool read_span_field(struct cn_span_set *set, const struct cn_pb_reader *reader,
                            const struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_set_span *span = &set->spans[set->count - 1];

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
        span->duration_ns = field->value; /* its end, until all is read */
        return true;
    case cn_otlp_span_attributes:
        return read_attribute(set, reader, field, false, err);
    case cn_otlp_span_events:
        return read_event(set, reader, field, err);
    case cn_otlp_span_status:
        return read_status(set, reader, field, err);
    default:
        return true;
    }
}

static bool read_span(struct cn_span_set *set, const struct cn_pb_reader *outer,
                      const struct cn_pb_field *field, struct cn_error *err)
{
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;
    struct cn_set_span *span;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    (void)cn_span_set_begin(set);
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD)
        if (!read_span_field(set, &reader, &inner, err))
            return false;
    if (step != CN_PB_END)
        return false;
    span = &set->spans[set->count - 1];
    span->duration_ns =
        span->duration_ns > span->time_ns ? span->duration_ns - span->time_ns : 0;
    if (span->id == 0 || (span->trace_high | span->trace_low) == 0)
        return cn_fail(err, CN_ERR_FORMAT, "a span at %" PRIu64 " needs ids", field->off);
    return true;
}

/* A scope, or the resource: what has spans, or attributes, in it. */
static bool read_part(struct cn_span_set *set, const struct cn_pb_reader *outer,
                      const struct cn_pb_field *field, struct cn_error *err)
{
    bool is_resource = field->number == cn_otlp_resource_spans_resource;
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD) {
        bool ok = true;

        if (is_resource && inner.number == cn_otlp_resource_attributes)
            ok = read_attribute(set, &reader, &inner, true, err);
        else if (!is_resource && inner.number == cn_otlp_scope_spans_spans)
            ok = read_span(set, &reader, &inner, err);
        if (!ok)
            return false;
    }
    return step == CN_PB_END;
}

static bool read_resource(struct cn_span_set *set, const struct cn_pb_reader *outer,
                          const struct cn_pb_field *field, struct cn_error *err)
{
    size_t first_span = set->count, first = 0, count = 0;
    struct cn_pb_reader reader;
    struct cn_pb_field inner;
    enum cn_pb_step step;

    if (!cn_pb_enter(outer, field, &reader, err))
        return false;
    while ((step = cn_pb_next(&reader, &inner, err)) == CN_PB_FIELD) {
        size_t before = set->attribute_count;

        if (inner.number > cn_otlp_resource_spans_scope_spans)
            continue;
        if (!read_part(set, &reader, &inner, err))
            return false;
        if (inner.number == cn_otlp_resource_spans_resource) {
            first = before;
            count = set->attribute_count - before;
        }
    }
    cn_span_set_share(set, first_span, first, count);
    return step == CN_PB_END;
}

bool cn_otlp_read(struct cn_span_set *set, struct cn_bytes body, struct cn_error *err)
{
    struct cn_pb_reader reader = cn_pb_read(body);
    struct cn_pb_field field;
    enum cn_pb_step step;

    while ((step = cn_pb_next(&reader, &field, err)) == CN_PB_FIELD)
        if (field.number == cn_otlp_traces_resource_spans &&
            !read_resource(set, &reader, &field, err))
            return cn_fail_in(err, "resource at %" PRIu64, field.off);
    return step == CN_PB_END;
}
