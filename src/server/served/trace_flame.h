/* The calls of many traces summed up: one node per path of methods, through all services. Those of one
 * name in different services are different methods.
 *
 * Times are those of the trace: of callees that run at the same time, what they share counts for
 * the one that began first, and what is outside of the caller is cut off. So callees fit into their
 * callers, and a trace that has nothing after the end of its root adds up to its duration. A call
 * that begins after the end of its caller has none here.
 *
 * Traces are added in batches, so that partial results can be shown:
 *     cn_trace_flame_init(&flame, store, &hits);
 *     while (!cn_trace_flame_is_complete(&flame) && ok)
 *         ok = cn_trace_flame_add(&flame, 30000000, err);
 *     cn_trace_flame_paint(&flame, share, &painted);
 *     cn_trace_flame_done(&flame);
 * The store outlives it. All processors load traces; the result does not depend on their
 * number.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_TRACE_FLAME_H
#define CN_SERVER_SERVED_TRACE_FLAME_H

#include "base/error.h"
#include "base/map.h"
#include "base/text.h"
#include "base/tree.h"
#include "store/search/search.h"

struct cn_flame;

struct cn_trace_flame_node {
    double total_ns, self_ns;
};

/* What a node of the tree calls: numbers of names. */
struct cn_trace_flame_method {
    uint32_t name, service;
};

/* A call whose callees are added. */
struct cn_trace_flame_call {
    uint32_t node;
    uint64_t begin_ns, end_ns; /* the part that counts, without the callees so far */
    uint64_t left_ns;          /* its end */
};

struct cn_trace_flame {
    const struct cn_store *store;
    /* Spans, those of a trace one after the other; none after all were added. */
    struct cn_search_hits hits;
    size_t added;                      /* of the hits */
    uint64_t trace_count, added_count; /* of all hits, and of those added */
    struct cn_tree tree;               /* by method */
    struct cn_trace_flame_node *nodes; /* of the tree */
    size_t count, capacity;
    struct cn_trace_flame_method *methods;
    size_t method_count, method_capacity;
    struct cn_map numbers;               /* of methods, by name and service */
    struct cn_map names_of, services_of; /* by segment and word */
    struct cn_names names, services;
    struct cn_text text;
    struct cn_trace_flame_call *open; /* by depth */
    size_t open_capacity;
    double total_ns;
};

/* Takes ownership of the hits, which are those of cn_search_trace_spans(). */
void cn_trace_flame_init(struct cn_trace_flame *flame, const struct cn_store *store,
                         struct cn_search_hits *hits);
void cn_trace_flame_done(struct cn_trace_flame *flame); /* safe when zeroed */

/* Add traces for about `budget_ns`, at least one batch. */
CN_CHECK bool cn_trace_flame_add(struct cn_trace_flame *flame, uint64_t budget_ns,
                                 struct cn_error *err);

static inline bool cn_trace_flame_is_complete(const struct cn_trace_flame *flame)
{
    return flame->added_count == flame->trace_count;
}

/* Add the nodes with more than `share` of the total time, parents first. */
void cn_trace_flame_paint(const struct cn_trace_flame *flame, double share,
                          struct cn_flame *out);

#endif
