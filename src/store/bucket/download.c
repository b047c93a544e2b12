/* Downloads whole segments. */

#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/text.h"
#include "store/bucket/bucket.h"

/* A file, in ranges that are fetched together. */
static bool fetch(struct cn_bucket *bucket, const char *key, uint8_t *out, uint64_t len,
                  struct cn_error *err)
{
    enum { RANGE = 8 << 20 };
    size_t count = (size_t)((len + RANGE - 1) / RANGE);
    struct cn_s3_request *requests = cn_alloc(count, sizeof(*requests));
    bool ok;

    for (size_t i = 0; i < count; i++)
        requests[i] = (struct cn_s3_request){
            .method = CN_S3_GET,
            .key = key,
            .off = i * (uint64_t)RANGE,
            .len = len - i * (uint64_t)RANGE < RANGE ? len - i * (uint64_t)RANGE : RANGE,
            .out = out + i * (uint64_t)RANGE,
        };
    ok = cn_s3_run(bucket->s3, requests, count, err);
    for (size_t i = 0; i < count; i++) {
        if (ok && requests[i].status == 404)
            ok = cn_fail(err, CN_ERR_NOT_FOUND, "%s/%s: there is no such object",
                         bucket->address, key);
        cn_text_done(&requests[i].answer);
    }
    free(requests);
    return ok;
}

bool cn_bucket_download(struct cn_bucket *bucket, const struct cn_manifest_entry *entry,
                        const char *dir, struct cn_error *err)
{
    bool ok = mkdir(dir, 0700) == 0 || cn_fail_errno(err, "%s", dir);

    for (size_t i = 0; ok && i < entry->file_count; i++) {
        const struct cn_manifest_file *file = &entry->files[i];
        uint8_t *bytes = cn_alloc((size_t)file->len, 1);
        struct cn_text key = {0};

        cn_text_printf(&key, "segments/%s/%s", entry->id, file->name);
        ok = fetch(bucket, cn_text_str(&key), bytes, file->len, err) &&
             cn_disk_replace(&cn_disk_files, dir, file->name, bytes, (size_t)file->len,
                             err);
        cn_text_done(&key);
        free(bytes);
    }
    return ok;
}
