/* Downloads whole segments. */

#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/text.h"
#include "store/bucket/bucket.h"

enum { RANGE_LEN = 8 << 20, TOGETHER = 8 };

/* The ranges of a file from `off` on that are fetched together. */
static bool fetch(struct cn_bucket *bucket, const char *key, uint64_t file_len,
                  uint64_t off, uint8_t *out, uint64_t len, struct cn_error *err)
{
    struct cn_s3_request requests[TOGETHER];
    size_t count = (size_t)((len + RANGE_LEN - 1) / RANGE_LEN);
    bool ok;

    for (size_t i = 0; i < count; i++) {
        uint64_t at = i * (uint64_t)RANGE_LEN;

        requests[i] = (struct cn_s3_request){
            .method = CN_S3_GET,
            .key = key,
            .off = off + at,
            .len = len - at < RANGE_LEN ? len - at : RANGE_LEN,
            .out = out + at,
            .object_len = file_len,
        };
    }
    ok = cn_s3_run(bucket->s3, requests, count, err);
    for (size_t i = 0; i < count; i++) {
        if (ok && requests[i].status == 404)
            ok = cn_fail(err, CN_ERR_NOT_FOUND, "%s/%s: there is no such object",
                         bucket->address, key);
        cn_text_done(&requests[i].answer);
    }
    return ok;
}

/* Memory is for what is fetched together: the length is a claim of the manifest. */
static bool download_file(struct cn_bucket *bucket, const char *key, const char *dir,
                          const struct cn_manifest_file *file, struct cn_error *err)
{
    const uint64_t max = (uint64_t)RANGE_LEN * TOGETHER;
    uint8_t *bytes = cn_alloc((size_t)(file->len < max ? file->len : max), 1);
    struct cn_out out = {0};
    bool ok = cn_out_open_at(&out, dir, file->name, err);

    for (uint64_t off = 0; ok && off < file->len; off += max) {
        uint64_t len = file->len - off < max ? file->len - off : max;

        ok = fetch(bucket, key, file->len, off, bytes, len, err) &&
             cn_out_write(&out, bytes, (size_t)len, err);
    }
    ok = ok && cn_out_close(&out, err);
    cn_out_abandon(&out);
    free(bytes);
    return ok;
}

bool cn_bucket_download(struct cn_bucket *bucket, const struct cn_manifest_entry *entry,
                        const char *dir, struct cn_error *err)
{
    bool ok = mkdir(dir, 0700) == 0 || cn_fail_errno(err, "%s", dir);

    for (size_t i = 0; ok && i < entry->file_count; i++) {
        char *key = cn_strprintf("segments/%s/%s", entry->id, entry->files[i].name);

        ok = download_file(bucket, key, dir, &entry->files[i], err);
        free(key);
    }
    return ok;
}
