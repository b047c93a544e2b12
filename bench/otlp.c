/* How many spans a second does a collector take over OTLP? Sends messages to a running
 * `cairn serve --collect STORE --otlp`:
 *     bench_otlp grpc|http PORT CONNECTIONS MESSAGES SPANS
 *
 * A message has SPANS spans, ten a trace, each with ten attributes with keys and values of 20 characters: eight with 50 values,
 * two with 5,000. A connection of gRPC has eight calls at a time, one of HTTP one request. Messages are made before the
 * time begins. Prints, a line each: name, value, unit.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/protobuf.h"
#include "base/run/clock.h"
#include "formats/exchange/otlp_format.h"

enum {
    CALLS = 8,
    SPANS_OF_TRACE = 10,
    ATTRIBUTES = 10,
    PREFIX_LEN = 5,
    BUFFER_LEN = 64 << 10,
    CONNECTIONS_MAX = 256,
};

static struct {
    bool is_grpc;
    uint16_t port;
    struct cn_pb *messages; /* with the prefix of gRPC */
    size_t count;
    _Atomic size_t next;
    _Atomic uint64_t accepted, refused;
} load;

static uint64_t random_state = 5;

static uint64_t chance(uint64_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 33) % limit;
}

static void add_attribute(struct cn_pb *pb, uint32_t field, const char *key,
                          const char *value)
{
    size_t at = cn_pb_open(pb, field), inner;

    cn_pb_str(pb, cn_otlp_key_value_key, key);
    inner = cn_pb_open(pb, cn_otlp_key_value_value);
    cn_pb_str(pb, cn_otlp_value_string_value, value);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, at);
}

static void add_span(struct cn_pb *pb, const uint64_t trace[2], uint64_t id,
                     uint64_t parent)
{
    static uint64_t begin_ns = UINT64_C(1760000000000000000);
    size_t at = cn_pb_open(pb, cn_otlp_scope_spans_spans);
    char text[32], key[32];

    begin_ns += 1000;
    cn_pb_bytes(pb, cn_otlp_span_trace_id, trace, 16);
    cn_pb_bytes(pb, cn_otlp_span_span_id, &id, 8);
    if (parent)
        cn_pb_bytes(pb, cn_otlp_span_parent_span_id, &parent, 8);
    (void)snprintf(text, sizeof(text), "GET /operation/%03" PRIu64, chance(100));
    cn_pb_str(pb, cn_otlp_span_name, text);
    cn_pb_u64(pb, cn_otlp_span_kind, 2);
    cn_pb_fixed64(pb, cn_otlp_span_start_time_unix_nano, begin_ns);
    cn_pb_fixed64(pb, cn_otlp_span_end_time_unix_nano,
                  begin_ns + 500000 + chance(100000));
    for (unsigned a = 0; a < ATTRIBUTES; a++) {
        (void)snprintf(key, sizeof(key), "attribute.key.num.%02u", a);
        (void)snprintf(text, sizeof(text), "value-%02u-%011" PRIu64, a,
                       chance(a < 8 ? 50 : 5000));
        add_attribute(pb, cn_otlp_span_attributes, key, text);
    }
    cn_pb_close(pb, at);
}

static void make_message(struct cn_pb *pb, size_t spans)
{
    uint64_t trace[2] = {0}, id = 0, parent;
    size_t resource_spans, resource, scope;
    struct cn_pb message = {0};

    resource_spans = cn_pb_open(&message, cn_otlp_traces_resource_spans);
    resource = cn_pb_open(&message, cn_otlp_resource_spans_resource);
    add_attribute(&message, cn_otlp_resource_attributes, "service.name", "frontend");
    cn_pb_close(&message, resource);
    scope = cn_pb_open(&message, cn_otlp_resource_spans_scope_spans);
    for (size_t i = 0; i < spans; i++) {
        parent = i % SPANS_OF_TRACE ? id : 0;
        id = chance(UINT32_MAX) << 31 | chance(UINT32_MAX) | 1;
        if (!parent)
            for (int k = 0; k < 2; k++)
                trace[k] = chance(UINT32_MAX) << 31 | chance(UINT32_MAX) | 1;
        add_span(&message, trace, id, parent);
    }
    cn_pb_close(&message, scope);
    cn_pb_close(&message, resource_spans);
    uint8_t prefix[PREFIX_LEN] = {0, (uint8_t)(message.len >> 24),
                                  (uint8_t)(message.len >> 16),
                                  (uint8_t)(message.len >> 8), (uint8_t)message.len};
    cn_pb_raw(pb, prefix, sizeof(prefix));
    cn_pb_raw(pb, message.bytes, message.len);
    cn_pb_done(&message);
}

static int connect_to_server(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(load.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        perror("bench_otlp");
        exit(1);
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return fd;
}

static void send_all(int fd, const void *data, size_t len)
{
    for (size_t sent = 0; sent < len;) {
        ssize_t n = send(fd, (const char *)data + sent, len - sent, MSG_NOSIGNAL);

        if (n <= 0)
            exit(1);
        sent += (size_t)n;
    }
}

/* HTTP/1.1: one request after the other. Answers fit a read, and have a length. */
static void *send_http(void *arg)
{
    int fd = connect_to_server();
    char head[256], answer[4096];
    size_t i;

    (void)arg;
    while ((i = atomic_fetch_add(&load.next, 1)) < load.count) {
        const struct cn_pb *message = &load.messages[i];
        size_t len = message->len - PREFIX_LEN;
        int head_len = snprintf(
            head, sizeof(head),
            "POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "Content-Type: application/x-protobuf\r\nContent-Length: %zu\r\n\r\n",
            len);

        send_all(fd, head, (size_t)head_len);
        send_all(fd, message->bytes + PREFIX_LEN, len);
        ssize_t n = recv(fd, answer, sizeof(answer) - 1, 0);
        if (n < 12)
            exit(1);
        answer[n] = '\0';
        atomic_fetch_add(answer[9] == '2' ? &load.accepted : &load.refused, 1);
    }
    (void)close(fd);
    return NULL;
}

/* A call of gRPC that is being sent. */
struct call {
    const struct cn_pb *message;
    size_t sent;
};

struct grpc_client {
    int fd;
    size_t open;
    nghttp2_session *session;
    struct call calls[CALLS];
};

static ssize_t read_message(nghttp2_session *session, int32_t stream, uint8_t *buffer,
                            size_t room, uint32_t *flags, nghttp2_data_source *source,
                            void *arg)
{
    struct call *call = source->ptr;
    size_t len = call->message->len - call->sent;

    (void)session;
    (void)stream;
    (void)arg;
    if (len > room)
        len = room;
    memcpy(buffer, call->message->bytes + call->sent, len);
    call->sent += len;
    if (call->sent == call->message->len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

#define HEADER(name, value)                                                            \
    {                                                                                  \
        (uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), sizeof(name) - 1, \
            sizeof(value) - 1, NGHTTP2_NV_FLAG_NONE                                    \
    }

/* False if all messages are sent. */
static bool begin_call(struct grpc_client *client, struct call *call)
{
    static const nghttp2_nv headers[] = {
        HEADER(":method", "POST"),
        HEADER(":scheme", "http"),
        HEADER(":path", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"),
        HEADER(":authority", "127.0.0.1"),
        HEADER("content-type", "application/grpc"),
        HEADER("te", "trailers"),
    };
    nghttp2_data_provider body = {.source = {.ptr = call}, .read_callback = read_message};
    size_t i = atomic_fetch_add(&load.next, 1);

    if (i >= load.count)
        return false;
    *call = (struct call){&load.messages[i], 0};
    client->open++;
    return nghttp2_submit_request(client->session, NULL, headers,
                                  sizeof(headers) / sizeof(headers[0]), &body, call) >= 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *arg)
{
    (void)session;
    (void)frame;
    (void)flags;
    (void)arg;
    if (name_len == 11 && memcmp(name, "grpc-status", 11) == 0)
        atomic_fetch_add(
            value_len == 1 && value[0] == '0' ? &load.accepted : &load.refused, 1);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
    struct grpc_client *client = arg;

    (void)code;
    client->open--;
    (void)begin_call(client, nghttp2_session_get_stream_user_data(session, stream));
    return 0;
}

static void flush(const struct grpc_client *client)
{
    const uint8_t *data;
    ssize_t len;

    while ((len = nghttp2_session_mem_send(client->session, &data)) > 0)
        send_all(client->fd, data, (size_t)len);
}

static void *send_grpc(void *arg)
{
    struct grpc_client client = {.fd = connect_to_server()};
    nghttp2_session_callbacks *callbacks;
    uint8_t *buffer = cn_alloc(BUFFER_LEN, 1);

    (void)arg;
    (void)nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    (void)nghttp2_session_client_new(&client.session, callbacks, &client);
    nghttp2_session_callbacks_del(callbacks);
    (void)nghttp2_submit_settings(client.session, NGHTTP2_FLAG_NONE, NULL, 0);
    for (int i = 0; i < CALLS && begin_call(&client, &client.calls[i]);)
        i++;
    flush(&client);
    while (client.open > 0) {
        ssize_t n = recv(client.fd, buffer, BUFFER_LEN, 0);

        if (n <= 0 || nghttp2_session_mem_recv(client.session, buffer, (size_t)n) < 0)
            exit(1);
        flush(&client);
    }
    nghttp2_session_del(client.session);
    (void)close(client.fd);
    free(buffer);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[CONNECTIONS_MAX];
    size_t connections, bytes = 0;

    if (argc != 6) {
        (void)fputs("usage: bench_otlp grpc|http PORT CONNECTIONS MESSAGES SPANS\n",
                    stderr);
        return 2;
    }
    load.is_grpc = strcmp(argv[1], "grpc") == 0;
    load.port = (uint16_t)strtoul(argv[2], NULL, 10);
    connections = strtoul(argv[3], NULL, 10) % (CONNECTIONS_MAX + 1);
    load.count = strtoul(argv[4], NULL, 10);
    load.messages = cn_alloc(load.count, sizeof(*load.messages));
    for (size_t i = 0; i < load.count; i++) {
        make_message(&load.messages[i], strtoul(argv[5], NULL, 10));
        bytes += load.messages[i].len;
    }
    uint64_t begin_ns = cn_clock_ns();
    for (size_t i = 0; i < connections; i++)
        if (pthread_create(&threads[i], NULL, load.is_grpc ? send_grpc : send_http,
                           NULL) != 0)
            return 1;
    for (size_t i = 0; i < connections; i++)
        (void)pthread_join(threads[i], NULL);
    (void)printf("seconds %.6f s\naccepted %" PRIu64 "\nrefused %" PRIu64 "\nbytes %zu\n",
                 (double)(cn_clock_ns() - begin_ns) / 1e9, atomic_load(&load.accepted),
                 atomic_load(&load.refused), bytes);
    for (size_t i = 0; i < load.count; i++)
        cn_pb_done(&load.messages[i]);
    free(load.messages);
    return 0;
}
