/* The traces of a store for `cairn why`: the slowest of those that begin with a method, and
 * typical ones, as a recording; with their attributes.
 *
 * Durations come from the index. At most 1,000 traces of each group are loaded, evenly over the
 * group. For a method that is inside of traces, 4,000 traces are loaded, evenly over time.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_WHY_TRACES_H
#define CN_CLI_WHY_TRACES_H

#include "analyze/why/signs.h"
#include "base/map.h"
#include "base/text.h"

/* A call of the method has what it, the calls that it made and its callers have, wherever these are
 * stored. */
struct cn_why_fact {
    const char *key, *value;
    double number;
    bool is_number;
};
struct cn_why_trace {
    uint64_t id_high, id_low;
    size_t first_fact, fact_count;
};

struct cn_why_traces {
    const char *path;         /* of the store; borrowed */
    struct cn_recording *rec; /* to be taken */
    bool is_root;             /* the method begins the traces */
    uint64_t found;           /* traces */
    uint64_t wanted,
        loaded;          /* those of both groups; fewer are loaded if there are many */
    uint64_t slow_count; /* of those found, if is_root */
    uint64_t one_high, one_low; /* the id of the one trace to explain, if there is one */
    uint64_t one_ns;            /* duration of its longest call of the method */
    struct cn_why_trace *list;
    size_t count, capacity;
    struct cn_why_fact *facts;
    size_t fact_count, fact_capacity;
    struct cn_map by_call;   /* 1 + index in `list`, by hash of begin and end */
    struct cn_names strings; /* of facts */
    struct cn_text unknown;  /* names in the query that no attribute has */
};

/* Sets the limits of the groups in `options`, if the index has them. With `id`, the slow group is
 * the call of the trace with this id. Damage is a failure after everything else was read: `rec` is
 * set. */
CN_CHECK bool cn_why_traces_open(struct cn_why_traces *traces, const char *path,
                                 const char *query, const char *method, const char *id,
                                 struct cn_why_options *options, struct cn_error *err);
void cn_why_traces_close(struct cn_why_traces *traces);

/* See cn_why_values_fn; `arg` are the traces. */
void cn_why_traces_values(void *arg, const struct cn_why_call *call,
                          struct cn_traits *traits);

/* Append the command that shows the trace of a call. */
void cn_why_traces_command(void *arg, const struct cn_why_call *call,
                           struct cn_text *text);

#endif
