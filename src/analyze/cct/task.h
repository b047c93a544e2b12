/* One task of a recording, followed call by call: its calling context tree, the costs of
 * its nodes, and the node it is in.
 *
 * First count:
 *     cn_cct_task_init(&task, &options);
 *     cn_cct_task_count(&task, NULL, progress, true, err)      or in parts: part.h
 *     cn_cct_task_end(&task);
 *
 * then follow it again for its timeline, any number of times: replay.h.
 *
 * A hidden call is part of the nearest shown call around it: its self time counts there, its
 * calls do not count. The root is the node outside of all shown calls.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_TASK_H
#define CN_ANALYZE_CCT_TASK_H

#include "analyze/calls/feed.h"
#include "analyze/calls/ids.h"
#include "analyze/calls/merge.h"
#include "analyze/calls/part.h"
#include "analyze/calls/stack.h"
#include "analyze/cct/costs.h"
#include "analyze/cct/readings.h"
#include "analyze/waits.h"
#include "base/tree.h"
#include "model/contexts/thinner.h"
#include "model/memory/log.h"

/* Keys of nodes: ids of cn_call_ids_of(), or from here on numbers of call sites. */
#define CN_CCT_SITE UINT32_C(0x80000000)

/* Keys of guessed calls, by their depth. */
#define CN_CCT_GUESSED UINT32_C(0xc0000000)

/* Keys of kinds of GPU work, by enum cn_gpu_place. */
#define CN_CCT_GPU UINT32_C(0xe0000000)

struct cn_cct_ranges;
struct cn_cct_samples;

struct cn_cct_task_options {
    const struct cn_call_query *query;
    uint32_t task;
    bool is_collapsed; /* a recursive call is the context of the open call */
    bool *is_on;       /* the switch that tasks share; NULL: its own */
    uint32_t
        *op_nodes; /* by operation of GPU work: those that it launched get their nodes;
                           NULL: there is none */

    /* By system call of the recording: those of the task get the nodes of their callers and their own;
     * NULL: there are none. */
    struct cn_cct_io_nodes *io_nodes;

    /* Keep the samples of its timeline while it is counted: at most `sample_max` of them, of
     * cells of at least `resolution_ns`; 0: do not. */
    uint64_t resolution_ns, sample_max;

    /* Store the node of each allocation of the task that the query selects; NULL: do not. */
    struct cn_cct_samples *heap_nodes;
};

/* 0: the call is not shown. */
struct cn_cct_io_nodes {
    cn_cct_id caller, own;
};

/* A call that is open at the end. */
struct cn_cct_open_call {
    cn_cct_id node;
    uint64_t total_ns, self_ns;
};

/* The state of a task while it is followed. */
struct cn_cct_follow {
    struct cn_call_stack stack;
    struct cn_call_clock clock; /* zeroed where times are not corrected */
    bool own_switch;
    uint64_t site; /* the call site of the next call */
    bool has_site;
    struct cn_cct_ranges *ranges; /* that paths begin with; NULL: none */
    cn_cct_id root;               /* the node of those that are open */
    cn_cct_id node;               /* the current one */
    uint64_t last_ns;             /* of the records, never running backwards */
};

/* The state at the start of a part. */
struct cn_cct_start {
    uint64_t first_sample;
    struct cn_cct_follow follow;
};

struct cn_cct_task {
    struct cn_cct_task_options options;
    struct cn_call_part *parts;  /* none: it was read as a whole */
    struct cn_cct_start *starts; /* by part; that of the first is empty */
    size_t part_count;
    /* Of a part whose start is unknown; else NULL. The nodes of guessed calls are 1... */
    struct cn_call_guess *guess;
    struct cn_tree tree;
    struct cn_cct_costs costs;
    struct cn_cct_readings readings;
    struct cn_call_ids ids;
    struct cn_map site_numbers; /* by address */
    uint64_t *sites;            /* addresses by number */
    uint64_t *site_times;       /* when each was first seen */
    size_t site_count, site_capacity, site_time_capacity;
    struct cn_cct_follow follow;
    uint32_t next_launch, end_launch; /* of its GPU work, in by_launch */
    size_t next_io, end_io;           /* of its system calls */
    struct cn_cct_heap {
        struct cn_heap_log log;
        struct cn_heap_event next; /* an allocation, if has_next */
        bool has_next;
        bool is_damaged, has_failed; /* the file; storing nodes */
        struct cn_error err;
    } heap;                    /* of its allocations */
    struct cn_thinner thinner; /* of the samples that are kept, at recorded times */
    uint64_t seen_ns;          /* the latest recorded time, where samples are kept */
    uint64_t record_count, sample_count, lost_count;
    struct cn_cct_open_call *open_calls;
    size_t open_call_count;
    uint64_t end_ns; /* of the timeline, recorded */
    bool is_damaged; /* `damage` is the first that was found */
    bool is_cut;     /* what follows its last call cannot be read */
    struct cn_error damage;
};

void cn_cct_task_init(struct cn_cct_task *task,
                      const struct cn_cct_task_options *options);
void cn_cct_task_done(struct cn_cct_task *task);

/* The first damage is stored. */
void cn_cct_task_note_damage(struct cn_cct_task *task, const struct cn_error *err);

/* Count all calls, or those of a span. Damage is noted and no failure; an interrupt is one.
 * One thread at a time `reports` its progress. */
CN_CHECK bool cn_cct_task_count(struct cn_cct_task *task, const struct cn_call_span *span,
                                const struct cn_progress *progress, bool reports,
                                struct cn_error *err);

/* Count one call, when several tasks are read at once. */
void cn_cct_task_count_call(struct cn_cct_task *task, const struct cn_call *call,
                            const struct cn_call_batch *batch);

/* End the open calls at the last record of the task, unless the query has a time range. They
 * are listed; count them with cn_cct_task_count_open(). */
void cn_cct_task_end(struct cn_cct_task *task);
void cn_cct_task_count_open(struct cn_cct_task *task);

/* True if the task launched GPU work. */
bool cn_cct_task_has_launches(const struct cn_cct_task_options *options);

/* Count what happened between calls, after the last of them: the GPU work that the task launched, below
 * the current context as nodes of keys CN_CCT_GPU, as HPCToolkit has them, and below these the
 * kernels; the nodes of its allocations; and its ranges. */
void cn_cct_task_finish(struct cn_cct_task *task);

/* True if what the task allocated was recorded. */
bool cn_cct_task_has_heap(const struct cn_cct_task_options *options);

/* The system calls of the task in the range of the query; count those that began before a time. */
void cn_cct_task_begin_io(struct cn_cct_task *task);
void cn_cct_task_count_io(struct cn_cct_task *task, uint64_t before_ns);

/* Add the work of a stream whose launches are unknown. */
void cn_cct_task_add_lonely(struct cn_cct_task *task, uint32_t stream);

/* True if a node with this key is the waiting of its parent, and of which kind. */
bool cn_cct_task_is_wait(const struct cn_cct_task *task, uint32_t key,
                         enum cn_wait *kind);

/* For part.c and replay.c. */

void cn_cct_follow_init(struct cn_cct_follow *follow, const struct cn_cct_task *task);
void cn_cct_follow_copy(struct cn_cct_follow *follow, const struct cn_cct_follow *from);
void cn_cct_follow_done(struct cn_cct_follow *follow);

/* `clock`: see cn_call_feed_open_span(). */
CN_CHECK bool cn_cct_task_open_feed(const struct cn_cct_task *task,
                                    const struct cn_call_span *span,
                                    const struct cn_call_clock *clock,
                                    struct cn_call_feed *feed, struct cn_error *err);

/* The latest recorded time so far. */
static inline uint64_t cn_cct_follow_recorded_ns(const struct cn_cct_follow *follow)
{
    return follow->clock.seen_ns > 0 ? follow->clock.seen_ns : follow->last_ns;
}

/* The node of the innermost call; 0 while the task waits. */
cn_cct_id cn_cct_follow_node(const struct cn_cct_follow *follow);

/* Follow one record. True when the current node changed. */
bool cn_cct_task_follow(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        const struct cn_call *call, const struct cn_call_batch *batch,
                        bool is_counted);

/* The number of a call site. */
uint32_t cn_cct_task_site(struct cn_cct_task *task, uint64_t address, uint64_t time_ns);

/* The hot loop of an analysis of calls: calls that nest properly, in known contexts, with
 * everything shown.
 *
 * Each of them changes the current node, so each is a sample of the timeline. The caller
 * handles the first call that does not fit, then calls again.
 * Threads: one thread at a time for each task.
 */

/* Follow and count calls of a batch, from number `first` on; returns how many fit. */
size_t cn_cct_run_count(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        const struct cn_call_batch *batch, size_t first);

/* The same without counting; `out` receives a sample for each. */
size_t cn_cct_run_sample(struct cn_cct_task *task, struct cn_cct_follow *follow,
                         const struct cn_call *calls, size_t count,
                         struct cn_sample *out);

#endif
