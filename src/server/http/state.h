/* The state of a server, shared by the files of this folder.
 * Threads: the counts are atomic, metrics of spans have a lock, the rest is immutable while the server
 * runs.
 */
#ifndef CN_SERVER_HTTP_STATE_H
#define CN_SERVER_HTTP_STATE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "server/access/guard.h"
#include "server/api/route.h"
#include "server/http/connections.h"
#include "server/http/server.h"
#include "server/http/tenants.h"
#include "server/otlp/outcome.h"
#include "server/served/diffs.h"
#include "server/served/served.h"
#include "store/bucket/manifest.h"

struct MHD_Daemon;
struct cn_download;
struct cn_collector;
struct cn_grpc;
struct cn_request;
struct cn_tls;
struct cn_uploader;
struct cn_server;

/* For /metrics. */
struct cn_server_counts {
    _Atomic uint64_t requests, refused, failed;
    _Atomic uint64_t answer_ns; /* time spent in answers */
    _Atomic uint64_t open;      /* requests being answered */
};

/* A port of the server. */
struct cn_port {
    struct cn_server *server;
    struct MHD_Daemon *daemon; /* NULL: none */
    struct cn_guard guard;     /* its names, and the token of the page */
    bool takes_traces_alone;   /* no page */
};

struct cn_server {
    struct cn_port page, otlp;
    struct cn_grpc *grpc; /* NULL: none */
    struct cn_connections connections;
    struct cn_served_list sources;
    struct cn_served_diffs diffs;  /* of the sources */
    struct cn_job_group downloads; /* that are being written */
    struct cn_server_counts counts;
    struct cn_collector *collector;        /* NULL: none */
    struct cn_uploader *uploader;          /* of its segments; NULL: none */
    char *collect;                         /* the store of the collector; NULL: none */
    struct cn_counted counted;             /* the spans in it */
    struct cn_tenants tenants;             /* instead of the four above; or none */
    char start_id[CN_MANIFEST_ID_LEN + 1]; /* random */
    struct cn_guard collector_guard;       /* its token; "": none is needed */
    struct cn_tls *tls;                    /* NULL: none */
    char *advertised, *advertised_host;    /* URL for readers, its host; NULL: none */
    char url[512];
    char grpc_url[CN_ENDPOINT_URL_LEN], otlp_url[CN_ENDPOINT_URL_LEN]; /* "": none */
    void (*log)(void *arg, const char *text);
    void *log_arg;
    _Atomic uint64_t told_ns; /* when it last told of a sender that speaks HTTP/2 */
};

/* Answers readers of a store in object storage: the fresh segments of this collector
 * (store/bucket/unsealed.h).
 * Threads: any thread of the server.
 */

/* True for addresses that this answers. */
bool cn_fresh_is_address(const char *url);

/* NULL with an error if there is no such segment or file, or without memory. */
struct MHD_Response *cn_fresh_answer(struct cn_server *server,
                                     struct MHD_Connection *connection, const char *url,
                                     struct cn_error *err);

/* A source as `cairn convert --to pprof` writes it, at /pprof/SOURCE. Who asks for it waits for all
 * of it, and asks once: a job writes it to a file while the connection is suspended.
 * Threads: any thread of the server; a request belongs to one at a time.
 */

/* True for addresses that this answers. */
bool cn_download_is_address(const char *url);

/* Suspend the connection and begin to write; the request is answered again when it resumes. The
 * strings of the request are borrowed until the end. */
CN_CHECK bool cn_download_begin(struct cn_server *server,
                                const struct cn_served_list *sources,
                                const struct cn_request *request,
                                struct MHD_Connection *connection,
                                struct cn_download **out, struct cn_error *err);

/* The file; NULL with an error if it was not written. */
struct MHD_Response *cn_download_answer(struct cn_download *download,
                                        struct cn_error *err);
void cn_download_end(struct cn_download *download); /* NULL is fine */

void cn_downloads_init(struct cn_server *server);

/* Begin no more, and wait until no connection is suspended for one. */
void cn_downloads_stop(struct cn_server *server);

/* The callbacks of libmicrohttpd, from a connection to an answer; `arg` is a struct cn_port.
 * Threads: called by the threads of the server.
 */

enum MHD_Result cn_server_answer(void *arg, struct MHD_Connection *connection,
                                 const char *url, const char *method, const char *version,
                                 const char *upload, size_t *upload_len, void **state);

/* A request has ended, answered or not. */
void cn_server_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code);

/* Print metrics for a scrape, those of a tenant's store alone, or of the server: as text of Prometheus, or of
 * OpenMetrics.
 * Threads: any thread of the server.
 */
void cn_server_scrape(struct cn_server *server, struct cn_tenant *tenant, bool is_open,
                      struct cn_text *out);

/* Requests with traces: their bodies go to the collector, and they are answered when the
 * traces are on disk.
 * Threads: the threads of the server; a request belongs to one at a time.
 */

enum cn_collect_state {
    CN_COLLECT_READING,  /* the body is arriving */
    CN_COLLECT_WAITING,  /* for the commit */
    CN_COLLECT_ANSWERED, /* `status` and `err` are set */
};

/* A request between callbacks. */
struct cn_collect {
    struct MHD_Connection *connection;
    enum cn_collect_state state;
    bool is_too_long;
    bool is_otlp; /* the answer is `outcome` */
    struct cn_text body;
    unsigned status;
    struct cn_error err;
    struct cn_otlp_outcome outcome;
    struct cn_collector *collector; /* of the sender */
};

/* True if traces can be posted to this address. */
bool cn_collect_is_address(const struct cn_server *server, const char *url);

/* True for the address of OTLP. */
bool cn_collect_is_otlp(const char *url);

/* The next bytes of the body. */
void cn_collect_read(struct cn_collect *collect, const char *data, size_t len);

/* The body is complete: hand it to the collector. The connection is suspended until
 * the state is CN_COLLECT_ANSWERED. */
void cn_collect_submit(struct cn_server *server, struct cn_collect *collect,
                       const char *url);

#endif
