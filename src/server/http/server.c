#include "server/http/server.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "server/access/endpoint.h"
#include "server/access/tls.h"
#include "server/grpc/grpc.h"
#include "server/http/state.h"
#include "server/sql/statements.h"
#include "store/bucket/collector_url.h"
#include "store/pipeline/collector.h"
#include "store/pipeline/uploader.h"

enum {
    WORKERS = 4,
    OTLP_WORKERS = 2,
    CONNECTION_MAX = 1400,
    CONNECTION_PER_ADDRESS_MAX = 700,
    CONNECTION_ARRIVING_MAX =
        560, /* the others stay free for requests that have arrived */
    OPEN_FILE_COUNT = CONNECTION_MAX + 3072,
    IDLE_SECONDS = 20,
    HEADER_LEN_MAX = 32 << 10,
    FINISH_NS = 2 * 1000000000, /* for what is being answered when the server stops */
    FINISH_POLL_NS = 2 * 1000000,
};

/* The ports of OTLP. */
enum { OTLP_GRPC_PORT = 4317, OTLP_HTTP_PORT = 4318 };

/* Sockets that listen and that no port has yet; -1: none. */
struct server_sockets {
    int page, otlp, grpc;
};

/* Other machines may connect only if they need a token. */
static bool check_token(const struct cn_endpoint *at, const char *file,
                        const char *option, struct cn_error *err)
{
    return at->is_loopback || file ||
           cn_fail(err, CN_ERR_USAGE,
                   "%s:%u: other machines can reach this address; add %s", at->address,
                   at->port, option);
}

/* The socket of the page. */
static bool open_page(struct cn_server *server, const struct cn_server_options *options,
                      int *fd, struct cn_error *err)
{
    struct cn_endpoint *at = &server->page.guard.at;
    const char *listen = options->listen ? options->listen : "127.0.0.1:0";

    if (options->socket ? !cn_endpoint_adopt(at, options->socket, err)
                        : !cn_endpoint_parse(at, "--listen", listen, err))
        return false;
    if (!check_token(at, options->token_file, "--token-file", err))
        return false;
    if (!options->socket)
        return cn_endpoint_listen(at, fd, err);
    *fd = options->socket;
    return true;
}

/* "ADDR" or "ADDR:PORT,PORT". */
static bool parse_otlp(const char *text, struct cn_endpoint *grpc,
                       struct cn_endpoint *http, struct cn_error *err)
{
    static const char option[] = "--otlp-listen";
    const char *comma = strchr(text, ','), *colon = strrchr(text, ':');
    int len = (int)(comma && colon ? colon - text : (ptrdiff_t)strlen(text));
    char *first = comma ? cn_strprintf("%.*s", (int)(comma - text), text)
                        : cn_strprintf("%s:%d", text, OTLP_GRPC_PORT);
    char *second = comma ? cn_strprintf("%.*s:%s", len, text, comma + 1)
                         : cn_strprintf("%s:%d", text, OTLP_HTTP_PORT);
    bool ok = cn_endpoint_parse(grpc, option, first, err) &&
              cn_endpoint_parse(http, option, second, err);

    free(first);
    free(second);
    return ok;
}

static bool is_same(const struct cn_endpoint *a, const struct cn_endpoint *b)
{
    return a->port != 0 && a->port == b->port && strcmp(a->address, b->address) == 0;
}

/* The sockets of OTLP. The page may have that of OTLP over HTTP. */
static bool open_otlp(struct cn_server *server, const struct cn_server_options *options,
                      struct server_sockets *fds, struct cn_error *err)
{
    const char *text = options->otlp_listen ? options->otlp_listen : "127.0.0.1";
    struct cn_endpoint *http = &server->otlp.guard.at, grpc;
    bool has_tls = server->tls != NULL;

    if (!options->is_otlp && !options->grpc_socket)
        return true;
    if (options->grpc_socket) {
        if (!cn_endpoint_adopt(&grpc, options->grpc_socket, err))
            return false;
        *http = server->page.guard.at;
        fds->grpc = options->grpc_socket;
    } else if (!parse_otlp(text, &grpc, http, err) ||
               !cn_endpoint_listen(&grpc, &fds->grpc, err)) {
        return false;
    }
    if (!is_same(http, &server->page.guard.at) &&
        !cn_endpoint_listen(http, &fds->otlp, err))
        return false;
    cn_endpoint_print(&grpc, has_tls, server->grpc_url);
    cn_endpoint_print(http, has_tls, server->otlp_url);
    return options->tls.client_ca || options->tenants ||
           (check_token(&grpc, options->collect_token_file, "--collect-token-file",
                        err) &&
            check_token(http, options->collect_token_file, "--collect-token-file", err));
}

static bool open_sources(struct cn_server *server,
                         const struct cn_server_options *options, struct cn_error *err)
{
    struct cn_open_options how = {.is_raw = options->is_raw};

    server->sources.list =
        cn_alloc(options->path_count + 1, sizeof(*server->sources.list));
    for (size_t i = 0; i < options->path_count; i++) {
        if (!cn_served_open(&server->sources.list[i], options->paths[i], &how, false,
                            err))
            return false;
        server->sources.count++;
    }
    return true;
}

/* Each connection is an open file, and so are sources. */
static void allow_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= OPEN_FILE_COUNT)
        return;
    limit.rlim_cur = limit.rlim_max < OPEN_FILE_COUNT ? limit.rlim_max : OPEN_FILE_COUNT;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

#define TOLD_NS (UINT64_C(60) * 1000000000)

/* libmicrohttpd answers requests of HTTP/2 itself, with status 505, and only its messages tell of
 * them. Say once a minute what the sender should do. */
CN_PRINTF(2, 0)
static void on_message(void *arg, const char *fmt, va_list args)
{
    struct cn_server *server = arg;
    uint64_t now_ns = cn_clock_ns(), last_ns = atomic_load(&server->told_ns);
    char text[256];

    (void)vsnprintf(text, sizeof(text), fmt, args);
    if (!server->log || !server->collect || !strstr(text, "505") ||
        (last_ns > 0 && now_ns - last_ns < TOLD_NS) ||
        !atomic_compare_exchange_strong(&server->told_ns, &last_ns, now_ns))
        return;
    if (server->grpc)
        (void)snprintf(text, sizeof(text),
                       "a sender speaks HTTP/2 to this port; OTLP over gRPC is at %s",
                       server->grpc_url);
    else
        (void)snprintf(text, sizeof(text),
                       "a sender speaks HTTP/2, as OTLP over gRPC does; start the server "
                       "with --otlp, or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf "
                       "there and send to /v1/traces");
    server->log(server->log_arg, text);
}

/* Connections of libmicrohttpd need certificates of clients where those of gRPC do. */
static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct cn_server *server = ((struct cn_port *)arg)->server;
    const union MHD_ConnectionInfo *info;

    cn_connections_notify(&server->connections, connection, context, code);
    if (code != MHD_CONNECTION_NOTIFY_STARTED || !cn_tls_client_ca(server->tls))
        return;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info)
        cn_tls_demand(server->tls, info->tls_session);
}

/* The interface is not const-correct; the texts are only read. */
static struct MHD_OptionItem text_option(enum MHD_OPTION option, const char *text)
{
    return (struct MHD_OptionItem){option, 0, (void *)(uintptr_t)text};
}

static bool start_daemon(struct cn_port *port, int fd, unsigned workers,
                         struct cn_error *err)
{
    struct cn_server *server = port->server;
    /* Not epoll, although it is a little faster: libmicrohttpd 0.9.75 sometimes leaves
     * a resumed connection suspended until another one wakes its thread. */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG | (server->tls ? MHD_USE_TLS : 0);
    struct MHD_OptionItem options[5] = {{MHD_OPTION_END, 0, NULL}};
    size_t count = 0;

    if (server->tls) {
        options[count++] =
            text_option(MHD_OPTION_HTTPS_MEM_CERT, cn_tls_cert(server->tls));
        options[count++] = text_option(MHD_OPTION_HTTPS_MEM_KEY, cn_tls_key(server->tls));
        options[count++] = text_option(MHD_OPTION_HTTPS_PRIORITIES, CN_TLS_PRIORITIES);
        if (cn_tls_client_ca(server->tls))
            options[count++] =
                text_option(MHD_OPTION_HTTPS_MEM_TRUST, cn_tls_client_ca(server->tls));
        options[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    port->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, cn_server_answer, port, MHD_OPTION_EXTERNAL_LOGGER,
        on_message, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE,
        workers, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTION_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTION_PER_ADDRESS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_LEN_MAX,
        MHD_OPTION_NOTIFY_COMPLETED, cn_server_completed, port,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, port, MHD_OPTION_UNESCAPE_CALLBACK,
        cn_connections_unescape, server, MHD_OPTION_URI_LOG_CALLBACK,
        cn_connections_address, server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY,
        options, MHD_OPTION_END);
    if (port->daemon)
        return true;
    return cn_fail(err, CN_ERR_IO, "cannot start the server%s",
                   server->tls ? "; check --tls-cert and --tls-key" : "");
}

#ifdef CN_HAS_NGHTTP2
static struct cn_collector *find_collector(void *arg, const char *token, const char *name)
{
    struct cn_server *server = arg;
    const struct cn_tenant *tenant =
        cn_tenants_find(&server->tenants, &server->collector_guard, token, name);

    return tenant ? tenant->collector : NULL;
}

static bool start_grpc(struct cn_server *server, int fd, struct cn_error *err)
{
    struct cn_grpc_options options = {
        .socket = fd,
        .collector = server->collector,
        .find = server->tenants.count > 0 ? find_collector : NULL,
        .find_arg = server,
        .uploader = server->uploader,
        .guard = &server->collector_guard,
        .tls = server->tls,
    };

    return cn_grpc_start(&server->grpc, &options, err);
}
#else
static bool start_grpc(struct cn_server *server, int fd, struct cn_error *err)
{
    (void)server;
    (void)fd;
    return cn_fail(err, CN_ERR_USAGE,
                   "--otlp: cairn was built without HTTP/2; install the package "
                   "libnghttp2-dev and build it again");
}
#endif

/* What has started has its socket: -1 from then on. */
static bool start_listeners(struct cn_server *server, struct server_sockets *fds,
                            struct cn_error *err)
{
    allow_files();
    if (!cn_connections_start(&server->connections, CONNECTION_ARRIVING_MAX))
        return cn_fail(err, CN_ERR_IO, "cannot start a thread");
    if (fds->grpc >= 0) {
        if (!start_grpc(server, fds->grpc, err))
            return false;
        fds->grpc = -1;
    }
    if (fds->otlp >= 0) {
        if (!start_daemon(&server->otlp, fds->otlp, OTLP_WORKERS, err))
            return false;
        fds->otlp = -1;
    }
    if (!start_daemon(&server->page, fds->page, WORKERS, err))
        return false;
    fds->page = -1;
    return true;
}

static void make_url(struct cn_server *server)
{
    char url[CN_ENDPOINT_URL_LEN];

    cn_endpoint_print(&server->page.guard.at, server->tls, url);
    (void)snprintf(server->url, sizeof(server->url), "%s/?token=%s", url,
                   server->page.guard.token);
}

/* The two newest segments of each lane contain the ids of its latest traces. */
static bool start_uploader(struct cn_server *server,
                           const struct cn_server_options *options, struct cn_error *err)
{
    struct cn_uploader_options upload = {
        .path = options->collect,
        .address = options->upload,
        .kept = 2 * cn_collector_lane_count(server->collector),
        .len_max = options->collect_space,
        .url = server->advertised,
        .replicates = options->replicates,
    };

    return cn_uploader_start(&server->uploader, &upload, err);
}

/* Readers have a token: that of the page, which has to be one that they can know. Their requests
 * name the server by its URL. */
static bool check_advertise(struct cn_server *server,
                            const struct cn_server_options *options, struct cn_error *err)
{
    const char *url = options->advertise, *host;
    struct cn_text made = {0};

    if (!url)
        return true;
    if (!options->upload || !options->token_file)
        return cn_fail(err, CN_ERR_USAGE, "--advertise needs --upload and --token-file");
    host = strstr(url, "://");
    if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
        strspn(url, CN_COLLECTOR_URL_CHARACTERS) != strlen(url) || strchr(host + 3, '/'))
        return cn_fail(err, CN_ERR_USAGE, "--advertise '%s' is not http://HOST:PORT",
                       url);
    host += 3;
    size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    cn_text_printf(&made, "%s", url);
    if (strlen(host) <= len) /* without a port */
        cn_text_printf(&made, ":%u", server->page.guard.at.port);
    server->advertised = made.chars;
    if (!server->page.guard.host) {
        server->advertised_host = cn_strdup(host);
        if (strlen(host) > len)
            server->advertised_host[len] = '\0';
        server->page.guard.host = server->advertised_host;
    }
    return true;
}

static bool open_collector(struct cn_server *server,
                           const struct cn_server_options *options, struct cn_error *err)
{
    struct cn_collector_options limits = {
        .waiting_max = options->collect_limit,
        .waiting_max_of_one = (options->collect_limit + 3) / 4,
        .lanes = options->collect_lanes,
        .replicate = options->replicates ? options->upload : NULL,
        .keep = options->keep,
        .redaction = options->redaction,
        .keep_address = options->upload,
        .settle = cn_counted_catch_up,
        .settle_arg = &server->counted,
        .log = options->log,
        .log_arg = options->log_arg,
    };

    if (options->collect_token_file &&
        !cn_guard_read_token(&server->collector_guard, options->collect_token_file, err))
        return false;
    if (options->collect && !options->tls.client_ca && !options->tenants &&
        !check_token(&server->page.guard.at, options->collect_token_file,
                     "--collect-token-file", err))
        return false;
    if (!options->collect && (options->upload || options->collect_space > 0))
        return cn_fail(err, CN_ERR_USAGE, "--upload and --collect-space need --collect");
    if (!options->collect &&
        (cn_keeper_has_limits(&options->keep) || options->keep.joins))
        return cn_fail(
            err, CN_ERR_USAGE,
            "--keep, --keep-size, --keep-count, --keep-disk and --compact need "
            "--collect");
    if (options->keep.sample && (!options->collect || options->upload))
        return cn_fail(err, CN_ERR_USAGE,
                       "--sample needs --collect, and cannot be used with --upload: "
                       "segments leave before the spans of their traces have come");
    if (!options->collect && options->redaction)
        return cn_fail(err, CN_ERR_USAGE, "--redact and --redact-file need --collect");
    if (options->upload && options->keep.disk_max > 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "--keep-disk is for a store in a folder; with --upload use "
                       "--collect-space, and --keep or --keep-size for object storage");
    if (options->tenants &&
        (!options->collect || options->upload || options->path_count > 0))
        return cn_fail(err, CN_ERR_USAGE,
                       "--tenants needs --collect, and cannot be used with --upload or "
                       "with data to show, which has no tenant");
    if (options->replicates && !options->upload)
        return cn_fail(err, CN_ERR_USAGE, "--replicate needs --upload");
    if (!check_advertise(server, options, err))
        return false;
    if (!options->collect)
        return true;
    server->collect = cn_strdup(options->collect);
    if (options->tenants)
        return cn_tenants_open(&server->tenants, options->tenants, options->collect,
                               &limits, err);
    limits.url = server->advertised ? server->advertised : "";
    cn_manifest_new_id(server->start_id);
    if (!cn_collector_open(&server->collector, options->collect, &limits, err) ||
        !cn_served_open(&server->sources.list[server->sources.count], options->collect,
                        NULL, false, err))
        return false;
    cn_counted_begin(&server->counted, server->sources.list[server->sources.count++]);
    if (!cn_collector_keep(server->collector, err))
        return false;
    return !options->upload || start_uploader(server, options, err);
}

static void close_sockets(const struct server_sockets *fds)
{
    if (fds->page >= 0)
        (void)close(fds->page);
    if (fds->otlp >= 0)
        (void)close(fds->otlp);
    if (fds->grpc >= 0)
        (void)close(fds->grpc);
}

static bool start(struct cn_server *server, const struct cn_server_options *options,
                  struct server_sockets *fds, struct cn_error *err)
{
    struct cn_guard *guard = &server->page.guard;

    guard->host = options->host;
    server->log = options->log;
    server->log_arg = options->log_arg;
    if ((options->is_otlp || options->grpc_socket) && !options->collect)
        return cn_fail(err, CN_ERR_USAGE, "--otlp needs --collect");
    if (!(options->token_file ? cn_guard_read_token(guard, options->token_file, err)
                              : cn_guard_make_token(guard, err)) ||
        !cn_tls_open(&server->tls, &options->tls, err) ||
        !open_sources(server, options, err) ||
        !open_page(server, options, &fds->page, err) ||
        !open_otlp(server, options, fds, err))
        return false;
    make_url(server);
    if (!open_collector(server, options, err))
        return false;
    server->otlp.guard.host = guard->host;
    return start_listeners(server, fds, err);
}

bool cn_server_start(struct cn_server **out, const struct cn_server_options *options,
                     struct cn_error *err)
{
    struct cn_server *server = cn_alloc(1, sizeof(*server));
    struct server_sockets fds = {-1, -1, -1};

    server->page.server = server->otlp.server = server;
    server->otlp.takes_traces_alone = true;
    cn_counted_init(&server->counted);
    cn_downloads_init(server);
    cn_served_diffs_init(&server->diffs);
    server->sources.diffs = &server->diffs;
    server->sources.statements = cn_statements_new();
    server->sources.answer_sql = cn_statements_answer;
    server->sources.answer_tables = cn_statements_tables;
    if (!start(server, options, &fds, err)) {
        close_sockets(&fds);
        cn_server_stop(server);
        return false;
    }
    *out = server;
    return true;
}

const char *cn_server_url(const struct cn_server *server)
{
    return server->url;
}

const char *cn_server_grpc_url(const struct cn_server *server)
{
    return server->grpc_url[0] ? server->grpc_url : NULL;
}

const char *cn_server_otlp_url(const struct cn_server *server)
{
    return server->otlp_url[0] ? server->otlp_url : NULL;
}

static MHD_socket quiesce(const struct cn_port *port)
{
    return port->daemon ? MHD_quiesce_daemon(port->daemon) : MHD_INVALID_SOCKET;
}

static void stop_listener(struct cn_port *port, MHD_socket fd)
{
    if (fd != MHD_INVALID_SOCKET)
        (void)close(fd);
    if (port->daemon)
        MHD_stop_daemon(port->daemon);
}

/* libmicrohttpd would end answers in the middle. Slow clients do not hold the server up. */
static void finish_answers(const struct cn_server *server)
{
    uint64_t begin_ns = cn_clock_ns();

    while (atomic_load(&server->counts.open) > 0 && cn_clock_ns() - begin_ns < FINISH_NS)
        (void)nanosleep(&(struct timespec){.tv_nsec = FINISH_POLL_NS}, NULL);
}

/* Daemons stop only when no connection waits for a commit or a download. */
static void stop_listeners(struct cn_server *server)
{
    MHD_socket page = quiesce(&server->page), otlp = quiesce(&server->otlp);

#ifdef CN_HAS_NGHTTP2
    cn_grpc_quiesce(server->grpc);
#endif
    cn_downloads_stop(server);
    if (server->collector)
        cn_collector_finish(server->collector);
    cn_tenants_finish(&server->tenants);
    finish_answers(server);
    stop_listener(&server->otlp, otlp);
    stop_listener(&server->page, page);
#ifdef CN_HAS_NGHTTP2
    cn_grpc_stop(server->grpc); /* /metrics of the others shows its counts */
#endif
}

void cn_server_stop(struct cn_server *server)
{
    struct cn_error err;

    if (!server)
        return;
    stop_listeners(server);
    cn_job_group_done(&server->downloads);
    cn_connections_end(&server->connections);
    cn_uploader_stop(server->uploader);
    if (server->collector && !cn_collector_close(server->collector, &err) && server->log)
        server->log(server->log_arg, err.text);
    cn_served_diffs_done(&server->diffs);
    cn_statements_free(server->sources.statements);
    cn_counted_done(&server->counted);
    cn_tenants_close(&server->tenants, server->log, server->log_arg);
    for (size_t i = 0; i < server->sources.count; i++)
        cn_served_close(server->sources.list[i]);
    free(server->sources.list);
    cn_tls_close(server->tls);
    free(server->collect);
    free(server->advertised);
    free(server->advertised_host);
    free(server);
}
