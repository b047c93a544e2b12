/* The state of a server, shared by the files of this folder.
 * Threads: the counts are atomic, the rest is immutable while the server runs.
 */
#ifndef CN_SERVER_HTTP_STATE_H
#define CN_SERVER_HTTP_STATE_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "server/api/route.h"
#include "server/http/connections.h"
#include "server/http/guard.h"
#include "server/http/server.h"
#include "server/served/diffs.h"
#include "server/served/served.h"
#include "store/bucket/manifest.h"

struct MHD_Daemon;
struct cn_collector;
struct cn_uploader;
struct cn_server;

/* For /metrics. */
struct cn_server_counts {
    _Atomic uint64_t requests, refused, failed;
    _Atomic uint64_t answer_ns; /* time spent in answers */
    _Atomic uint64_t open;      /* requests being answered */
};

struct cn_server {
    struct MHD_Daemon *daemon;
    struct cn_guard guard;
    struct cn_connections connections;
    struct cn_served_list sources;
    struct cn_served_diffs diffs; /* of the sources */
    struct cn_server_counts counts;
    struct cn_collector *collector;        /* NULL: none */
    struct cn_uploader *uploader;          /* of its segments; NULL: none */
    char *collect;                         /* the store of the collector; NULL: none */
    char start_id[CN_MANIFEST_ID_LEN + 1]; /* random */
    struct cn_guard collector_guard;       /* its token; "": none is needed */
    char *tls_cert, *tls_key;
    char *advertised, *advertised_host; /* URL for readers, its host; NULL: none */
    char url[512];
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

/* The callbacks of libmicrohttpd, from a connection to an answer.
 * Threads: called by the threads of the server.
 */

enum MHD_Result cn_server_answer(void *arg, struct MHD_Connection *connection,
                                 const char *url, const char *method, const char *version,
                                 const char *upload, size_t *upload_len, void **state);

/* A request has ended, answered or not. */
void cn_server_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code);

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
    struct cn_text body;
    unsigned status;
    unsigned success; /* the status when the traces are on disk */
    struct cn_error err;
};

/* True if traces can be posted to this address. */
bool cn_collect_is_address(const struct cn_server *server, const char *url);

/* The next bytes of the body. */
void cn_collect_read(struct cn_collect *collect, const char *data, size_t len);

/* The body is complete: hand it to the collector. The connection is suspended until
 * the state is CN_COLLECT_ANSWERED. */
void cn_collect_submit(struct cn_server *server, struct cn_collect *collect,
                       const char *url);

#endif
