/* Runs requests: several at a time, each repeated while that may help. */

#include "s3/s3.h"

#include "base/alloc.h"

#ifdef CN_HAS_CURL
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes/digits.h"
#include "base/run/clock.h"
#include "base/run/lock.h"
#include "s3/curl.h"
#include "s3/xml.h"

enum {
    PARALLEL = 16,
    ATTEMPTS = 6,
    ATTEMPTS_REFUSED = 2, /* status 403: credentials may be new, but are mostly wrong */
    SESSIONS_MAX = 32,    /* idle ones */
    ANSWER_MAX = 1 << 30,
    DELAY_MS = 100,
    DELAY_MAX_MS = 5000,
    KEY_MAX = 200, /* keys of stores have less than half of that */
    SHA256_LEN = 32,
};

/* An object says whose it is: two ranges of one length are told apart by nothing else. Objects of
 * earlier versions do not. */
#define KEY_HEADER "x-amz-meta-cairn-key"

/* Connections that one thread uses at a time. */
struct s3_session {
    CURLM *multi;
    CURL *easy[PARALLEL]; /* NULL: not used so far */
};

struct cn_s3 {
    const struct cn_curl *curl;
    struct cn_s3_settings settings;
    struct cn_text signer, login; /* for libcurl */
    struct cn_lock lock;          /* of the following */
    struct s3_session *idle[SESSIONS_MAX];
    size_t idle_count;
    struct cn_s3_counts counts;
};

static void free_session(const struct cn_s3 *s3, struct s3_session *session)
{
    for (size_t i = 0; i < PARALLEL; i++)
        s3->curl->easy_cleanup(session->easy[i]);
    (void)s3->curl->multi_cleanup(session->multi);
    free(session);
}

static struct s3_session *take_session(struct cn_s3 *s3)
{
    struct s3_session *session = NULL;

    cn_lock_take(&s3->lock);
    if (s3->idle_count > 0)
        session = s3->idle[--s3->idle_count];
    cn_lock_release(&s3->lock);
    if (!session) {
        session = cn_alloc(1, sizeof(*session));
        session->multi = s3->curl->multi_init();
    }
    return session;
}

static void give_session(struct cn_s3 *s3, struct s3_session *session)
{
    cn_lock_take(&s3->lock);
    if (s3->idle_count < SESSIONS_MAX) {
        s3->idle[s3->idle_count++] = session;
        session = NULL;
    }
    cn_lock_release(&s3->lock);
    if (session)
        free_session(s3, session);
}

bool cn_s3_open(struct cn_s3 **out, const char *address, struct cn_error *err)
{
    struct cn_s3 *s3 = cn_alloc(1, sizeof(*s3));

    if (!cn_curl_load(&s3->curl, err) ||
        !cn_s3_settings_read(&s3->settings, address, err)) {
        free(s3);
        return false;
    }
    cn_lock_init(&s3->lock);
    cn_text_printf(&s3->signer, "aws:amz:%s:s3", s3->settings.region);
    cn_text_printf(&s3->login, "%s:%s", s3->settings.key_id, s3->settings.secret);
    *out = s3;
    return true;
}

void cn_s3_close(struct cn_s3 *s3)
{
    if (!s3)
        return;
    for (size_t i = 0; i < s3->idle_count; i++)
        free_session(s3, s3->idle[i]);
    cn_lock_done(&s3->lock);
    cn_text_done(&s3->signer);
    cn_text_done(&s3->login);
    cn_s3_settings_done(&s3->settings);
    free(s3);
}

const struct cn_s3_settings *cn_s3_settings(const struct cn_s3 *s3)
{
    return &s3->settings;
}

struct cn_s3_counts cn_s3_counts(struct cn_s3 *s3)
{
    cn_lock_take(&s3->lock);
    struct cn_s3_counts counts = s3->counts;
    cn_lock_release(&s3->lock);
    return counts;
}

/* A request on its way. */
struct run_transfer {
    struct cn_s3 *s3;
    struct cn_s3_request *request;
    CURL *easy; /* NULL: not running */
    size_t slot;
    struct curl_slist *headers;
    struct cn_text url, refusal;
    uint64_t received, sent;
    unsigned attempts;
    uint64_t not_before_ns;
    uint64_t moved_ns;  /* when bytes were last sent or received */
    bool is_of_another; /* the answer, a range or object: a proxy mixes answers up */
    bool is_done;
};

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
    struct run_transfer *transfer = arg;
    struct cn_s3_request *request = transfer->request;
    size_t len = size * count;
    long status = 0;

    transfer->moved_ns = cn_clock_ns();
    (void)transfer->s3->curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE,
                                           &status);
    if (status >= 300) {
        if (transfer->refusal.len + len < 1 << 16)
            cn_text_add(&transfer->refusal, data, len);
        return len;
    }
    if (request->out) {
        if (len > request->len - transfer->received)
            return 0;
        memcpy(request->out + transfer->received, data, len);
    } else {
        if (transfer->received + len > ANSWER_MAX)
            return 0;
        cn_text_add(&request->answer, data, len);
    }
    transfer->received += len;
    return len;
}

static size_t give_body(char *out, size_t size, size_t count, void *arg)
{
    struct run_transfer *transfer = arg;
    struct cn_bytes body = transfer->request->body;
    size_t len = size * count, rest = body.len - (size_t)transfer->sent;

    len = len < rest ? len : rest;
    transfer->moved_ns = cn_clock_ns();
    if (len > 0)
        memcpy(out, body.ptr + transfer->sent, len);
    transfer->sent += len;
    return len;
}

static int seek_body(void *arg, curl_off_t off, int origin)
{
    struct run_transfer *transfer = arg;

    if (origin != SEEK_SET || off < 0 || (uint64_t)off > transfer->request->body.len)
        return CURL_SEEKFUNC_FAIL;
    transfer->sent = (uint64_t)off;
    return CURL_SEEKFUNC_OK;
}

/* The value of a header of this name, which ends with a colon; false if it is another one. */
static bool read_header(const char *data, size_t len, const char *name, char *out,
                        size_t out_len)
{
    size_t begin = strlen(name);

    if (len < begin || strncasecmp(data, name, begin) != 0)
        return false;
    while (begin < len && data[begin] == ' ')
        begin++;
    while (len > begin && (data[len - 1] == '\r' || data[len - 1] == '\n'))
        len--;
    (void)snprintf(out, out_len, "%.*s", (int)(len - begin), data + begin);
    return true;
}

static size_t take_header(char *data, size_t size, size_t count, void *arg)
{
    struct run_transfer *transfer = arg;
    const struct cn_s3_request *request = transfer->request;
    char range[80], expected[80], key[KEY_MAX];

    (void)read_header(data, size * count, "etag:", transfer->request->etag,
                      sizeof(request->etag));
    if (request->out &&
        read_header(data, size * count, "content-range:", range, sizeof(range))) {
        (void)snprintf(expected, sizeof(expected),
                       "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, request->off,
                       request->off + request->len - 1, request->object_len);
        if (strcmp(range, expected) != 0)
            transfer->is_of_another = true;
    }
    if (request->method == CN_S3_GET &&
        read_header(data, size * count, KEY_HEADER ":", key, sizeof(key)) &&
        (!request->key || strcmp(key, request->key) != 0))
        transfer->is_of_another = true;
    return size * count;
}

static void add_header(struct run_transfer *transfer, const char *name, const char *value)
{
    char *line = cn_strprintf("%s:%s%s", name, *value ? " " : "", value);

    transfer->headers = transfer->s3->curl->slist_append(transfer->headers, line);
    free(line);
}

/* The server refuses a body whose digest differs. */
static void add_digest(struct run_transfer *transfer)
{
    struct cn_bytes body = transfer->request->body;
    unsigned char digest[SHA256_LEN];
    struct cn_text hex = {0};

    if (transfer->s3->curl->sha256) {
        (void)transfer->s3->curl->sha256(body.ptr ? body.ptr : (const unsigned char *)"",
                                         body.len, digest);
        cn_hex_add(&hex, digest, SHA256_LEN);
    } else {
        cn_text_str_add(&hex, "UNSIGNED-PAYLOAD");
    }
    add_header(transfer, "x-amz-content-sha256", cn_text_str(&hex));
    cn_text_done(&hex);
}

/* True for requests that make an object: at once, or those that begin to. */
static bool makes_object(const struct cn_s3_request *request)
{
    if (request->method == CN_S3_POST)
        return request->query && strcmp(request->query, "uploads=") == 0;
    return request->method == CN_S3_PUT && request->key && !request->query;
}

static void prepare(struct run_transfer *transfer)
{
    const struct cn_s3_settings *settings = &transfer->s3->settings;
    const struct cn_s3_request *request = transfer->request;

    cn_text_printf(&transfer->url, "%s/%s", settings->endpoint, settings->bucket);
    if (request->key)
        cn_text_printf(&transfer->url, "/%s%s", settings->prefix, request->key);
    if (request->query)
        cn_text_printf(&transfer->url, "?%s", request->query);
    add_digest(transfer);
    if (request->if_absent)
        add_header(transfer, "If-None-Match", "*");
    if (makes_object(request) && strlen(request->key) < KEY_MAX)
        add_header(transfer, KEY_HEADER, request->key);
    if (settings->token)
        add_header(transfer, "x-amz-security-token", settings->token);
}

static void set_method(struct run_transfer *transfer)
{
    const struct cn_curl *curl = transfer->s3->curl;
    const struct cn_s3_request *request = transfer->request;
    CURL *easy = transfer->easy;
    char range[64];

    if (request->method == CN_S3_PUT || request->method == CN_S3_POST) {
        (void)curl->easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        (void)curl->easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                                (curl_off_t)request->body.len);
        (void)curl->easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
        (void)curl->easy_setopt(easy, CURLOPT_READDATA, transfer);
        (void)curl->easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek_body);
        (void)curl->easy_setopt(easy, CURLOPT_SEEKDATA, transfer);
    }
    if (request->method == CN_S3_POST)
        (void)curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "POST");
    if (request->method == CN_S3_DELETE)
        (void)curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
    if (request->out) {
        (void)snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, request->off,
                       request->off + request->len - 1);
        (void)curl->easy_setopt(easy, CURLOPT_RANGE, range);
    }
}

static void start(struct run_transfer *transfer, struct s3_session *session, size_t slot)
{
    const struct cn_curl *curl = transfer->s3->curl;
    const struct cn_s3_settings *settings = &transfer->s3->settings;
    CURL *easy;

    if (!session->easy[slot])
        session->easy[slot] = curl->easy_init();
    easy = session->easy[slot];
    transfer->easy = easy;
    transfer->slot = slot;
    transfer->attempts++;
    transfer->received = transfer->sent = 0;
    transfer->is_of_another = false;
    transfer->moved_ns = cn_clock_ns();
    cn_text_clear(&transfer->refusal);
    cn_text_clear(&transfer->request->answer);
    if (!transfer->headers)
        prepare(transfer);
    curl->easy_reset(easy);
    (void)curl->easy_setopt(easy, CURLOPT_URL, cn_text_str(&transfer->url));
    (void)curl->easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    (void)curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl->easy_setopt(easy, CURLOPT_AWS_SIGV4, cn_text_str(&transfer->s3->signer));
    (void)curl->easy_setopt(easy, CURLOPT_USERPWD, cn_text_str(&transfer->s3->login));
    (void)curl->easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    (void)curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)settings->timeout_s);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    (void)curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl->easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    if (settings->ca_file)
        (void)curl->easy_setopt(easy, CURLOPT_CAINFO, settings->ca_file);
    set_method(transfer);
    (void)curl->multi_add_handle(session->multi, easy);
}

/* "<Code>" of a refusal. */
static void describe(const struct run_transfer *transfer, struct cn_text *out)
{
    struct cn_error ignored;

    if (transfer->refusal.len == 0 ||
        !cn_s3_xml_find(&transfer->refusal, "Code", out, &ignored))
        cn_text_clear(out);
}

/* Fill in the error of a transfer that failed. */
static void fail(const struct run_transfer *transfer, CURLcode code, struct cn_error *err)
{
    const struct cn_s3_settings *settings = &transfer->s3->settings;
    const struct cn_s3_request *request = transfer->request;
    struct cn_text reason = {0};

    if (code != CURLE_OK) {
        (void)cn_fail(err, CN_ERR_IO, "%s: %s", settings->endpoint,
                      transfer->s3->curl->easy_strerror(code));
    } else if (transfer->is_of_another) {
        (void)cn_fail(err, CN_ERR_IO, "the answer is of another range or object");
    } else if (request->status >= 200 && request->status < 300) {
        (void)cn_fail(err, CN_ERR_IO,
                      "%" PRIu64 " of %" PRIu64 " bytes at %" PRIu64 " arrived",
                      transfer->received, request->len, request->off);
    } else {
        describe(transfer, &reason);
        (void)cn_fail(
            err,
            request->status == 429 || request->status == 503 ? CN_ERR_BUSY : CN_ERR_IO,
            "the server refused with status %ld%s%s%s", request->status,
            reason.len > 0 ? " " : "", cn_text_str(&reason),
            request->status == 403 ? ": check the access key, its secret and its rights"
                                   : "");
    }
    cn_text_done(&reason);
    (void)cn_fail_in(err, "s3://%s/%s%s%s", settings->bucket, settings->prefix,
                     request->key ? request->key : "",
                     transfer->attempts > 1 ? " (after several attempts)" : "");
}

static bool is_answer(const struct run_transfer *transfer)
{
    const struct cn_s3_request *request = transfer->request;
    long status = request->status;

    if (status == 404 || (status == 412 && request->if_absent))
        return true;
    if (status < 200 || status >= 300 || transfer->is_of_another)
        return false;
    return !request->out || (transfer->received == request->len &&
                             (status == 206 || request->len == request->object_len));
}

/* True if the same request may succeed later. */
static bool may_pass(const struct run_transfer *transfer, CURLcode code)
{
    long status = transfer->request->status;

    if (transfer->attempts >= ATTEMPTS)
        return false;
    if (code != CURLE_OK)
        return code != CURLE_UNSUPPORTED_PROTOCOL && code != CURLE_URL_MALFORMAT &&
               code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE;
    if (status == 403)
        return transfer->attempts < ATTEMPTS_REFUSED;
    return (status >= 200 && status < 300) || status == 408 || status == 409 ||
           status == 429 || status >= 500;
}

static uint64_t delay_ns(const struct run_transfer *transfer)
{
    uint64_t ms = (uint64_t)DELAY_MS << (transfer->attempts - 1);
    uint64_t random = (cn_clock_ns() * UINT64_C(0x9e3779b97f4a7c15)) >> 54; /* 10 bits */
    curl_off_t asked_s = 0;

    (void)transfer->s3->curl->easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER,
                                           &asked_s);
    if (asked_s > 0 && (uint64_t)asked_s * 1000 > ms)
        ms = (uint64_t)asked_s * 1000;
    if (ms > DELAY_MAX_MS)
        ms = DELAY_MAX_MS;
    return (ms / 2 + ms * random / 2048) * 1000000;
}

/* The requests of one call. The first failure is reported; the others are over as well. */
struct s3_run {
    struct s3_session *session;
    struct run_transfer *transfers;
    size_t count;
    bool has_failed;
    struct cn_error *err;
};

static void finish(void *arg, CURLcode code, void *run_arg)
{
    struct run_transfer *transfer = arg;
    struct s3_run *run = run_arg;
    const struct cn_curl *curl = transfer->s3->curl;
    struct cn_s3_counts *counts = &transfer->s3->counts;

    (void)curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE,
                             &transfer->request->status);
    (void)curl->multi_remove_handle(run->session->multi, transfer->easy);
    cn_lock_take(&transfer->s3->lock);
    counts->requests++;
    counts->fetched +=
        transfer->request->method == CN_S3_GET && transfer->request->key != NULL;
    counts->repeated += transfer->attempts > 1;
    counts->received_len += transfer->received;
    counts->sent_len += transfer->sent;
    cn_lock_release(&transfer->s3->lock);
    if (code == CURLE_OK && is_answer(transfer)) {
        transfer->is_done = true;
    } else if (may_pass(transfer, code)) {
        transfer->not_before_ns = cn_clock_ns() + delay_ns(transfer);
    } else {
        fail(transfer, code, run->has_failed ? &(struct cn_error){0} : run->err);
        transfer->is_done = true;
        run->has_failed = true;
    }
    transfer->easy = NULL;
}

/* Start what may start. Returns the number of requests that are not done; `wait_ms` receives how
 * long to wait for a delayed one. */
static size_t start_some(const struct s3_run *run, int *wait_ms)
{
    bool is_busy[PARALLEL] = {0};
    uint64_t now_ns = cn_clock_ns();
    size_t left = 0, slot = 0;

    *wait_ms = 1000;
    for (size_t i = 0; i < run->count; i++)
        if (run->transfers[i].easy)
            is_busy[run->transfers[i].slot] = true;
    for (size_t i = 0; i < run->count; i++) {
        struct run_transfer *transfer = &run->transfers[i];

        left += !transfer->is_done;
        if (transfer->is_done || transfer->easy)
            continue;
        if (transfer->not_before_ns > now_ns) {
            uint64_t ms = (transfer->not_before_ns - now_ns) / 1000000 + 1;

            *wait_ms = ms < (uint64_t)*wait_ms ? (int)ms : *wait_ms;
            continue;
        }
        while (slot < PARALLEL && is_busy[slot])
            slot++;
        if (slot < PARALLEL)
            start(transfer, run->session, slot++);
    }
    return left;
}

/* End the transfers that make no progress. libcurl's own limit is for a speed over several seconds. */
static void end_stopped(const struct cn_s3 *s3, struct s3_run *run)
{
    uint64_t now_ns = cn_clock_ns(),
             max_ns = s3->settings.timeout_s * UINT64_C(1000000000);

    for (size_t i = 0; i < run->count; i++)
        if (run->transfers[i].easy && now_ns - run->transfers[i].moved_ns > max_ns)
            finish(&run->transfers[i], CURLE_OPERATION_TIMEDOUT, run);
}

static void run_all(const struct cn_s3 *s3, struct s3_run *run)
{
    int wait_ms;

    while (!run->has_failed && start_some(run, &wait_ms) > 0) {
        bool has_ended = cn_curl_step(s3->curl, run->session->multi, finish, run);

        end_stopped(s3, run);
        if (!has_ended && !run->has_failed)
            (void)s3->curl->multi_poll(run->session->multi, NULL, 0, wait_ms, NULL);
    }
    for (size_t i = 0; i < run->count; i++)
        if (run->transfers[i].easy)
            (void)s3->curl->multi_remove_handle(run->session->multi,
                                                run->transfers[i].easy);
}

bool cn_s3_run(struct cn_s3 *s3, struct cn_s3_request *requests, size_t count,
               struct cn_error *err)
{
    struct run_transfer *transfers = cn_alloc(count, sizeof(*transfers));
    struct s3_run run = {take_session(s3), transfers, count, false, err};

    for (size_t i = 0; i < count; i++)
        transfers[i] = (struct run_transfer){.s3 = s3, .request = &requests[i]};
    run_all(s3, &run);
    for (size_t i = 0; i < count; i++) {
        s3->curl->slist_free_all(transfers[i].headers);
        cn_text_done(&transfers[i].url);
        cn_text_done(&transfers[i].refusal);
    }
    give_session(s3, run.session);
    free(transfers);
    return !run.has_failed;
}
#else
bool cn_s3_open(struct cn_s3 **out, const char *address, struct cn_error *err)
{
    (void)out;
    return cn_fail(err, CN_ERR_USAGE,
                   "%s: this cairn was built without libcurl, which stores in object "
                   "storage need",
                   address);
}

void cn_s3_close(struct cn_s3 *s3)
{
    (void)s3;
}

const struct cn_s3_settings *cn_s3_settings(const struct cn_s3 *s3)
{
    (void)s3;
    return NULL;
}

struct cn_s3_counts cn_s3_counts(struct cn_s3 *s3)
{
    (void)s3;
    return (struct cn_s3_counts){0};
}

bool cn_s3_run(struct cn_s3 *s3, struct cn_s3_request *requests, size_t count,
               struct cn_error *err)
{
    (void)s3;
    (void)requests;
    (void)count;
    return cn_fail(err, CN_ERR_USAGE, "built without libcurl");
}
#endif
