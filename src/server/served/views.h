/* The views of a database that requests ask for, with their columns and threads. A view
 * is built by a job; the most recently used ones are cached.
 *
 *     if (!cn_served_view_borrow(views, &question, &view, err)) ...
 *     ... view->view, view->costs ...
 *     cn_served_view_return(view);
 *
 * Threads: any thread. A borrowed view belongs to one thread, so that a request which
 * takes long blocks only requests for the same view.
 */
#ifndef CN_SERVER_SERVED_VIEWS_H
#define CN_SERVER_SERVED_VIEWS_H

#include <pthread.h>

#include "analyze/timeline/structure.h"
#include "analyze/views/costs.h"
#include "analyze/views/view.h"
#include "base/cache.h"
#include "base/run/job.h"
#include "server/served/question.h"

struct cn_served_views {
    struct cn_structure *structure;
    struct cn_database *range; /* values of a time range; NULL: those of the database */
    pthread_mutex_t lock;      /* of the members below */
    struct cn_cache cache;
    char *default_metric; /* NULL: not known yet; "": there is none */
};

struct cn_served_view {
    struct cn_served_views *views;
    struct cn_cached *cached;
    enum cn_view_kind kind;

    pthread_mutex_t
        lock; /* of all below; what the job reads does not change while it runs */
    struct cn_costs costs;
    bool has_columns;
    const struct cn_view_shape *shape;
    struct cn_view *view; /* NULL: not built yet */
    const struct cn_context_index *index;
    double *node_values; /* by node of the index, see has_values; NULL: not read yet */
    size_t node_column;  /* their column */
    bool is_estimate;    /* numbers are from some of the threads, until the job is done */
    struct cn_job job;
};

void cn_served_views_init(struct cn_served_views *views, struct cn_structure *structure);
void cn_served_views_done(struct cn_served_views *views);

/* The metric of a view without metrics; "" when the database has none. The database is
 * there. Borrowed. */
const char *cn_served_default_metric(struct cn_served_views *views);

/* The database is there. Fails with CN_ERR_BUSY while the view is being built, unless the
 * question takes an estimate and there is one. */
CN_CHECK bool cn_served_view_borrow(struct cn_served_views *views,
                                    const struct cn_view_question *question,
                                    struct cn_served_view **out, struct cn_error *err);
void cn_served_view_return(struct cn_served_view *view);

/* The column of a name, or the first one of a side, "inclusive" or "exclusive"; the first one for
 * NULL. */
CN_CHECK bool cn_served_column_find(const struct cn_costs *costs, const char *name,
                                    size_t *out, struct cn_error *err);

/* Start to build the views that clients open first: those of the default metric. */
void cn_served_views_warm_up(struct cn_served_views *views);

#endif
