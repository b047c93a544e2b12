#include "store/bucket/bucket.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/text.h"
#include "cache/directory.h"

#define CONFIG_NAME "config.props"
#define ID_KEY      "\nid = "
static const uint64_t default_cache_len = UINT64_C(4) << 30;

static char *plain_address(const char *address)
{
    char *copy = cn_strdup(address);

    copy[strcspn(copy, "?")] = '\0';
    return copy;
}

static bool make_bucket(struct cn_s3 *s3, struct cn_error *err)
{
    struct cn_s3_request request = {.method = CN_S3_PUT};
    bool ok = cn_s3_run(s3, &request, 1, err);

    cn_text_done(&request.answer);
    return ok;
}

bool cn_bucket_create(const char *address, const char *config, struct cn_error *err)
{
    char id[CN_MANIFEST_ID_LEN + 1], *plain = plain_address(address);
    struct cn_text text = {0};
    struct cn_s3 *s3 = NULL;
    bool is_written = true, ok = cn_s3_open(&s3, address, err);

    cn_manifest_new_id(id);
    cn_text_printf(&text, "%s" ID_KEY "%s\n", config, id);
    struct cn_bytes body = {(const uint8_t *)cn_text_str(&text), text.len};
    if (ok && !cn_s3_put(s3, CONFIG_NAME, body, &is_written, err))
        ok = err->kind == CN_ERR_NOT_FOUND && make_bucket(s3, err) &&
             cn_s3_put(s3, CONFIG_NAME, body, &is_written, err);
    if (ok && !is_written)
        ok = cn_fail(err, CN_ERR_USAGE, "%s is a store already", plain);
    cn_s3_close(s3);
    cn_text_done(&text);
    free(plain);
    return ok;
}

static bool read_config(struct cn_bucket *bucket, struct cn_error *err)
{
    struct cn_text text = {0};
    bool is_found = false,
         ok = cn_bucket_get_and_list(bucket, CONFIG_NAME, &text, &is_found, err);

    if (ok && !is_found)
        ok =
            cn_fail(err, CN_ERR_FORMAT,
                    "%s is not a store; 'cairn store init' creates one", bucket->address);
    const char *id = strstr(cn_text_str(&text), ID_KEY);
    if (ok && (!id || !cn_hex_begins(id + strlen(ID_KEY), CN_MANIFEST_ID_LEN)))
        ok = cn_fail(err, CN_ERR_FORMAT,
                     "%s/" CONFIG_NAME ": the id of the store is missing",
                     bucket->address);
    if (ok) {
        memcpy(bucket->id, id + strlen(ID_KEY), CN_MANIFEST_ID_LEN);
        bucket->config = cn_strdup(cn_text_str(&text));
        bucket->limited_count = cn_s3_counts(bucket->s3).fetched;
    }
    cn_text_done(&text);
    return ok;
}

static bool open_cache(struct cn_bucket *bucket, struct cn_error *err)
{
    char below[64], path[PATH_MAX];

    (void)snprintf(below, sizeof(below), "/s3/%s", bucket->id);
    if (!cn_cache_dir(below, path))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s: no directory for its cache; set HOME or XDG_CACHE_HOME",
                       bucket->address);
    cn_cache_dir_make(path);
    bucket->cache_dir = cn_strdup(path);
    return access(path, W_OK) == 0 || cn_fail_errno(err, "%s", path);
}

bool cn_bucket_open(struct cn_bucket **out, const char *address, struct cn_error *err)
{
    struct cn_bucket *bucket = cn_alloc(1, sizeof(*bucket));

    bucket->address = plain_address(address);
    cn_lock_init(&bucket->lock);
    cn_lock_init(&bucket->naming);
    if (!cn_s3_open(&bucket->s3, address, err) || !read_config(bucket, err) ||
        !open_cache(bucket, err)) {
        cn_bucket_close(bucket);
        return false;
    }
    *out = bucket;
    return true;
}

bool cn_bucket_configure(struct cn_bucket *bucket, const char *config,
                         struct cn_error *err)
{
    char *text = cn_strprintf("%s" ID_KEY "%s\n", config, bucket->id);
    bool ok = cn_s3_put(bucket->s3, CONFIG_NAME, cn_bytes_of(text), NULL, err);

    free(ok ? bucket->config : text);
    if (ok)
        bucket->config = text;
    return ok;
}

struct cn_bucket *cn_bucket_share(struct cn_bucket *bucket)
{
    bucket->user_count++;
    return bucket;
}

void cn_bucket_close(struct cn_bucket *bucket)
{
    if (!bucket || bucket->user_count-- > 0)
        return;
    if (bucket->cache_dir)
        cn_bucket_limit_cache(bucket);
    cn_s3_close(bucket->s3);
    cn_manifest_names_free(bucket->names);
    if (bucket->ahead)
        cn_manifest_done(bucket->ahead);
    free(bucket->ahead);
    cn_lock_done(&bucket->lock);
    cn_lock_done(&bucket->naming);
    free(bucket->address);
    free(bucket->config);
    free(bucket->cache_dir);
    free(bucket);
}

void cn_bucket_limit_cache(struct cn_bucket *bucket)
{
    uint64_t len = cn_s3_settings(bucket->s3)->cache_len;
    uint64_t count = cn_s3_counts(bucket->s3).fetched;

    if (count == bucket->limited_count)
        return;
    bucket->limited_count = count;
    cn_cache_dir_limit(bucket->cache_dir, len > 0 ? len : default_cache_len);
}
