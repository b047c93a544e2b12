/* Collectors register in the bucket, next to the manifest: manifest/collector-ID, whose content is
 * the address where readers reach it, and whose time shows that it is alive. */

#include <string.h>

#include "base/text.h"
#include "store/bucket/bucket.h"

static void print_key(struct cn_text *key, const char *id)
{
    cn_text_printf(key, "manifest/collector-%s", id);
}

bool cn_bucket_register(struct cn_bucket *bucket, const char *id, const char *url,
                        struct cn_error *err)
{
    struct cn_bytes body = {(const uint8_t *)url, strlen(url)};
    struct cn_text key = {0};
    bool ok;

    print_key(&key, id);
    ok = cn_s3_put(bucket->s3, cn_text_str(&key), body, NULL, err);
    cn_text_done(&key);
    return ok;
}

bool cn_bucket_unregister(struct cn_bucket *bucket, const char *id, struct cn_error *err)
{
    struct cn_text key = {0};
    bool ok;

    print_key(&key, id);
    ok = cn_s3_remove(bucket->s3, cn_text_str(&key), err);
    cn_text_done(&key);
    return ok;
}

bool cn_bucket_collector_url(struct cn_bucket *bucket, const char *id,
                             struct cn_text *out, struct cn_error *err)
{
    struct cn_text key = {0};
    bool is_found, ok;

    print_key(&key, id);
    ok = cn_s3_get(bucket->s3, cn_text_str(&key), out, &is_found, err);
    cn_text_done(&key);
    return ok;
}
