#include "server/grpc/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/files/unpack.h"
#include "base/run/clock.h"
#include "server/access/guard.h"

enum { HEADER_EXTRA = 32 /* that HTTP/2 counts for each */, BODY_SECONDS = 60 };

static const char export_path[] =
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
static const char health_path[] = "/grpc.health.v1.Health/Check";
static const char serving[] = "\x08\x01"; /* status: SERVING */

struct cn_grpc_call *cn_grpc_call_new(struct cn_h2_session *session, int32_t stream)
{
    struct cn_grpc_call *call = cn_alloc(1, sizeof(*call));

    call->session = session;
    call->stream = stream;
    call->http_status = 200;
    call->begin_ns = cn_clock_ns();
    return call;
}

void cn_grpc_call_drop_message(struct cn_grpc_call *call,
                               const struct cn_grpc_service *service)
{
    atomic_fetch_sub(&service->counts->held_len, call->held_len);
    call->held_len = 0;
    cn_grpc_message_done(&call->message);
}

void cn_grpc_call_free(struct cn_grpc_call *call, const struct cn_grpc_service *service)
{
    cn_grpc_call_drop_message(call, service);
    cn_text_done(&call->response);
    free(call);
}

/* The token of "Bearer TOKEN". A longer one is none. */
static void set_token(struct cn_grpc_call *call, const char *value)
{
    call->token[0] = '\0';
    if (strncasecmp(value, "Bearer ", 7) == 0 && strlen(value + 7) <= CN_TOKEN_MAX)
        memcpy(call->token, value + 7, strlen(value + 7) + 1);
}

static void set_tenant(struct cn_grpc_call *call, const char *value)
{
    call->has_bad_tenant = strlen(value) >= sizeof(call->tenant);
    if (!call->has_bad_tenant)
        memcpy(call->tenant, value, strlen(value) + 1);
}

static void set_path(struct cn_grpc_call *call, const char *value)
{
    call->method = strcmp(value, export_path) == 0   ? CN_GRPC_EXPORT
                   : strcmp(value, health_path) == 0 ? CN_GRPC_HEALTH
                                                     : CN_GRPC_UNKNOWN;
    (void)snprintf(call->service, sizeof(call->service), "%s", value);
}

/* "application/grpc", "application/grpc+proto", or either with parameters. */
static void set_type(struct cn_grpc_call *call, const char *value)
{
    static const char type[] = "application/grpc";
    const char *rest = value + sizeof(type) - 1;

    call->is_grpc = strncasecmp(value, type, sizeof(type) - 1) == 0 &&
                    (*rest == '\0' || *rest == ';' || *rest == '+');
    call->is_json = call->is_grpc && *rest == '+' && strncasecmp(rest, "+proto", 6) != 0;
}

static void set_encoding(struct cn_grpc_call *call, const char *value)
{
    call->has_encoding = strcmp(value, "identity") != 0;
    call->knows_encoding = strcmp(value, "gzip") == 0 || strcmp(value, "zstd") == 0;
}

/* 0 is a deadline that has passed. */
static void set_timeout(struct cn_grpc_call *call, const char *value)
{
    call->has_bad_timeout = !cn_grpc_timeout_parse(value, &call->timeout_ns);
    if (!call->has_bad_timeout && call->timeout_ns == 0)
        call->timeout_ns = 1;
}

void cn_grpc_call_header(struct cn_grpc_call *call, const char *name, size_t name_len,
                         const char *value, size_t value_len)
{
    call->head_len += name_len + value_len + HEADER_EXTRA;
    if (call->head_len > CN_GRPC_HEAD_MAX || call->state != CN_GRPC_HEAD)
        return;
    if (strcmp(name, ":method") == 0)
        call->is_post = strcmp(value, "POST") == 0;
    else if (strcmp(name, ":path") == 0)
        set_path(call, value);
    else if (strcmp(name, "content-type") == 0)
        set_type(call, value);
    else if (strcmp(name, "authorization") == 0)
        set_token(call, value);
    else if (strcmp(name, "x-scope-orgid") == 0)
        set_tenant(call, value);
    else if (strcmp(name, "grpc-encoding") == 0)
        set_encoding(call, value);
    else if (strcmp(name, "grpc-timeout") == 0)
        set_timeout(call, value);
    else if (strcmp(name, "origin") == 0 || strcmp(name, "sec-fetch-site") == 0)
        call->is_of_page = true;
}

/* An answer without gRPC, for what is not a call. */
static void refuse(struct cn_grpc_call *call, unsigned http_status)
{
    call->http_status = http_status;
    call->state = CN_GRPC_ANSWERED;
}

/* Append a message to the answer, with its prefix. */
static void respond_with(struct cn_grpc_call *call, const char *message, size_t len)
{
    uint8_t prefix[CN_GRPC_PREFIX_LEN];

    cn_grpc_prefix_put(prefix, (uint32_t)len);
    cn_text_add(&call->response, (const char *)prefix, sizeof(prefix));
    cn_text_add(&call->response, message, len);
    call->state = CN_GRPC_ANSWERED;
}

#define ANSWER(call, ...)                                 \
    (cn_otlp_outcome_fail(&(call)->outcome, __VA_ARGS__), \
     (void)((call)->state = CN_GRPC_ANSWERED))

/* Who sends comes first: those without the token learn nothing else. */
static void check_head(struct cn_grpc_call *call, const struct cn_grpc_service *service)
{
    const struct cn_guard *guard = service->guard;
    bool needs_token = service->find || guard->token[0] != '\0';
    bool is_tenant = false;

    call->collector = service->collector;
    if (service->find && !call->has_bad_tenant && call->token[0] != '\0')
        call->collector = service->find(service->find_arg, call->token,
                                        call->tenant[0] ? call->tenant : NULL);
    is_tenant = service->find && call->collector;
    if (service->find && !is_tenant && call->method != CN_GRPC_HEALTH)
        ANSWER(call, CN_RPC_UNAUTHENTICATED, 401,
               "no tenant has this token, or x-scope-orgid names another");
    else if (!service->find && needs_token && !cn_guard_knows_token(guard, call->token))
        ANSWER(call, CN_RPC_UNAUTHENTICATED, 401,
               "the token for traces is missing or wrong");
    else if (!needs_token && call->is_of_page)
        ANSWER(call, CN_RPC_PERMISSION_DENIED, 403,
               "a web page may not send traces; for other senders use "
               "--collect-token-file");
    else if (call->method == CN_GRPC_UNKNOWN)
        ANSWER(call, CN_RPC_UNIMPLEMENTED, 404,
               "there is no method %s here, only TraceService/Export: cairn collects "
               "traces",
               call->service);
    else if (call->is_json)
        ANSWER(call, CN_RPC_UNIMPLEMENTED, 415,
               "unsupported content-type; expected application/grpc or "
               "application/grpc+proto");
    else if (call->has_bad_timeout)
        ANSWER(call, CN_RPC_INVALID_ARGUMENT, 400, "grpc-timeout is malformed");
}

void cn_grpc_call_head_end(struct cn_grpc_call *call,
                           const struct cn_grpc_service *service)
{
    if (call->head_len > CN_GRPC_HEAD_MAX)
        refuse(call, 431);
    else if (!call->is_grpc)
        refuse(call, 415);
    else if (!call->is_post)
        refuse(call, 405);
    else
        check_head(call, service);
    if (call->state == CN_GRPC_HEAD)
        call->state = CN_GRPC_READING;
}

/* Count bytes that are kept; false if all messages would take too much memory. */
static bool hold(struct cn_grpc_call *call, const struct cn_grpc_service *service,
                 size_t len)
{
    uint64_t before = atomic_fetch_add(&service->counts->held_len, len);

    call->held_len += len;
    return before + len <= service->held_max;
}

void cn_grpc_call_take(struct cn_grpc_call *call, const struct cn_grpc_service *service,
                       struct cn_bytes bytes)
{
    struct cn_error err;

    if (call->state != CN_GRPC_READING)
        return;
    if (!hold(call, service, bytes.len)) {
        cn_otlp_outcome_busy(&call->outcome);
        call->state = CN_GRPC_ANSWERED;
    } else if (!cn_grpc_message_take(&call->message, bytes, &err)) {
        ANSWER(call,
               err.kind == CN_ERR_LIMIT ? CN_RPC_RESOURCE_EXHAUSTED : CN_RPC_INTERNAL,
               400, "%s", err.text);
    } else if (cn_grpc_message_has_prefix(&call->message) &&
               call->message.is_compressed && !call->knows_encoding) {
        ANSWER(call, call->has_encoding ? CN_RPC_UNIMPLEMENTED : CN_RPC_INTERNAL, 415,
               call->has_encoding ? "unsupported grpc-encoding; expected gzip or zstd"
                                  : "the message is compressed, and no grpc-encoding "
                                    "says how");
    }
    if (call->state == CN_GRPC_ANSWERED)
        cn_grpc_call_drop_message(call, service);
}

/* A compressed message says itself how, as bodies over HTTP do. */
static void check_message(struct cn_grpc_call *call)
{
    struct cn_bytes body = {(const uint8_t *)call->message.body.chars,
                            call->message.body.len};

    if (call->method == CN_GRPC_HEALTH)
        respond_with(call, serving, sizeof(serving) - 1);
    else if (call->message.is_compressed && !cn_is_packed(body))
        ANSWER(call, CN_RPC_INTERNAL, 400,
               "the message is neither gzip nor zstd, although it says so");
    else if (body.len == 0)
        cn_grpc_call_respond(call);
    else
        call->state = CN_GRPC_WHOLE;
}

void cn_grpc_call_end(struct cn_grpc_call *call, const struct cn_grpc_service *service)
{
    struct cn_error err;

    call->has_ended = true;
    if (call->state != CN_GRPC_READING)
        return;
    if (cn_grpc_message_end(&call->message, &err))
        check_message(call);
    else
        ANSWER(call, CN_RPC_INTERNAL, 400, "%s", err.text);
    if (call->state == CN_GRPC_ANSWERED)
        cn_grpc_call_drop_message(call, service);
}

void cn_grpc_call_respond(struct cn_grpc_call *call)
{
    struct cn_text message = {0};

    cn_otlp_outcome_body(&call->outcome, false, &message);
    respond_with(call, cn_text_str(&message), message.len);
    cn_text_done(&message);
}

uint64_t cn_grpc_call_deadline_ns(const struct cn_grpc_call *call)
{
    uint64_t body_ns = BODY_SECONDS * UINT64_C(1000000000);
    bool is_arriving = call->state == CN_GRPC_HEAD || call->state == CN_GRPC_READING;
    uint64_t ns = call->timeout_ns > 0 ? call->timeout_ns : UINT64_MAX;

    if (is_arriving && ns > body_ns)
        ns = body_ns;
    return ns > UINT64_MAX - call->begin_ns ? UINT64_MAX : call->begin_ns + ns;
}
