/* Spans that tracing systems send, joined to traces: of Zipkin (v2 JSON) and of
 * OpenTelemetry (OTLP, JSON and protobuf), whichever the bytes are.
 *
 *     struct cn_span_set set = {0};
 *     cn_span_set_read(&set, body, err)
 *     while ((step = cn_span_set_next(&set, &trace, err)) == CN_ITEM) ... trace ...
 *     cn_span_set_done(&set);
 *
 * Spans whose parent is in the same body are calls inside it; each other one begins a
 * trace of its own with the same id. Tags and attributes are kept, failures are marked.
 * Traces use the set's words.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_TRACES_SPAN_SET_H
#define CN_FORMATS_EXCHANGE_TRACES_SPAN_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "model/step.h"
#include "model/traces/trace.h"
#include "model/traces/words.h"

struct cn_set_span {
    uint64_t trace_high, trace_low;
    uint64_t id, parent_id; /* 0: none */
    uint64_t time_ns, duration_ns;
    uint32_t name, service, type; /* words */
    uint32_t exception;           /* word; 0: none */
    uint32_t first_attribute, attribute_count;
    uint32_t first_of_resource, resource_count; /* what it shares with others */
    uint32_t parent;                            /* in the set; CN_NONE */
    bool is_error, is_shared, is_placed;
};

struct cn_set_attribute {
    uint32_t key;
    struct cn_trace_value value; /* lists lie in the set's values */
};

struct cn_span_set {
    size_t unpacked_max; /* bytes of a compressed body; 0: 256 MiB */
    struct cn_words words;
    struct cn_set_span *spans;
    struct cn_set_attribute *attributes;
    struct cn_trace_value *values;
    size_t count, capacity, attribute_count, attribute_capacity;
    size_t value_count, value_capacity;
    uint32_t *children; /* indices of spans, by parent and time */
    uint32_t *first_child;
    size_t next_root;
    uint64_t left_out; /* values that a trace cannot hold */
};

enum cn_span_system { CN_SPANS_NONE, CN_SPANS_ZIPKIN, CN_SPANS_OTLP, CN_SPANS_OTLP_JSON };

/* Which system's spans the beginning of a body looks like; it may be compressed. */
enum cn_span_system cn_span_set_probe(struct cn_bytes body);

/* Add all spans of a body, which may be compressed. On failure the set holds anything. */
CN_CHECK bool cn_span_set_read(struct cn_span_set *set, struct cn_bytes body,
                               struct cn_error *err);

/* The next trace; `trace` is cleared first and borrows the set's words. */
CN_CHECK enum cn_step cn_span_set_next(struct cn_span_set *set, struct cn_trace *trace,
                                       struct cn_error *err);

void cn_span_set_done(struct cn_span_set *set);

/* For the readers of each format: begin a span, and add to the last one. */
struct cn_set_span *cn_span_set_begin(struct cn_span_set *set);
void cn_span_set_attribute(struct cn_span_set *set, uint32_t key,
                           struct cn_trace_value value);

/* The same, of no span: for a resource, or to be looked at and taken back. */
void cn_span_set_loose(struct cn_span_set *set, uint32_t key,
                       struct cn_trace_value value);

/* Spans from `first_span` on share the loose attributes from `first` on. */
void cn_span_set_share(struct cn_span_set *set, size_t first_span, size_t first,
                       size_t count);

/* What an event of the last span says, with its loose attributes from `first` on, which
 * are taken back: an exception, or something that is only named. */
void cn_span_set_event(struct cn_span_set *set, uint32_t name, size_t first);
uint32_t cn_span_set_keyword(struct cn_span_set *set, struct cn_bytes text);
struct cn_trace_value cn_span_set_text(struct cn_span_set *set, struct cn_bytes text);

/* "server" for SPAN_KIND_SERVER, 2. */
uint32_t cn_span_set_kind(struct cn_span_set *set, uint64_t kind);

/* 16 or 32 hexadecimal digits, or fewer; false for anything else. */
bool cn_span_id_parse(struct cn_bytes text, uint64_t *high, uint64_t *low);

CN_CHECK bool cn_zipkin_read(struct cn_span_set *set, struct cn_bytes body,
                             struct cn_error *err);
CN_CHECK bool cn_otlp_json_read(struct cn_span_set *set, struct cn_bytes body,
                                struct cn_error *err);
CN_CHECK bool cn_otlp_read(struct cn_span_set *set, struct cn_bytes body,
                           struct cn_error *err);

#endif
