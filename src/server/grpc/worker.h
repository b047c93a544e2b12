/* A thread of the gRPC server: epoll, its connections, and the calls that come back to it.
 *
 * It is initialised by the thread that starts it, and closed after it was joined.
 * Threads: cn_worker_return() and cn_worker_tell() by any thread, the rest by the one that starts it.
 */
#ifndef CN_SERVER_GRPC_WORKER_H
#define CN_SERVER_GRPC_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/grpc/call.h"

struct cn_tls;
struct cn_grpc_peer;

enum cn_worker_order { CN_WORKER_SERVE, CN_WORKER_QUIESCE, CN_WORKER_STOP };

struct cn_worker {
    struct cn_grpc_service service;
    void *server;             /* what it belongs to */
    int listener;             /* shared by all workers */
    const struct cn_tls *tls; /* NULL: none */
    size_t peer_max;
    pthread_t thread;
    bool is_running;

    int epoll, event;       /* the event wakes the thread */
    _Atomic unsigned order; /* enum cn_worker_order */
    pthread_mutex_t lock;
    struct cn_grpc_call *back; /* calls that came back, under the lock */

    /* Of the thread alone. */
    struct cn_grpc_peer *peers,
        *closed; /* the latter are freed after the current events */
    size_t peer_count;
    enum cn_worker_order obeyed;
    bool is_deaf; /* it accepts nothing for a moment, because there are no files left */
    uint64_t check_ns;   /* when deadlines are looked at again */
    uint64_t stop_by_ns; /* after the order to stop */
};

/* `service.arg` is the worker; the other fields that callers set are those above `thread`. */
CN_CHECK bool cn_worker_start(struct cn_worker *worker, struct cn_error *err);

/* Give an order; CN_WORKER_STOP ends the thread when it has sent what is there, or after a
 * moment. */
void cn_worker_tell(struct cn_worker *worker, enum cn_worker_order order);

/* Wait for the thread, and close everything. Safe if it never started. */
void cn_worker_end(struct cn_worker *worker);

/* A call comes back from the collector, with its outcome. */
void cn_worker_return(struct cn_worker *worker, struct cn_grpc_call *call);

#endif
