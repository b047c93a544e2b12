/* Uploads the sealed segments of a collector's store to object storage, in the background.
 *
 * A local copy is removed when the manifest names its segment, except the newest ones: the collector
 * knows by them which traces it already has. While object storage takes nothing, segments stay;
 * when they take more than the limit, the collector should refuse traces. The collector is
 * registered in object storage, by the id in the file "collector" of its store.
 * Threads: any thread may ask; started and stopped by one.
 */
#ifndef CN_STORE_PIPELINE_UPLOADER_H
#define CN_STORE_PIPELINE_UPLOADER_H

#include <stdint.h>

#include "base/error.h"

struct cn_uploader;

struct cn_uploader_options {
    const char *path;    /* of the local store */
    const char *address; /* of the one in object storage */
    unsigned kept;       /* newest sealed segments that stay */
    uint64_t len_max;    /* bytes of the local store; 0: no limit */
    bool replicates;     /* commits of segments are removed when these are uploaded */
    const char *url;     /* where readers reach the collector; NULL: nowhere */
};

struct cn_uploader_counts {
    uint64_t segments, failures; /* uploaded; attempts that failed */
    uint64_t local_len;          /* bytes of the local store */
};

/* Fails if the settings of the address are wrong; object storage need not be reachable. */
CN_CHECK bool cn_uploader_start(struct cn_uploader **out,
                                const struct cn_uploader_options *options,
                                struct cn_error *err);

/* Waits for the request that is running. NULL is fine. */
void cn_uploader_stop(struct cn_uploader *uploader);

/* Fails if the local store is larger than its limit, with the reason why segments stay. NULL: no
 * limit. */
CN_CHECK bool cn_uploader_has_room(struct cn_uploader *uploader, struct cn_error *err);

struct cn_uploader_counts cn_uploader_counts(struct cn_uploader *uploader);

#endif
