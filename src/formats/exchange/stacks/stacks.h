/* Stacks with what was spent in each: what profiles, flame graphs and call graphs are
 * made of, whether they come from calls or from a database.
 *
 * A node is a function reached along one path. Roots stand for programs or entry
 * points: they have a name but are no functions; functions without one above them
 * have no parent. Nodes come parents first.
 * Threads: one thread at a time; building uses workers.
 */
#ifndef CN_FORMATS_EXCHANGE_STACKS_STACKS_H
#define CN_FORMATS_EXCHANGE_STACKS_STACKS_H

#include "analyze/views/frames.h"
#include "base/arena.h"
#include "formats/exchange/export.h"

/* A function, or whatever a frame is called. Strings are "" when unknown. */
struct cn_stack_place {
    const char *name;
    const char *module, *file;
    const char *build_id;
    uint32_t line;
    uint64_t address; /* in the module */
};

struct cn_stack_node {
    uint32_t parent;                        /* CN_NONE at the top */
    uint32_t first_child, last_child, next; /* CN_NONE: none */
    uint32_t place;
    uint32_t depth; /* of functions from 0 on; a root has none */
    bool is_root;
    uint64_t calls; /* 0 when unknown */
    double self;    /* in the unit below */
};

struct cn_stacks {
    struct cn_stack_node *nodes;
    size_t count, capacity;
    struct cn_stack_place *places;
    size_t place_count, place_capacity;
    const char *metric; /* "CPUTIME (sec)"; "time" of recordings */
    const char *unit;   /* "nanoseconds" or "count" */
    double scale;       /* from the metric's values to the unit */
    struct cn_arena arena;

    /* Of a database. */
    struct cn_frames frames;
    uint32_t *node_of_frame;
    int prop_id, stat_id;
    bool is_total; /* values hold those of the contexts below */
};

/* Of the calls that a query shows; nothing is left to release on failure. With
 * `apart`, forked tasks begin at the top. */
CN_CHECK bool cn_stacks_of_calls(struct cn_stacks *stacks, struct cn_export *x,
                                 const struct cn_call_query *query, bool apart,
                                 struct cn_error *err);

/* The same as uftrace counts: only whole samples of `unit_ns` count for a call, what is
 * left counts for its caller; 0: nanoseconds. Forked tasks begin at the top. */
CN_CHECK bool cn_stacks_of_samples(struct cn_stacks *stacks, struct cn_export *x,
                                   uint64_t unit_ns, struct cn_error *err);

/* For those who build a tree themselves. */
struct cn_call_tree;
void cn_stacks_of_tree(struct cn_stacks *stacks, const struct cn_call_tree *tree);

/* Of a metric of a database (NULL: the first), summed over all threads. Nothing is
 * left to release on failure. */
CN_CHECK bool cn_stacks_of_database(struct cn_stacks *stacks, struct cn_database *db,
                                    const char *metric, struct cn_error *err);

/* Of whatever the export is of; notes what is not kept. */
CN_CHECK bool cn_stacks_of(struct cn_stacks *stacks, struct cn_export *x,
                           struct cn_error *err);

/* Note what stacks do not keep of the database of the export. */
CN_CHECK bool cn_stacks_lose(const struct cn_stacks *stacks, struct cn_export *x,
                             bool keeps_threads, struct cn_error *err);

/* Set `self` of all nodes to what one profile of the database says. */
CN_CHECK bool cn_stacks_load(struct cn_stacks *stacks, struct cn_database *db,
                             uint32_t profile, struct cn_error *err);

/* `self` as a whole number, never negative. */
uint64_t cn_stack_value(double value);

/* The values of all nodes with those below them: as many as nodes, to be released
 * with free(). */
double *cn_stacks_totals(const struct cn_stacks *stacks);

void cn_stacks_done(struct cn_stacks *stacks);

#endif
