/* The operations of services: every service, name and kind that spans of a store have.
 *
 * The caller releases the result. Of damaged segments, what can be read.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_OPERATIONS_H
#define CN_STORE_SEARCH_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cn_search;

struct cn_operation {
    const char *service, *name, *kind; /* "" if unknown */
};

struct cn_operations {
    struct cn_names names;
    struct cn_operation *list; /* by service, name and kind */
    size_t count, capacity;
    struct cn_map pairs, triples; /* of numbers of names: those that are in the list */
};

/* At most `max`, those of the newest segments first. */
void cn_search_operations(struct cn_search *search, size_t max,
                          struct cn_operations *out);
void cn_operations_done(struct cn_operations *operations);

#endif
