/* What a record has of a span beyond its ids: CN_ZTS_SPAN_REST, a map. */

#include "formats/zorka/reader.h"

/* Keys of the map. */
enum {
    REST_TRACE_STATE = 1, /* word */
    REST_FLAGS = 2,
    REST_STATUS = 3,             /* enum cn_trace_status */
    REST_STATUS_MESSAGE = 4,     /* word */
    REST_DROPPED_ATTRIBUTES = 5, /* numbers: by the sender */
    REST_DROPPED_EVENTS = 6,
    REST_DROPPED_LINKS = 7,
    REST_RESOURCE = 8, /* words */
    REST_SCOPE = 9,
    REST_END = 10, /* ns since the epoch, if not the start plus the duration */
    REST_EVENTS =
        11, /* [[ns since the start, name, {attributes}, dropped, is annotation]] */
    REST_LINKS = 12, /* [[bytes(16), span, {attributes}, trace state, flags, dropped]] */
    REST_NO_KIND = 13, /* true: the sender gave none, not even "internal" */
};

enum { EVENT_ITEMS = 5, LINK_ITEMS = 6, ID_LEN = 16 };

/* The items up to the last that is not 0, after the three that each has. */
static unsigned item_count(const uint32_t *rest, unsigned count)
{
    while (count > 0 && rest[count - 1] == 0)
        count--;
    return 3 + count;
}

static void put_rest(struct cn_cbor_out *out, const uint32_t *rest, unsigned count)
{
    for (unsigned i = 0; i + 3 < count; i++)
        cn_cbor_put(out, CN_CBOR_UINT, rest[i]);
}

static void put_events(struct cn_cbor_out *out, const struct cn_trace *trace,
                       const struct cn_trace_span *span)
{
    cn_cbor_put(out, CN_CBOR_UINT, REST_EVENTS);
    cn_cbor_put(out, CN_CBOR_ARRAY, span->event_count);
    for (uint32_t i = 0; i < span->event_count; i++) {
        const struct cn_trace_event *event = &trace->events[span->first_event + i];
        const uint32_t rest[] = {event->dropped_attributes, event->is_annotation};
        unsigned count = item_count(rest, EVENT_ITEMS - 3);

        cn_cbor_put(out, CN_CBOR_ARRAY, count);
        cn_cbor_put_int(out, (int64_t)(event->time_ns - span->time_ns));
        cn_cbor_put(out, CN_CBOR_UINT, event->name);
        cn_zorka_put_list(out, trace, event->attributes);
        put_rest(out, rest, count);
    }
}

static void put_links(struct cn_cbor_out *out, const struct cn_trace *trace,
                      const struct cn_trace_span *span)
{
    cn_cbor_put(out, CN_CBOR_UINT, REST_LINKS);
    cn_cbor_put(out, CN_CBOR_ARRAY, span->link_count);
    for (uint32_t i = 0; i < span->link_count; i++) {
        const struct cn_trace_link *link = &trace->links[span->first_link + i];
        const uint32_t rest[] = {link->trace_state, link->flags,
                                 link->dropped_attributes};
        unsigned count = item_count(rest, LINK_ITEMS - 3);

        cn_cbor_put(out, CN_CBOR_ARRAY, count);
        cn_cbor_put(out, CN_CBOR_BYTES, ID_LEN);
        cn_cbor_room(out, ID_LEN);
        cn_u64_be_put(out->bytes + out->len, link->trace_high);
        cn_u64_be_put(out->bytes + out->len + ID_LEN / 2, link->trace_low);
        out->len += ID_LEN;
        cn_cbor_put(out, CN_CBOR_UINT, link->span_id);
        cn_zorka_put_list(out, trace, link->attributes);
        put_rest(out, rest, count);
    }
}

void cn_zorka_put_span_rest(struct cn_cbor_out *out, const struct cn_trace *trace,
                            const struct cn_trace_span *span)
{
    const uint64_t numbers[] = {
        [REST_TRACE_STATE] = span->trace_state,
        [REST_FLAGS] = span->flags,
        [REST_STATUS] = span->status,
        [REST_STATUS_MESSAGE] = span->status_message,
        [REST_DROPPED_ATTRIBUTES] = span->dropped_attributes,
        [REST_DROPPED_EVENTS] = span->dropped_events,
        [REST_DROPPED_LINKS] = span->dropped_links,
        [REST_RESOURCE] = span->resource,
        [REST_SCOPE] = span->scope,
    };
    unsigned count = (unsigned)((span->event_count > 0) + (span->link_count > 0) +
                                span->has_end + span->has_no_kind);

    for (unsigned key = 1; key < REST_END; key++)
        count += numbers[key] != 0;
    cn_cbor_put(out, CN_CBOR_MAP, count);
    for (unsigned key = 1; key < REST_END; key++) {
        if (numbers[key] == 0)
            continue;
        cn_cbor_put(out, CN_CBOR_UINT, key);
        cn_cbor_put(out, CN_CBOR_UINT, numbers[key]);
    }
    if (span->has_end) {
        cn_cbor_put(out, CN_CBOR_UINT, REST_END);
        cn_cbor_put(out, CN_CBOR_UINT, span->end_ns);
    }
    if (span->has_no_kind) {
        cn_cbor_put(out, CN_CBOR_UINT, REST_NO_KIND);
        cn_cbor_put(out, CN_CBOR_SIMPLE, CN_CBOR_TRUE);
    }
    if (span->event_count > 0)
        put_events(out, trace, span);
    if (span->link_count > 0)
        put_links(out, trace, span);
}

/* The numbers after the first three items; what is too large is 0. */
static bool read_numbers(struct cn_cbor *in, uint32_t *out, uint64_t count, unsigned max,
                         struct cn_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value;

        /* Later versions may add items. */
        if (i >= max) {
            if (!cn_cbor_skip(in, err))
                return false;
            continue;
        }
        if (!cn_cbor_uint(in, &value))
            return cn_cbor_fail(in, "a number of a span", err);
        out[i] = value <= UINT32_MAX ? (uint32_t)value : 0;
    }
    return true;
}

static bool read_event(struct cn_zorka_reader *reader, struct cn_error *err)
{
    struct cn_trace *trace = reader->trace;
    uint64_t time_ns = trace->spans[trace->nodes[trace->current].span].time_ns;
    struct cn_trace_list attributes = CN_TRACE_EMPTY_LIST;
    uint32_t rest[EVENT_ITEMS - 3] = {0};
    uint64_t count, name;
    int64_t since_ns;

    if (!cn_zorka_read_array(reader, 3, UINT32_MAX, &count, err))
        return false;
    if (!cn_cbor_int(&reader->in, &since_ns) || !cn_cbor_uint(&reader->in, &name) ||
        name > UINT32_MAX)
        return cn_cbor_fail(&reader->in, "an event of a span", err);
    if (!cn_zorka_read_list(reader, &attributes, err) ||
        !read_numbers(&reader->in, rest, count - 3, EVENT_ITEMS - 3, err))
        return false;
    struct cn_trace_event *event = cn_trace_add_event(trace);
    event->time_ns = time_ns + (uint64_t)since_ns;
    event->name = (uint32_t)name;
    event->attributes = attributes;
    event->dropped_attributes = rest[0];
    event->is_annotation = rest[1] != 0;
    return true;
}

static bool read_link(struct cn_zorka_reader *reader, struct cn_error *err)
{
    struct cn_trace_list attributes = CN_TRACE_EMPTY_LIST;
    uint32_t rest[LINK_ITEMS - 3] = {0};
    struct cn_bytes id;
    uint64_t count, span_id;

    if (!cn_zorka_read_array(reader, 3, UINT32_MAX, &count, err))
        return false;
    if (!cn_cbor_byte_string(&reader->in, &id) || id.len != ID_LEN ||
        !cn_cbor_uint(&reader->in, &span_id))
        return cn_cbor_fail(&reader->in, "a link of a span", err);
    if (!cn_zorka_read_list(reader, &attributes, err) ||
        !read_numbers(&reader->in, rest, count - 3, LINK_ITEMS - 3, err))
        return false;
    struct cn_trace_link *link = cn_trace_add_link(reader->trace);
    link->trace_high = cn_u64_be_get(id.ptr);
    link->trace_low = cn_u64_be_get(id.ptr + ID_LEN / 2);
    link->span_id = span_id;
    link->attributes = attributes;
    link->trace_state = rest[0];
    link->flags = rest[1];
    link->dropped_attributes = rest[2];
    return true;
}

static bool read_items(struct cn_zorka_reader *reader, cn_zorka_step read,
                       struct cn_error *err)
{
    uint64_t count;

    if (!cn_zorka_read_array(reader, 0, UINT32_MAX, &count, err))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!read(reader, err))
            return false;
    return true;
}

static bool read_key(struct cn_zorka_reader *reader, uint64_t key,
                     uint64_t numbers[REST_EVENTS], struct cn_error *err)
{
    if (key == REST_EVENTS)
        return read_items(reader, read_event, err);
    if (key == REST_LINKS)
        return read_items(reader, read_link, err);
    if (key >= REST_NO_KIND || key == 0)
        return cn_cbor_skip(&reader->in, err);
    return (cn_cbor_uint(&reader->in, &numbers[key]) &&
            (key == REST_END || numbers[key] <= UINT32_MAX)) ||
           cn_cbor_fail(&reader->in, "a number of a span", err);
}

bool cn_zorka_read_span_rest(struct cn_zorka_reader *reader, struct cn_error *err)
{
    struct cn_trace *trace = reader->trace;
    uint64_t numbers[REST_EVENTS] = {0}, count, key;
    bool has_end = false, has_no_kind = false;

    if (!cn_cbor_take(&reader->in, CN_CBOR_MAP, &count))
        return cn_cbor_fail(&reader->in, "the rest of a span", err);
    for (uint64_t i = 0; i < count; i++) {
        if (!cn_cbor_uint(&reader->in, &key))
            return cn_cbor_fail(&reader->in, "a key of a span", err);
        if (!read_key(reader, key, numbers, err))
            return false;
        has_end = has_end || key == REST_END;
        has_no_kind = has_no_kind || key == REST_NO_KIND;
    }
    struct cn_trace_span *span = &trace->spans[trace->nodes[trace->current].span];
    span->is_whole = true;
    span->trace_state = (uint32_t)numbers[REST_TRACE_STATE];
    span->flags = (uint32_t)numbers[REST_FLAGS];
    span->status =
        (uint8_t)(numbers[REST_STATUS] <= CN_STATUS_ERROR ? numbers[REST_STATUS]
                                                          : CN_STATUS_UNSET);
    span->status_message = (uint32_t)numbers[REST_STATUS_MESSAGE];
    span->dropped_attributes = (uint32_t)numbers[REST_DROPPED_ATTRIBUTES];
    span->dropped_events = (uint32_t)numbers[REST_DROPPED_EVENTS];
    span->dropped_links = (uint32_t)numbers[REST_DROPPED_LINKS];
    span->resource = (uint32_t)numbers[REST_RESOURCE];
    span->scope = (uint32_t)numbers[REST_SCOPE];
    span->has_end = has_end;
    span->has_no_kind = has_no_kind;
    span->end_ns = numbers[REST_END];
    return true;
}
