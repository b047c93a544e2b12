/* The things that a server shows: databases, recordings and stores, opened once.
 *
 * A recording is also analysed, in the background, so that everything that can be asked
 * of a database can be asked of it; until then requests say how far the analysis is.
 *
 * What views have in common is prepared from the start (prepared.h). A view with other columns or
 * threads is made by a chore (chore.h); the last few are kept. Requests for what is not there yet
 * wait a moment, then say how far it is.
 * Threads: any thread. A database is immutable and has no lock; each view has one, so that a
 * request which takes long keeps only those waiting that want the same view.
 */
#ifndef CN_SERVER_SERVED_SERVED_H
#define CN_SERVER_SERVED_SERVED_H

#include <pthread.h>
#include <stddef.h>

#include "analyze/views/costs.h"
#include "analyze/views/view.h"
#include "base/error.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "server/served/call_pieces.h"
#include "server/served/chore.h"
#include "server/served/prepared.h"
#include "server/served/served_pyramids.h"
#include "server/served/served_ranges.h"
#include "server/served/served_store.h"

enum cn_served_kind { CN_SERVED_DATABASE, CN_SERVED_RECORDING, CN_SERVED_STORE };

struct cn_request;
struct cn_served;

/* A view with the columns somebody asked for. */
struct cn_served_view {
    /* Under the lock of the thing. */
    struct cn_served *served;
    char *key; /* what was asked for; NULL: free */
    uint64_t used_at;
    unsigned user_count;
    uint64_t size; /* of the view in memory */

    /* Under its own; while a chore works, it is the chore's. */
    pthread_mutex_t lock;
    struct cn_costs costs;
    bool has_columns;
    const struct cn_view_shape *shape;
    struct cn_view *view; /* NULL: not made yet */
    const struct cn_context_index *index;
    double *node_values; /* of all contexts, where searches need them; NULL: not yet */
    size_t node_column;  /* of which column */
    struct cn_chore making;
};

/* More than there are requests at a time. */
enum { CN_SERVED_VIEW_MAX = 16 };

enum cn_served_state { CN_SERVED_WORKING, CN_SERVED_READY, CN_SERVED_FAILED };

struct cn_served {
    enum cn_served_kind kind;
    char *path, *name; /* as given, and its last part */
    const char *format;
    struct cn_recording *recording; /* NULL unless it is one */
    struct cn_task_pieces pieces;   /* of the recording */
    uint32_t *profiled_tasks;       /* of a recording: profile i + 1 is of this task */
    size_t profiled_count;

    /* Under the lock. */
    pthread_mutex_t lock;
    enum cn_served_state state;
    struct cn_error failure;      /* of CN_SERVED_FAILED */
    double share_done;            /* of CN_SERVED_WORKING, 0 to 1 */
    struct cn_database *db;       /* NULL until ready, and of a store */
    struct cn_served_store store; /* of a store */
    struct cn_served_view views[CN_SERVED_VIEW_MAX];
    uint64_t use_count;
    char *default_metric; /* NULL: not known yet; "": there is none */

    struct cn_prepared prepared;
    struct cn_chore_group chores;
    struct cn_served_ranges ranges;
    struct cn_served_pyramids pyramids;

    pthread_t analyst; /* the thread that analyses a recording */
    bool has_analyst;
    bool is_stopping;
    char *folder; /* of the database made from a recording; NULL: none */
};

/* Open a database, recording or store. */
CN_CHECK bool cn_served_open(struct cn_served **out, const char *path,
                             struct cn_error *err);

/* The same, but the traces of a store become calls whose costs are added up. */
CN_CHECK bool cn_served_open_costs(struct cn_served **out, const char *path,
                                   struct cn_error *err);
void cn_served_close(struct cn_served *served); /* NULL is fine */

/* Whether the database can be asked: from then on served->db stays. Fails with
 * CN_ERR_INTERRUPTED while it is still being made. */
CN_CHECK bool cn_served_ready(struct cn_served *served, struct cn_error *err);

/* The same with the lock taken, for stores. */
CN_CHECK bool cn_served_lock(struct cn_served *served, struct cn_error *err);
void cn_served_unlock(struct cn_served *served);

/* Answer with the view that a request asks for by view, metric, thread and percentiles. It
 * is made when it is new; nobody else has it while `answer` runs. */
typedef bool (*cn_view_answer_fn)(struct cn_served *served, struct cn_served_view *entry,
                                  struct cn_request *request, struct cn_error *err);
CN_CHECK bool cn_served_answer(struct cn_served *served, struct cn_request *request,
                               cn_view_answer_fn answer, struct cn_error *err);

/* The same for the top-down view with entry->node_values: what each context costs in the
 * column that the request sorts by. */
CN_CHECK bool cn_served_answer_values(struct cn_served *served,
                                      struct cn_request *request,
                                      cn_view_answer_fn answer, struct cn_error *err);

/* Make the views that are asked for first: those of the default metric. */
void cn_served_warm_up(struct cn_served *served);
void cn_served_views_done(struct cn_served *served);

/* Give back memory that can be had again, if it is much. */
void cn_served_tidy(struct cn_served *served);

/* The stacks behind contexts; they stay. This and the next two fail with CN_ERR_INTERRUPTED
 * while it is still being made. */
CN_CHECK bool cn_served_frames(struct cn_served *served, const struct cn_frames **out,
                               struct cn_error *err);

/* The labels of the contexts, by the frames' index; they stay. */
CN_CHECK bool cn_served_labels(struct cn_served *served,
                               const struct cn_context_labels **out,
                               struct cn_error *err);

/* The depth at which the threads of a database differ. */
CN_CHECK bool cn_served_depth(struct cn_served *served, uint32_t *out,
                              struct cn_error *err);

#endif
