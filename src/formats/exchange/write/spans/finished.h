/* Calls at their end, with their begin and arguments: as tracing systems and tables store
 * them. A writer has one cn_finished per writer and passes its spans to it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_SPANS_FINISHED_H
#define CN_FORMATS_EXCHANGE_WRITE_SPANS_FINISHED_H

#include "formats/exchange/write/spans/writers.h"

struct cn_finished_call {
    const char *name;
    const char *arguments, *result; /* "" if unknown */
    uint64_t id, parent_id;         /* parent_id 0: none */
    uint64_t begin_ns, end_ns;      /* as recorded */
};

struct cn_finished {
    const struct cn_recording *rec;
    uint64_t first_id; /* of the calls: their number is added */
    uint64_t root_id;  /* parent of the outermost calls */
    struct cn_finished_level {
        struct cn_text arguments;
        uint64_t id;
    } * levels; /* by depth */
    size_t count, capacity;
    struct cn_text result;
    char name[24];              /* of a call to an unknown address */
    uint64_t first_ns, last_ns; /* of the spans so far */
};

struct cn_finished *cn_finished_new(const struct cn_writer *writer, uint64_t first_id,
                                    uint64_t root_id);
void cn_finished_free(struct cn_finished *finished);

/* Take a span. True at the end of a call, which is then in `out`, valid until the next
 * span. */
bool cn_finished_visit(struct cn_finished *finished, const struct cn_span *span,
                       struct cn_finished_call *out);

/* A recording as one trace: each task is a span inside the task that created it, and its
 * calls are spans inside the task. The same recording has the same ids. */
enum { CN_TRACE_ID_LEN = 16 };
struct cn_trace_export {
    uint8_t id[CN_TRACE_ID_LEN];
    char hex[2 * CN_TRACE_ID_LEN + 1];
    uint64_t offset_ns; /* to the epoch */
    bool is_json;       /* otlp.c: not protobuf */
};
void cn_trace_export_init(struct cn_trace_export *trace,
                          const struct cn_call_query *query);

/* The calls of a writer, with their ids in the trace. */
struct cn_finished *cn_trace_finished_new(const struct cn_writer *writer);

/* The span of the task itself, after its last call. */
void cn_trace_root(const struct cn_finished *finished, const struct cn_writer *writer,
                   struct cn_finished_call *out);

/* Append `{"traceId":"...","ID_KEY":"...","PARENT_KEY":"...","name":"..."` */
void cn_trace_export_span(struct cn_text *text, const struct cn_trace_export *trace,
                          const struct cn_finished_call *call, const char *id_key,
                          const char *parent_key);

#endif
