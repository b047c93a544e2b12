/* The things that a server shows: databases, recordings and stores, opened once.
 *
 * A recording is also analysed, in the background, so that everything that can be asked
 * of a database can be asked of it; until then requests say how far the analysis is.
 *
 * Views cost a pass over all contexts when they are made: the last few are kept.
 * Threads: any thread; what is not immutable is behind the lock of each thing.
 */
#ifndef CN_SERVER_SERVED_H
#define CN_SERVER_SERVED_H

#include <pthread.h>
#include <stddef.h>

#include "analyze/costs.h"
#include "analyze/frames.h"
#include "analyze/view.h"
#include "base/error.h"
#include "base/progress.h"
#include "model/database.h"
#include "model/recording.h"
#include "server/served_store.h"

enum cn_served_kind { CN_SERVED_DATABASE, CN_SERVED_RECORDING, CN_SERVED_STORE };

struct cn_request;

/* A view with the columns somebody asked for. */
struct cn_served_view {
    char *key; /* what was asked for; NULL: free */
    uint64_t used_at;
    struct cn_costs costs;
    struct cn_view *view;
};

enum { CN_SERVED_VIEW_MAX = 8 };

enum cn_served_state { CN_SERVED_WORKING, CN_SERVED_READY, CN_SERVED_FAILED };

struct cn_served {
    enum cn_served_kind kind;
    char *path, *name; /* as given, and its last part */
    const char *format;
    struct cn_recording *recording; /* NULL unless it is one */

    /* Under the lock. */
    pthread_mutex_t lock;
    enum cn_served_state state;
    struct cn_error failure;      /* of CN_SERVED_FAILED */
    double share_done;            /* of CN_SERVED_WORKING, 0 to 1 */
    struct cn_database *db;       /* NULL until ready, and of a store */
    struct cn_served_store store; /* of a store */
    struct cn_served_view views[CN_SERVED_VIEW_MAX];
    uint64_t use_count;
    struct cn_frames *frames; /* NULL until a timeline is asked for */

    pthread_t analyst; /* the thread that analyses a recording */
    bool has_analyst;
    bool is_stopping;
    char *folder; /* of the database made from a recording; NULL: none */
};

/* Open a database, recording or store. */
CN_CHECK bool cn_served_open(struct cn_served **out, const char *path,
                             struct cn_error *err);
void cn_served_close(struct cn_served *served); /* NULL is fine */

/* Take the lock; the database or store must be ready. Fails, without the lock, while it is not:
 * with CN_ERR_INTERRUPTED while it is still being made. */
CN_CHECK bool cn_served_lock(struct cn_served *served, struct cn_error *err);
void cn_served_unlock(struct cn_served *served);

/* The view a request asks for by view, metric, thread and percentiles; with the lock
 * held. Borrowed until the lock is released. */
CN_CHECK bool cn_served_view(struct cn_served *served, const struct cn_request *request,
                             struct cn_served_view **out, struct cn_error *err);

/* The stacks behind contexts; with the lock held. */
CN_CHECK bool cn_served_frames(struct cn_served *served, struct cn_frames **out,
                               struct cn_error *err);

#endif
