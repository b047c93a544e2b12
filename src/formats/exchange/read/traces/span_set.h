/* Spans of Zipkin (v2 JSON) or OpenTelemetry (OTLP, JSON or protobuf), joined to traces.
 *
 *     struct cn_span_set set = {0};
 *     cn_span_set_read(&set, body, err)
 *     while ((step = cn_span_set_next(&set, &trace, err)) == CN_ITEM) ... trace ...
 *     cn_span_set_done(&set);
 *
 * A span whose parent is in the same body is a call inside it; any other span begins a
 * trace with the same id. Tags and attributes are stored, failures are marked. Traces use
 * the words of the set.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_SET_H
#define CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/step.h"
#include "model/traces/trace.h"
#include "model/traces/words.h"

struct cn_set_span {
    uint64_t trace_high, trace_low;
    uint64_t id, parent_id; /* 0: none */
    uint64_t time_ns, duration_ns;
    uint64_t end_ns;              /* of OpenTelemetry, instead of the duration; or 0 */
    uint32_t name, service, type; /* words */
    uint32_t exception;           /* word; 0: none */
    uint32_t first_attribute, attribute_count;
    uint32_t first_of_resource, resource_count; /* attributes shared with other spans */
    uint32_t parent;                            /* index in the set; CN_NONE */
    bool is_error, is_shared;
    bool is_used; /* in a trace */
};

struct cn_set_attribute {
    uint32_t key;
    struct cn_trace_value
        value; /* elements of lists and maps are in the values of the set */
};

/* A link being read. */
struct cn_set_link {
    uint64_t trace_high, trace_low, id;
};

struct cn_span_set {
    size_t unpacked_max; /* bytes of an unpacked body; 0: 256 MiB */
    struct cn_words words;
    struct cn_set_span *spans;
    struct cn_set_attribute *attributes;
    struct cn_trace_value *values;
    size_t count, capacity, attribute_count, attribute_capacity;
    size_t value_count, value_capacity;
    uint32_t *children; /* indices of spans, by parent and time */
    uint32_t *first_child;
    size_t next_root;

    /* While reading: an event, a link or a resource whose attributes belong to no span. */
    bool is_loose;
    size_t first_loose;
    uint32_t event_name;
    size_t first_of_resource, resource_count;
    struct cn_set_link link;
    struct cn_trace_value *links; /* of the current span: maps */
    size_t link_count, link_capacity;

    /* What was read and is not stored. */
    struct cn_span_losses {
        uint64_t maps; /* attributes, or elements of lists */
        uint64_t event_attributes, event_times;
    } losses;
};

enum cn_span_system { CN_SPANS_NONE, CN_SPANS_ZIPKIN, CN_SPANS_OTLP, CN_SPANS_OTLP_JSON };

/* The system that the beginning of a body, compressed or not, looks like. */
enum cn_span_system cn_span_set_probe(struct cn_bytes body);

/* Add all spans of a body, compressed or not. On failure the set can only be released. */
CN_CHECK bool cn_span_set_read(struct cn_span_set *set, struct cn_bytes body,
                               struct cn_error *err);

/* The next trace. Clears `trace`, which borrows the words of the set. */
CN_CHECK enum cn_step cn_span_set_next(struct cn_span_set *set, struct cn_trace *trace,
                                       struct cn_error *err);

void cn_span_set_done(struct cn_span_set *set);

/* The rest is for the readers of each format. Begin a span, which becomes the current one;
 * end it, which fails if it has no id. */
void cn_span_set_begin(struct cn_span_set *set);
CN_CHECK bool cn_span_set_end(struct cn_span_set *set, struct cn_error *err);

static inline struct cn_set_span *cn_span_set_current(struct cn_span_set *set)
{
    return &set->spans[set->count - 1];
}

/* Add an attribute to the current span, event or resource. */
void cn_span_set_attribute(struct cn_span_set *set, uint32_t key,
                           struct cn_trace_value value);

/* An event of the current span: an exception, or an attribute with `event_name`. */
void cn_span_set_event_begin(struct cn_span_set *set);
void cn_span_set_event_end(struct cn_span_set *set);

/* A resource. Its attributes are then shared by the spans from `first_span` on. */
void cn_span_set_resource_begin(struct cn_span_set *set);
void cn_span_set_resource_end(struct cn_span_set *set);
void cn_span_set_share_resource(struct cn_span_set *set, size_t first_span);

/* The status message of the current span; empty: none. */
void cn_span_set_status_message(struct cn_span_set *set, struct cn_bytes text);

/* Add a value to the list whose first value has the index `first`, and make it a value.
 * A list has at most 65536 elements; the rest is dropped. */
void cn_span_set_list_add(struct cn_span_set *set, size_t first,
                          struct cn_trace_value value);
struct cn_trace_value cn_span_set_list(const struct cn_span_set *set, size_t first);

uint32_t cn_span_set_keyword(struct cn_span_set *set, struct cn_bytes text);
struct cn_trace_value cn_span_set_text(struct cn_span_set *set, struct cn_bytes text);

/* The word "server" for SPAN_KIND_SERVER, 2. */
uint32_t cn_span_set_kind(struct cn_span_set *set, uint64_t kind);

/* At most 32 hexadecimal digits; false for anything else. */
bool cn_span_id_parse(struct cn_bytes text, uint64_t *high, uint64_t *low);

CN_CHECK bool cn_zipkin_read(struct cn_span_set *set, struct cn_bytes body,
                             struct cn_error *err);
CN_CHECK bool cn_otlp_json_read(struct cn_span_set *set, struct cn_bytes body,
                                struct cn_error *err);
CN_CHECK bool cn_otlp_read(struct cn_span_set *set, struct cn_bytes body,
                           struct cn_error *err);

#endif
