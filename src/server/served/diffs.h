/* Comparisons of sources: each is computed by a job, and the most recent ones are cached with
 * the rows that requests asked for.
 *
 *     if (!cn_served_diff_borrow(diffs, &question, &diff, err)) ...
 *     ... diff->c, cn_served_diff_explain(), cn_served_diff_rows() ...
 *     cn_served_diff_return(diff);
 *
 * Threads: any thread. A borrowed comparison belongs to one thread.
 */
#ifndef CN_SERVER_SERVED_DIFFS_H
#define CN_SERVER_SERVED_DIFFS_H

#include <pthread.h>

#include "analyze/compare/explain.h"
#include "analyze/compare/rows.h"
#include "base/arena.h"
#include "base/cache.h"
#include "base/run/job.h"
#include "base/text.h"
#include "server/served/question.h"
#include "store/groups/facets.h"

struct cn_served;

/* The sources of a side, and what of them is compared. */
struct cn_diff_side {
    struct cn_served *sources[CN_QUESTION_LIST_MAX]; /* runs */
    size_t source_count;
    struct cn_question_list threads; /* selections as of --thread; empty: all threads */
    bool has_range;
    uint64_t begin_ns, end_ns; /* from the start of the timelines */
    const char *query;         /* of a store; NULL: all traces */
};

struct cn_diff_question {
    struct cn_diff_side sides[CN_SIDES];
    const char *metric; /* NULL: the default one */
    bool counts_waits;
    bool has_threads_as_runs;
    bool wants_facets; /* only them; each side is one store */
    enum cn_compare_scaling scaling;
};

struct cn_served_diffs {
    struct cn_job_group jobs;
    pthread_mutex_t lock; /* of the cache */
    struct cn_cache cache;
};

/* Which rows of a comparison. */
struct cn_diff_view {
    enum cn_compare_view view;
    bool is_total, has_unchanged;
    size_t depth;
};

enum { CN_DIFF_VIEWS_MAX = 4 };

struct cn_served_diff {
    struct cn_served_diffs *diffs;
    struct cn_cached *cached;
    struct cn_arena arena;            /* of what the question borrows */
    struct cn_diff_question question; /* what the job reads */
    struct cn_job job;
    uint64_t store_size;  /* of its stores when it was begun */
    uint64_t complete_ns; /* when the job ended; 0: it has not */

    pthread_mutex_t lock;          /* of all below, once the job is done */
    struct cn_trace_facets facets; /* if they are wanted; else all below */
    struct cn_text damage;         /* why data is missing; empty: none is */
    struct cn_comparison c;
    struct cn_explanation explanation;
    size_t line_count; /* that it was made for; 0: there is none */
    struct {
        struct cn_diff_view view;
        struct cn_compare_rows rows;
    } views[CN_DIFF_VIEWS_MAX]; /* the last ones */
    size_t view_count, next_view;
};

void cn_served_diffs_init(struct cn_served_diffs *diffs);
void cn_served_diffs_done(struct cn_served_diffs *diffs); /* before sources are closed */

/* The comparison of a question, for one thread. Fails with CN_ERR_BUSY while it is being
 * computed. */
CN_CHECK bool cn_served_diff_borrow(struct cn_served_diffs *diffs,
                                    const struct cn_diff_question *question,
                                    struct cn_served_diff **out, struct cn_error *err);
void cn_served_diff_return(struct cn_served_diff *diff);

/* Borrowed until the next call, or until the comparison is returned. */
const struct cn_explanation *cn_served_diff_explain(struct cn_served_diff *diff,
                                                    size_t line_count);
struct cn_compare_rows *cn_served_diff_rows(struct cn_served_diff *diff,
                                            const struct cn_diff_view *view);

#endif
