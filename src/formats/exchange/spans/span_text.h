/* What spans say, in words: names, arguments, results, events. Bytes of the program
 * that are no text appear as \xHH.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_EXCHANGE_SPANS_SPAN_TEXT_H
#define CN_FORMATS_EXCHANGE_SPANS_SPAN_TEXT_H

#include "formats/exchange/spans/spans.h"

struct cn_text;

/* Whether arguments or a result came with it. */
static inline bool cn_span_has_values(const struct cn_span *span)
{
    return span->call && span->call->kind != CN_CALL_EVENT &&
           span->call->flags & CN_CALL_HAS_DATA;
}

/* Borrowed; `buffer` has CN_CALL_NAME_MAX bytes. */
const char *cn_span_name(const struct cn_recording *rec, const struct cn_span *span,
                         char *buffer);

/* Replace `out` by "(1, 2)" of a beginning, "3" of an end. */
void cn_span_values(const struct cn_recording *rec, uint32_t task,
                    const struct cn_span *span, struct cn_text *out);

/* Replace `out` by what an event's data say. False when it has none. */
bool cn_span_event_data(const struct cn_recording *rec, const struct cn_span *span,
                        struct cn_text *out);

/* "lost" or what the event is called. Borrowed. */
const char *cn_span_event_name(const struct cn_recording *rec,
                               const struct cn_span *span);

#endif
