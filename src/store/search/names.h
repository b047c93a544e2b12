/* The names of attributes in a store, and those in a query that no span has: typing errors, mostly.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_NAMES_H
#define CN_STORE_SEARCH_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct cn_names;
struct cn_query;
struct cn_search;
struct cn_text;

/* Add the names of attributes of all spans, those of the newest segments first, until there are
 * `max`. Of damaged segments, those that can be read. */
void cn_search_names(struct cn_search *search, size_t max, struct cn_names *out);

/* Add the names of services of all spans in the same way. */
void cn_search_service_names(struct cn_search *search, size_t max, struct cn_names *out);

/* A name in a query that no attribute has. */
struct cn_unknown_name {
    const char *name; /* as typed; borrowed from the query */
    uint32_t at;      /* its first byte in the query */
    char *suggestion; /* the nearest name that is known; NULL: none is near */
};

struct cn_unknown_names {
    struct cn_unknown_name *list;
    size_t count, capacity;
};

/* Find the attributes in a query that no span of the store has, each once. */
void cn_search_unknown_names(struct cn_search *search, const struct cn_query *query,
                             struct cn_unknown_names *out);
void cn_unknown_names_done(struct cn_unknown_names *names);

/* Append "no attribute 'duraton'; did you mean duration". */
void cn_unknown_name_print(const struct cn_unknown_name *name, struct cn_text *out);

/* The same for all such names of a query; nothing if there are none. */
void cn_search_print_unknown(struct cn_search *search, const struct cn_query *query,
                             struct cn_text *out);

#endif
