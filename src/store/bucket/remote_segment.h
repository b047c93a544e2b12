/* A segment in object storage: a source of its files, fetched in blocks that are cached on disk.
 *
 * Threads: any thread may open files and need parts of them.
 */
#ifndef CN_STORE_BUCKET_REMOTE_SEGMENT_H
#define CN_STORE_BUCKET_REMOTE_SEGMENT_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/file.h"
#include "store/bucket/manifest.h"

struct cn_bucket;

/* What a reader of segments knows of it. */
struct cn_remote_segment {
    struct cn_file_source source;
    struct cn_manifest_entry *entry;

    /* Fetch what opening all files reads, in one go. Otherwise the file of rows is fetched alone
     * until another one is opened: many questions need nothing else. */
    void (*expect_all)(struct cn_remote_segment *remote);

    /* Fails with the first reason why bytes could not be fetched: what was read since may lack
     * something. */
    bool (*check)(const struct cn_remote_segment *remote, struct cn_error *err);
    void (*close)(struct cn_remote_segment *remote);
};

/* Takes the entry over. Nothing is fetched yet. */
struct cn_remote_segment *cn_remote_segment_new(struct cn_bucket *bucket,
                                                struct cn_manifest_entry *entry);

#endif
