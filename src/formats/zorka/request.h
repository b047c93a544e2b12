/* Requests of agents as files keep them: one after the other with their HTTP heads, or a
 * body alone with its head in a file beside it.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_ZORKA_REQUEST_H
#define CN_FORMATS_ZORKA_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/step.h"

enum { CN_ZORKA_SESSION_MAX = 64 };

struct cn_zorka_request {
    char session[CN_ZORKA_SESSION_MAX]; /* "" when there is none */
    bool is_reset;                      /* the agent numbers its symbols anew */
    bool is_agent;                      /* symbols or a trace of an agent */
    bool has_trace_id;
    uint64_t id_high, id_low;
    struct cn_bytes body;
};

/* Whether a file begins with the head of a request. */
bool cn_zorka_request_probe(struct cn_bytes bytes);

/* Take the next request off the front of `rest`. */
CN_CHECK enum cn_step cn_zorka_request_next(struct cn_bytes *rest,
                                            struct cn_zorka_request *out,
                                            struct cn_error *err);

/* What a head says; `body` is left alone. */
void cn_zorka_request_head(struct cn_bytes head, struct cn_zorka_request *out,
                           uint64_t *content_len);

/* Set what one header says; headers that are not of agents are ignored. */
void cn_zorka_request_set(struct cn_zorka_request *request, const char *name,
                          const char *value);

#endif
