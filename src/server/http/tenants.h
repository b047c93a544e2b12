/* The tenants of a collector: each has a store of its own, a token for sending and asking, and limits.
 *
 * A file names them, one in a line: NAME TOKEN [keep=30d] [keep-size=10G] [keep-count=N] [rate=N].
 * A request belongs to the tenant whose token it has. A gateway may have the token of the server
 * instead, and name the tenant in X-Scope-OrgID, as Tempo has it.
 * Threads: immutable after open, except what has a lock.
 */
#ifndef CN_SERVER_HTTP_TENANTS_H
#define CN_SERVER_HTTP_TENANTS_H

#include <pthread.h>

#include "server/access/guard.h"
#include "server/api/route.h"
#include "server/served/diffs.h"
#include "server/served/served.h"
#include "server/served/span_metrics.h"
#include "store/pipeline/collector.h"

/* Spans of a store that is collected, counted for /metrics. */
struct cn_counted {
    struct cn_served *served; /* borrowed; NULL: none */
    struct cn_span_metrics metrics;
    pthread_mutex_t lock; /* of the metrics */
};

void cn_counted_init(struct cn_counted *counted);
void cn_counted_begin(struct cn_counted *counted, struct cn_served *served);
void cn_counted_done(struct cn_counted *counted);

/* Count all spans, before their segments are removed or joined; `arg` is a struct cn_counted. */
void cn_counted_catch_up(void *arg);

enum { CN_TENANTS_MAX = 256, CN_TENANT_NAME_LEN = 64 };

struct cn_tenant {
    char name[CN_TENANT_NAME_LEN];
    struct cn_guard guard; /* its token */
    struct cn_keeper_limits keep;
    uint64_t rate_max; /* spans a second; 0: any */
    struct cn_collector *collector;
    struct cn_served_list sources; /* its store */
    struct cn_served_diffs diffs;
    struct cn_counted counted;
};

struct cn_tenants {
    struct cn_tenant *list;
    size_t count;
};

/* Read the file and open a store below the folder `path` for each tenant, with `limits` unless its
 * line has others. On failure nothing is left open. */
CN_CHECK bool cn_tenants_open(struct cn_tenants *tenants, const char *file,
                              const char *path, const struct cn_collector_options *limits,
                              struct cn_error *err);

/* Commit all requests; then close. Both are safe when never opened. */
void cn_tenants_finish(struct cn_tenants *tenants);
void cn_tenants_close(struct cn_tenants *tenants,
                      void (*log)(void *arg, const char *text), void *log_arg);

/* The tenant with this token, or, with the token of a gateway, the one that is named. NULL: there is
 * none, or the two contradict each other. Both may be NULL. */
struct cn_tenant *cn_tenants_find(const struct cn_tenants *tenants,
                                  const struct cn_guard *gateway, const char *token,
                                  const char *name);

/* Sums over all. */
struct cn_collector_counts cn_tenants_counts(const struct cn_tenants *tenants);
struct cn_keeper_counts cn_tenants_kept(const struct cn_tenants *tenants);

#endif
