/* The messages of OpenTelemetry traces, from opentelemetry-proto 1.x.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_OTLP_FORMAT_H
#define CN_FORMATS_EXCHANGE_OTLP_FORMAT_H

#include "base/bytes/protobuf.h"

/* clang-format off */
#define CN_OTLP_TRACES(F, m) \
    F(m, 1, message, resource_spans, "")
CN_MESSAGE(cn_otlp_traces, CN_OTLP_TRACES);

#define CN_OTLP_RESOURCE_SPANS(F, m)  \
    F(m, 1, message, resource, "")    \
    F(m, 2, message, scope_spans, "") \
    F(m, 3, string, schema_url, "")
CN_MESSAGE(cn_otlp_resource_spans, CN_OTLP_RESOURCE_SPANS);

#define CN_OTLP_RESOURCE(F, m)                    \
    F(m, 1, message, attributes, "")              \
    F(m, 2, uint32, dropped_attributes_count, "")
CN_MESSAGE(cn_otlp_resource, CN_OTLP_RESOURCE);

#define CN_OTLP_SCOPE_SPANS(F, m)   \
    F(m, 1, message, scope, "")     \
    F(m, 2, message, spans, "")     \
    F(m, 3, string, schema_url, "")
CN_MESSAGE(cn_otlp_scope_spans, CN_OTLP_SCOPE_SPANS);

#define CN_OTLP_SCOPE(F, m)                       \
    F(m, 1, string, name, "")                     \
    F(m, 2, string, version, "")                  \
    F(m, 3, message, attributes, "")              \
    F(m, 4, uint32, dropped_attributes_count, "")
CN_MESSAGE(cn_otlp_scope, CN_OTLP_SCOPE);

#define CN_OTLP_SPAN(F, m)                             \
    F(m, 1, bytes, trace_id, "16 bytes")               \
    F(m, 2, bytes, span_id, "8 bytes")                 \
    F(m, 3, string, trace_state, "")                   \
    F(m, 4, bytes, parent_span_id, "8 bytes, or none") \
    F(m, 5, string, name, "")                          \
    F(m, 6, enum, kind, "1: internal")                 \
    F(m, 7, fixed64, start_time_unix_nano, "")         \
    F(m, 8, fixed64, end_time_unix_nano, "")           \
    F(m, 9, message, attributes, "")                   \
    F(m, 10, uint32, dropped_attributes_count, "")     \
    F(m, 11, message, events, "")                      \
    F(m, 12, uint32, dropped_events_count, "")         \
    F(m, 13, message, links, "")                       \
    F(m, 14, uint32, dropped_links_count, "")          \
    F(m, 15, message, status, "")                      \
    F(m, 16, fixed32, flags, "")
CN_MESSAGE(cn_otlp_span, CN_OTLP_SPAN);

#define CN_OTLP_KEY_VALUE(F, m)     \
    F(m, 1, string, key, "")        \
    F(m, 2, message, value, "")
CN_MESSAGE(cn_otlp_key_value, CN_OTLP_KEY_VALUE);

#define CN_OTLP_VALUE(F, m)              \
    F(m, 1, string, string_value, "")    \
    F(m, 2, bool, bool_value, "")        \
    F(m, 3, int64, int_value, "")        \
    F(m, 4, double, double_value, "")    \
    F(m, 5, message, array_value, "")    \
    F(m, 6, message, kvlist_value, "")   \
    F(m, 7, bytes, bytes_value, "")
CN_MESSAGE(cn_otlp_value, CN_OTLP_VALUE);

#define CN_OTLP_ARRAY(F, m)       \
    F(m, 1, message, values, "")
CN_MESSAGE(cn_otlp_array, CN_OTLP_ARRAY);

#define CN_OTLP_EVENT(F, m)                       \
    F(m, 1, fixed64, time_unix_nano, "")          \
    F(m, 2, string, name, "")                     \
    F(m, 3, message, attributes, "")              \
    F(m, 4, uint32, dropped_attributes_count, "")
CN_MESSAGE(cn_otlp_event, CN_OTLP_EVENT);

#define CN_OTLP_LINK(F, m)                        \
    F(m, 1, bytes, trace_id, "16 bytes")          \
    F(m, 2, bytes, span_id, "8 bytes")            \
    F(m, 3, string, trace_state, "")              \
    F(m, 4, message, attributes, "")              \
    F(m, 5, uint32, dropped_attributes_count, "") \
    F(m, 6, fixed32, flags, "")
CN_MESSAGE(cn_otlp_link, CN_OTLP_LINK);

#define CN_OTLP_STATUS(F, m)        \
    F(m, 2, string, message, "")    \
    F(m, 3, enum, code, "2: error")
CN_MESSAGE(cn_otlp_status, CN_OTLP_STATUS);

#define CN_OTLP_RESPONSE(F, m) \
    F(m, 1, message, partial_success, "if spans were not stored")
CN_MESSAGE(cn_otlp_response, CN_OTLP_RESPONSE);

#define CN_OTLP_PARTIAL_SUCCESS(F, m)        \
    F(m, 1, int64, rejected_spans, "")       \
    F(m, 2, string, error_message, "")
CN_MESSAGE(cn_otlp_partial_success, CN_OTLP_PARTIAL_SUCCESS);
/* clang-format on */

enum { CN_OTLP_KIND_INTERNAL = 1 };
enum { CN_OTLP_STATUS_ERROR = 2 };

/* Lists and maps inside of each other that a value may have: within what CN_PB_DEPTH_MAX and
 * CN_JSON_DEPTH_MAX allow. */
enum { CN_OTLP_VALUE_DEPTH_MAX = 8 };

#endif
