/* One call of gRPC, from its head to its answer; knows nothing of HTTP/2 and sockets.
 *
 *     cn_grpc_call_header() for each header, cn_grpc_call_head_end(), cn_grpc_call_take() for its bytes, cn_grpc_call_end()
 *
 * Each may set the state to CN_GRPC_ANSWERED: the rest of the call is dropped, and the answer is
 * in the call. After cn_grpc_call_end() the state is CN_GRPC_WHOLE otherwise: the caller hands the
 * message to the collector.
 *
 * The session owns a call, except that one which the collector has (is_lent) is freed when it comes back.
 * Threads: one thread at a time. The collector's thread sets `outcome` of a call that is lent.
 */
#ifndef CN_SERVER_GRPC_CALL_H
#define CN_SERVER_GRPC_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/access/guard.h"
#include "server/grpc/message.h"
#include "server/otlp/outcome.h"

struct cn_grpc_call;
struct cn_collector;
struct cn_h2_session;

enum { CN_GRPC_HEAD_MAX = 16 << 10 }; /* bytes of headers, 32 more for each */

/* Of all connections. */
struct cn_grpc_totals {
    _Atomic uint64_t held_len; /* bytes of messages that are in memory */
    _Atomic uint64_t connections, calls, failed;
    _Atomic uint64_t floods; /* connections that were closed because of a flood */
};

/* What calls need of the server. */
struct cn_grpc_service {
    const struct cn_guard *guard;   /* the token of senders; "": none is needed */
    struct cn_collector *collector; /* this, and find: as in struct cn_grpc_options */
    struct cn_collector *(*find)(void *arg, const char *token, const char *name);
    void *find_arg;
    struct cn_grpc_totals *counts;
    uint64_t held_max; /* bytes of all messages in memory */

    /* Hand a whole message to the collector, which returns the call later. False: it was not taken,
     * and `outcome` is set. */
    bool (*submit)(void *arg, struct cn_grpc_call *call);
    void *arg;
};

enum cn_grpc_state {
    CN_GRPC_HEAD,     /* headers are arriving */
    CN_GRPC_READING,  /* so is the message */
    CN_GRPC_WHOLE,    /* it is there */
    CN_GRPC_WAITING,  /* for the commit */
    CN_GRPC_ANSWERED, /* the answer is in the call, or was sent */
};

enum cn_grpc_method { CN_GRPC_UNKNOWN, CN_GRPC_EXPORT, CN_GRPC_HEALTH };

struct cn_grpc_call {
    struct cn_h2_session *session;        /* NULL: gone */
    struct cn_grpc_call *next, *previous; /* of the session */
    int32_t stream;
    enum cn_grpc_state state;
    bool is_lent;                   /* to the collector */
    bool has_ended;                 /* nothing more comes from the sender */
    struct cn_grpc_call *next_back; /* in the list of calls that come back */
    void *arg;                      /* of the service, for the collector's callback */
    uint64_t begin_ns;              /* when its head came */
    uint64_t timeout_ns;            /* of the sender; 0: none */

    /* The head. */
    enum cn_grpc_method method;
    char service[48]; /* for messages: the method that was called, or its beginning */
    size_t head_len;
    bool is_post, is_grpc, is_json, is_of_page, has_bad_timeout;
    char token[CN_TOKEN_MAX + 1], tenant[64]; /* as sent; "": none */
    bool has_bad_tenant;                      /* its name is too long */
    struct cn_collector *collector;           /* of the sender */
    bool has_encoding, knows_encoding;        /* of the message, if that is compressed */

    struct cn_grpc_message message;
    uint64_t held_len; /* bytes of it that are counted in the service */

    /* The answer. */
    unsigned http_status; /* other than 200: no answer of gRPC */
    struct cn_otlp_outcome outcome;
    struct cn_text response; /* of a call that succeeded, with its prefix */
    size_t response_sent;
};

struct cn_grpc_call *cn_grpc_call_new(struct cn_h2_session *session, int32_t stream);

/* Also gives back what the message holds. */
void cn_grpc_call_free(struct cn_grpc_call *call, const struct cn_grpc_service *service);

/* Name and value end with zero bytes, which are not counted. */
void cn_grpc_call_header(struct cn_grpc_call *call, const char *name, size_t name_len,
                         const char *value, size_t value_len);
void cn_grpc_call_head_end(struct cn_grpc_call *call,
                           const struct cn_grpc_service *service);
void cn_grpc_call_take(struct cn_grpc_call *call, const struct cn_grpc_service *service,
                       struct cn_bytes bytes);
void cn_grpc_call_end(struct cn_grpc_call *call, const struct cn_grpc_service *service);

/* Free the message, whose bytes are no longer counted. Any thread that has the call. */
void cn_grpc_call_drop_message(struct cn_grpc_call *call,
                               const struct cn_grpc_service *service);

/* Encode the answer of the outcome, which is CN_RPC_OK. */
void cn_grpc_call_respond(struct cn_grpc_call *call);

/* When the call must have been answered: the sender's deadline, or that of its message. UINT64_MAX:
 * never. */
uint64_t cn_grpc_call_deadline_ns(const struct cn_grpc_call *call);

#endif
