#include "server/http/state.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "formats/zorka/request.h"
#include "store/pipeline/collector.h"
#include "store/pipeline/uploader.h"

enum { BODY_LEN_MAX = 16 << 20 };

static const char otlp_url[] = "/v1/traces";

static const struct {
    const char *url;
    enum cn_collector_kind kind;
} addresses[] = {
    {"/agent/submit/agd", CN_COLLECT_AGENT},
    {"/agent/submit/trc", CN_COLLECT_AGENT},
    {"/api/v2/spans", CN_COLLECT_SPANS},
    {"/zipkin/api/v2/spans", CN_COLLECT_SPANS},
    {otlp_url, CN_COLLECT_SPANS},
};

static bool find_kind(const char *url, enum cn_collector_kind *out)
{
    for (size_t i = 0; i < CN_COUNT_OF(addresses); i++)
        if (strcmp(addresses[i].url, url) == 0) {
            *out = addresses[i].kind;
            return true;
        }
    return false;
}

bool cn_collect_is_address(const struct cn_server *server, const char *url)
{
    enum cn_collector_kind kind;

    return (server->collector || server->tenants.count > 0) && find_kind(url, &kind);
}

bool cn_collect_is_otlp(const char *url)
{
    return strcmp(url, otlp_url) == 0;
}

void cn_collect_read(struct cn_collect *collect, const char *data, size_t len)
{
    if (collect->is_too_long || len > BODY_LEN_MAX - collect->body.len) {
        collect->is_too_long = true;
        cn_text_done(&collect->body);
        return;
    }
    cn_text_add(&collect->body, data, len);
}

static enum MHD_Result set_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    if (value)
        cn_zorka_request_set(arg, name, value);
    return MHD_YES;
}

/* The sender: a session, or else an address. */
static void name_sender(struct MHD_Connection *connection,
                        const struct cn_zorka_request *request, char name[80])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;

    (void)snprintf(name, 80, "%s", request->session);
    if (name[0] != '\0' || !address)
        return;
    if (address->sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, name,
                        80);
    else if (address->sa_family == AF_INET6)
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr,
                        name, 80);
}

/* Called by a job of the collector, or by the thread that submitted. */
static void answer(struct cn_collect *collect, unsigned status)
{
    collect->status = status;
    collect->state = CN_COLLECT_ANSWERED;
    cn_text_done(&collect->body);
    MHD_resume_connection(collect->connection);
}

/* 412 asks an agent to send symbols again that the server does not have. */
static unsigned refusal_status(const struct cn_error *err)
{
    switch (err->kind) {
    case CN_ERR_NOT_FOUND:
        return MHD_HTTP_PRECONDITION_FAILED;
    case CN_ERR_IO:
    case CN_ERR_BUSY:
    case CN_ERR_NO_MEMORY:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    case CN_ERR_LIMIT:
        return MHD_HTTP_CONTENT_TOO_LARGE;
    case CN_ERR_NONE:
    case CN_ERR_USAGE:
    case CN_ERR_FORMAT:
    case CN_ERR_VERSION:
    case CN_ERR_INTERRUPTED:
    case CN_ERR_REJECTED:
        break;
    }
    return MHD_HTTP_BAD_REQUEST;
}

static void on_answer(void *arg, enum cn_collected how, uint64_t rejected,
                      const struct cn_error *err)
{
    struct cn_collect *collect = arg;

    cn_otlp_outcome_set(&collect->outcome, how, rejected, err);
    if (how != CN_COLLECTED)
        collect->err = *err;
    answer(collect, collect->is_otlp          ? collect->outcome.http_status
                    : how == CN_COLLECTED     ? MHD_HTTP_ACCEPTED
                    : how == CN_COLLECTED_NOT ? refusal_status(err)
                                              : MHD_HTTP_SERVICE_UNAVAILABLE);
}

static void answer_busy(struct cn_collect *collect)
{
    cn_otlp_outcome_busy(&collect->outcome);
    (void)cn_fail(&collect->err, CN_ERR_BUSY, "%s", collect->outcome.message);
    answer(collect, MHD_HTTP_TOO_MANY_REQUESTS);
}

/* A message of Protocol Buffers without fields: no spans. */
static bool is_empty(const struct cn_collect *collect)
{
    const char *type =
        MHD_lookup_connection_value(collect->connection, MHD_HEADER_KIND, "Content-Type");

    return collect->is_otlp && collect->body.len == 0 && type &&
           strncasecmp(type, "application/x-protobuf", 22) == 0;
}

void cn_collect_submit(struct cn_server *server, struct cn_collect *collect,
                       const char *url)
{
    struct cn_zorka_request request = {0};
    enum cn_collector_kind kind = CN_COLLECT_AGENT;
    struct cn_error err;
    char who[80];

    (void)find_kind(url, &kind);
    /* Before the collector can resume it. */
    collect->state = CN_COLLECT_WAITING;
    MHD_suspend_connection(collect->connection);
    if (collect->is_too_long) {
        (void)cn_fail(&err, CN_ERR_LIMIT, "the body is longer than %d bytes",
                      BODY_LEN_MAX);
        on_answer(collect, CN_COLLECTED_NOT, 0, &err);
        return;
    }
    if (is_empty(collect)) {
        on_answer(collect, CN_COLLECTED, 0, NULL);
        return;
    }
    if (!cn_uploader_has_room(server->uploader, &err)) {
        on_answer(collect, CN_COLLECTED_NOT_SAVED, 0, &err);
        return;
    }
    request.is_agent = kind == CN_COLLECT_AGENT;
    request.body =
        (struct cn_bytes){(const uint8_t *)collect->body.chars, collect->body.len};
    (void)MHD_get_connection_values(collect->connection, MHD_HEADER_KIND, set_header,
                                    &request);
    name_sender(collect->connection, &request, who);
    if (!cn_collector_submit(collect->collector, kind, &request, who, on_answer, collect))
        answer_busy(collect);
}
