/* Adds requests of agents, and spans of tracing systems, to a store.
 *
 *     ingest = cn_store_ingest_new(writer);
 *     cn_store_ingest_request(ingest, request, err); or cn_store_ingest_spans()
 *     cn_store_writer_commit(writer, err);          now the request can be acknowledged
 *     cn_store_ingest_free(ingest);
 *
 * A refused request leaves the store unchanged. Symbols of sessions live as long as the ingest,
 * unless they take too much memory: then the longest unused are dropped.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_INGEST_H
#define CN_STORE_WRITE_INGEST_H

#include <stdint.h>

#include "base/error.h"
#include "formats/zorka/request.h"
#include "store/write/writer.h"

struct cn_store_ingest;

struct cn_store_ingest_counts {
    uint64_t requests, refused;
    uint64_t symbols;
    struct cn_store_added added;
};

struct cn_store_ingest *cn_store_ingest_new(struct cn_store_writer *writer);
void cn_store_ingest_free(struct cn_store_ingest *ingest); /* NULL is fine */

/* One of `count` that share the sessions: the memory for symbols is divided, down to that of one
 * session. */
void cn_store_ingest_share(struct cn_store_ingest *ingest, unsigned count);

/* Fails if the body is invalid or the store cannot be written. */
CN_CHECK bool cn_store_ingest_request(struct cn_store_ingest *ingest,
                                      const struct cn_zorka_request *request,
                                      struct cn_error *err);

/* Add spans of Zipkin or OpenTelemetry. The body may be compressed, up to this many plain bytes.
 * A body that cannot be read adds nothing; `rejected` receives the number of spans in it that are not
 * added because they have no ids. */
enum { CN_STORE_SPANS_LEN_MAX = 64 << 20 };
CN_CHECK bool cn_store_ingest_spans(struct cn_store_ingest *ingest, struct cn_bytes body,
                                    uint64_t *rejected, struct cn_error *err);

/* A request that another lane adds: only its symbols are read. */
void cn_store_ingest_learn(struct cn_store_ingest *ingest,
                           const struct cn_zorka_request *request, bool has_symbols);

/* Add a trace that was read from spans. */
CN_CHECK bool cn_store_ingest_trace(struct cn_store_ingest *ingest,
                                    const struct cn_trace *trace, struct cn_error *err);

struct cn_store_ingest_counts
cn_store_ingest_counts(const struct cn_store_ingest *ingest);

#endif
