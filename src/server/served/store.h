/* A store that is served: a snapshot of it, replaced when the store has grown, and cached
 * results of queries.
 * Threads: one thread at a time, with cn_served_lock().
 */
#ifndef CN_SERVER_SERVED_STORE_H
#define CN_SERVER_SERVED_STORE_H

#include "base/cache.h"
#include "base/error.h"
#include "base/run/job.h"
#include "server/served/trace_flame.h"
#include "store/groups/group.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"

/* One state of the store, counted by its users. */
struct cn_snapshot {
    struct cn_store *store;
    struct cn_search *search;
    unsigned user_count;
};

/* A result of a query that each request continues for a time budget. It belongs to one
 * snapshot, so that it becomes complete however fast the store grows. */
struct cn_partial_result {
    struct cn_snapshot *snapshot;
    uint64_t now_ns;      /* that "last" in the query counts from */
    uint64_t complete_ns; /* when it became complete; 0: it is not */
};

struct cn_served_flame {
    struct cn_partial_result result; /* the first member */
    struct cn_trace_flame flame;
};

struct cn_served_groups {
    struct cn_partial_result result; /* the first member */
    struct cn_query *query;
    struct cn_grouping *grouping; /* NULL: complete */
    struct cn_groups groups;      /* of the traces read so far */
    bool is_ranked;               /* `groups` is set */
    uint64_t rank_ns;             /* time that the last ranking took */
};

struct cn_served_store {
    char *path;
    struct cn_snapshot *snapshot;
    struct cn_store *store;   /* of the snapshot */
    struct cn_search *search; /* of the snapshot */
    struct cn_segment_loader *loader;
    uint64_t opened_ns; /* when the snapshot was taken or found to be current */
    uint64_t size;      /* of the files of the open segments then */
    struct cn_job_group jobs;
    struct cn_job look; /* for other segments, in object storage */
    bool is_looking;    /* the job was started */
    bool is_changed;    /* it found others; read when it has ended */
    uint64_t looked_ns; /* when it was started */
    struct cn_cache flames, groups;
};

CN_CHECK bool cn_served_store_open(struct cn_served_store *served, const char *path,
                                   struct cn_error *err);
void cn_served_store_close(struct cn_served_store *served); /* safe when never opened */

/* See what was committed meanwhile; looks at most five times a second, less often if the
 * store is large, because the spans of a snapshot are grouped by trace again. In object storage a
 * job looks every ten seconds while requests arrive; they do not wait for it, unless the last look
 * that succeeded is older than a minute. */
CN_CHECK bool cn_served_store_refresh(struct cn_served_store *served,
                                      struct cn_error *err);

/* See all that was committed until now. */
CN_CHECK bool cn_served_store_renew(struct cn_served_store *served, struct cn_error *err);

/* Give back the mapped pages of its traces and postings. */
void cn_served_store_forget(const struct cn_served_store *served);

/* The flame graph of the longest `limit` traces of a query, continued for 25 ms.
 * Borrowed until the next call. */
CN_CHECK bool cn_served_store_flame(struct cn_served_store *served,
                                    const struct cn_query *query, uint64_t limit,
                                    const struct cn_trace_flame **out,
                                    struct cn_error *err);

/* The `limit` largest groups of the traces or spans of a query, continued for 25 ms.
 * Borrowed until the next call. */
struct cn_groups_question {
    enum cn_search_unit unit;
    const char *by;
    size_t limit;
    size_t step_count; /* of spans, over time; 0: none */
};
CN_CHECK bool cn_served_store_groups(struct cn_served_store *served,
                                     const struct cn_query *query,
                                     const struct cn_groups_question *question,
                                     const struct cn_served_groups **out,
                                     struct cn_error *err);

#endif
