/* A server on HTTP: the viewer, its API, and answers for monitoring.
 *
 *     cn_server_start(&server, &options, err)
 *     ... print cn_server_url(server), wait for a signal ...
 *     cn_server_stop(server);
 *
 * Threads: started and stopped by one thread; answers on threads of its own.
 */
#ifndef CN_SERVER_HTTP_SERVER_H
#define CN_SERVER_HTTP_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_server;

struct cn_server_options {
    const char *const *paths; /* what to show */
    size_t path_count;
    const char *listen;             /* "ADDR:PORT"; NULL: loopback, any free port */
    const char *host;               /* a name the server goes by; NULL: none */
    const char *token_file;         /* NULL: make a token; needed beyond loopback */
    const char *tls_cert, *tls_key; /* files; NULL: no TLS */
    const char *collect;            /* the store that takes traces; NULL: none does */
    const char *collect_token_file; /* NULL: traces need no token */
    size_t collect_limit;           /* requests that may wait for the disk; 0: default */
    void (*log)(void *arg, const char *text); /* may be NULL */
    void *log_arg;
};

/* Opens everything and listens. On failure nothing is left. */
CN_CHECK bool cn_server_start(struct cn_server **out,
                              const struct cn_server_options *options,
                              struct cn_error *err);

/* The address to open in a browser, token included. */
const char *cn_server_url(const struct cn_server *server);

/* Requests that are being answered are finished first. NULL is fine. */
void cn_server_stop(struct cn_server *server);

#endif
