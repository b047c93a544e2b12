/* Requests of agents, and spans of tracing systems, into a store.
 *
 *     ingest = cn_store_ingest_new(writer);
 *     cn_store_ingest_file(ingest, path, err);      or cn_store_ingest_request()
 *     cn_store_writer_commit(writer, err);          now it is acknowledged
 *     cn_store_ingest_free(ingest);
 *
 * A request that is refused leaves the store as it was. Sessions live as long as
 * the ingest, but those that are silent longest may have to go (store/write/sessions.h).
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

/* One request; fails when its body breaks the rules, or the store cannot be written. */
CN_CHECK bool cn_store_ingest_request(struct cn_store_ingest *ingest,
                                      const struct cn_zorka_request *request,
                                      struct cn_error *err);

/* Spans of Zipkin or OpenTelemetry, whichever the body is; it may be compressed, if that
 * hides no more than this. All of it is added, or nothing. */
enum { CN_STORE_SPANS_LEN_MAX = 64 << 20 };
CN_CHECK bool cn_store_ingest_spans(struct cn_store_ingest *ingest, struct cn_bytes body,
                                    struct cn_error *err);

/* A file of spans, or of requests with their heads, or a body with or without its head in a file beside it
 * (NAME.bin, NAME.hdr). Stops at the first request that is refused; those before it stay. */
CN_CHECK bool cn_store_ingest_file(struct cn_store_ingest *ingest, const char *path,
                                   struct cn_error *err);

struct cn_store_ingest_counts
cn_store_ingest_counts(const struct cn_store_ingest *ingest);

#endif
