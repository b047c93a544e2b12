/* The HTTP server: the viewer, its API, metrics, and the collector of traces.
 *
 *     cn_server_start(&server, &options, err)
 *     ... print cn_server_url(server), wait for a signal ...
 *     cn_server_stop(server);
 *
 * Threads: started and stopped by one thread; answers in threads of its own.
 */
#ifndef CN_SERVER_HTTP_SERVER_H
#define CN_SERVER_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/access/tls.h"
#include "store/pipeline/keeper.h"

struct cn_server;

struct cn_server_options {
    const char *const *paths; /* sources to show */
    size_t path_count;
    bool is_raw;                    /* recordings: recorded times, not corrected ones */
    const char *listen;             /* "ADDR:PORT"; NULL: loopback, any free port */
    int socket;                     /* that listens already; 0: none, see `listen` */
    const char *host;               /* a further name of the server; NULL: none */
    const char *token_file;         /* NULL: a random token; required beyond loopback */
    struct cn_tls_files tls;        /* of all listeners */
    const char *collect;            /* the store for collected traces; NULL: none */
    const char *collect_token_file; /* NULL: senders need no token */
    const char
        *tenants; /* a file of them; `collect` is a folder of stores then; NULL: none */
    size_t collect_limit;         /* requests that may wait for the disk; 0: default */
    unsigned collect_lanes;       /* that write the store; 0: default */
    uint64_t collect_space;       /* bytes of the store with `upload`; 0: no limit */
    struct cn_keeper_limits keep; /* of the store, or of `upload` */
    const struct cn_redaction *redaction; /* of collected traces; borrowed; NULL: none */
    bool is_otlp;                         /* listen for OTLP over gRPC and HTTP as well */
    const char
        *otlp_listen;   /* "ADDR" or "ADDR:PORT,PORT"; NULL: loopback, the usual ports */
    int grpc_socket;    /* that listens for OTLP over gRPC already; 0: none */
    const char *upload; /* address of the store for its segments; NULL: none */
    bool replicates;    /* requests are answered when their commits are there as well */
    const char
        *advertise; /* URL where readers of that store reach this one; NULL: nowhere */
    void (*log)(void *arg, const char *text); /* may be NULL */
    void *log_arg;
};

/* Opens all sources and listens. On failure nothing is left open. */
CN_CHECK bool cn_server_start(struct cn_server **out,
                              const struct cn_server_options *options,
                              struct cn_error *err);

/* The address to open in a browser, with the token. */
const char *cn_server_url(const struct cn_server *server);

/* Where senders reach OTLP over gRPC, and OTLP over HTTP; NULL: it is not served. */
const char *cn_server_grpc_url(const struct cn_server *server);
const char *cn_server_otlp_url(const struct cn_server *server);

/* Finishes open requests first. NULL is fine. */
void cn_server_stop(struct cn_server *server);

#endif
