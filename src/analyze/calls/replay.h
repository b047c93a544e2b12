/* Replay: the calls of all tasks in the order of time as lines, with events and lost
 * records between them. A leaf call, or a wait, is one line.
 *
 *     cn_call_replay_run(&replay, &query, &options, on_line, arg, err)
 *     cn_call_replay_done(&replay);
 *
 * Lines are valid during the callback. After the run, `stacks` contains the open calls.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_REPLAY_H
#define CN_ANALYZE_CALLS_REPLAY_H

#include "analyze/calls/merge.h"
#include "analyze/calls/stack.h"
#include "base/text.h"

enum cn_replay_kind {
    CN_REPLAY_OPEN,      /* f() { */
    CN_REPLAY_CLOSE,     /* } */
    CN_REPLAY_LEAF,      /* f(); */
    CN_REPLAY_EVENT,     /* also sched-out and sched-in that stand alone */
    CN_REPLAY_SCHEDULE,  /* sched-out and sched-in together */
    CN_REPLAY_LOST,      /* `address` is the number of records */
    CN_REPLAY_BACKTRACE, /* a call that is open; `depth` counts from the outermost */
};

struct cn_replay_line {
    enum cn_replay_kind kind;
    uint32_t slot;  /* of the query's tasks */
    uint32_t depth; /* as shown */
    uint32_t recorded_depth;
    uint32_t function;
    uint64_t time_ns;
    uint64_t duration_ns;  /* 0: unknown */
    uint64_t address;      /* of an event its id; of a sched-in that of its sched-out */
    uint64_t caller;       /* address of the call site; 0 when unknown */
    uint64_t caller_ns;    /* when that was recorded */
    const char *arguments; /* "(1, 2)" */
    const char *result;    /* " = 3"; "" when unknown */
    const char *color;     /* from a trigger; NULL when none */
    const char *task_name; /* at this time */
    const struct cn_call *event; /* its data is in `batch` */
    const struct cn_call *call;  /* the record, unless lines are merged; the same */
    const struct cn_call_batch *batch;
};

struct cn_replay_options {
    bool without_merge;     /* leaf calls take two lines */
    bool without_arguments; /* and without results */
    bool is_flat; /* records as they are: nothing merged, events during exec() */
};

/* Returns false to stop. */
typedef bool (*cn_replay_fn)(void *arg, const struct cn_replay_line *line);

struct cn_call_replay {
    struct cn_call_stack *stacks; /* by slot */
    uint32_t stack_count;
    bool is_on;
    uint64_t lost_count; /* records that the recorder lost */
    struct cn_call_damages damages;
};

/* The replay is to be released either way. */
CN_CHECK bool cn_call_replay_run(struct cn_call_replay *replay,
                                 const struct cn_call_query *query,
                                 const struct cn_replay_options *options,
                                 cn_replay_fn on_line, void *arg, struct cn_error *err);
void cn_call_replay_done(struct cn_call_replay *replay);

#endif
