/* From the path of a request to its answer: the entrance to the API.
 * Threads: any thread.
 */
#ifndef CN_SERVER_API_ROUTE_H
#define CN_SERVER_API_ROUTE_H

#include <stddef.h>

#include "base/error.h"

struct cn_request;
struct cn_served;
struct cn_served_diffs;
struct cn_statements;
struct cn_text;

struct cn_served_list;
typedef bool cn_list_answer(const struct cn_served_list *sources,
                            struct cn_served *served, struct cn_request *request,
                            struct cn_error *err);

struct cn_served_list {
    struct cn_served **list;
    size_t count;
    struct cn_served_diffs *diffs; /* comparisons of them */
    struct cn_statements *statements;
    cn_list_answer *answer_sql, *answer_tables; /* NULL: SQL is not here, as in a page */
};

/* Answer a path below "/api/v1/". Fails with CN_ERR_NOT_FOUND if there is no such
 * path. */
CN_CHECK bool cn_route_api(const struct cn_served_list *sources,
                           struct cn_request *request, struct cn_error *err);

/* Append {error: {kind, text}}, the answer to a question that failed. */
void cn_route_error(struct cn_text *out, const struct cn_error *err);

/* The status of HTTP for the answer to a question that failed; 200 for CN_ERR_NONE. */
unsigned cn_route_status(enum cn_error_kind kind);

#endif
