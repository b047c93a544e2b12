/* Takes requests of agents into a store, and tells when they are safe there.
 *
 * Whoever submits a request is called back. Requests go through two threads: one reads them
 * and adds their traces to what the next commit will hold; the other one compresses, writes
 * and syncs the commit before that, and then calls back for each request in it. Nothing is
 * acknowledged before it is on the disk. A third one seals segments that are full.
 *
 *     cn_collector_submit(collector, kind, &request, who, done, arg)
 *         done(arg, CN_COLLECTED, NULL) is called later, from another thread
 *
 * When the store cannot be written, what waits is told so; the store is opened again with a
 * request that comes a second later or more.
 * Threads: any thread may submit.
 */
#ifndef CN_SERVER_HTTP_COLLECTOR_H
#define CN_SERVER_HTTP_COLLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_collector;
struct cn_disk;
struct cn_zorka_request;

/* What a body is. */
enum cn_collector_kind {
    CN_COLLECT_AGENT, /* symbols or a trace of an agent */
    CN_COLLECT_SPANS, /* of Zipkin or OpenTelemetry */
};

/* What became of a request. */
enum cn_collected {
    CN_COLLECTED,           /* it is on the disk */
    CN_COLLECTED_NOT,       /* it breaks the rules: the error tells where */
    CN_COLLECTED_NOT_SAVED, /* the store cannot be written: try again later */
};
typedef void (*cn_collected_fn)(void *arg, enum cn_collected how,
                                const struct cn_error *err);

/* All zero is the default. */
struct cn_collector_options {
    size_t waiting_max;        /* requests that are not answered yet */
    size_t waiting_max_of_one; /* of the same sender */
    uint64_t waiting_len_max;  /* bytes of their bodies */
    const struct cn_disk *io;  /* NULL: files */
};

struct cn_collector_counts {
    uint64_t requests, refused, put_off; /* put off: 429 */
    uint64_t traces, known, records, commits;
};

/* Opens the store for writing; makes it when there is none. `options` may be NULL. */
CN_CHECK bool cn_collector_open(struct cn_collector **out, const char *path,
                                const struct cn_collector_options *options,
                                struct cn_error *err);

/* Commits what was submitted and calls back for all of it; whoever comes later is told that
 * it is busy. */
void cn_collector_finish(struct cn_collector *collector);

/* Closes the store, when nobody can submit any more. */
CN_CHECK bool cn_collector_close(struct cn_collector *collector, struct cn_error *err);

/* Hand over a request, whose body must stay where it is until `done` is called. False: too
 * much is waiting, of everybody or of this sender; `done` will not be called. `who` tells
 * senders apart: a session, an address. */
CN_CHECK bool cn_collector_submit(struct cn_collector *collector,
                                  enum cn_collector_kind kind,
                                  const struct cn_zorka_request *request, const char *who,
                                  cn_collected_fn done, void *arg);

struct cn_collector_counts cn_collector_counts(struct cn_collector *collector);

#endif
