/* An export in progress: its source, its target, and the losses of the conversion.
 *
 * cn_export_calls(), cn_export_database() and cn_export_traces() of exchange.h open the target, call the
 * export function of the format, report the losses and put the target in place. An export
 * function appends to `text` and calls cn_export_flush() regularly.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_EXPORT_H
#define CN_FORMATS_EXCHANGE_EXPORT_H

#include "analyze/views/header.h"
#include "base/files/outdir.h"
#include "base/files/sink.h"
#include "base/text.h"
#include "model/calls/query.h"
#include "model/contexts/database.h"
#include "model/format.h"

enum { CN_EXPORT_LOSS_MAX = 16 };

struct cn_export {
    const struct cn_format *format;
    const char *path; /* the target */
    const struct cn_call_query
        *query; /* the source: this, `db` or the traces of a path */
    struct cn_database *db;
    const struct cn_format *from;
    const char *source;
    const struct cn_write_options *options;
    struct cn_sink sink;     /* of a format that is one file */
    struct cn_outdir folder; /* of any other */
    struct cn_text text;     /* written next */
    unsigned workers;
    struct cn_export_loss {
        const char *what; /* a constant */
        uint64_t count;
    } losses[CN_EXPORT_LOSS_MAX];
    size_t loss_count;
    uint32_t damaged_count; /* tasks that were written up to the damage */
    uint32_t damaged_task;  /* the first of these, and its damage */
    struct cn_error damage;
};

/* Report that `count` of something cannot be written; counts of the same `what` add up. */
void cn_export_lose(struct cn_export *x, const char *what, uint64_t count);

/* True if the source is a file of the same format with more than the model has: it is copied. */
bool cn_export_copies(const struct cn_export *x);

/* Visit the traces of the source. The first member of *arg is `x`. */
CN_CHECK bool cn_export_walk_traces(struct cn_export *x, cn_trace_fn visit, void *arg,
                                    struct cn_error *err);

/* Report that the rest of a task cannot be read. */
void cn_export_damage(struct cn_export *x, uint32_t task, const struct cn_error *err);

/* Write `text` if it is long. */
CN_CHECK bool cn_export_flush(struct cn_export *x, struct cn_error *err);

/* Start of the recording: the smallest time of its tasks; 0 if there is none. */
uint64_t cn_export_start_ns(const struct cn_call_query *query);

/* Offset from times of the recording to the epoch; 0 if the recording has none. */
uint64_t cn_export_clock_offset_ns(const struct cn_recording *rec);

/* The name of the recorded program. Borrowed. */
const char *cn_export_program(const struct cn_recording *rec);

/* The title of the database, or the recorded program. Borrowed. */
const char *cn_export_title(const struct cn_export *x);

/* See the lines of the header of the source (analyze/views/header.h), for formats that have a place for
 * them. */
void cn_export_header(const struct cn_export *x, cn_header_visit visit, void *arg);

/* The location of a context, or with `of_function` that of the function it belongs to;
 * the other one where that is unknown. Strings are "" if unknown, and borrowed. */
struct cn_export_location {
    const char *module, *file;
    uint32_t line;
    uint64_t offset; /* in the module */
};
CN_CHECK bool cn_export_locate(struct cn_database *db, const struct cn_context *context,
                               bool of_function, struct cn_export_location *out,
                               struct cn_error *err);

#endif
