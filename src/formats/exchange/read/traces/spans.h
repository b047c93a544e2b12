/* The calls of a request trace as spans of tracing systems: their ids, services and kinds.
 *
 * A call without a span id has one that depends on the trace and its number alone.
 * Threads: any thread may read while no thread changes the trace.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_TRACES_SPANS_H
#define CN_FORMATS_EXCHANGE_READ_TRACES_SPANS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_trace;
struct cn_trace_attribute;
struct cn_words;

/* Kinds of spans, with the numbers of OpenTelemetry. */
enum { CN_SPAN_INTERNAL = 1, CN_SPAN_KIND_COUNT = 6 };
extern const char
    *const cn_span_kinds[CN_SPAN_KIND_COUNT]; /* "internal", ...; "" for 0 */

uint64_t cn_trace_call_id(const struct cn_trace *trace, uint32_t node);

/* 0: it has no parent. */
uint64_t cn_trace_call_parent_id(const struct cn_trace *trace, uint32_t node);

/* CN_SPAN_INTERNAL if its type is unknown or no kind; 0 if the sender gave none. */
unsigned cn_trace_call_kind(const struct cn_trace *trace, uint32_t node);

/* By call: the word of the innermost service around it; 0 if that is unknown. The caller frees
 * them. */
uint32_t *cn_trace_call_services(const struct cn_trace *trace);

/* The number of spans whose type is no kind. */
uint64_t cn_trace_other_types(const struct cn_trace *trace);

/* True if the bytes of a word are this text. */
bool cn_word_is(const struct cn_words *words, uint32_t word, const char *text);

/* True if the attribute is a text with this key. */
bool cn_trace_is_text_of(const struct cn_trace *trace,
                         const struct cn_trace_attribute *attribute, const char *key);

#endif
