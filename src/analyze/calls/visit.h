/* Counts the calls of a query for a view, on several threads.
 *
 * Each task is counted in a walk: its open calls, and what the view adds. Short tasks are
 * counted as a whole, long ones in parts with walks of their own, joined in order
 * (part.h). What walks counted is added to the result of a worker, in any order: the view
 * adds up sums, extremes and the like, so that the result does not depend on scheduling.
 *
 * A damaged task ends at the damage, which is added to a list; the other tasks are read to
 * their end.
 * Threads: one thread at a time; cn_call_visit_run() starts threads of its own.
 */
#ifndef CN_ANALYZE_CALLS_VISIT_H
#define CN_ANALYZE_CALLS_VISIT_H

#include "analyze/calls/merge.h"
#include "analyze/calls/part.h"

/* A task, or a part of it. The first member of the walks of views. */
struct cn_task_walk {
    uint32_t slot;  /* its task is query->tasks[slot] */
    uint32_t order; /* of the calls being counted: by task, then by part; it only grows */
    struct cn_call_stack stack;
    bool is_on;                  /* its own switch, unless tasks share one */
    uint64_t last_ns;            /* the latest time of the calls; set by the view */
    struct cn_call_clock clock;  /* after them */
    struct cn_call_guess *guess; /* of a part whose start is unknown; else NULL */
    uint64_t ahead_ns;           /* of a joined part: its times are ahead by this */
    bool is_damaged;             /* `damage` is the first that was found */
    bool is_cut;                 /* what follows its last call cannot be read */
    struct cn_error damage;
};

/* What a view does. `arg` is that of the visit. */
struct cn_call_visitor {
    size_t walk_size;

    /* Prepare a walk, which is zeroed after its first member, and release it. `begin` may be NULL. */
    void (*begin)(void *arg, struct cn_task_walk *walk);
    void (*done)(void *arg, struct cn_task_walk *walk);

    /* Count calls. A walk with a guess checks all calls that are not the usual case with
     * cn_call_guess_check(). */
    void (*count)(void *arg, struct cn_task_walk *walk,
                  const struct cn_call_batch *batch);

    /* Join a part whose guessed calls are those open in the walk; their returns are counted
     * afterwards. NULL: tasks are not divided. */
    void (*join)(void *arg, struct cn_task_walk *walk, struct cn_task_walk *part);
    /* A call that is open at the end of a part was pushed to the stack of the walk, as a copy
     * of its frame. The part has counted its entry. */
    void (*resume)(void *arg, struct cn_task_walk *walk, const struct cn_task_walk *part,
                   struct cn_call_frame *frame);

    /* All calls of a task were counted. May be NULL. */
    void (*end)(void *arg, struct cn_task_walk *walk, unsigned worker);
    /* Add what a walk counted to the result of a worker. */
    void (*merge)(void *arg, const struct cn_task_walk *walk, unsigned worker);
};

/* A visitor whose walks are `struct walk`, and whose functions have these names. */
#define CN_CALL_VISITOR(walk)                                                           \
    {                                                                                   \
        .walk_size = sizeof(struct walk), .begin = walk_begin, .done = walk_done,       \
        .count = walk_count, .join = walk_join, .resume = walk_resume, .end = walk_end, \
        .merge = walk_merge,                                                            \
    }

struct cn_call_visit {
    const struct cn_call_query *query;
    bool
        is_ordered; /* all tasks together in the order of time, a call at a time, by worker 0;
                      * they share a switch */
    unsigned workers;
    uint64_t part_len; /* bytes of records; 0: as suits the workers */
    const struct cn_call_visitor *visitor;
    void *arg;
};

/* False when query->progress stopped it, and when a task cannot be opened, with `is_ordered`
 * only: else that is a damage. */
CN_CHECK bool cn_call_visit_run(const struct cn_call_visit *visit,
                                struct cn_call_damages *damages, struct cn_error *err);

#endif
