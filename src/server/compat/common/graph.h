/* The services of a store, and which calls which, as the APIs of other stores ask for them.
 * Threads: one thread at a time, with the lock of the store.
 */
#ifndef CN_SERVER_COMPAT_COMMON_GRAPH_H
#define CN_SERVER_COMPAT_COMMON_GRAPH_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "model/contexts/context.h"
#include "store/groups/services.h"

struct cn_served_store;

enum {
    CN_COMPAT_NAMES_MAX = 50000
}; /* services, operations or attributes of an answer */

/* Add the names of all services, by name. */
void cn_compat_services(struct cn_served_store *store, struct cn_names *out);

/* Calls whose spans began in the last `back_ns` before `end_ns`, since the epoch. The caller releases
 * them with cn_services_done(). */
CN_CHECK bool cn_compat_graph(struct cn_served_store *store, uint64_t end_ns,
                              uint64_t back_ns, struct cn_services *out,
                              struct cn_error *err);

#endif
