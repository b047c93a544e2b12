/* A distributed trace: the spans stored under one id, each a tree of calls, joined where one
 * called the other. The tree of a span that was stored on its own is a branch.
 *
 * A span inside the data of another one is not loaded again.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACE_DISTRIBUTED_H
#define CN_STORE_TRACE_DISTRIBUTED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/traces/trace.h"
#include "store/index/row.h"

struct cn_query;
struct cn_recording;
struct cn_search;
struct cn_search_hit;
struct cn_segment_loader;
struct cn_store;

struct cn_trace_branch {
    struct cn_trace trace;
    struct cn_store_row row;
    uint32_t segment_number, row_number; /* where it is stored: cn_segment_number() */
    uint32_t *depths;                    /* by node, inside this branch */
    uint32_t parent;                     /* the branch that called it; CN_NONE */
    bool is_copy;             /* the data of `parent` contains it: not visited */
    uint32_t next;            /* next branch called by the same node; CN_NONE */
    uint32_t *first_children; /* by node: the first branch that it called; CN_NONE */
};

struct cn_trace_set {
    struct cn_trace_branch *branches; /* by time, if not loaded otherwise */
    size_t count;
};

/* Load the trace that matches the query. Fails if more than one trace matches. */
CN_CHECK bool cn_trace_set_load(struct cn_trace_set *out, struct cn_search *search,
                                const struct cn_query *query, struct cn_error *err);

/* Load the spans of one trace that cn_search_trace_spans() listed. Branches are in the order of
 * the hits. Any thread, each with a loader of its own. */
CN_CHECK bool cn_trace_set_load_hits(struct cn_trace_set *out,
                                     const struct cn_store *store,
                                     struct cn_segment_loader *loader,
                                     const struct cn_search_hit *hits, size_t count,
                                     struct cn_error *err);
void cn_trace_set_done(struct cn_trace_set *set); /* safe when zeroed */

/* The duration of the trace, as searches list it: that of the span without a caller; without one, or
 * with several, from the first begin to the last end. */
uint64_t cn_trace_set_duration_ns(const struct cn_trace_set *set);

/* The times of a call since the epoch. */
uint64_t cn_trace_branch_begin_ns(const struct cn_trace_branch *branch, uint32_t node);
uint64_t cn_trace_branch_end_ns(const struct cn_trace_branch *branch, uint32_t node);

/* Visit all calls, callers first; the visitor returns false to skip the calls below. `depth`
 * counts through all branches. */
typedef bool (*cn_trace_visit)(void *arg, const struct cn_trace_branch *branch,
                               uint32_t node, uint32_t depth);
void cn_trace_set_walk(const struct cn_trace_set *set, cn_trace_visit visit, void *arg);

/* Add the calls to `calls`: a branch is inside the call that caused it. */
struct cn_trace_calls;
void cn_trace_set_enter_calls(const struct cn_trace_set *set,
                              struct cn_trace_calls *calls);

/* The calls with their attributes as a recording, which the caller closes. Nested, a branch is
 * inside the call that caused it, shortened where it would overlap other calls; otherwise
 * every branch keeps its times and has a task of its own where branches overlap. */
struct cn_recording *cn_trace_set_recording(const struct cn_trace_set *set,
                                            bool is_nested);

#endif
