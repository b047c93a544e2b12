/* Items that wire bodies and stored records share: references, values and exceptions.
 *
 * Internal to the format.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_ZORKA_READER_H
#define CN_FORMATS_ZORKA_READER_H

#include "base/bytes/cbor.h"
#include "base/error.h"
#include "base/map.h"
#include "formats/zorka/format.h"
#include "formats/zorka/session.h"
#include "model/traces/trace.h"

struct cn_zorka_reader {
    struct cn_cbor in;
    struct cn_zorka_session *session; /* NULL: ids are words of the dictionary */
    struct cn_words *words;           /* receives new words; NULL: none are allowed */
    struct cn_trace *trace;
    struct cn_map exceptions; /* id in the trace -> word */
    uint64_t last_ns;         /* the latest event, since the start of the trace */
    struct cn_trace_value *scratch;
    size_t scratch_count, scratch_capacity;
};

void cn_zorka_reader_done(struct cn_zorka_reader *reader);

/* Fail with "offset 17: method 12 was never sent". */
bool cn_zorka_unknown(const struct cn_zorka_reader *reader, const char *what, uint64_t id,
                      struct cn_error *err);

/* The word of a string: an id, a tagged id, a text, or null, which is word 0. */
CN_CHECK bool cn_zorka_read_string(struct cn_zorka_reader *reader, enum cn_word_kind kind,
                                   uint32_t *word, struct cn_error *err);

/* The word of a method id. */
CN_CHECK bool cn_zorka_find_method(struct cn_zorka_reader *reader, uint64_t id,
                                   uint32_t *word, struct cn_error *err);

/* The value of an attribute. Numbers without a tag are numbers, not ids. */
CN_CHECK bool cn_zorka_read_value(struct cn_zorka_reader *reader,
                                  struct cn_trace_value *out, struct cn_error *err);

/* {key: value, ...}: attributes of the innermost call. */
CN_CHECK bool cn_zorka_read_attributes(struct cn_zorka_reader *reader,
                                       struct cn_error *err);

/* The same: attributes of a list. */
CN_CHECK bool cn_zorka_read_list(struct cn_zorka_reader *reader,
                                 struct cn_trace_list *list, struct cn_error *err);

/* Write a list of attributes as a map. */
void cn_zorka_put_list(struct cn_cbor_out *out, const struct cn_trace *trace,
                       struct cn_trace_list list);

/* What else a span has, in the spec dialect; the span is that of the innermost call. */
CN_CHECK bool cn_zorka_read_span_rest(struct cn_zorka_reader *reader,
                                      struct cn_error *err);
void cn_zorka_put_span_rest(struct cn_cbor_out *out, const struct cn_trace *trace,
                            const struct cn_trace_span *span);

/* Write the attributes of a node as a map with this tag; nothing if there are none. */
void cn_zorka_put_attributes(struct cn_cbor_out *out, const struct cn_trace *trace,
                             const struct cn_trace_node *node, unsigned tag);

/* An exception [id, class, message, cause, stack, attributes] of the innermost call. */
CN_CHECK bool cn_zorka_read_exception(struct cn_zorka_reader *reader,
                                      struct cn_error *err);
CN_CHECK bool cn_zorka_read_exception_ref(struct cn_zorka_reader *reader,
                                          struct cn_error *err);

/* The begin of a span at the innermost call. C: [clock ms, type, id, parent]; A and B:
 * [clock ms, type] or [clock ms, id, parent]. */
CN_CHECK bool cn_zorka_read_span(struct cn_zorka_reader *reader, bool is_wire_c,
                                 struct cn_error *err);

/* The head of an array of at least `min` and at most `max` elements. */
CN_CHECK bool cn_zorka_read_array(struct cn_zorka_reader *reader, uint64_t min,
                                  uint64_t max, uint64_t *count, struct cn_error *err);

/* The time since the start of the trace, by the agent's clock. */
static inline uint64_t cn_zorka_since_start(struct cn_zorka_reader *reader,
                                            uint64_t clock_ns)
{
    uint64_t start_ns = reader->trace->clock_ns;
    uint64_t time_ns = clock_ns > start_ns ? clock_ns - start_ns : 0;

    if (time_ns > reader->last_ns)
        reader->last_ns = time_ns;
    return time_ns;
}

/* Enter a call that begins at `data_off` of the bytes. */
static inline bool cn_zorka_enter(struct cn_zorka_reader *reader, uint32_t method,
                                  uint64_t start_ns, size_t data_off,
                                  struct cn_error *err)
{
    struct cn_trace *trace = reader->trace;

    if (!cn_trace_enter(trace, method, start_ns, err))
        return cn_fail_in(err, "offset %zu", data_off);
    trace->nodes[trace->current].data_off = (uint32_t)data_off;
    return true;
}

/* Reads the start of a call, or any item inside a call. */
typedef bool (*cn_zorka_step)(struct cn_zorka_reader *reader, struct cn_error *err);

/* Read calls up to the end of the outermost one or of the data. The outermost call begins with
 * `start_tag`, unless it was entered already. */
static inline bool cn_zorka_read_calls(struct cn_zorka_reader *reader, uint8_t start_tag,
                                       cn_zorka_step start, cn_zorka_step item,
                                       struct cn_error *err)
{
    struct cn_trace *trace = reader->trace;

    if (trace->node_count == 0 && !cn_cbor_is_at_end(&reader->in)) {
        if (!cn_cbor_byte(&reader->in, (uint8_t)(CN_ZORKA_TAG | start_tag)))
            return cn_cbor_fail(&reader->in, "the start of a trace", err);
        if (!start(reader, err))
            return false;
    }
    while (trace->current != CN_NONE && !cn_cbor_is_at_end(&reader->in))
        if (!item(reader, err))
            return false;
    return true;
}

/* The same for wire C, and for wires A and B and Java records. */
CN_CHECK bool cn_zorka_read_calls_c(struct cn_zorka_reader *reader, struct cn_error *err);
CN_CHECK bool cn_zorka_read_calls_ab(struct cn_zorka_reader *reader,
                                     struct cn_error *err);

#endif
