/* A store that is served: a snapshot that is taken again when the store has grown.
 * Threads: with the lock of its served thing held.
 */
#ifndef CN_SERVER_SERVED_SERVED_STORE_H
#define CN_SERVER_SERVED_SERVED_STORE_H

#include "base/error.h"
#include "server/served/served_groups.h"
#include "server/served/trace_flame.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"

struct cn_request;

/* A state of the store; it lives as long as somebody looks at it. */
struct cn_snapshot {
    struct cn_store *store;
    struct cn_search *search;
    unsigned user_count;
};

/* A flame graph that is made from answer to answer, or was; of one state of the store, so that it
 * is complete some day, however fast the store grows. */
struct cn_served_flame {
    char *query; /* NULL: free */
    uint64_t now_ns, limit, used_at;
    uint64_t complete_ns; /* when it became complete; 0: it is not */
    struct cn_snapshot *snapshot;
    struct cn_trace_flame flame;
};

enum { CN_SERVED_FLAME_MAX = 2 };

struct cn_served_store {
    char *path;
    struct cn_snapshot *snapshot;
    struct cn_store *store;   /* of the snapshot */
    struct cn_search *search; /* of the snapshot */
    struct cn_segment_loader *loader;
    uint64_t opened_ns; /* when the snapshot was taken */
    uint64_t size;      /* of the files of the newest segment then */
    struct cn_served_flame flames[CN_SERVED_FLAME_MAX];
    struct cn_served_groups groups[CN_SERVED_GROUPS_MAX];
    uint64_t use_count;
};

struct cn_snapshot *cn_snapshot_use(struct cn_snapshot *snapshot); /* one user more */
void cn_snapshot_release(struct cn_snapshot *snapshot); /* one less; NULL is fine */

/* Whether something that was found in a snapshot may be shown: it is the current one and about the
 * same time, or what was found is not complete yet (0) or became so a moment ago. */
bool cn_snapshot_is_fresh(const struct cn_served_store *served,
                          const struct cn_snapshot *snapshot, uint64_t complete_ns,
                          bool is_same_time);

CN_CHECK bool cn_served_store_open(struct cn_served_store *served, const char *path,
                                   struct cn_error *err);
void cn_served_store_close(struct cn_served_store *served); /* safe when never opened */

/* See what was committed meanwhile; looks at most five times a second. */
CN_CHECK bool cn_served_store_refresh(struct cn_served_store *served,
                                      struct cn_error *err);

/* Give back the mapped pages of its traces and postings. */
void cn_served_store_forget(const struct cn_served_store *served);

/* The flame graph of the longest `limit` hits of a query: as far as it was made, or a new one, which
 * takes the place of one that is not in use. Borrowed until the next call. */
CN_CHECK bool cn_served_store_flame(struct cn_served_store *served,
                                    const struct cn_query *query, uint64_t limit,
                                    struct cn_served_flame **out, struct cn_error *err);

/* Add traces to it for about `budget_ns`. */
CN_CHECK bool cn_served_flame_add(struct cn_served_flame *flame, uint64_t budget_ns,
                                  struct cn_error *err);

/* The query in the parameter `q`, to be freed. */
CN_CHECK bool cn_request_query(const struct cn_request *request, struct cn_query **out,
                               struct cn_error *err);

#endif
