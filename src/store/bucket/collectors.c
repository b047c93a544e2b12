/* Collectors register in the bucket, next to the manifest: manifest/collector-ID, whose content is
 * the address where readers reach it, and whose time shows that it is alive. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/bucket/bucket.h"

static void print_key(struct cn_text *key, const char *id)
{
    cn_text_printf(key, "manifest/collector-%s", id);
}

bool cn_bucket_register(struct cn_bucket *bucket, const char *id, const char *url,
                        struct cn_error *err)
{
    struct cn_bytes body = cn_bytes_of(url);
    struct cn_text key = {0};

    print_key(&key, id);
    bool ok = cn_s3_put(bucket->s3, cn_text_str(&key), body, NULL, err);
    cn_text_done(&key);
    return ok;
}

bool cn_bucket_unregister(struct cn_bucket *bucket, const char *id, struct cn_error *err)
{
    struct cn_text key = {0};

    print_key(&key, id);
    bool ok = cn_s3_remove(bucket->s3, cn_text_str(&key), err);
    cn_text_done(&key);
    return ok;
}

bool cn_bucket_collector_urls(struct cn_bucket *bucket,
                              const struct cn_manifest_collector *collectors,
                              size_t count, struct cn_text *out, struct cn_error *err)
{
    struct cn_s3_request *requests = cn_alloc(count, sizeof(*requests));
    struct cn_text *keys = cn_alloc(count, sizeof(*keys));
    size_t *of = cn_alloc(count, sizeof(*of)), n = 0;

    for (size_t i = 0; i < count; i++) {
        if (!collectors[i].has_url)
            continue;
        print_key(&keys[n], collectors[i].id);
        requests[n] =
            (struct cn_s3_request){.method = CN_S3_GET, .key = cn_text_str(&keys[n])};
        of[n++] = i;
    }
    bool ok = cn_s3_run(bucket->s3, requests, n, err);
    for (size_t i = 0; i < n; i++) {
        if (ok && requests[i].status != 404)
            out[of[i]] = requests[i].answer;
        else
            cn_text_done(&requests[i].answer);
        cn_text_done(&keys[i]);
    }
    free(requests);
    free(keys);
    free(of);
    return ok;
}
