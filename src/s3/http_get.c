#include "s3/http_get.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"

#ifdef CN_HAS_CURL
#include "s3/curl.h"

enum { PARALLEL = 16 };

/* A request that runs. */
struct http_get_transfer {
    const struct cn_curl *curl;
    struct cn_http_get *get;
    CURL *easy; /* NULL: not started, or over */
    struct curl_slist *headers;
    uint64_t received;
    bool is_started;
};

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
    struct http_get_transfer *transfer = arg;
    struct cn_http_get *get = transfer->get;
    size_t len = size * count;
    long status = 0;

    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return len;
    if (len > get->len_max - transfer->received)
        return 0;
    if (get->fd < 0)
        cn_text_add(&get->answer, data, len);
    for (size_t at = 0; get->fd >= 0 && at < len;) {
        ssize_t n = pwrite(get->fd, data + at, len - at,
                           (off_t)(get->off + transfer->received + at));

        if (n <= 0)
            return 0;
        at += (size_t)n;
    }
    transfer->received += len;
    return len;
}

static void start(struct http_get_transfer *transfer, CURLM *multi, uint64_t left_ms)
{
    const struct cn_curl *curl = transfer->curl;
    CURL *easy = curl->easy_init();
    struct cn_text line = {0};

    transfer->easy = easy;
    transfer->is_started = true;
    if (transfer->get->token) {
        cn_text_printf(&line, "Authorization: Bearer %s", transfer->get->token);
        transfer->headers = curl->slist_append(NULL, cn_text_str(&line));
        cn_text_done(&line);
    }
    (void)curl->easy_setopt(easy, CURLOPT_URL, transfer->get->url);
    (void)curl->easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    (void)curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl->easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    (void)curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    (void)curl->multi_add_handle(multi, easy);
}

static void end(struct http_get_transfer *transfer, CURLM *multi)
{
    if (transfer->easy) {
        (void)transfer->curl->multi_remove_handle(multi, transfer->easy);
        transfer->curl->easy_cleanup(transfer->easy);
    }
    transfer->easy = NULL;
    transfer->curl->slist_free_all(transfer->headers);
    transfer->headers = NULL;
}

static void finish(void *arg, CURLcode code, void *multi)
{
    struct http_get_transfer *transfer = arg;
    struct cn_http_get *get = transfer->get;

    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE,
                                       &get->status);
    get->is_ok = code == CURLE_OK && get->status == 200;
    if (code != CURLE_OK)
        (void)cn_fail(&get->err, CN_ERR_IO, "%s", transfer->curl->easy_strerror(code));
    else if (!get->is_ok)
        (void)cn_fail(&get->err, CN_ERR_IO, "it answered with status %ld%s", get->status,
                      get->status == 401 ? ": the token of collectors is missing or wrong"
                                         : "");
    end(transfer, multi);
}

/* Start what may start. Returns the number of requests that are not over. */
static size_t start_some(struct http_get_transfer *transfers, size_t count, CURLM *multi,
                         uint64_t left_ms)
{
    size_t running = 0, left = 0;

    for (size_t i = 0; i < count; i++)
        running += transfers[i].easy != NULL;
    for (size_t i = 0; i < count; i++) {
        if (!transfers[i].is_started && running < PARALLEL) {
            start(&transfers[i], multi, left_ms);
            running++;
        }
        left += !transfers[i].is_started || transfers[i].easy;
    }
    return left;
}

static void run(struct http_get_transfer *transfers, size_t count, CURLM *multi,
                uint64_t deadline_ns)
{
    const struct cn_curl *curl = transfers[0].curl;
    uint64_t now_ns;

    while ((now_ns = cn_clock_ns()) < deadline_ns) {
        uint64_t left_ms = (deadline_ns - now_ns) / 1000000 + 1;

        if (start_some(transfers, count, multi, left_ms) == 0)
            return;
        if (!cn_curl_step(curl, multi, finish, multi))
            (void)curl->multi_poll(multi, NULL, 0, left_ms < 1000 ? (int)left_ms : 1000,
                                   NULL);
    }
}

void cn_http_get_run(struct cn_http_get *gets, size_t count, uint64_t deadline_ns)
{
    struct http_get_transfer *transfers = cn_alloc(count, sizeof(*transfers));
    const struct cn_curl *curl = NULL;
    struct cn_error missing = {0};
    CURLM *multi;

    for (size_t i = 0; i < count; i++) {
        gets[i].is_ok = false;
        gets[i].status = 0;
        (void)cn_fail(&gets[i].err, CN_ERR_IO, "it did not answer in time");
    }
    if (count > 0 && !cn_curl_load(&curl, &missing)) {
        for (size_t i = 0; i < count; i++)
            gets[i].err = missing;
    } else if (count > 0) {
        multi = curl->multi_init();
        for (size_t i = 0; i < count; i++)
            transfers[i] = (struct http_get_transfer){.curl = curl, .get = &gets[i]};
        run(transfers, count, multi, deadline_ns);
        for (size_t i = 0; i < count; i++)
            end(&transfers[i], multi);
        (void)curl->multi_cleanup(multi);
    }
    free(transfers);
}
#else
void cn_http_get_run(struct cn_http_get *gets, size_t count, uint64_t deadline_ns)
{
    (void)deadline_ns;
    for (size_t i = 0; i < count; i++) {
        gets[i].is_ok = false;
        (void)cn_fail(&gets[i].err, CN_ERR_USAGE, "built without libcurl");
    }
}
#endif
