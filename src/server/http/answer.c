#include "server/http/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "server/api/request.h"
#include "server/compat/link.h"
#include "server/compat/route.h"
#include "server/http/head.h"
#include "server/page/assets.h"

/* Scripts and styles come from this server only, and no other page may embed its
 * pages. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* As Tempo has it: which tenant a gateway asks for. */
static const char tenant_header[] = "X-Scope-OrgID";

/* A request between callbacks. */
struct exchange {
    bool is_collected; /* its body is for the collector */
    unsigned refusal;  /* status of a request that its head excludes; 0: none */
    const char *why;   /* the text of the refusal */
    struct cn_collect collect;
    struct cn_download *download; /* NULL: none was begun */
};

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* True if the request has the bearer token of a guard. */
static bool has_bearer(struct MHD_Connection *connection, const struct cn_guard *guard)
{
    const char *header = header_of(connection, "Authorization");

    return header && strncmp(header, "Bearer ", 7) == 0 &&
           cn_guard_knows_token(guard, header + 7);
}

/* True if the server has tenants. */
static bool has_tenants(const struct cn_server *server)
{
    return server->tenants.count > 0;
}

/* The bearer token of a request; NULL if it has none. */
static const char *bearer_of(struct MHD_Connection *connection)
{
    const char *header = header_of(connection, "Authorization");

    return header && strncmp(header, "Bearer ", 7) == 0 ? header + 7 : NULL;
}

static bool begins_with(const char *value, const char *prefix)
{
    return value && strncasecmp(value, prefix, strlen(prefix)) == 0;
}

/* True if a page of another server may have sent the request. Browsers add Origin or
 * Sec-Fetch-Site; old ones add neither to a form, whose type they cannot hide. */
static bool is_of_page(struct MHD_Connection *connection)
{
    const char *type = header_of(connection, "Content-Type");

    return header_of(connection, "Origin") || header_of(connection, "Sec-Fetch-Site") ||
           begins_with(type, "text/plain") || begins_with(type, "multipart/form-data");
}

/* The body says itself how it is compressed. */
static bool is_readable(struct MHD_Connection *connection)
{
    const char *encoding = header_of(connection, "Content-Encoding");

    return !encoding || encoding[0] == '\0' || strcasecmp(encoding, "gzip") == 0 ||
           strcasecmp(encoding, "x-gzip") == 0 || strcasecmp(encoding, "zstd") == 0 ||
           strcasecmp(encoding, "identity") == 0;
}

static void set_refusal(struct exchange *exchange, unsigned status, const char *why)
{
    exchange->refusal = status;
    exchange->why = why;
}

/* Decide about a request with traces before its body is read. Pages cannot read the token: a
 * request that has it was sent on purpose. */
static void check_sender(const struct cn_port *port, struct MHD_Connection *connection,
                         struct exchange *exchange)
{
    struct cn_server *server = port->server;
    const struct cn_guard *guard = &server->collector_guard;
    const struct cn_tenant *tenant =
        has_tenants(server)
            ? cn_tenants_find(&server->tenants, guard, bearer_of(connection),
                              header_of(connection, tenant_header))
            : NULL;

    exchange->collect.collector = tenant ? tenant->collector : server->collector;
    if (!cn_guard_knows_host(&port->guard, header_of(connection, "Host")))
        set_refusal(exchange, MHD_HTTP_MISDIRECTED_REQUEST,
                    "the Host header names another server");
    else if (has_tenants(server) && !tenant)
        set_refusal(exchange, MHD_HTTP_UNAUTHORIZED,
                    "no tenant has this token, or X-Scope-OrgID names another");
    else if (!has_tenants(server) && guard->token[0] != '\0' &&
             !has_bearer(connection, guard))
        set_refusal(exchange, MHD_HTTP_UNAUTHORIZED,
                    "the token for traces is missing or wrong");
    else if (!has_tenants(server) && guard->token[0] == '\0' && is_of_page(connection))
        set_refusal(exchange, MHD_HTTP_FORBIDDEN,
                    "a web page may not send traces (Origin, Sec-Fetch-Site, or the type "
                    "of a form); for other senders use --collect-token-file");
    else if (!is_readable(connection))
        set_refusal(exchange, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                    "unsupported Content-Encoding; expected gzip, zstd or identity");
}

/* The first callback of a request, which has only its head. */
static struct exchange *begin_exchange(struct cn_port *port,
                                       struct MHD_Connection *connection, const char *url,
                                       const char *method, const char *version)
{
    struct cn_server *server = port->server;
    struct exchange *exchange = cn_alloc(1, sizeof(*exchange));

    exchange->is_collected =
        strcmp(method, "POST") == 0 && cn_collect_is_address(server, url);
    exchange->collect.connection = connection;
    exchange->collect.is_otlp = exchange->is_collected && cn_collect_is_otlp(url);
    const char *why = cn_head_refusal(connection, method, version);
    if (why)
        set_refusal(exchange, MHD_HTTP_BAD_REQUEST, why);
    if (exchange->is_collected && exchange->refusal == 0)
        check_sender(port, connection, exchange);
    cn_connections_note(&server->connections, connection, CN_CONNECTION_HEAD);
    atomic_fetch_add(&server->counts.requests, 1);
    atomic_fetch_add(&server->counts.open, 1);
    return exchange;
}

static void add_headers(struct MHD_Response *response, const char *type)
{
    (void)MHD_add_response_header(response, "Content-Type", type);
    (void)MHD_add_response_header(response, "Content-Security-Policy", policy);
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    (void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    (void)MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
                                  "same-origin");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
}

static enum MHD_Result deliver(struct MHD_Connection *connection, unsigned status,
                               struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Takes ownership of the text. `value` is that of one more header, or NULL. */
static enum MHD_Result send_with(struct MHD_Connection *connection, unsigned status,
                                 struct cn_text *text, const char *type,
                                 const char *header, const char *value)
{
    struct MHD_Response *response;

    if (!text->chars)
        cn_text_grow(text, 0);
    response =
        MHD_create_response_from_buffer(text->len, text->chars, MHD_RESPMEM_MUST_FREE);
    if (response)
        add_headers(response, type);
    else
        cn_text_done(text);
    if (response && value)
        (void)MHD_add_response_header(response, header, value);
    return deliver(connection, status, response);
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
                                 struct cn_text *text, const char *type)
{
    return send_with(connection, status, text, type, NULL, NULL);
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status,
                                  const struct cn_error *err)
{
    struct cn_text text = {0};

    cn_route_error(&text, err);
    return send_with(connection, status, &text, "application/json", "Retry-After",
                     err->kind == CN_ERR_BUSY ? "1" : NULL);
}

static enum MHD_Result refuse(struct cn_server *server, struct MHD_Connection *connection,
                              unsigned status, const char *text)
{
    struct cn_error err;

    atomic_fetch_add(&server->counts.refused, 1);
    (void)cn_fail(&err, CN_ERR_USAGE, "%s", text);
    return send_error(connection, status, &err);
}

static enum MHD_Result collect_parameter(void *arg, enum MHD_ValueKind kind,
                                         const char *name, const char *value)
{
    struct cn_request *request = arg;

    (void)kind;
    if (request->parameter_count < CN_REQUEST_PARAMETER_MAX)
        request->parameters[request->parameter_count++] =
            (struct cn_query_parameter){name, value ? value : ""};
    return MHD_YES;
}

static enum MHD_Result answer_api(struct cn_server *server,
                                  struct cn_served_list *sources,
                                  struct MHD_Connection *connection, const char *url)
{
    struct cn_text text = {0};
    struct cn_request *request = cn_alloc(1, sizeof(*request));
    struct cn_error err = {0};
    uint64_t begin_ns = cn_clock_ns();
    uint64_t cpu_ns = cn_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    char timing[80];

    request->path = url;
    request->json.text = &text;
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, collect_parameter,
                                    request);
    bool ok = cn_route_api(sources, request, &err);
    cpu_ns = cn_clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    begin_ns = cn_clock_ns() - begin_ns;
    atomic_fetch_add(&server->counts.answer_ns, begin_ns);
    free(request);
    (void)snprintf(timing, sizeof(timing), "cpu;dur=%.3f, total;dur=%.3f",
                   (double)cpu_ns / 1e6, (double)begin_ns / 1e6);
    if (ok)
        return send_with(connection, MHD_HTTP_OK, &text, "application/json",
                         "Server-Timing", timing);
    cn_text_done(&text);
    atomic_fetch_add(&server->counts.failed, 1);
    return send_error(connection, cn_route_status(err.kind), &err);
}

/* The APIs of other trace stores: errors are answers in their shapes. */
static enum MHD_Result answer_compat(struct cn_server *server,
                                     struct cn_served_list *sources,
                                     struct MHD_Connection *connection, const char *url)
{
    const char *accept = header_of(connection, "Accept"), *type = NULL;
    struct cn_request *request = cn_alloc(1, sizeof(*request));
    uint64_t begin_ns = cn_clock_ns();
    struct cn_text text = {0};
    unsigned status = MHD_HTTP_NOT_FOUND;

    request->path = url;
    request->json.text = &text;
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, collect_parameter,
                                    request);
    char sampled[sizeof(request->sampled)];

    cn_compat_answer_request(sources, request, accept ? accept : "", &status, &type);
    memcpy(sampled, request->sampled, sizeof(sampled));
    free(request);
    atomic_fetch_add(&server->counts.answer_ns, cn_clock_ns() - begin_ns);
    if (status != MHD_HTTP_OK)
        atomic_fetch_add(&server->counts.failed, 1);
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        return send_with(connection, status, &text, type, "Retry-After", "1");
    return send_with(connection, status, &text, type, "X-Cairn-Sampled",
                     sampled[0] != '\0' ? sampled : NULL);
}

/* Send a browser elsewhere. */
static enum MHD_Result redirect(struct MHD_Connection *connection, const char *address)
{
    struct cn_text text = {0};

    return send_with(connection, MHD_HTTP_FOUND, &text, "text/plain", "Location",
                     address);
}

/* A link to a trace that another site has. Browsers follow it without the cookie, which has
 * SameSite=Strict: an answer that loads the page again is the same site, so the cookie is sent then. */
static enum MHD_Result answer_stranger(struct MHD_Connection *connection, const char *id)
{
    struct cn_text text = {0};

    cn_text_printf(&text,
                   "<!doctype html><meta http-equiv=\"refresh\" "
                   "content=\"0;url=/trace/%s?again=1\"><title>cairn</title>\n",
                   id);
    return send_text(connection, MHD_HTTP_OK, &text, "text/html; charset=utf-8");
}

static enum MHD_Result answer_link(struct cn_served_list *sources,
                                   struct MHD_Connection *connection, const char *id)
{
    struct cn_error err;
    char address[64];

    if (cn_compat_link_open(sources, id, address, &err))
        return redirect(connection, address);
    return send_error(connection, cn_route_status(err.kind), &err);
}

static enum MHD_Result answer_fresh(struct cn_server *server,
                                    struct MHD_Connection *connection, const char *url)
{
    struct cn_error err;
    struct MHD_Response *response = cn_fresh_answer(server, connection, url, &err);

    if (!response)
        return send_error(connection, cn_route_status(err.kind), &err);
    add_headers(response, "application/octet-stream");
    return deliver(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result begin_download(struct cn_server *server,
                                      const struct cn_served_list *sources,
                                      struct MHD_Connection *connection,
                                      struct exchange *exchange, const char *url)
{
    struct cn_request *request = cn_alloc(1, sizeof(*request));
    struct cn_error err;

    request->path = url;
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, collect_parameter,
                                    request);
    bool ok = cn_download_begin(server, sources, request, connection, &exchange->download,
                                &err);
    free(request);
    if (ok)
        return MHD_YES;
    atomic_fetch_add(&server->counts.failed, 1);
    return send_error(connection, cn_route_status(err.kind), &err);
}

static enum MHD_Result answer_download(struct cn_server *server,
                                       struct MHD_Connection *connection,
                                       struct exchange *exchange)
{
    struct cn_error err;
    struct MHD_Response *response = cn_download_answer(exchange->download, &err);

    if (response) {
        add_headers(response, "application/octet-stream");
        return deliver(connection, MHD_HTTP_OK, response);
    }
    atomic_fetch_add(&server->counts.failed, 1);
    return send_error(connection, cn_route_status(err.kind), &err);
}

static enum MHD_Result answer_asset(struct cn_server *server,
                                    struct MHD_Connection *connection, const char *url)
{
    struct MHD_Response *response;

    if (strcmp(url, "/") == 0)
        url = "/index.html";
    for (const struct cn_asset *asset = cn_assets; asset->path; asset++) {
        if (strcmp(asset->path, url) != 0)
            continue;
        /* The interface is not const-correct; the memory is only read. */
        response = MHD_create_response_from_buffer((size_t)(asset->end - asset->begin),
                                                   (void *)(uintptr_t)asset->begin,
                                                   MHD_RESPMEM_PERSISTENT);
        if (response)
            add_headers(response, asset->type);
        return deliver(connection, MHD_HTTP_OK, response);
    }
    return refuse(server, connection, MHD_HTTP_NOT_FOUND, "no such page");
}

static enum MHD_Result answer_metrics(struct cn_server *server, struct cn_tenant *tenant,
                                      struct MHD_Connection *connection)
{
    const char *accept = header_of(connection, "Accept");
    bool is_open = accept && strstr(accept, "application/openmetrics-text");
    struct cn_text text = {0};

    cn_server_scrape(server, tenant, is_open, &text);
    return send_text(connection, MHD_HTTP_OK, &text,
                     is_open
                         ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                         : "text/plain; version=0.0.4");
}

/* Cookies do not distinguish ports: the name of the cookie does. */
static void cookie_name(const struct cn_server *server, char name[32])
{
    (void)snprintf(name, 32, "cairn-%u", server->page.guard.at.port);
}

/* The token of a request, from its head or the cookie of the page, or from the address of a download,
 * as `go tool pprof` sends no headers; NULL if it has none. */
static const char *token_of(const struct cn_server *server,
                            struct MHD_Connection *connection, const char *url)
{
    const char *given =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    char name[32];

    if (header_of(connection, "Authorization"))
        return bearer_of(connection);
    if (given && cn_download_is_address(url))
        return given;
    cookie_name(server, name);
    return MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, name);
}

static bool has_token(const struct cn_server *server, struct MHD_Connection *connection,
                      const char *url)
{
    const char *token = token_of(server, connection, url);

    return token && cn_guard_knows_token(&server->page.guard, token);
}

/* The tenant that a request is of; NULL if there is none. */
static struct cn_tenant *tenant_of(const struct cn_server *server,
                                   struct MHD_Connection *connection, const char *url)
{
    return has_tenants(server) ? cn_tenants_find(&server->tenants, &server->page.guard,
                                                 token_of(server, connection, url),
                                                 header_of(connection, tenant_header))
                               : NULL;
}

/* A page with the token in its address: move the token into a cookie, so that copied
 * addresses do not contain it. */
static enum MHD_Result welcome(struct cn_server *server,
                               struct MHD_Connection *connection, const char *token)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    char name[32], cookie[CN_TOKEN_MAX + 128];

    if (!response)
        return MHD_NO;
    cookie_name(server, name);
    (void)snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/%s",
                   name, token, server->tls ? "; Secure" : "");
    (void)MHD_add_response_header(response, "Set-Cookie", cookie);
    (void)MHD_add_response_header(response, "Location", "/");
    add_headers(response, "text/plain");
    return deliver(connection, MHD_HTTP_FOUND, response);
}

/* True for what shows a store, not only the page that would. */
static bool is_about_data(const char *url)
{
    return cn_compat_link_id(url) || cn_compat_is_address(url) ||
           strncmp(url, "/api/", 5) == 0 || cn_fresh_is_address(url) ||
           cn_download_is_address(url);
}

static enum MHD_Result answer(struct cn_port *port, struct MHD_Connection *connection,
                              struct exchange *exchange, const char *url,
                              const char *method)
{
    struct cn_server *server = port->server;
    const char *token =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    struct cn_text text = {0};

    if (!cn_guard_knows_host(&port->guard, header_of(connection, "Host")))
        return refuse(server, connection, MHD_HTTP_MISDIRECTED_REQUEST,
                      "the Host header names another server");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                      "only GET and HEAD are allowed here");
    if (strcmp(url, "/healthz") == 0) {
        cn_text_str_add(&text, "ok\n");
        return send_text(connection, MHD_HTTP_OK, &text, "text/plain");
    }
    if (port->takes_traces_alone)
        return refuse(server, connection, MHD_HTTP_NOT_FOUND,
                      "this port takes traces; the page has another");
    if (token && strcmp(url, "/") == 0 &&
        (cn_guard_knows_token(&server->page.guard, token) ||
         cn_tenants_find(&server->tenants, &server->page.guard, token, NULL)))
        return welcome(server, connection, token);
    struct cn_tenant *tenant = tenant_of(server, connection, url);
    bool has_access = tenant || has_token(server, connection, url);
    if (cn_compat_link_id(url) && !has_access &&
        !MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "again"))
        return answer_stranger(connection, cn_compat_link_id(url));
    if (!has_access)
        return refuse(server, connection, MHD_HTTP_UNAUTHORIZED,
                      has_tenants(server)
                          ? "no tenant has this token, or X-Scope-OrgID names another"
                          : "the token is missing or wrong; open the address that cairn "
                            "printed");
    if (strcmp(url, "/metrics") == 0)
        return answer_metrics(server, tenant, connection);
    struct cn_served_list *sources = tenant ? &tenant->sources : &server->sources;
    if (has_tenants(server) && !tenant && is_about_data(url))
        return refuse(server, connection, MHD_HTTP_UNAUTHORIZED,
                      "this is the token of the server: name the tenant in "
                      "X-Scope-OrgID, or use its token");
    if (cn_compat_link_id(url))
        return answer_link(sources, connection, cn_compat_link_id(url));
    if (cn_compat_is_address(url))
        return answer_compat(server, sources, connection, url);
    if (strncmp(url, "/api/", 5) == 0)
        return answer_api(server, sources, connection, url);
    if (cn_fresh_is_address(url))
        return answer_fresh(server, connection, url);
    if (cn_download_is_address(url))
        return begin_download(server, sources, connection, exchange, url);
    return answer_asset(server, connection, url);
}

/* The answer to a request of OTLP, in the encoding of the request. */
static enum MHD_Result answer_otlp(struct MHD_Connection *connection,
                                   const struct cn_otlp_outcome *outcome)
{
    const char *type = header_of(connection, "Content-Type");
    bool is_protobuf = begins_with(type, "application/x-protobuf");
    bool is_json = begins_with(type, "application/json") ||
                   (!is_protobuf && outcome->code != CN_RPC_OK);
    struct cn_text text = {0};
    char seconds[16];

    (void)snprintf(seconds, sizeof(seconds), "%u", outcome->retry_s);
    cn_otlp_outcome_body(outcome, is_json, &text);
    return send_with(connection, outcome->http_status, &text,
                     is_json ? "application/json" : "application/x-protobuf",
                     "Retry-After", outcome->retry_s > 0 ? seconds : NULL);
}

/* A request of OTLP that its head excludes. */
static enum MHD_Result refuse_otlp(struct cn_server *server,
                                   struct MHD_Connection *connection,
                                   const struct exchange *exchange)
{
    struct cn_otlp_outcome outcome;

    atomic_fetch_add(&server->counts.refused, 1);
    cn_otlp_outcome_fail(
        &outcome,
        exchange->refusal == MHD_HTTP_UNAUTHORIZED ? CN_RPC_UNAUTHENTICATED
        : exchange->refusal == MHD_HTTP_FORBIDDEN  ? CN_RPC_PERMISSION_DENIED
                                                   : CN_RPC_INVALID_ARGUMENT,
        exchange->refusal, "%s", exchange->why);
    return answer_otlp(connection, &outcome);
}

static enum MHD_Result answer_collected(struct cn_server *server,
                                        struct MHD_Connection *connection,
                                        struct cn_collect *collect)
{
    bool is_put_off = collect->status == MHD_HTTP_TOO_MANY_REQUESTS;

    atomic_fetch_add(&server->counts.failed, collect->status >= 300 && !is_put_off);
    if (collect->is_otlp)
        return answer_otlp(connection, &collect->outcome);
    if (collect->status != MHD_HTTP_ACCEPTED && !is_put_off)
        return send_error(connection, collect->status, &collect->err);
    /* Agents read no body, and fail on headers without a value. */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response && is_put_off)
        (void)MHD_add_response_header(response, "Retry-After", "1");
    return deliver(connection, collect->status, response);
}

static enum MHD_Result collect(struct cn_server *server,
                               struct MHD_Connection *connection,
                               struct exchange *exchange, const char *url)
{
    if (exchange->collect.state == CN_COLLECT_ANSWERED)
        return answer_collected(server, connection, &exchange->collect);
    if (exchange->collect.state == CN_COLLECT_WAITING)
        return MHD_YES;
    cn_collect_submit(server, &exchange->collect, url);
    return MHD_YES;
}

enum MHD_Result cn_server_answer(void *arg, struct MHD_Connection *connection,
                                 const char *url, const char *method, const char *version,
                                 const char *upload, size_t *upload_len, void **state)
{
    struct cn_port *port = arg;
    struct cn_server *server = port->server;
    struct exchange *exchange = *state;

    if (!exchange) {
        *state = begin_exchange(port, connection, url, method, version);
        return MHD_YES;
    }
    if (*upload_len > 0) { /* bodies for others than the collector are dropped */
        if (exchange->is_collected && exchange->refusal == 0)
            cn_collect_read(&exchange->collect, upload, *upload_len);
        *upload_len = 0;
        return MHD_YES;
    }
    if (exchange->refusal != 0)
        return exchange->collect.is_otlp
                   ? refuse_otlp(server, connection, exchange)
                   : refuse(server, connection, exchange->refusal, exchange->why);
    cn_connections_note(&server->connections, connection, CN_CONNECTION_WHOLE);
    if (exchange->download)
        return answer_download(server, connection, exchange);
    return exchange->is_collected ? collect(server, connection, exchange, url)
                                  : answer(port, connection, exchange, url, method);
}

void cn_server_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct cn_server *server = ((struct cn_port *)arg)->server;

    (void)code;
    cn_connections_note(&server->connections, connection, CN_CONNECTION_NEXT);
    if (!*state)
        return;
    atomic_fetch_sub(&server->counts.open, 1);
    cn_text_done(&((struct exchange *)*state)->collect.body);
    cn_download_end(((struct exchange *)*state)->download);
    free(*state);
    *state = NULL;
}
