/* Call stacks with their costs, from calls or from a database: the source of profiles,
 * flame graphs and call graphs.
 *
 * A node is a function reached along one path. A root is a program or an entry point: it
 * has a name and is no function. Functions without a root have no parent. Parents come
 * before their children.
 * Threads: one thread at a time; building uses the workers of the export.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_STACKS_STACKS_H
#define CN_FORMATS_EXCHANGE_WRITE_STACKS_STACKS_H

#include "base/arena.h"
#include "formats/exchange/export.h"

struct cn_call_ids;
struct cn_call_tree;
struct cn_frames;

/* Strings are "" if unknown. */
struct cn_stack_function {
    const char *name;
    const char *module, *file;
    const char *build_id;
    uint32_t line;
    uint64_t address; /* in the module */
};

struct cn_stack_node {
    uint32_t parent; /* CN_NONE at the top */
    uint32_t function;
    uint32_t depth; /* in functions, from 0; a root has none */
    bool is_root;
    uint64_t calls; /* 0 if unknown */
    double self;    /* in `unit` */
};

struct cn_stacks {
    struct cn_stack_node *nodes;
    size_t count, capacity;
    struct cn_stack_function *functions;
    size_t function_count, function_capacity;
    const char *metric; /* "CPUTIME (sec)"; "time" or "cpu time" of recordings */
    const char *unit;   /* "nanoseconds" or "count" */
    double scale;       /* from the values of the metric to `unit` */
    uint64_t waited_ns; /* of calls: waiting that does not count */
    struct cn_arena arena;

    /* Of a database. Frames and nodes have the same numbers. */
    struct cn_frames *frames;
    uint32_t depth_max;
    uint64_t hidden_count; /* contexts that are no function */
    int prop_id, stat_id;
    bool is_total; /* values contain those of the contexts below */
};

/* The stacks of the calls that a query selects. Waiting counts for the call that waits if the
 * options of the export say so, else not at all. With `apart`, forked tasks begin at the top. Nothing is left to release on failure, here and below. */
CN_CHECK bool cn_stacks_of_calls(struct cn_stacks *stacks, struct cn_export *x,
                                 const struct cn_call_query *query, bool apart,
                                 struct cn_error *err);

/* The stacks as uftrace counts them, waiting as a callee: a call counts in whole samples of `unit_ns`, the
 * remainder counts for its caller; 0: nanoseconds. Forked tasks begin at the top. Damaged
 * tasks are counted up to the damage. */
void cn_stacks_of_samples(struct cn_stacks *stacks, struct cn_export *x,
                          uint64_t unit_ns);

/* The stacks of a call tree. */
enum cn_stack_waits { CN_WAITS_OMITTED, CN_WAITS_COUNTED, CN_WAITS_CALLED };
void cn_stacks_of_tree(struct cn_stacks *stacks, const struct cn_call_tree *tree,
                       enum cn_stack_waits waits);

/* The stacks of a metric of the database, by the options of the export, summed over all
 * threads. */
CN_CHECK bool cn_stacks_of_database(struct cn_stacks *stacks, struct cn_export *x,
                                    struct cn_error *err);

/* The stacks of the source of an export, whichever it is; reports the losses. */
CN_CHECK bool cn_stacks_of(struct cn_stacks *stacks, struct cn_export *x,
                           struct cn_error *err);

/* Report what stacks with values of `metric_count` metrics do not contain of the database of the
 * export. */
CN_CHECK bool cn_stacks_lose(const struct cn_stacks *stacks, struct cn_export *x,
                             bool has_threads, size_t metric_count, struct cn_error *err);

/* Load values of this metric from now on. Fails if stacks cannot add it up. */
CN_CHECK bool cn_stacks_choose(struct cn_stacks *stacks, const struct cn_database *db,
                               const struct cn_metric *metric, struct cn_error *err);

/* Set `self` of all nodes to the values of one profile of the database. */
CN_CHECK bool cn_stacks_load(struct cn_stacks *stacks, struct cn_database *db,
                             uint32_t profile, struct cn_error *err);

/* Visit the profiles of the database that are threads, until one fails. */
typedef bool (*cn_thread_fn)(void *arg, uint32_t index, const struct cn_profile *profile,
                             const char *name, struct cn_error *err);
CN_CHECK bool cn_export_threads(struct cn_export *x, cn_thread_fn visit, void *arg,
                                struct cn_error *err);

/* The function with an id of cn_call_ids_of(). `buffer` of CN_CALL_NAME_MAX bytes has the
 * name of an unknown one. */
struct cn_stack_function cn_stack_function(const struct cn_recording *rec,
                                           const struct cn_call_ids *ids, uint32_t id,
                                           char *buffer);

/* A value as a whole number, never negative. */
uint64_t cn_stack_value(double value);

/* `self` as a whole number. That of a root is of its thread, outside of all functions: its stack is the
 * root alone, which is in no other stack. */
static inline uint64_t cn_stack_self(const struct cn_stack_node *node)
{
    return cn_stack_value(node->self);
}

/* The totals of all nodes, to be released with free(). */
double *cn_stacks_totals(const struct cn_stacks *stacks);

void cn_stacks_done(struct cn_stacks *stacks);

#endif
