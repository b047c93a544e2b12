/* What the end of a range of time of a thread waited for: one chain back in time, from the thread to the
 * one that woke it, to the one that woke that, and so on.
 *
 *     cn_wait_chain_build(&path, db, &graph, profile, begin_ns, end_ns);
 *     for (size_t i = 0; i < path.count; i++) ... cn_wait_chain_at(&path, i) ...
 *     cn_wait_chain_done(&path);
 *
 * Its parts follow each other without a gap, the last one first: they add up to the range. Where a
 * wake-up is missing the chain ends: all time before it is one part of kind CN_WAIT_FOR_UNKNOWN.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WAKERS_CHAIN_H
#define CN_ANALYZE_WAKERS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/wakers/graph.h"

/* The thread runs. */
#define CN_CHAIN_RUNS CN_WAIT_FOR_KINDS

/* The word for a kind of a wait, or "running". */
const char *cn_wait_kind_name(uint32_t kind);

struct cn_chain_part {
    uint64_t begin_ns, end_ns;
    uint32_t profile;
    uint32_t context; /* in which it waits, or ends; 0: unknown, or it runs */
    uint32_t kind;    /* enum cn_wait_kind, or CN_CHAIN_RUNS */
    bool is_inferred; /* as of the wait */
};

/* What is kept of a part, of which there may be millions: it ends where the part before it in the list begins. */
struct cn_chain_kept {
    uint64_t begin_ns;
    uint32_t profile, kind;
};

struct cn_wait_chain {
    struct cn_chain_kept *list;
    size_t count, capacity;
    uint64_t begin_ns, end_ns; /* the range, cut to the life of the thread */
    uint32_t profile_count;
};

/* A part, without its context. */
static inline struct cn_chain_part cn_wait_chain_at(const struct cn_wait_chain *path,
                                                    size_t at)
{
    return (struct cn_chain_part){
        .begin_ns = path->list[at].begin_ns,
        .end_ns = at > 0 ? path->list[at - 1].begin_ns : path->end_ns,
        .profile = path->list[at].profile,
        .kind = path->list[at].kind,
    };
}

/* Visit the parts alone, the last one first. `visit` returns false to end that. */
typedef bool (*cn_chain_visit_fn)(void *arg, const struct cn_chain_part *part);
void cn_wait_chain_visit(const struct cn_database *db, const struct cn_wait_graph *graph,
                         uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                         cn_chain_visit_fn visit, void *arg);

void cn_wait_chain_build(struct cn_wait_chain *path, const struct cn_database *db,
                         const struct cn_wait_graph *graph, uint32_t profile,
                         uint64_t begin_ns, uint64_t end_ns);
void cn_wait_chain_done(struct cn_wait_chain *path);

#endif
