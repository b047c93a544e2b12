/* A distributed trace: the spans that were stored under one id, each a tree of calls, joined
 * where one called the other.
 *
 * Spans that lie inside the data of others are not loaded again.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_TRACE_SET_H
#define CN_CLI_STORE_TRACE_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/traces/trace.h"
#include "store/index/row.h"

struct cn_query;
struct cn_search;
struct cn_store;

struct cn_trace_part {
    struct cn_trace trace;
    struct cn_store_row row;
    uint32_t *depths;         /* of its nodes in it */
    uint32_t parent;          /* the part that called it; CN_NONE */
    uint32_t next;            /* part with the same parent and node; CN_NONE */
    uint32_t *first_children; /* per node: the first part that it called; CN_NONE */
};

struct cn_trace_set {
    struct cn_trace_part *parts; /* by time */
    size_t count;
};

/* Load what matches the query. Fails when that is more than one trace. */
CN_CHECK bool cn_trace_set_load(struct cn_trace_set *out, const struct cn_store *store,
                                struct cn_search *search, const struct cn_query *query,
                                struct cn_error *err);
void cn_trace_set_done(struct cn_trace_set *set);

/* Visit all calls, callers first; false leaves out what it calls. `depth` counts through all
 * parts. */
typedef bool (*cn_trace_visit)(void *arg, const struct cn_trace_part *part, uint32_t node,
                               uint32_t depth);
void cn_trace_set_walk(const struct cn_trace_set *set, cn_trace_visit visit, void *arg);

/* Duration of a call without those that it made. */
uint64_t cn_trace_self_ns(const struct cn_trace *trace, uint32_t node);

#endif
