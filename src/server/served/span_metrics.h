/* Metrics from spans that a collector stores: rates, errors and durations by service and operation,
 * and calls between services. /metrics prints them.
 *
 * They count what arrived since the server started, from the rows of the store, so that collecting
 * costs nothing for them. Each call counts up to two million new spans. The number of series is
 * limited; spans of others are counted together. Segments must not be compacted meanwhile, which the
 * lock of the collector excludes.
 * Threads: one thread at a time; to begin and to update, also with the lock of the store.
 */
#ifndef CN_SERVER_SERVED_SPAN_METRICS_H
#define CN_SERVER_SERVED_SPAN_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "server/served/span_pairs.h"

struct cn_served_store;

enum {
    CN_SPAN_BUCKETS = 15, /* the last one without a limit */
    CN_SPAN_SERIES_MAX = 2000,
    CN_SPAN_EDGES_MAX = 500,
};

/* A span that stands for those of a bucket: the last one. */
struct cn_span_exemplar {
    uint64_t trace_high, trace_low, time_ns, duration_ns; /* the trace is 0: none */
};

struct cn_span_histogram {
    uint64_t counts[CN_SPAN_BUCKETS]; /* of durations, each of its own bucket */
    uint64_t count;
    double sum_s;
    struct cn_span_exemplar exemplars[CN_SPAN_BUCKETS];
};

/* The upper limit of a bucket in seconds; infinity for the last. */
double cn_span_bucket_s(size_t i);

struct cn_span_series {
    const char *service, *name, *kind; /* "" if unknown */
    bool has_failed;
    struct cn_span_histogram durations;
};

struct cn_span_edge {
    const char *client, *server;
    uint64_t failed;
    struct cn_span_histogram of_server, of_client;
};

struct cn_span_metrics {
    struct cn_map counted; /* rows of a segment, by its number */
    struct cn_names names;
    struct cn_span_series *series;
    struct cn_span_edge *edges;
    size_t series_count, series_capacity, edge_count, edge_capacity;
    struct cn_map pairs, by_names; /* numbers of series + 1 by those of names */
    struct cn_map edges_by_names;
    struct cn_span_pairs joined;
    uint64_t left_out; /* spans and calls of series beyond the limits */
};

/* Everything that is in the store now was there before. */
void cn_span_metrics_begin(struct cn_span_metrics *metrics,
                           const struct cn_served_store *store);
/* Take a new snapshot and count all that is in it. */
void cn_span_metrics_catch_up(struct cn_span_metrics *metrics,
                              struct cn_served_store *store);

void cn_span_metrics_done(struct cn_span_metrics *metrics);

/* Count what arrived since the last call. Rows of a segment that cannot be read are left for later. */
void cn_span_metrics_update(struct cn_span_metrics *metrics,
                            struct cn_served_store *store);

#endif
