/* The calls of a task as spans that nest: each begin has one end, in order, even where
 * records are missing (analyze/calls/stack.h lists the cases).
 *
 *     cn_spans_open(&spans, query, task, err)
 *     while ((step = cn_spans_next(spans, visit, arg, err)) == CN_ITEM)
 *         continue;
 *     cn_spans_finish(spans, visit, arg);
 *     cn_spans_close(spans);
 *
 * Calls that are open when the time range begins, begin with it.
 * Spans stand at recorded times; what is added up is corrected, unless the query is raw.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_SPANS_SPANS_H
#define CN_FORMATS_EXCHANGE_WRITE_SPANS_SPANS_H

#include "formats/exchange/export.h"

struct cn_counter_levels;

enum cn_span_kind {
    CN_SPAN_BEGIN,
    CN_SPAN_END,
    CN_SPAN_EVENT, /* `address` is its id */
    CN_SPAN_LOST,  /* `address` is the number of lost records */
};

struct cn_span {
    uint8_t kind;      /* enum cn_span_kind */
    bool has_begin;    /* of an end: false where a fork returns in the child */
    uint32_t task;     /* index in the recording */
    uint32_t depth;    /* number of spans around it */
    uint32_t function; /* as cn_call_name() takes it; CN_NONE: unknown */
    uint64_t address;
    uint64_t number;            /* of the span in its task, from 0 */
    uint64_t time_ns, begin_ns; /* as recorded */
    uint64_t corrected_ns;      /* the time of a begin or end, corrected */
    uint64_t total_ns, self_ns; /* of an end, corrected */
    const struct cn_call *call; /* NULL if no record gives the begin or end */
    const struct cn_call_batch *batch;
};

struct cn_span_counts {
    uint64_t spans, events;
    uint64_t lost;          /* records */
    uint64_t without_begin; /* ends */
    uint64_t values;        /* begins and ends with arguments or a result */
};

typedef void (*cn_span_fn)(void *arg, const struct cn_span *span);

struct cn_spans;

/* On success the caller closes the spans. */
CN_CHECK bool cn_spans_open(struct cn_spans **out, const struct cn_call_query *query,
                            uint32_t task, struct cn_error *err);

/* Visit the next batch of spans. CN_FAIL: the task is damaged from here on. */
CN_CHECK enum cn_step cn_spans_next(struct cn_spans *spans, cn_span_fn visit, void *arg,
                                    struct cn_error *err);

/* End the open spans at the last record of the task. */
void cn_spans_finish(struct cn_spans *spans, cn_span_fn visit, void *arg);
void cn_spans_close(struct cn_spans *spans); /* NULL is fine */

/* Add what was visited so far to `counts`. */
void cn_spans_count(const struct cn_spans *spans, struct cn_span_counts *counts);

/* Visit all spans of a task of an export and add them to `counts`. On failure the spans
 * before the damage were visited, and have ended. */
CN_CHECK bool cn_export_spans(struct cn_export *x, uint32_t task, cn_span_fn visit,
                              void *arg, struct cn_span_counts *counts,
                              struct cn_error *err);

/* Report the losses of a format that stores no events or no values. */
void cn_export_lose_counts(struct cn_export *x, const struct cn_span_counts *counts,
                           bool has_events, bool has_values);

/* True if the span has arguments or a result. */
static inline bool cn_span_has_values(const struct cn_span *span)
{
    return span->call && span->call->kind != CN_CALL_EVENT &&
           span->call->flags & CN_CALL_HAS_DATA;
}

/* Borrowed; `buffer` has CN_CALL_NAME_MAX bytes. */
const char *cn_span_name(const struct cn_recording *rec, const struct cn_span *span,
                         char *buffer);

/* Set `out` to "(1, 2)" for a begin, "3" for an end. Bytes that are not UTF-8 appear as
 * \xHH, here and below. */
void cn_span_values(const struct cn_recording *rec, const struct cn_span *span,
                    struct cn_text *out);

/* Set `out` to the data of an event. False if it has none. */
bool cn_span_event_data(const struct cn_recording *rec, const struct cn_span *span,
                        struct cn_text *out);

/* Call `add` for each reading of a counter that an event has. `counter` is a number of the counter
 * in the recording; `*levels` belongs to the task: NULL at first, and released by the caller. False if
 * the span has none. */
typedef void (*cn_reading_fn)(void *arg, const struct cn_span *span, uint32_t counter,
                              const char *name, double value);
bool cn_span_readings(const struct cn_recording *rec, const struct cn_span *span,
                      struct cn_counter_levels **levels, cn_reading_fn add, void *arg);

/* The name of an event, or "lost". Borrowed. */
const char *cn_span_event_name(const struct cn_recording *rec,
                               const struct cn_span *span);

#endif
