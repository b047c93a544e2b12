/* Takes requests of agents into a store, and calls back when they are on disk.
 *
 * The store is written with several lanes (store/write/lanes.h); all requests of a sender
 * go to the same one. In a lane, requests pass through two jobs. The reader decodes them
 * and adds their traces to the next commit; the saver compresses, writes and syncs the
 * commit before that, and calls back for each request in it. A third job seals full
 * segments.
 *
 *     cn_collector_submit(collector, kind, &request, who, done, arg)
 *         done(arg, CN_COLLECTED, 0, NULL) is called later, from another thread
 *
 * With `replicate`, the saver also copies the commit to object storage. If that fails, its requests
 * are called back with CN_COLLECTED_NOT_SAVED, and what they brought stays: a request that is sent
 * again is answered when it is copied as well.
 *
 * After a write error all waiting requests of the lane are called back with
 * CN_COLLECTED_NOT_SAVED. A request that comes at least a second later opens it again.
 * Threads: any thread may submit.
 */
#ifndef CN_STORE_PIPELINE_COLLECTOR_H
#define CN_STORE_PIPELINE_COLLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/pipeline/keeper.h"

struct cn_collector;
struct cn_disk;
struct cn_zorka_request;

/* What a body contains. */
enum cn_collector_kind {
    CN_COLLECT_AGENT, /* symbols or a trace of an agent */
    CN_COLLECT_SPANS, /* of Zipkin or OpenTelemetry */
};

/* The outcome of a request. */
enum cn_collected {
    CN_COLLECTED,           /* it is on disk */
    CN_COLLECTED_NOT,       /* it is malformed; the error says where */
    CN_COLLECTED_NOT_SAVED, /* the store cannot be written; try again later */
};
/* `rejected` spans of a request that is on disk are not: they have no ids. Then, and if it is not on
 * disk, `err` says why. */
typedef void (*cn_collected_fn)(void *arg, enum cn_collected how, uint64_t rejected,
                                const struct cn_error *err);

/* All zero is the default. */
struct cn_collector_options {
    size_t waiting_max;        /* requests that are not answered yet */
    size_t waiting_max_of_one; /* of the same sender */
    uint64_t waiting_len_max;  /* bytes of their bodies */
    unsigned lanes;            /* 0: one for every two processors */
    const struct cn_disk *io;  /* NULL: files */
    const char
        *replicate;    /* address of the store in object storage where commits are copied
                                  before requests are answered; NULL: nowhere */
    const char *url;   /* where readers of that store reach the collector; or "" */
    uint64_t rate_max; /* spans and calls a second; more are put off; 0: any */
    const struct cn_redaction *redaction; /* borrowed; NULL: none */
    struct cn_keeper_limits keep;         /* of the store; or of `keep_address` */
    const char *
        keep_address; /* the store in object storage that it is uploaded to; NULL: none */
    void (*settle)(void *arg); /* called before segments go; may be NULL */
    void *settle_arg;
    void (*log)(void *arg, const char *text); /* what was removed; may be NULL */
    void *log_arg;
};

struct cn_collector_counts {
    uint64_t requests, refused, put_off;              /* put off: 429 */
    uint64_t traces, parts, known, records, redacted; /* see struct cn_store_added */
    uint64_t commits;
    uint64_t not_copied; /* commits that could not be copied to object storage */
    uint64_t failures; /* lanes that were closed because the store could not be written */
};

/* Open the store for writing, or create it. `options` may be NULL. */
CN_CHECK bool cn_collector_open(struct cn_collector **out, const char *path,
                                const struct cn_collector_options *options,
                                struct cn_error *err);

/* Begin to keep the store within its limits, if it has any. */
CN_CHECK bool cn_collector_keep(struct cn_collector *collector, struct cn_error *err);

/* Commit all submitted requests and call back for them; later ones are refused as
 * busy. */
void cn_collector_finish(struct cn_collector *collector);

/* Close the store, when no thread submits any more. */
CN_CHECK bool cn_collector_close(struct cn_collector *collector, struct cn_error *err);

/* Hand over a request; its body must stay valid until `done` is called. False if too
 * many requests are waiting, in all or of this sender: `done` is not called. `who`
 * identifies the sender: a session or an address. */
CN_CHECK bool cn_collector_submit(struct cn_collector *collector,
                                  enum cn_collector_kind kind,
                                  const struct cn_zorka_request *request, const char *who,
                                  cn_collected_fn done, void *arg);

/* What was removed and joined; all 0 without `keep`. */
struct cn_keeper_counts cn_collector_kept(struct cn_collector *collector);

unsigned cn_collector_lane_count(const struct cn_collector *collector);

struct cn_collector_counts cn_collector_counts(struct cn_collector *collector);

#endif
