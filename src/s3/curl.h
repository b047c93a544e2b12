/* The functions of libcurl that requests use, loaded when they are first needed: cairn runs without
 * the library.
 *
 * Internal to s3. Threads: any thread.
 */
#ifndef CN_S3_CURL_H
#define CN_S3_CURL_H

#include <stddef.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/error.h"

/* Named after the functions of the library. `sha256` is that of libcrypto; NULL without it. */
struct cn_curl {
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    void (*easy_reset)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *fds, unsigned count,
                            int timeout_ms, int *ready);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    CURLcode (*global_init)(long flags);
    unsigned char *(*sha256)(const unsigned char *data, size_t len, unsigned char *out);
};

/* Fails with the name of the package if the library is not installed. */
CN_CHECK bool cn_curl_load(const struct cn_curl **out, struct cn_error *err);

/* Called for a transfer that has ended: `transfer` is its CURLOPT_PRIVATE. */
typedef void (*cn_curl_ended)(void *transfer, CURLcode code, void *arg);

/* Let the transfers of `multi` continue. True if one has ended. */
bool cn_curl_step(const struct cn_curl *curl, CURLM *multi, cn_curl_ended ended,
                  void *arg);

#endif
