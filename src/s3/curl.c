#ifdef CN_HAS_CURL
#include "s3/curl.h"

#include <dlfcn.h>
#include <string.h>

#include "base/host/library.h"
#include "base/run/once.h"

static struct cn_once once = CN_ONCE_NEW;
static struct cn_curl functions;
static bool is_loaded;

static void load(void *arg)
{
    const struct cn_library_symbol symbols[] = {
        {"curl_easy_init", &functions.easy_init},
        {"curl_easy_cleanup", &functions.easy_cleanup},
        {"curl_easy_reset", &functions.easy_reset},
        {"curl_easy_setopt", &functions.easy_setopt},
        {"curl_easy_getinfo", &functions.easy_getinfo},
        {"curl_easy_strerror", &functions.easy_strerror},
        {"curl_slist_append", &functions.slist_append},
        {"curl_slist_free_all", &functions.slist_free_all},
        {"curl_multi_init", &functions.multi_init},
        {"curl_multi_cleanup", &functions.multi_cleanup},
        {"curl_multi_add_handle", &functions.multi_add_handle},
        {"curl_multi_remove_handle", &functions.multi_remove_handle},
        {"curl_multi_perform", &functions.multi_perform},
        {"curl_multi_poll", &functions.multi_poll},
        {"curl_multi_info_read", &functions.multi_info_read},
        {"curl_global_init", &functions.global_init},
    };
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL), *crypto, *symbol;

    (void)arg;
    if (!library)
        library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library ||
        cn_library_find(library, symbols, sizeof(symbols) / sizeof(*symbols)) ||
        functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return;
    /* Without it bodies are sent without a digest; over TLS they are still protected. */
    crypto = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    symbol = crypto ? dlsym(crypto, "SHA256") : NULL;
    memcpy(&functions.sha256, &symbol, sizeof(symbol));
    is_loaded = true;
}

bool cn_curl_load(const struct cn_curl **out, struct cn_error *err)
{
    cn_once_run(&once, load, NULL);
    if (!is_loaded)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "stores in object storage need libcurl 7.75 or later; install the "
                       "package libcurl4");
    *out = &functions;
    return true;
}

bool cn_curl_step(const struct cn_curl *curl, CURLM *multi, cn_curl_ended ended,
                  void *arg)
{
    const CURLMsg *message;
    bool has_ended = false;
    int running, left;

    (void)curl->multi_perform(multi, &running);
    while ((message = curl->multi_info_read(multi, &left))) {
        CURLcode code = message->data.result;
        void *transfer = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        ended(transfer, code, arg);
        has_ended = true;
    }
    return has_ended;
}
#endif
