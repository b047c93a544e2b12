/* Where a bucket is and who asks: the address of a store in object storage, and credentials.
 *
 *     s3://BUCKET[/PREFIX][?NAME=VALUE[&NAME=VALUE]...]
 *
 * Names: endpoint, region, credentials (a file in the format of ~/.aws/credentials), profile,
 * cache-size, timeout (seconds without progress before a request is repeated), grace (seconds for
 * which readers may use segments that were removed), refresh (seconds after which a server looks for
 * new segments), fresh (seconds that readers wait for collectors; 0: they are not asked),
 * collector-token (a file). What an address does not set comes from the environment
 * (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION,
 * AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE,
 * AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE, AWS_CA_BUNDLE,
 * CAIRN_COLLECTOR_TOKEN_FILE), then from ~/.aws/config and
 * ~/.aws/credentials. Keys are never part of an address: addresses are printed.
 * Threads: any thread.
 */
#ifndef CN_S3_SETTINGS_H
#define CN_S3_SETTINGS_H

#include <stdint.h>

#include "base/error.h"

struct cn_s3_settings {
    char *bucket, *prefix; /* the prefix is empty or ends with '/' */
    char *endpoint;        /* "http://127.0.0.1:8080" */
    char *region;
    char *key_id, *secret, *token; /* the token may be NULL */
    char *ca_file;                 /* NULL: those of the system */
    uint64_t cache_len;            /* bytes; 0: not set */
    uint64_t timeout_s;
    uint64_t grace_s;           /* for which the objects of removed segments stay */
    uint64_t refresh_s;         /* from one look for new segments to the next */
    uint64_t fresh_s;           /* for which readers wait for collectors */
    char *collector_token_file; /* NULL: they need none */
};

/* Limit caches of stores whose address does not: "10G". Before other threads are started. */
CN_CHECK bool cn_s3_limit_caches(const char *size, struct cn_error *err);

/* Read everything. On failure nothing has to be released. */
CN_CHECK bool cn_s3_settings_read(struct cn_s3_settings *out, const char *address,
                                  struct cn_error *err);
void cn_s3_settings_done(struct cn_s3_settings *settings);

#endif
