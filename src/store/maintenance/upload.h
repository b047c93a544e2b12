/* Uploads sealed segments of a local store to a store in object storage.
 *
 * The files of a segment are uploaded, then the segment is named in the manifest: from then on
 * readers see it. A crash in between leaves objects without a name. The file "upload" in the
 * directory of a segment has the id of its objects and the number that it may have been named
 * with: an upload that is repeated, after a crash or a failure, does not add the segment twice.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_MAINTENANCE_UPLOAD_H
#define CN_STORE_MAINTENANCE_UPLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/bucket/manifest.h"

struct cn_bucket;
struct cn_progress;

/* The id that the objects of a segment have or will have. `is_named` receives true if the manifest
 * names it. Any thread may ask. */
CN_CHECK bool cn_upload_id(const char *dir, char id[CN_MANIFEST_ID_LEN + 1],
                           bool *is_named, struct cn_error *err);

/* Upload a sealed segment, unless that was done, which may replace others. */
CN_CHECK bool cn_upload_replacing(struct cn_bucket *bucket, const char *base,
                                  uint32_t number, const uint32_t *replaced,
                                  size_t replaced_count, struct cn_error *err);

/* The same for a segment whose objects have an id that is known. */
CN_CHECK bool cn_upload_with_id(struct cn_bucket *bucket, const char *base,
                                uint32_t number, const char *id, struct cn_error *err);

/* Name a segment again whose entry was lost, from its files in a directory of a local store. `rows`
 * receives their number. */
CN_CHECK bool cn_upload_name_again(struct cn_bucket *bucket, const char *base,
                                   uint32_t number, const char *id, uint64_t *rows,
                                   struct cn_error *err);

/* Upload those of these segments that are sealed and were not uploaded, several at a time. `sent`
 * receives their number, also if another one fails. */
CN_CHECK bool cn_upload_segments(struct cn_bucket *bucket, const char *base,
                                 const uint32_t *numbers, size_t count,
                                 const struct cn_progress *progress, uint32_t *sent,
                                 struct cn_error *err);

/* Upload all sealed segments of a store. `count` receives the number of those that were not
 * uploaded before. */
CN_CHECK bool cn_upload_store(struct cn_bucket *bucket, const char *base, uint32_t *count,
                              struct cn_error *err);

/* True if a segment was uploaded and named: its local copy may be removed. */
bool cn_upload_is_done(const char *base, uint32_t number);

/* Where a command writes traces for a store: the store itself or, for one in object storage, a new
 * local store that is uploaded afterwards.
 *
 *     cn_store_target_open(&target, path, err), write to target.path,
 *     cn_store_target_finish(&target, err), cn_store_target_done(&target)
 */
struct cn_store_target {
    char *path;
    struct cn_bucket *bucket; /* NULL: the store is local */
};
/* A new local store with the settings of the bucket, in its cache: for what is uploaded or was
 * downloaded. cn_store_target_done() removes it. The bucket is shared. */
CN_CHECK bool cn_store_target_make(struct cn_store_target *target,
                                   struct cn_bucket *bucket, struct cn_error *err);
CN_CHECK bool cn_store_target_open(struct cn_store_target *target, const char *path,
                                   struct cn_error *err);

/* Seal and upload, when everything is written and closed. */
CN_CHECK bool cn_store_target_finish(struct cn_store_target *target,
                                     struct cn_error *err);
void cn_store_target_done(struct cn_store_target *target);

#endif
