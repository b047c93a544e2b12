#include "server/grpc/session.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/base64.h"
#include "base/list.h"
#include "base/run/clock.h"

enum {
    STREAM_MAX = 100,         /* calls of a connection at a time */
    STREAM_WINDOW = 1 << 20,  /* bytes that a client may send ahead, of a call */
    SESSION_WINDOW = 4 << 20, /* of all calls of a connection */
    HEAD_LEN_MAX = 64 << 10,  /* of a call, headers that are dropped included */
    WHO_LEN = 64,

    /* What a client may cost. Each frame costs 1, a stream that is reset 10. */
    CREDIT_MAX = 2000,
    CREDIT_OF_SECOND = 100,
    CREDIT_OF_CALL = 20, /* that was answered */
    CREDIT_BYTES = 256,  /* of messages, for 1 */
    RESET_COST = 10,
    /* Bytes that are not of messages, until a call is answered: more than what a client may have
     * sent of messages that were refused meanwhile. */
    UNPAID_MAX = 8 << 20,
};

struct cn_h2_session {
    const struct cn_grpc_service *service;
    nghttp2_session *h2;
    void *owner;
    char who[WHO_LEN];
    struct cn_grpc_call *calls;
    size_t call_count;   /* with their headers, not answered */
    uint64_t since_ns;   /* when a message was whole, or a call answered */
    bool is_open;        /* the first frame has come */
    bool is_over;        /* nothing is read any more */
    struct cn_text last; /* what is sent after all frames: GOAWAY */
    uint64_t credit, credited_ns;
    uint64_t unpaid;      /* bytes that were not of messages, since a call was answered */
    size_t data_rest;     /* bytes of messages that gave no credit yet */
    uint64_t deadline_ns; /* the earliest of calls that are new since the last check */
};

/* nghttp2 sends no frame after a callback has failed, so GOAWAY is written here. */
static void end_session(struct cn_h2_session *session, uint32_t code, const char *why)
{
    size_t len = 8 + strlen(why);
    uint32_t last =
        session->h2 ? (uint32_t)nghttp2_session_get_last_proc_stream_id(session->h2) : 0;
    char head[] = {
        (char)(len >> 16),
        (char)(len >> 8),
        (char)len,
        NGHTTP2_GOAWAY,
        0,
        0,
        0,
        0,
        0,
        (char)(last >> 24),
        (char)(last >> 16),
        (char)(last >> 8),
        (char)last,
        (char)(code >> 24),
        (char)(code >> 16),
        (char)(code >> 8),
        (char)code,
    };

    if (session->is_over)
        return;
    session->is_over = true;
    if (code == NGHTTP2_ENHANCE_YOUR_CALM)
        atomic_fetch_add(&session->service->counts->floods, 1);
    cn_text_add(&session->last, head, sizeof(head));
    cn_text_str_add(&session->last, why);
}

static void add_credit(struct cn_h2_session *session, uint64_t credit)
{
    session->credit += credit;
    if (session->credit > CREDIT_MAX)
        session->credit = CREDIT_MAX;
}

/* The result of a callback of nghttp2: 0, or a failure that ends the session. */
static int spend(struct cn_h2_session *session, uint64_t cost)
{
    if (session->credit < cost) {
        uint64_t now_ns = cn_clock_ns();
        uint64_t credit =
            (now_ns - session->credited_ns) / (UINT64_C(1000000000) / CREDIT_OF_SECOND);

        if (credit > 0) {
            session->credited_ns = now_ns;
            add_credit(session, credit);
        }
    }
    if (session->credit >= cost) {
        session->credit -= cost;
        return 0;
    }
    end_session(session, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_frames");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static struct cn_grpc_call *call_of(nghttp2_session *h2, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(h2, stream);
}

static nghttp2_nv header(const char *name, const char *value, size_t len)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), len, NGHTTP2_NV_FLAG_NONE};
}

static ssize_t read_response(nghttp2_session *h2, int32_t stream, uint8_t *buffer,
                             size_t room, uint32_t *flags, nghttp2_data_source *source,
                             void *arg)
{
    struct cn_grpc_call *call = source->ptr;
    size_t len = call->response.len - call->response_sent;
    nghttp2_nv trailer = header("grpc-status", "0", 1);

    (void)arg;
    if (len > room)
        len = room;
    memcpy(buffer, call->response.chars + call->response_sent, len);
    call->response_sent += len;
    if (call->response_sent < call->response.len)
        return (ssize_t)len;
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return nghttp2_submit_trailer(h2, stream, &trailer, 1) == 0
               ? (ssize_t)len
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static void submit_success(struct cn_h2_session *session, struct cn_grpc_call *call)
{
    nghttp2_nv headers[] = {
        header(":status", "200", 3),
        header("content-type", "application/grpc", 16),
    };
    nghttp2_data_provider body = {.source = {.ptr = call},
                                  .read_callback = read_response};

    (void)nghttp2_submit_response(session->h2, call->stream, headers,
                                  CN_COUNT_OF(headers), &body);
}

/* "Trailers only": headers that end the stream. */
static void submit_failure(struct cn_h2_session *session, const struct cn_grpc_call *call,
                           const struct cn_otlp_outcome *outcome)
{
    struct cn_text message = {0}, status = {0}, details = {0};
    char code[8];

    cn_grpc_text_encode(&message, outcome->message);
    cn_otlp_outcome_body(outcome, false, &status);
    cn_base64_add(&details, (struct cn_bytes){(const uint8_t *)status.chars, status.len});
    while (details.len > 0 && details.chars[details.len - 1] == '=')
        details.len--; /* gRPC wants no padding */
    int code_len = snprintf(code, sizeof(code), "%d", outcome->code);
    nghttp2_nv headers[] = {
        header(":status", "200", 3),
        header("content-type", "application/grpc", 16),
        header("grpc-accept-encoding", "identity,gzip,zstd", 18),
        header("grpc-status", code, (size_t)code_len),
        header("grpc-message", cn_text_str(&message), message.len),
        header("grpc-status-details-bin", cn_text_str(&details), details.len),
    };

    (void)nghttp2_submit_response(session->h2, call->stream, headers,
                                  CN_COUNT_OF(headers), NULL);
    cn_text_done(&message);
    cn_text_done(&details);
    cn_text_done(&status);
}

static void submit_refusal(struct cn_h2_session *session, const struct cn_grpc_call *call)
{
    char status[8];
    int len = snprintf(status, sizeof(status), "%u", call->http_status);
    nghttp2_nv headers[] = {header(":status", status, (size_t)len)};

    (void)nghttp2_submit_response(session->h2, call->stream, headers, 1, NULL);
}

/* The state is CN_GRPC_ANSWERED from now on. */
static void answer(struct cn_h2_session *session, struct cn_grpc_call *call,
                   const struct cn_otlp_outcome *outcome)
{
    bool has_failed = call->http_status != 200 || outcome->code != CN_RPC_OK;

    call->state = CN_GRPC_ANSWERED;
    session->call_count--;
    session->since_ns = cn_clock_ns();
    atomic_fetch_add(&session->service->counts->failed, has_failed);
    session->unpaid = 0;
    add_credit(session, CREDIT_OF_CALL);
    if (call->http_status != 200)
        submit_refusal(session, call);
    else if (has_failed)
        submit_failure(session, call, outcome);
    else
        submit_success(session, call);
}

/* A call has changed: answer it, or hand it to the collector. */
static void go_on(struct cn_h2_session *session, struct cn_grpc_call *call)
{
    if (call->state == CN_GRPC_WHOLE) {
        call->state = CN_GRPC_WAITING;
        call->is_lent = true;
        session->since_ns = cn_clock_ns();
        if (session->service->submit(session->service->arg, call))
            return;
        call->is_lent = false;
        cn_grpc_call_drop_message(call, session->service);
        answer(session, call, &call->outcome);
    } else if (call->state == CN_GRPC_ANSWERED) {
        answer(session, call, &call->outcome);
    }
}

static void unlink_call(struct cn_h2_session *session, struct cn_grpc_call *call)
{
    if (call->previous)
        call->previous->next = call->next;
    else
        session->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
    call->next = call->previous = NULL;
    call->session = NULL;
}

/* The stream is gone: the call is freed now, or when it comes back. */
static void release(struct cn_h2_session *session, struct cn_grpc_call *call)
{
    session->call_count -= call->state != CN_GRPC_HEAD && call->state != CN_GRPC_ANSWERED;
    unlink_call(session, call);
    if (!call->is_lent)
        cn_grpc_call_free(call, session->service);
}

static int on_begin_frame(nghttp2_session *h2, const nghttp2_frame_hd *head, void *arg)
{
    (void)h2;
    (void)head;
    return spend(arg, 1);
}

static int on_begin_headers(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
    struct cn_h2_session *session = arg;
    struct cn_grpc_call *call;

    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    call = cn_grpc_call_new(session, frame->hd.stream_id);
    call->next = session->calls;
    if (call->next)
        call->next->previous = call;
    session->calls = call;
    return nghttp2_session_set_stream_user_data(h2, frame->hd.stream_id, call);
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len,
                     uint8_t flags, void *arg)
{
    struct cn_h2_session *session = arg;
    struct cn_grpc_call *call = call_of(h2, frame->hd.stream_id);

    (void)flags;
    if (!call)
        return 0;
    cn_grpc_call_header(call, (const char *)name, name_len, (const char *)value,
                        value_len);
    if (call->head_len <= HEAD_LEN_MAX)
        return 0;
    end_session(session, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_headers");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static void end_head(struct cn_h2_session *session, struct cn_grpc_call *call)
{
    uint64_t deadline_ns;

    session->call_count++;
    atomic_fetch_add(&session->service->counts->calls, 1);
    cn_grpc_call_head_end(call, session->service);
    deadline_ns = cn_grpc_call_deadline_ns(call);
    if (deadline_ns < session->deadline_ns)
        session->deadline_ns = deadline_ns;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
    struct cn_h2_session *session = arg;
    struct cn_grpc_call *call = call_of(h2, frame->hd.stream_id);
    enum cn_grpc_state before;

    session->is_open = true;
    if (!call || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
        return 0;
    before = call->state;
    if (call->state == CN_GRPC_HEAD)
        end_head(session, call);
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        cn_grpc_call_end(call, session->service);
    if (before != CN_GRPC_ANSWERED)
        go_on(session, call);
    return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t stream,
                   const uint8_t *data, size_t len, void *arg)
{
    struct cn_h2_session *session = arg;
    struct cn_grpc_call *call = call_of(h2, stream);

    (void)flags;
    session->unpaid -= len < session->unpaid ? len : session->unpaid;
    session->data_rest += len;
    add_credit(session, session->data_rest / CREDIT_BYTES);
    session->data_rest %= CREDIT_BYTES;
    if (!call || call->state != CN_GRPC_READING)
        return 0;
    cn_grpc_call_take(call, session->service, (struct cn_bytes){data, len});
    go_on(session, call);
    return 0;
}

static int on_stream_close(nghttp2_session *h2, int32_t stream, uint32_t code, void *arg)
{
    struct cn_h2_session *session = arg;
    struct cn_grpc_call *call = call_of(h2, stream);

    if (call)
        release(session, call);
    return code == NGHTTP2_NO_ERROR ? 0 : spend(session, RESET_COST);
}

/* An answer before the end of the message: the client should not send the rest. */
static int on_frame_sent(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
    const struct cn_grpc_call *call = call_of(h2, frame->hd.stream_id);

    (void)arg;
    if (call && frame->hd.type == NGHTTP2_HEADERS &&
        frame->hd.flags & NGHTTP2_FLAG_END_STREAM && !call->has_ended)
        return nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                         NGHTTP2_NO_ERROR);
    return 0;
}

static bool make_session(struct cn_h2_session *session)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    bool ok = nghttp2_session_callbacks_new(&callbacks) == 0 &&
              nghttp2_option_new(&option) == 0;

    if (ok) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks,
                                                                on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                               on_stream_close);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
        nghttp2_option_set_no_closed_streams(option, 1);
        ok = nghttp2_session_server_new2(&session->h2, callbacks, session, option) == 0;
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return ok;
}

struct cn_h2_session *cn_h2_session_new(const struct cn_grpc_service *service,
                                        const char *who)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAM_MAX},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, CN_GRPC_HEAD_MAX},
    };
    struct cn_h2_session *session = cn_alloc(1, sizeof(*session));

    session->service = service;
    session->credit = CREDIT_MAX;
    session->deadline_ns = UINT64_MAX;
    session->since_ns = session->credited_ns = cn_clock_ns();
    (void)snprintf(session->who, sizeof(session->who), "%s", who);
    if (make_session(session) &&
        nghttp2_submit_settings(session->h2, NGHTTP2_FLAG_NONE, settings,
                                CN_COUNT_OF(settings)) == 0 &&
        nghttp2_session_set_local_window_size(session->h2, NGHTTP2_FLAG_NONE, 0,
                                              SESSION_WINDOW) == 0)
        return session;
    cn_h2_session_free(session);
    return NULL;
}

void cn_h2_session_free(struct cn_h2_session *session)
{
    if (!session)
        return;
    while (session->calls)
        release(session, session->calls);
    nghttp2_session_del(session->h2);
    cn_text_done(&session->last);
    free(session);
}

/* The answer to HTTP/1, for people who use the wrong port. */
static void answer_http1(struct cn_h2_session *session)
{
    static const char text[] =
        "this port takes OTLP over gRPC (HTTP/2); OTLP over HTTP has a port of its own\n";

    session->is_over = true;
    cn_text_clear(&session->last);
    cn_text_printf(&session->last,
                   "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
                   "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                   sizeof(text) - 1, text);
}

bool cn_h2_session_receive(struct cn_h2_session *session, struct cn_bytes bytes)
{
    ssize_t taken;

    if (session->is_over)
        return false;
    session->unpaid += bytes.len;
    taken = nghttp2_session_mem_recv(session->h2, bytes.ptr, bytes.len);
    if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC && !session->is_open)
        answer_http1(session);
    else if (taken < 0)
        end_session(session,
                    taken == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM
                                                 : NGHTTP2_PROTOCOL_ERROR,
                    nghttp2_strerror((int)taken));
    /* nghttp2 does not tell of frames of unknown types. */
    if (session->unpaid > UNPAID_MAX)
        end_session(session, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_bytes");
    return !session->is_over;
}

void cn_h2_session_output(struct cn_h2_session *session, struct cn_text *out, size_t max)
{
    const uint8_t *data;
    ssize_t len = 0;

    while (out->len < max && !session->is_over &&
           (len = nghttp2_session_mem_send(session->h2, &data)) > 0)
        cn_text_add(out, (const char *)data, (size_t)len);
    if (len < 0)
        end_session(session, NGHTTP2_INTERNAL_ERROR, nghttp2_strerror((int)len));
    if (session->is_over) {
        cn_text_add(out, cn_text_str(&session->last), session->last.len);
        cn_text_clear(&session->last);
    }
}

bool cn_h2_session_is_over(const struct cn_h2_session *session)
{
    return session->is_over || (!nghttp2_session_want_read(session->h2) &&
                                !nghttp2_session_want_write(session->h2));
}

bool cn_h2_session_is_open(const struct cn_h2_session *session)
{
    return session->is_open;
}

struct cn_h2_session *cn_h2_session_back(struct cn_grpc_call *call,
                                         const struct cn_grpc_service *service)
{
    struct cn_h2_session *session = call->session;

    call->is_lent = false;
    if (!session) {
        cn_grpc_call_free(call, service);
        return NULL;
    }
    if (call->state == CN_GRPC_WAITING) {
        if (call->outcome.code == CN_RPC_OK)
            cn_grpc_call_respond(call);
        answer(session, call, &call->outcome);
    }
    return session;
}

/* A call whose deadline has passed. Before the end of its headers there is no answer. */
static void end_late(struct cn_h2_session *session, struct cn_grpc_call *call)
{
    struct cn_otlp_outcome late;

    if (call->state == CN_GRPC_HEAD) {
        end_session(session, NGHTTP2_ENHANCE_YOUR_CALM, "late_headers");
        return;
    }
    cn_otlp_outcome_fail(&late, CN_RPC_DEADLINE_EXCEEDED, 408,
                         call->state == CN_GRPC_WAITING
                             ? "the deadline passed before the spans were on disk"
                             : "the deadline passed before the message was there");
    if (!call->is_lent)
        cn_grpc_call_drop_message(call, session->service);
    answer(session, call, &late);
}

uint64_t cn_h2_session_check(struct cn_h2_session *session, uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;

    for (struct cn_grpc_call *call = session->calls; call; call = call->next) {
        uint64_t deadline_ns = cn_grpc_call_deadline_ns(call);

        if (call->state == CN_GRPC_ANSWERED)
            continue;
        if (deadline_ns <= now_ns)
            end_late(session, call);
        else if (deadline_ns < next_ns)
            next_ns = deadline_ns;
    }
    session->deadline_ns = next_ns;
    return next_ns;
}

void cn_h2_session_shut(struct cn_h2_session *session)
{
    if (!session->is_over)
        (void)nghttp2_submit_goaway(session->h2, NGHTTP2_FLAG_NONE,
                                    nghttp2_session_get_last_proc_stream_id(session->h2),
                                    NGHTTP2_NO_ERROR, NULL, 0);
}

void cn_h2_session_drop_arriving(struct cn_h2_session *session)
{
    struct cn_otlp_outcome outcome;

    for (struct cn_grpc_call *call = session->calls; call; call = call->next)
        if (call->state == CN_GRPC_READING) {
            cn_otlp_outcome_fail(&outcome, CN_RPC_UNAVAILABLE, 503,
                                 "the server is stopping");
            outcome.retry_s = 1;
            cn_grpc_call_drop_message(call, session->service);
            answer(session, call, &outcome);
        }
}

const char *cn_h2_session_who(const struct cn_h2_session *session)
{
    return session->who;
}

bool cn_h2_session_is_awaited(const struct cn_h2_session *session)
{
    const struct cn_grpc_call *call = session->calls;

    while (call && !call->is_lent)
        call = call->next;
    return call != NULL;
}

size_t cn_h2_session_call_count(const struct cn_h2_session *session)
{
    return session->call_count;
}

uint64_t cn_h2_session_since_ns(const struct cn_h2_session *session)
{
    return session->since_ns;
}

uint64_t cn_h2_session_deadline_ns(const struct cn_h2_session *session)
{
    return session->deadline_ns;
}

void cn_h2_session_set_owner(struct cn_h2_session *session, void *owner)
{
    session->owner = owner;
}

void *cn_h2_session_owner(const struct cn_h2_session *session)
{
    return session->owner;
}
