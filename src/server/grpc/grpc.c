#include "server/grpc/grpc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "formats/zorka/request.h"
#include "server/grpc/session.h"
#include "server/grpc/worker.h"
#include "store/pipeline/collector.h"
#include "store/pipeline/uploader.h"

enum {
    WORKERS_MAX = 4,
    CONNECTION_MAX = 1024,
    HELD_LEN_MAX = 128 << 20, /* bytes of messages that arrive or wait for the disk */
};

struct cn_grpc {
    struct cn_grpc_options options;
    struct cn_worker workers[WORKERS_MAX];
    unsigned worker_count;
    struct cn_grpc_totals counts;
};

/* Called by a job of the collector. */
static void on_collected(void *arg, enum cn_collected how, uint64_t rejected,
                         const struct cn_error *err)
{
    struct cn_grpc_call *call = arg;
    struct cn_worker *worker = call->arg;

    cn_otlp_outcome_set(&call->outcome, how, rejected, err);
    cn_grpc_call_drop_message(call, &worker->service);
    cn_worker_return(worker, call);
}

static bool submit(void *arg, struct cn_grpc_call *call)
{
    struct cn_worker *worker = arg;
    struct cn_grpc *grpc = worker->server;
    struct cn_zorka_request request = {
        .body = {(const uint8_t *)call->message.body.chars, call->message.body.len},
    };
    struct cn_error err;

    call->arg = worker;
    if (!cn_uploader_has_room(grpc->options.uploader, &err)) {
        cn_otlp_outcome_set(&call->outcome, CN_COLLECTED_NOT_SAVED, 0, &err);
        return false;
    }
    if (cn_collector_submit(call->collector, CN_COLLECT_SPANS, &request,
                            cn_h2_session_who(call->session), on_collected, call))
        return true;
    cn_otlp_outcome_busy(&call->outcome);
    return false;
}

/* One for every four processors: they only move bytes. */
static unsigned worker_count(void)
{
    unsigned count = (cn_pool_default_workers() + 3) / 4;

    return count < WORKERS_MAX ? count : WORKERS_MAX;
}

static bool start_worker(struct cn_grpc *grpc, unsigned count, struct cn_error *err)
{
    struct cn_worker *worker = &grpc->workers[grpc->worker_count++];

    *worker = (struct cn_worker){
        .service = {.guard = grpc->options.guard,
                    .collector = grpc->options.collector,
                    .find = grpc->options.find,
                    .find_arg = grpc->options.find_arg,
                    .counts = &grpc->counts,
                    .held_max = HELD_LEN_MAX,
                    .submit = submit,
                    .arg = worker},
        .server = grpc,
        .listener = grpc->options.socket,
        .tls = grpc->options.tls,
        .peer_max = CONNECTION_MAX / count,
    };
    return cn_worker_start(worker, err);
}

static void end_workers(struct cn_grpc *grpc)
{
    for (unsigned i = 0; i < grpc->worker_count; i++)
        cn_worker_tell(&grpc->workers[i], CN_WORKER_STOP);
    for (unsigned i = 0; i < grpc->worker_count; i++)
        cn_worker_end(&grpc->workers[i]);
}

bool cn_grpc_start(struct cn_grpc **out, const struct cn_grpc_options *options,
                   struct cn_error *err)
{
    struct cn_grpc *grpc = cn_alloc(1, sizeof(*grpc));
    unsigned count = worker_count();

    grpc->options = *options;
    (void)fcntl(options->socket, F_SETFL, fcntl(options->socket, F_GETFL) | O_NONBLOCK);
    while (grpc->worker_count < count)
        if (!start_worker(grpc, count, err)) {
            end_workers(grpc);
            free(grpc);
            return false;
        }
    *out = grpc;
    return true;
}

void cn_grpc_quiesce(struct cn_grpc *grpc)
{
    for (unsigned i = 0; grpc && i < grpc->worker_count; i++)
        cn_worker_tell(&grpc->workers[i], CN_WORKER_QUIESCE);
}

void cn_grpc_stop(struct cn_grpc *grpc)
{
    if (!grpc)
        return;
    end_workers(grpc);
    (void)close(grpc->options.socket);
    free(grpc);
}

struct cn_grpc_counts cn_grpc_counts(struct cn_grpc *grpc)
{
    struct cn_grpc_totals *counts = &grpc->counts;

    return (struct cn_grpc_counts){
        .connections = atomic_load(&counts->connections),
        .calls = atomic_load(&counts->calls),
        .failed = atomic_load(&counts->failed),
        .floods = atomic_load(&counts->floods),
    };
}
