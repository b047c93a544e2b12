/* Rows of a profiler's database, made into calls of threads and work of GPUs.
 *
 *     cn_sql_trace_open(&trace, "nsight", path, err)
 *     cn_sql_trace_add(&trace, &event, &span, err)     for each row
 *     cn_sql_trace_finish(&trace, base_ns, path, out, err)
 *
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_SQLITE_TRACE_H
#define CN_FORMATS_EXCHANGE_READ_SQLITE_TRACE_H

#include "base/text.h"
#include "formats/exchange/read/calls/import.h"
#include "formats/exchange/read/calls/kineto.h"
#include "formats/exchange/read/sqlite/rows.h"

struct cn_sql_trace {
    struct cn_sql_file *file;
    struct cn_call_import *import;
    struct cn_kineto *kineto;
    struct cn_error damage; /* the first */
    uint64_t skipped_count; /* rows without a time, or with an impossible one */
    struct cn_text scratch;
};

/* Where and when a row belongs: a thread, or the stream of its event. */
struct cn_sql_span {
    uint64_t pid, tid;
    const char *track; /* of a thread, besides its calls; NULL: its calls */
    uint64_t begin_ns, end_ns;
    uint32_t name;
};

CN_CHECK bool cn_sql_trace_open(struct cn_sql_trace *trace, const char *module,
                                const char *path, struct cn_error *err);
void cn_sql_trace_close(struct cn_sql_trace *trace); /* a zeroed one is fine */

/* Visit a table. Damage ends its rows, and is kept for the warning. */
CN_CHECK bool cn_sql_trace_visit(struct cn_sql_trace *trace, const char *table,
                                 const char *const *columns, cn_sql_row_fn take,
                                 void *arg, struct cn_error *err);

/* Read the times of a row; false and counted if they are missing or impossible. */
bool cn_sql_trace_times(struct cn_sql_trace *trace, const struct cn_sql_row *row,
                        int begin, int end, struct cn_sql_span *span);

/* Add a row: a call of a thread, or work of a GPU. */
CN_CHECK bool cn_sql_trace_add(struct cn_sql_trace *trace,
                               const struct cn_kineto_event *event,
                               const struct cn_sql_span *span, struct cn_error *err);

uint32_t cn_sql_trace_name(struct cn_sql_trace *trace, const char *name);

/* The name of a copy or memset by its detail: "Memcpy HtoD". */
const char *cn_sql_copy_name(uint8_t detail);
const char *cn_sql_set_name(uint8_t detail);

/* Make the recording, with warnings. Closes the trace, also on failure. */
CN_CHECK bool cn_sql_trace_finish(struct cn_sql_trace *trace, uint64_t base_ns,
                                  const char *path, struct cn_recording **out,
                                  struct cn_error *err);

/* True for an SQLite database with one of two tables; where its schema is damaged, if the
 * name of one is in the beginning of the file. */
bool cn_sql_trace_probe(const char *path, const char *table, const char *other);

#endif
