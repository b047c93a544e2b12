/* Packing records while they are recorded: TID.zts in place of TID.dat.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_DRAIN_PACKED_H
#define CN_LAUNCHER_DRAIN_PACKED_H

#include "launcher/drain.h"

CN_CHECK bool cn_drain_packed_write(struct cn_drain *drain, struct cn_rec_track *track,
                                    const uint8_t *ring, struct cn_error *err);

/* Write the blocks that are not full yet. */
/* Who packed this track has died: go on where it said it was. */
CN_CHECK bool cn_drain_packed_resume(struct cn_drain *drain, struct cn_rec_track *track,
                                     struct cn_error *err);

CN_CHECK bool cn_drain_packed_finish(struct cn_drain *drain, struct cn_error *err);

void cn_drain_packed_done(struct cn_drain *drain);

#endif
