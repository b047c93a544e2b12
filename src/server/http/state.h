/* The state of a server, shared by the files of this folder.
 * Threads: the counts are atomic, the rest is immutable while the server runs.
 */
#ifndef CN_SERVER_HTTP_STATE_H
#define CN_SERVER_HTTP_STATE_H

#include <stdatomic.h>

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
};

#endif
