/* Searches by name, in two parts: contexts (api_search.c), and the rows of views whose rows stand
 * for many contexts (api_search_rows.c).
 * Threads: any thread.
 */
#ifndef CN_SERVER_API_CONTEXT_SEARCH_H
#define CN_SERVER_API_CONTEXT_SEARCH_H

#include <stdbool.h>

#include "base/error.h"

struct cn_context_labels;
struct cn_name_filter;
struct cn_request;
struct cn_served;
struct cn_served_view;

enum { CN_CONTEXT_HIT_MAX = 500 };

/* Which labels match, by number. The caller frees it. */
bool *cn_context_search_labels(const struct cn_context_labels *labels,
                               const struct cn_name_filter *filter);

/* Answer for a view other than the top-down view. */
bool cn_context_search_rows(struct cn_served *served, struct cn_served_view *entry,
                            struct cn_request *request, struct cn_error *err);

#endif
