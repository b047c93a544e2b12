/* Takes requests of agents into a store, and tells when they are safe there.
 *
 * Requests are added one after the other; a thread of its own commits them, many at a time,
 * and then calls back for each. Nothing is acknowledged before it is on the disk.
 *
 *     cn_collector_submit(collector, kind, &request, who, done, arg, err)
 *         done(arg, true) is called later, from another thread
 *
 * Threads: any thread may submit.
 */
#ifndef CN_SERVER_COLLECTOR_H
#define CN_SERVER_COLLECTOR_H

#include <stdint.h>

#include "base/error.h"

struct cn_collector;
struct cn_zorka_request;

/* What a body is. */
enum cn_collector_kind {
    CN_COLLECT_AGENT, /* symbols or a trace of an agent */
    CN_COLLECT_SPANS, /* of Zipkin or OpenTelemetry */
};

/* The request is on the disk; or, false, it is not and the sender should try again. */
typedef void (*cn_collected_fn)(void *arg, bool is_safe);

struct cn_collector_counts {
    uint64_t requests, refused, put_off; /* put off: 429 */
    uint64_t traces, known, records, commits;
};

/* Opens the store for writing; makes it when there is none. */
CN_CHECK bool cn_collector_open(struct cn_collector **out, const char *path,
                                struct cn_error *err);

/* Commits what was submitted and calls back for all of it; whoever comes later is told that
 * it is busy. */
void cn_collector_finish(struct cn_collector *collector);

/* Closes the store, when nobody can submit any more. */
CN_CHECK bool cn_collector_close(struct cn_collector *collector, struct cn_error *err);

enum cn_collector_result {
    CN_COLLECTOR_TAKEN,   /* `done` will be called */
    CN_COLLECTOR_REFUSED, /* the body breaks the rules: err tells where */
    CN_COLLECTOR_BUSY,    /* too much is waiting, of everybody or of this sender */
};

/* `who` tells senders apart: a session, an address. `done` is called while the collector is
 * locked: it must not submit. */
CN_CHECK enum cn_collector_result
cn_collector_submit(struct cn_collector *collector, enum cn_collector_kind kind,
                    const struct cn_zorka_request *request, const char *who,
                    cn_collected_fn done, void *arg, struct cn_error *err);

struct cn_collector_counts cn_collector_counts(struct cn_collector *collector);

#endif
