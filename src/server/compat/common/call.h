/* A request to the API of another trace store, and its answer.
 *
 * The APIs of Jaeger, Zipkin and Tempo are other shapes of what the store answers: each is a table of
 * paths. A pattern has at most one "*", which stands for at least one character, also for slashes.
 * Text and strings are borrowed from the request.
 * Threads: a request belongs to one thread; the store is locked while an answer is computed.
 */
#ifndef CN_SERVER_COMPAT_COMMON_CALL_H
#define CN_SERVER_COMPAT_COMMON_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/api/request.h"

struct cn_served_store;
struct cn_text;

struct cn_compat_call {
    struct cn_request *request;
    const char *accept;            /* the header; "" without it */
    char *part;                    /* what "*" stands for; NULL: the pattern has none */
    struct cn_served_store *store; /* NULL: the path needs none */
    uint64_t now_ns;               /* since the epoch */
    unsigned status;               /* of the answer: 200 at first */
    const char *type;              /* Content-Type: that of JSON at first */
};

/* Append the answer to request->json, or to its text. On failure the caller drops it. */
typedef bool cn_compat_answer(struct cn_compat_call *call, struct cn_error *err);

struct cn_compat_route {
    const char *pattern; /* NULL: after the last one */
    cn_compat_answer *answer;
    bool is_static; /* it needs no store */
};

struct cn_compat_api {
    const char *prefix; /* "/jaeger" */
    const struct cn_compat_route *routes;
    /* Write an error as clients of this API expect it; the status is set. */
    void (*write_error)(struct cn_compat_call *call, const struct cn_error *err);
};

/* The route of a path; NULL if there is none. `part` receives what "*" stands for, or NULL; the
 * caller frees it. */
const struct cn_compat_route *cn_compat_find(const struct cn_compat_route *routes,
                                             const char *path, char **part);

/* The value of a parameter that is not empty; NULL otherwise. Pages send empty ones. */
const char *cn_compat_value(const struct cn_compat_call *call, const char *name);

/* A number as in cn_request_u64(), where an empty value is none. */
CN_CHECK bool cn_compat_u64(const struct cn_compat_call *call, const char *name,
                            uint64_t max, uint64_t otherwise, uint64_t *out,
                            struct cn_error *err);

/* A duration as Go writes it, "1h2m3.5s"; `otherwise` without it. */
CN_CHECK bool cn_compat_duration(const struct cn_compat_call *call, const char *name,
                                 uint64_t otherwise, uint64_t *out, struct cn_error *err);

/* `value` times `by`; UINT64_MAX if that is more. */
static inline uint64_t cn_compat_scale(uint64_t value, uint64_t by)
{
    return value > UINT64_MAX / by ? UINT64_MAX : value * by;
}

#endif
