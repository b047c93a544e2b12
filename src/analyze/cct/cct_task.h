/* One task of a recording being followed call by call: where in its calling context
 * tree it is, what that cost, and when it went there.
 *
 * First to count:
 *     cn_cct_task_init(&task, &options);
 *     cn_cct_task_count(&task, NULL, progress, true, err)      or piece by piece: cct_part.h
 *     cn_cct_task_end(&task, last_ns);        when the last record of all tasks is known
 *
 * then, any number of times, the same way again for the timeline: cct_replay.h.
 *
 * A call that a filter hides is part of the nearest call around it that is shown:
 * its own time counts there, its calls nowhere. The root stands for not being in any
 * call that is shown.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_CCT_TASK_H
#define CN_ANALYZE_CCT_CCT_TASK_H

#include "analyze/calls/call_feed.h"
#include "analyze/calls/call_ids.h"
#include "analyze/calls/call_merge.h"
#include "analyze/calls/call_stack.h"
#include "analyze/cct/cct.h"
#include "analyze/cct/cct_costs.h"
#include "analyze/cct/cct_readings.h"
#include "model/contexts/database.h"

struct cn_progress;

/* Keys of nodes: below this the ids of cn_call_ids_of(), from here on places of
 * calls, the numbers of their addresses. */
#define CN_CCT_SITE UINT32_C(0x80000000)

struct cn_cct_task_options {
    const struct cn_call_query *query;
    uint32_t task;
    bool is_collapsed; /* a call of a function that is open already is no new context */
    bool *is_on;       /* the switch that tasks share; NULL: it has its own */
};

/* A call that was open at the end. */
struct cn_cct_open_call {
    cn_cct_id node;
    uint64_t total_ns, self_ns;
};

/* Where a task is. */
struct cn_cct_follow {
    struct cn_call_stack stack;
    struct cn_call_clock clock; /* only where it is read in pieces */
    bool own_switch;
    uint64_t site; /* where the next call comes from */
    bool has_site;
    cn_cct_id node;   /* the last one it went to */
    uint64_t last_ns; /* of the records, never running backwards */
};

/* How a task was at the start of one of its pieces. */
struct cn_cct_start {
    uint64_t first_sample;
    struct cn_cct_follow follow;
};

struct cn_cct_guess;

struct cn_cct_task {
    struct cn_cct_task_options options;
    struct cn_call_part *parts;  /* those it was read in; none: in one */
    struct cn_cct_start *starts; /* of each; that of the first is empty */
    size_t part_count;
    struct cn_cct_guess *guess; /* of a piece whose start is not known; see cct_part.h */
    struct cn_cct tree;
    struct cn_cct_costs costs;
    struct cn_cct_readings readings;
    struct cn_call_ids ids;
    struct cn_map site_numbers; /* by address */
    uint64_t *sites;            /* addresses by number */
    uint64_t *site_times;       /* when each was first seen */
    size_t site_count, site_capacity, site_time_capacity;
    struct cn_cct_follow follow;
    uint64_t record_count, sample_count, lost_count;
    struct cn_cct_open_call *open_calls;
    size_t open_call_count;
    uint64_t end_ns; /* of the timeline */
    bool is_damaged; /* then everything before the damage was counted */
    struct cn_error damage;
};

void cn_cct_task_init(struct cn_cct_task *task,
                      const struct cn_cct_task_options *options);
void cn_cct_task_done(struct cn_cct_task *task);

/* Count all calls, or some of a piece. Damage is noted, not a failure; being
 * interrupted is one. One thread at a time `tells` of its progress. */
CN_CHECK bool cn_cct_task_count(struct cn_cct_task *task, const struct cn_call_span *span,
                                const struct cn_progress *progress, bool tells,
                                struct cn_error *err);

/* Count one call, for whoever reads several tasks at once. */
void cn_cct_task_count_call(struct cn_cct_task *task, const struct cn_call *call,
                            const struct cn_call_batch *batch);

/* Calls that are open end at `last_ns`, unless only a part of the time is looked at.
 * They are listed; count them with cn_cct_task_count_open(). */
void cn_cct_task_end(struct cn_cct_task *task, uint64_t last_ns);
void cn_cct_task_count_open(struct cn_cct_task *task);

/* Whether a key is one of not running. */
bool cn_cct_task_is_schedule(const struct cn_cct_task *task, uint32_t key);

/* For cct_part.c and cct_replay.c. */

void cn_cct_follow_init(struct cn_cct_follow *follow, const struct cn_cct_task *task);
void cn_cct_follow_copy(struct cn_cct_follow *follow, const struct cn_cct_follow *from);
void cn_cct_follow_done(struct cn_cct_follow *follow);

/* `clock`: see cn_call_feed_open_span(). */
CN_CHECK bool cn_cct_task_open_feed(const struct cn_cct_task *task,
                                    const struct cn_call_span *span,
                                    const struct cn_call_clock *clock,
                                    struct cn_call_feed *feed, struct cn_error *err);

/* Follow one record. True when the task went somewhere else. */
bool cn_cct_task_follow(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        const struct cn_call *call, const struct cn_call_batch *batch,
                        bool is_counted);

/* The number of a place that calls come from. */
uint32_t cn_cct_task_site(struct cn_cct_task *task, uint64_t address, uint64_t time_ns);

#endif
