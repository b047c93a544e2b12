/* What the writers of exchange formats share: a source, a file being written, and
 * what of the source the format cannot hold.
 *
 * cn_export_calls() and cn_export_database() open the target, have a writer fill it,
 * and put it in place. Writers append to `text` and call cn_export_flush() now and
 * then.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_EXPORT_H
#define CN_FORMATS_EXCHANGE_EXPORT_H

#include "analyze/calls/call_merge.h"
#include "base/files/sink.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "model/format.h"

enum { CN_EXPORT_LOSS_MAX = 16 };

struct cn_export {
    const struct cn_call_query *query; /* one of these is the source */
    struct cn_database *db;
    const struct cn_write_options *options;
    struct cn_sink sink;
    struct cn_text text;
    unsigned workers;
    struct cn_export_loss {
        const char *what; /* a constant */
        uint64_t count;
    } losses[CN_EXPORT_LOSS_MAX];
    size_t loss_count;
    struct cn_call_damages damages; /* tasks that were read up to the damage only */
    bool ends_with_tasks;           /* calls that never returned do, as in uftrace dump */
    uint64_t end_ns;                /* of the recording, once it was asked for; else 0 */
};

typedef bool (*cn_export_fn)(struct cn_export *x, struct cn_error *err);

/* Write with `write` to `path`. With `is_gzip` the file is compressed even if its name
 * does not say so. Damaged tasks are written up to the damage, then it fails. */
CN_CHECK bool cn_export_calls(const struct cn_call_query *query, const char *path,
                              const struct cn_write_options *options, cn_export_fn write,
                              bool is_gzip, struct cn_error *err);
CN_CHECK bool cn_export_database(struct cn_database *db, const char *path,
                                 const struct cn_write_options *options,
                                 cn_export_fn write, bool is_gzip, struct cn_error *err);

/* Without a file: of formats that make their own. */
void cn_export_init(struct cn_export *x, const struct cn_write_options *options);
CN_CHECK bool cn_export_finish(struct cn_export *x, const char *path,
                               struct cn_error *err); /* tells losses, judges them */
CN_CHECK bool cn_export_result(struct cn_export *x, struct cn_error *err); /* damage */
void cn_export_done(struct cn_export *x);

/* Note that `count` of something were not kept; counts of the same `what` add up. */
void cn_export_lose(struct cn_export *x, const char *what, uint64_t count);

/* Write `text` if it has become long. */
CN_CHECK bool cn_export_flush(struct cn_export *x, struct cn_error *err);

/* When the recording starts: the smallest time of its tasks; 0 when there is none. */
uint64_t cn_export_start_ns(const struct cn_call_query *query);

/* When calls that never returned end: with the last record of all tasks. 0: they end with
 * the last record of their task, because that is asked for or only a part of the time is
 * looked at. Reads the ends of all
 * tasks when it is asked for the first time. */
uint64_t cn_export_end_ns(struct cn_export *x);

/* What to add to times of the recording to count from the epoch; 0 when it does not
 * say. */
uint64_t cn_export_clock_offset_ns(const struct cn_recording *rec);

/* The name of the program that was recorded. Borrowed. */
const char *cn_export_program(const struct cn_recording *rec);

#endif
