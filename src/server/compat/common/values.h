/* The names of attributes, and their values, as the APIs of other stores list them.
 * Threads: one thread at a time, with the lock of the store.
 */
#ifndef CN_SERVER_COMPAT_COMMON_VALUES_H
#define CN_SERVER_COMPAT_COMMON_VALUES_H

#include <stddef.h>

#include "base/error.h"
#include "base/map.h"

struct cn_query;
struct cn_served_store;

/* Add the values of a field or attribute of spans that match, as cn_search_group() names it: the most
 * frequent first, at most `max`. */
CN_CHECK bool cn_compat_values(struct cn_served_store *store,
                               const struct cn_query *query, const char *by, size_t max,
                               struct cn_names *out, struct cn_error *err);

/* The same, of spans that match the text of a query. */
CN_CHECK bool cn_compat_values_of(struct cn_served_store *store, const char *query,
                                  const char *by, size_t max, struct cn_names *out,
                                  struct cn_error *err);

/* Sort names; none can be added afterwards. */
void cn_compat_sort_names(struct cn_names *names);

/* Where an attribute with this name in the index is: "resource.host.name" is "host.name" of the
 * resource. */
enum cn_compat_scope {
    CN_SCOPE_SPAN,
    CN_SCOPE_RESOURCE,
    CN_SCOPE_INSTRUMENTATION,
    CN_SCOPE_EVENT,
    CN_SCOPE_LINK,
    CN_SCOPE_NONE, /* no attribute: name of an event, id of a link, status */
    CN_SCOPE_COUNT,
};
enum cn_compat_scope cn_compat_scope_of(const char *name, const char **inner);

/* Add the names of attributes of one scope, sorted. Attributes of resources are not among those of
 * spans. */
void cn_compat_attribute_names(struct cn_served_store *store, enum cn_compat_scope scope,
                               struct cn_names *out);

#endif
