/* OTLP over gRPC: takes calls of TraceService/Export on a socket, hands their messages to the collector,
 * and answers when they are on disk.
 *
 *     cn_grpc_start(&grpc, &options, err)
 *     cn_grpc_quiesce(grpc);      no new calls; then finish the collector
 *     cn_grpc_stop(grpc);         answers what the collector has returned
 *
 * A few threads with epoll have all connections; a connection stays with its thread. The socket
 * belongs to it from a successful start on; a failure leaves it with the caller.
 * Threads: started and stopped by one thread; the counts by any.
 */
#ifndef CN_SERVER_GRPC_GRPC_H
#define CN_SERVER_GRPC_GRPC_H

#include <stdint.h>

#include "base/error.h"

struct cn_collector;
struct cn_grpc;
struct cn_guard;
struct cn_tls;
struct cn_uploader;

struct cn_grpc_options {
    int socket;                     /* that listens */
    struct cn_collector *collector; /* NULL with `find` */
    /* The collector of a tenant, by token and X-Scope-OrgID, which may be NULL; NULL: it is none. */
    struct cn_collector *(*find)(void *arg, const char *token, const char *name);
    void *find_arg;
    struct cn_uploader *uploader; /* NULL: none */
    const struct cn_guard *guard; /* the token of senders; "": none is needed */
    const struct cn_tls *tls;     /* NULL: no TLS */
};

/* For /metrics. */
struct cn_grpc_counts {
    uint64_t connections; /* that are open */
    uint64_t calls, failed;
    uint64_t floods; /* connections closed because of floods */
};

CN_CHECK bool cn_grpc_start(struct cn_grpc **out, const struct cn_grpc_options *options,
                            struct cn_error *err);

void cn_grpc_quiesce(struct cn_grpc *grpc); /* NULL is fine */
void cn_grpc_stop(struct cn_grpc *grpc);    /* NULL is fine */

struct cn_grpc_counts cn_grpc_counts(struct cn_grpc *grpc);

#endif
