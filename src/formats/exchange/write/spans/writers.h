/* Tasks written in parallel: each worker turns the calls of one task into bytes. The order
 * of the bytes in the file does not depend on the number of workers.
 *
 * Up to CN_WRITERS_MAX tasks are open at a time, each in a writer. In each round every writer
 * fills its text up to a limit; then the texts are written in the order of the writers. So
 * the spans of one task are in order, those of different tasks alternate. Memory is
 * bounded by the number of writers.
 * Threads: one thread at a time; uses the workers of the export.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_SPANS_WRITERS_H
#define CN_FORMATS_EXCHANGE_WRITE_SPANS_WRITERS_H

#include "formats/exchange/write/spans/spans.h"

enum { CN_WRITERS_MAX = 16 };

struct cn_writer {
    struct cn_export *x;
    const struct cn_recording *rec;
    void *arg;     /* of cn_export_writers(); shared: read-only unless `is_sequential` */
    uint32_t slot; /* in the tasks of the query */
    const struct cn_task *task;
    struct cn_text text; /* written next */

    struct cn_text scratch; /* for the writer, like the next two */
    void *own;
    uint64_t base_ns; /* start of the recording */

    struct cn_spans *spans; /* private to writers.c, like the rest */
    enum cn_step step;
    struct cn_error err;
};

struct cn_writer_ops {
    void (*begin)(struct cn_writer *writer); /* before the first span; may be NULL */
    cn_span_fn visit;                        /* its argument is the writer */
    void (*end)(struct cn_writer *writer);   /* after the last span; may be NULL */
    bool is_sequential; /* a task is complete before the next one begins */
    bool is_list;       /* each writer writes a comma first; the first comma is dropped */
};

/* Time since the start of the recording; 0 for damaged records that are earlier. */
static inline uint64_t cn_writer_since_ns(const struct cn_writer *writer,
                                          uint64_t time_ns)
{
    return time_ns > writer->base_ns ? time_ns - writer->base_ns : 0;
}

/* Write all tasks of the query. `counts` receives the sums over the writers. */
CN_CHECK bool cn_export_writers(struct cn_export *x, const struct cn_writer_ops *ops,
                                void *arg, struct cn_span_counts *counts,
                                struct cn_error *err);

#endif
