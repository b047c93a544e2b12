/* Why some calls of a function are slow: what its slowest calls do that typical calls do not.
 *
 * The calls of a recording are read twice. The first time, the durations of the function's
 * outermost calls are counted, which decides which calls are slow (the slowest 1 %) and which
 * are typical (the middle 50 %). The second time, self times and calls of all contexts below
 * the function are added up for both groups. Calls that did not return are in neither group.
 *
 * Sums are those of all calls of a group. Lists of calls are samples if a group is large: which
 * calls they contain depends on their times only.
 *
 * Functions of the same name are one function. The result does not depend on the number of
 * workers. It is to be released, also after a failure.
 * Threads: one thread at a time; starts `workers` threads of its own.
 */
#ifndef CN_ANALYZE_WHY_WHY_H
#define CN_ANALYZE_WHY_WHY_H

#include "analyze/calls/merge.h"
#include "analyze/calls/report.h"
#include "base/map.h"

enum cn_why_group { CN_WHY_TYPICAL, CN_WHY_SLOW, CN_WHY_GROUPS };

enum {
    CN_WHY_SLOW_MIN = 5,   /* fewer slow calls are not explained, unless one is chosen */
    CN_WHY_CALLS_MIN = 20, /* the same for all calls of the function */
};

struct cn_why_options {
    double slowest;                  /* share of calls that are slow: 0.01 */
    double typical_from, typical_to; /* shares: 0.25, 0.75 */
    uint64_t part_len;               /* see struct cn_call_visit */
    /* Durations that are known already; 0: those of the shares. */
    uint64_t slow_from_ns, typical_from_ns, typical_to_ns;
    /* Instead of the slowest calls, one call: that during `at_ns`; with `at_end_ns`, the one that
     * begins and ends then. Recorded times. Several tasks may have one. */
    bool has_at;
    uint64_t at_ns, at_end_ns;
};

/* What a context below the function cost the calls of a group. */
struct cn_why_cost {
    uint64_t calls, self_ns;
    struct cn_call_squares squares; /* of the self time in each call of the group */
};

struct cn_why_context {
    uint32_t parent;   /* before it in the list; that of the function, 0, is 0 */
    const char *name;  /* of waiting: NULL */
    bool is_preempted; /* of waiting */
    struct cn_why_cost costs[CN_WHY_GROUPS];
};

/* One call, with recorded times. */
struct cn_why_call {
    uint64_t begin_ns, end_ns;
    uint64_t total_ns; /* corrected like all sums */
    uint32_t task;     /* in the recording */
    uint32_t function;
    struct cn_bytes arguments, result; /* data of its entry and exit; in cn_why.data */
};

struct cn_why_calls {
    uint64_t count, total_ns;
    uint64_t shortest_ns, longest_ns;
    uint64_t example_ns;         /* the median, of which `example` is the nearest call */
    struct cn_why_call example;  /* without data */
    struct cn_why_call *samples; /* by begin, then by task */
    size_t sample_count;
};

struct cn_why {
    uint64_t call_count; /* calls that returned */
    uint64_t open_count; /* calls that did not */
    uint64_t shortest_ns, longest_ns;
    uint64_t begin_ns,
        end_ns;          /* recorded: the first entry, the last exit of all of them */
    uint64_t lost_count; /* records that the recorder lost */
    struct cn_hook_cost recorder; /* its cost that was subtracted; 0: none */
    struct cn_why_calls groups[CN_WHY_GROUPS];
    struct cn_why_context *contexts; /* parents first, then by name */
    size_t context_count;
    struct cn_call_damages damages;
    struct cn_names names; /* of contexts */
    char *data;            /* of samples */
};

/* True if the recording has functions of this name, as shown or mangled. */
bool cn_why_knows(const struct cn_recording *rec, const char *name);

/* Without enough calls, or if all take about the same time, groups are empty. False if
 * interrupted. */
CN_CHECK bool cn_why_build(struct cn_why *why, const struct cn_call_query *query,
                           const char *name, unsigned workers,
                           const struct cn_why_options *options, struct cn_error *err);
void cn_why_done(struct cn_why *why);

#endif
