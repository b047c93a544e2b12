/* What the readers of wire bodies and of stored records have in common: references, values
 * and exceptions.
 *
 * Internal to the format. Threads: one thread at a time.
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
    struct cn_zorka_session *session; /* NULL: numbers are words of the dictionary */
    struct cn_words *words;           /* new words go here; NULL: there are none */
    struct cn_trace *trace;
    struct cn_map exceptions; /* number in the trace -> word */
    uint64_t last_ns;         /* the latest event, since the start of the trace */
    struct cn_trace_value *scratch;
    size_t scratch_count, scratch_capacity;
};

void cn_zorka_reader_done(struct cn_zorka_reader *reader);

/* "offset 17: method 12 was never sent" */
bool cn_zorka_unknown(const struct cn_zorka_reader *reader, const char *what, uint64_t id,
                      struct cn_error *err);

/* The word of a string: a number, a tagged number, a text, or null, which is 0. */
CN_CHECK bool cn_zorka_read_string(struct cn_zorka_reader *reader, enum cn_word_kind kind,
                                   uint32_t *word, struct cn_error *err);

/* The word of a method's number. */
CN_CHECK bool cn_zorka_find_method(struct cn_zorka_reader *reader, uint64_t id,
                                   uint32_t *word, struct cn_error *err);

/* The value of an attribute, however nested; numbers without a tag are numbers. */
CN_CHECK bool cn_zorka_read_value(struct cn_zorka_reader *reader,
                                  struct cn_trace_value *out, struct cn_error *err);

/* {key: value, ...}: attributes of the innermost call. */
CN_CHECK bool cn_zorka_read_attributes(struct cn_zorka_reader *reader,
                                       struct cn_error *err);

/* [id, class, message, cause, stack, attributes]: the innermost call threw it. */
CN_CHECK bool cn_zorka_read_exception(struct cn_zorka_reader *reader,
                                      struct cn_error *err);
CN_CHECK bool cn_zorka_read_exception_ref(struct cn_zorka_reader *reader,
                                          struct cn_error *err);

/* An array of at least `min` and at most `max` elements. */
CN_CHECK bool cn_zorka_read_array(struct cn_zorka_reader *reader, uint64_t min,
                                  uint64_t max, uint64_t *count, struct cn_error *err);

/* One step of reading: a start, or whatever else a call holds. */
typedef bool (*cn_zorka_step)(struct cn_zorka_reader *reader, struct cn_error *err);

/* Calls up to the end of the first one or of the data; the first begins with this tag. */
static inline bool cn_zorka_read_calls(struct cn_zorka_reader *reader, uint8_t start_tag,
                                       cn_zorka_step start, cn_zorka_step item,
                                       struct cn_error *err)
{
    struct cn_trace *trace = reader->trace;

    if (trace->node_count == 0 && !cn_cbor_is_at_end(&reader->in)) {
        if (!cn_cbor_byte(&reader->in, (uint8_t)(CN_CBOR_TAG << 5 | start_tag)))
            return cn_cbor_fail(&reader->in, "the start of a trace", err);
        if (!start(reader, err))
            return false;
    }
    while (trace->current != CN_NONE && !cn_cbor_is_at_end(&reader->in))
        if (!item(reader, err))
            return false;
    return true;
}

/* The rest of a call of the current wire, of an older wire or of a Java record, up to the end
 * of the first call or of the data. */
CN_CHECK bool cn_zorka_read_calls_c(struct cn_zorka_reader *reader, struct cn_error *err);
CN_CHECK bool cn_zorka_read_calls_ab(struct cn_zorka_reader *reader,
                                     struct cn_error *err);

#endif
