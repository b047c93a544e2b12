/* Commits of open segments in object storage, for collectors whose acknowledgements must survive the
 * loss of their machine.
 *
 * Objects: commits/COLLECTOR/SEGMENT/NUMBER, where SEGMENT is the id that the segment will have when
 * it is uploaded, and NUMBER ascends. Each has bytes of text.log and of traces.dat from an offset on;
 * what earlier ones have from there on does not count. Layout: "CNSTCOM1" | u32 little endian:
 * CRC-32C of the rest | CBOR array of offset and bytes of text.log, offset and bytes of traces.dat,
 * config.props. They are removed when the manifest names the segment.
 * Threads: cn_replica_lane is used by one thread at a time, the rest by any thread.
 */
#ifndef CN_STORE_MAINTENANCE_REPLICA_H
#define CN_STORE_MAINTENANCE_REPLICA_H

#include <stdint.h>

#include "base/error.h"
#include "store/bucket/manifest.h"

struct cn_bucket;
struct cn_replica;
struct cn_store_recovery;

/* Register the collector with this store and copy everything that is not uploaded: traces that are
 * known from now on are in object storage as well. */
CN_CHECK bool cn_replica_open(struct cn_replica **out, const char *address,
                              const char *base, const char *url, struct cn_error *err);
void cn_replica_close(struct cn_replica *replica); /* NULL is fine */

/* What one lane of a store has copied of its open segment. All zero at the beginning. */
struct cn_replica_lane {
    char *dir;
    char id[CN_MANIFEST_ID_LEN + 1];
    uint64_t text_off, data_off; /* copied up to here */
    uint64_t number;             /* of the last object */
    bool is_behind;              /* something is saved, but not copied */
};
void cn_replica_lane_done(struct cn_replica_lane *lane);

/* Forget what was copied, because files may have been cut: all of it is copied again. */
void cn_replica_lane_reset(struct cn_replica_lane *lane);

/* Copy what was saved to the segment in `dir` since the last call; NULL: in the directory of the last
 * call. After a failure, the next call continues. */
CN_CHECK bool cn_replica_send(struct cn_replica *replica, struct cn_replica_lane *lane,
                              const char *dir, struct cn_error *err);

/* Remove the commits of a segment that the manifest names. */
CN_CHECK bool cn_replica_remove(struct cn_bucket *bucket, const char *collector,
                                const char *segment, struct cn_error *err);

/* Make segments of the commits of collectors that are gone, and add what was found to `counts`. The
 * commits stay: a collector that is back may add more, and the next recovery takes all of them.
 * `alive` receives the number of segments that belong to collectors that are not gone. */
CN_CHECK bool cn_replica_recover(struct cn_bucket *bucket,
                                 struct cn_store_recovery *counts, uint32_t *alive,
                                 struct cn_error *err);

/* Remove commits that are no longer needed: of segments that the manifest names, and a day after a
 * recovery took them. */
CN_CHECK bool cn_replica_sweep(struct cn_bucket *bucket, struct cn_error *err);

#endif
