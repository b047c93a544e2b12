/* Spans of Zipkin (v2 JSON) or OpenTelemetry (OTLP, JSON or protobuf), joined to traces.
 *
 *     struct cn_span_set set = {0};
 *     cn_span_set_read(&set, body, err)
 *     while ((step = cn_span_set_next(&set, &trace, err)) == CN_ITEM) ... trace ...
 *     cn_span_set_clear(&set);         then read another body
 *     cn_span_set_done(&set);
 *
 * A span whose parent is in the same body is a call inside it; any other span begins a
 * trace with the same id. All that was sent of spans is in them (model/traces/span.h); resources and
 * scopes as words. Traces borrow words and arrays of the set, and are not released; cn_trace_copy() makes one
 * that can be changed.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_SET_H
#define CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "model/step.h"
#include "model/traces/shared.h"
#include "model/traces/trace.h"
#include "model/traces/words.h"

struct cn_set_span {
    struct cn_trace_span span; /* events and links are in the pool of the set */
    uint64_t trace_high, trace_low;
    uint64_t duration_ns;
    uint32_t name;      /* word */
    uint32_t exception; /* word; 0: none */
    struct cn_trace_list attributes;
    uint32_t parent; /* index in the set; CN_NONE */
    bool is_error, is_shared;
    bool has_end; /* span.end_ns, as OpenTelemetry sends it, instead of the duration */
    bool is_used; /* in a trace */
};

/* Spans of the same kind have attributes in the same order. */
enum { CN_SPAN_KEYS_GUESSED = 32 };

struct cn_span_set {
    size_t unpacked_max; /* bytes of an unpacked body; 0: 256 MiB */
    bool skips_bad;      /* count spans without ids instead of failing */
    bool
        stops_at_damage; /* keep the spans before it, if there are any, instead of failing */
    struct cn_error damage;
    uint64_t bad_count;
    struct cn_words words;
    struct cn_set_span *spans;
    size_t count, capacity;
    size_t whole_count; /* spans that have ended */
    struct cn_trace
        pool; /* attributes, values, events and links of all spans; calls of all traces */
    size_t built_count; /* calls of the traces so far */
    bool has_shared;    /* spans with the id of the span that called them */
    uint32_t *children; /* indices of spans, by parent and time */
    uint32_t *first_child;
    uint32_t *next_child; /* while these are made */
    size_t child_capacity, first_capacity, next_capacity;
    struct cn_map by_id; /* likewise */
    size_t next_root;
    struct span_level *levels; /* of the path in the trace that is being built */

    /* While reading: attributes are added to this list. */
    struct cn_trace_list list;
    struct cn_trace_list outer; /* that of the span, while an event or link is read */
    uint32_t keys[CN_SPAN_KEYS_GUESSED]; /* of attributes, by their place in a span */
    unsigned next_key;
    struct cn_trace_value *elements; /* of lists that are not complete */
    size_t element_count, element_capacity;
};

enum cn_span_system { CN_SPANS_NONE, CN_SPANS_ZIPKIN, CN_SPANS_OTLP, CN_SPANS_OTLP_JSON };

/* The system that the beginning of a body, compressed or not, looks like. */
enum cn_span_system cn_span_set_probe(struct cn_bytes body);

/* Add all spans of a body, compressed or not. On failure the set can only be cleared or
 * released. */
CN_CHECK bool cn_span_set_read(struct cn_span_set *set, struct cn_bytes body,
                               struct cn_error *err);

/* The next trace, valid as long as the set. */
CN_CHECK enum cn_step cn_span_set_next(struct cn_span_set *set, struct cn_trace *trace,
                                       struct cn_error *err);

/* Remove spans and traces for the next body, whether or not the last one was read. Memory and words
 * stay, as bodies have words in common, unless they are large. */
void cn_span_set_clear(struct cn_span_set *set);
void cn_span_set_done(struct cn_span_set *set);

/* The rest is for the readers of each format. Begin a span, which becomes the current one;
 * end it, which fails if it has no id. */
void cn_span_set_begin(struct cn_span_set *set);
void cn_span_set_begin_otlp(
    struct cn_span_set *set); /* has no kind yet, and an end time */
CN_CHECK bool cn_span_set_end(struct cn_span_set *set, struct cn_error *err);

static inline struct cn_set_span *cn_span_set_current(struct cn_span_set *set)
{
    return &set->spans[set->count - 1];
}

/* The status of the current span, as OpenTelemetry numbers it; other numbers are no status. */
static inline void cn_span_set_status(struct cn_span_set *set, uint64_t code)
{
    cn_span_set_current(set)->is_error = code == CN_STATUS_ERROR;
    cn_span_set_current(set)->span.status =
        (uint8_t)(code <= CN_STATUS_ERROR ? code : CN_STATUS_UNSET);
}

/* Add an attribute to the current span, event, link, resource or scope. */
void cn_span_set_attribute(struct cn_span_set *set, uint32_t key,
                           struct cn_trace_value value);

/* An event of the current span; its attributes are added in between. An exception is also that of
 * the span. The result is valid until the next one, and its attributes are complete after end. */
struct cn_trace_event *cn_span_set_event_begin(struct cn_span_set *set);
void cn_span_set_event_end(struct cn_span_set *set);
static inline struct cn_trace_event *cn_span_set_event(struct cn_span_set *set)
{
    return &set->pool.events[set->pool.event_count - 1];
}

/* A link of the current span, likewise. */
struct cn_trace_link *cn_span_set_link_begin(struct cn_span_set *set);
void cn_span_set_link_end(struct cn_span_set *set);
static inline struct cn_trace_link *cn_span_set_link(struct cn_span_set *set)
{
    return &set->pool.links[set->pool.link_count - 1];
}

/* A resource, or a scope: begin, add its attributes, then take them. */
void cn_span_set_shared_begin(struct cn_span_set *set);
struct cn_trace_list cn_span_set_shared_end(struct cn_span_set *set);

/* The spans from `first_span` on have this resource, and its service; or this scope. */
void cn_span_set_share_resource(struct cn_span_set *set, size_t first_span,
                                const struct cn_trace_shared *resource);
void cn_span_set_share_scope(struct cn_span_set *set, size_t first_span,
                             const struct cn_trace_shared *scope);

/* A list or map: begin, add its elements, keys and values of a map in turn; `first` is what begin
 * returned. Lists may be inside of lists. */
size_t cn_span_set_list_begin(const struct cn_span_set *set);
void cn_span_set_list_add(struct cn_span_set *set, struct cn_trace_value value);
struct cn_trace_value cn_span_set_list_end(struct cn_span_set *set, size_t first,
                                           bool is_map);

/* A keyword; that of the next attribute of a span is found quickly if the span before had it there. */
uint32_t cn_span_set_key(struct cn_span_set *set, struct cn_bytes text);
uint32_t cn_span_set_keyword(struct cn_span_set *set, struct cn_bytes text);
uint32_t cn_span_set_word(struct cn_span_set *set, struct cn_bytes text);
struct cn_trace_value cn_span_set_text(struct cn_span_set *set, struct cn_bytes text);
struct cn_trace_value cn_span_set_bytes(struct cn_span_set *set, struct cn_bytes bytes);

/* The kind of the current span, as OpenTelemetry numbers it: the word "server" for 2. */
void cn_span_set_kind(struct cn_span_set *set, uint64_t kind);

CN_CHECK bool cn_zipkin_read(struct cn_span_set *set, struct cn_bytes body,
                             struct cn_error *err);
CN_CHECK bool cn_otlp_json_read(struct cn_span_set *set, struct cn_bytes body,
                                struct cn_error *err);
CN_CHECK bool cn_otlp_read(struct cn_span_set *set, struct cn_bytes body,
                           struct cn_error *err);

#endif
