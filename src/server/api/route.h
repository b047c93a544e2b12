/* From the path of a request to its answer.
 * Threads: any thread.
 */
#ifndef CN_SERVER_API_ROUTE_H
#define CN_SERVER_API_ROUTE_H

#include <stddef.h>

#include "base/error.h"

struct cn_request;
struct cn_served;

struct cn_served_list {
    struct cn_served **list;
    size_t count;
};

/* Answer what lies below "/api/v1/". CN_ERR_NOT_FOUND when there is no such thing. */
CN_CHECK bool cn_route_api(const struct cn_served_list *things,
                           struct cn_request *request, struct cn_error *err);

/* The HTTP status that tells an error. */
unsigned cn_route_status(enum cn_error_kind kind);

/* Its name in JSON: "not-found". */
const char *cn_route_error_name(enum cn_error_kind kind);

#endif
