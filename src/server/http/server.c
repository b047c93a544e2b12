#include "server/http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "server/http/guard.h"
#include "server/http/state.h"
#include "server/sql/statements.h"
#include "store/bucket/collector_url.h"
#include "store/pipeline/collector.h"
#include "store/pipeline/uploader.h"

enum {
    WORKERS = 4,
    CONNECTION_MAX = 1400,
    CONNECTION_PER_ADDRESS_MAX = 700,
    CONNECTION_ARRIVING_MAX =
        560, /* the others stay free for requests that have arrived */
    OPEN_FILE_COUNT = CONNECTION_MAX + 1024,
    IDLE_SECONDS = 20,
    HEADER_LEN_MAX = 32 << 10,
    BACKLOG = 128,
};

/* "ADDR:PORT" or "[ADDR]:PORT"; port 0 means any free one. */
static bool parse_listen(const char *text, char address[64], uint16_t *port,
                         struct cn_error *err)
{
    const char *colon = strrchr(text, ':');
    const char *begin = text, *end = colon;
    char *rest;

    if (!colon || colon == text)
        return cn_fail(err, CN_ERR_USAGE, "--listen '%s' is not ADDR:PORT", text);
    if (begin[0] == '[' && end[-1] == ']') {
        begin++;
        end--;
    }
    unsigned long number = strtoul(colon + 1, &rest, 10);
    if (colon[1] < '0' || colon[1] > '9' || *rest || number > UINT16_MAX)
        return cn_fail(err, CN_ERR_USAGE, "--listen '%s': '%s' is not a port", text,
                       colon + 1);
    if (end - begin >= 64)
        return cn_fail(err, CN_ERR_USAGE, "--listen '%s': the address is too long", text);
    (void)snprintf(address, 64, "%.*s", (int)(end - begin), begin);
    *port = (uint16_t)number;
    return true;
}

static bool make_address(const char *address, uint16_t port, struct sockaddr_storage *out,
                         socklen_t *len, bool *is_loopback, struct cn_error *err)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        *len = sizeof(*v4);
        *is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        *len = sizeof(*v6);
        *is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        return true;
    }
    return cn_fail(err, CN_ERR_USAGE, "--listen: '%s' is not a numeric address", address);
}

/* Other machines may connect only if they need a token. */
static bool check_token(const struct cn_server *server,
                        const struct cn_server_options *options, const char *file,
                        const char *option, struct cn_error *err)
{
    if (server->guard.is_loopback || file)
        return true;
    return cn_fail(err, CN_ERR_USAGE,
                   "%s%s: other machines can reach this address; add %s",
                   options->socket ? "" : "--listen ",
                   options->socket ? server->guard.address : options->listen, option);
}

/* Use a socket that another process has opened, as systemd does. */
static bool adopt_socket(struct cn_server *server,
                         const struct cn_server_options *options, struct cn_error *err)
{
    struct cn_guard *guard = &server->guard;
    struct sockaddr_storage address;
    socklen_t len = sizeof(address), flag_len = sizeof(int);
    char port[8];
    int is_listening = 0;

    if (getsockopt(options->socket, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &flag_len) <
            0 ||
        !is_listening ||
        getsockname(options->socket, (struct sockaddr *)&address, &len) < 0 ||
        (address.ss_family != AF_INET && address.ss_family != AF_INET6) ||
        getnameinfo((struct sockaddr *)&address, len, guard->address,
                    sizeof(guard->address), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "file descriptor %d does not listen for TCP connections",
                       options->socket);
    (void)fcntl(options->socket, F_SETFD, FD_CLOEXEC);
    guard->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    return make_address(guard->address, guard->port, &address, &len, &guard->is_loopback,
                        err);
}

static bool open_socket(struct cn_server *server, const struct cn_server_options *options,
                        int *out, struct cn_error *err)
{
    struct cn_guard *guard = &server->guard;
    struct sockaddr_storage address;
    socklen_t len;
    int fd, yes = 1;

    if (!parse_listen(options->listen ? options->listen : "127.0.0.1:0", guard->address,
                      &guard->port, err) ||
        !make_address(guard->address, guard->port, &address, &len, &guard->is_loopback,
                      err) ||
        !check_token(server, options, options->token_file, "--token-file", err))
        return false;
    fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return cn_fail_errno(err, "cannot create a socket");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
        if (errno == EADDRINUSE)
            (void)cn_fail(err, CN_ERR_IO,
                          "cannot listen on %s port %u: it is in use; choose another "
                          "port, or 0 for any",
                          guard->address, guard->port);
        else
            (void)cn_fail_errno(err, "cannot listen on %s port %u", guard->address,
                                guard->port);
        (void)close(fd);
        return false;
    }
    /* The port has the same offset in both families. */
    guard->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    *out = fd;
    return true;
}

static bool bind_socket(struct cn_server *server, const struct cn_server_options *options,
                        int *out, struct cn_error *err)
{
    if (!options->socket)
        return open_socket(server, options, out, err);
    if (!adopt_socket(server, options, err) ||
        !check_token(server, options, options->token_file, "--token-file", err))
        return false;
    *out = options->socket;
    return true;
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

static bool read_pem(const char *path, char **out, struct cn_error *err)
{
    struct cn_file file;

    if (!cn_file_open(&file, path, err))
        return false;
    *out = cn_alloc(file.bytes.len + 1, 1);
    memcpy(*out, file.bytes.ptr, file.bytes.len);
    cn_file_close(&file);
    return true;
}

static bool set_up_tls(struct cn_server *server, const struct cn_server_options *options,
                       struct cn_error *err)
{
    if (!options->tls_cert && !options->tls_key)
        return true;
    if (!options->tls_cert || !options->tls_key)
        return cn_fail(err, CN_ERR_USAGE, "--tls-cert and --tls-key need each other");
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_NO)
        return cn_fail(err, CN_ERR_USAGE, "libmicrohttpd was built without TLS");
    return read_pem(options->tls_cert, &server->tls_cert, err) &&
           read_pem(options->tls_key, &server->tls_key, err);
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
    if (!server->log || !server->collector || !strstr(text, "505") ||
        (last_ns > 0 && now_ns - last_ns < TOLD_NS) ||
        !atomic_compare_exchange_strong(&server->told_ns, &last_ns, now_ns))
        return;
    server->log(
        server->log_arg,
        "a sender speaks HTTP/2, as OTLP over gRPC does, which the collector does "
        "not read; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf there and send "
        "to /v1/traces");
}

static bool start_daemon(struct cn_server *server, int fd, struct cn_error *err)
{
    /* Not epoll, although it is a little faster: libmicrohttpd 0.9.75 sometimes leaves
     * a resumed connection suspended until another one wakes its thread. */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG | (server->tls_cert ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, server->tls_cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, server->tls_key},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

    allow_files();
    if (!cn_connections_start(&server->connections, CONNECTION_ARRIVING_MAX))
        return cn_fail(err, CN_ERR_IO, "cannot start a thread");
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, cn_server_answer, server, MHD_OPTION_EXTERNAL_LOGGER,
        on_message, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)WORKERS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTION_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTION_PER_ADDRESS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_LEN_MAX,
        MHD_OPTION_NOTIFY_COMPLETED, cn_server_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, cn_connections_notify, &server->connections,
        MHD_OPTION_UNESCAPE_CALLBACK, cn_connections_unescape, server,
        MHD_OPTION_URI_LOG_CALLBACK, cn_connections_address, server,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, server->tls_cert ? tls : none,
        MHD_OPTION_END);
    if (server->daemon)
        return true;
    return cn_fail(err, CN_ERR_IO, "cannot start the server%s",
                   server->tls_cert ? "; check --tls-cert and --tls-key" : "");
}

static void make_url(struct cn_server *server)
{
    bool is_v6 = strchr(server->guard.address, ':') != NULL;

    (void)snprintf(server->url, sizeof(server->url), "%s://%s%s%s:%u/?token=%s",
                   server->tls_cert ? "https" : "http", is_v6 ? "[" : "",
                   server->guard.address, is_v6 ? "]" : "", server->guard.port,
                   server->guard.token);
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
        cn_text_printf(&made, ":%u", server->guard.port);
    server->advertised = made.chars;
    if (!server->guard.host) {
        server->advertised_host = cn_strdup(host);
        if (strlen(host) > len)
            server->advertised_host[len] = '\0';
        server->guard.host = server->advertised_host;
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
    };

    if (options->collect_token_file &&
        !cn_guard_read_token(&server->collector_guard, options->collect_token_file, err))
        return false;
    if (options->collect && !check_token(server, options, options->collect_token_file,
                                         "--collect-token-file", err))
        return false;
    if (!options->collect && (options->upload || options->collect_space > 0))
        return cn_fail(err, CN_ERR_USAGE, "--upload and --collect-space need --collect");
    if (options->replicates && !options->upload)
        return cn_fail(err, CN_ERR_USAGE, "--replicate needs --upload");
    if (!check_advertise(server, options, err))
        return false;
    if (!options->collect)
        return true;
    server->collect = cn_strdup(options->collect);
    limits.url = server->advertised ? server->advertised : "";
    cn_manifest_new_id(server->start_id);
    if (!cn_collector_open(&server->collector, options->collect, &limits, err) ||
        !cn_served_open(&server->sources.list[server->sources.count], options->collect,
                        NULL, false, err))
        return false;
    server->sources.count++;
    return !options->upload || start_uploader(server, options, err);
}

static bool start(struct cn_server *server, const struct cn_server_options *options,
                  struct cn_error *err)
{
    int fd = -1;

    server->guard.host = options->host;
    server->log = options->log;
    server->log_arg = options->log_arg;
    if (!(options->token_file
              ? cn_guard_read_token(&server->guard, options->token_file, err)
              : cn_guard_make_token(&server->guard, err)) ||
        !set_up_tls(server, options, err) || !open_sources(server, options, err) ||
        !bind_socket(server, options, &fd, err))
        return false;
    make_url(server);
    if (open_collector(server, options, err) && start_daemon(server, fd, err))
        return true;
    (void)close(fd);
    return false;
}

bool cn_server_start(struct cn_server **out, const struct cn_server_options *options,
                     struct cn_error *err)
{
    struct cn_server *server = cn_alloc(1, sizeof(*server));

    cn_served_diffs_init(&server->diffs);
    server->sources.diffs = &server->diffs;
    server->sources.statements = cn_statements_new();
    server->sources.answer_sql = cn_statements_answer;
    server->sources.answer_tables = cn_statements_tables;
    if (!start(server, options, err)) {
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

void cn_server_stop(struct cn_server *server)
{
    struct cn_error err;
    MHD_socket fd = MHD_INVALID_SOCKET;

    if (!server)
        return;
    if (server->daemon)
        fd = MHD_quiesce_daemon(server->daemon);
    /* The daemon stops only when no connection waits for a commit. */
    if (server->collector)
        cn_collector_finish(server->collector);
    if (fd != MHD_INVALID_SOCKET)
        (void)close(fd);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    cn_connections_end(&server->connections);
    cn_uploader_stop(server->uploader);
    if (server->collector && !cn_collector_close(server->collector, &err) && server->log)
        server->log(server->log_arg, err.text);
    cn_served_diffs_done(&server->diffs);
    cn_statements_free(server->sources.statements);
    for (size_t i = 0; i < server->sources.count; i++)
        cn_served_close(server->sources.list[i]);
    free(server->sources.list);
    free(server->tls_cert);
    free(server->tls_key);
    free(server->collect);
    free(server->advertised);
    free(server->advertised_host);
    free(server);
}
