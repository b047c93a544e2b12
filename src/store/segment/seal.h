/* Sealing: the logs of a segment become the files that are searched fast.
 *
 * text.dat and text.idx, meta.dat and post.dat are written under other names, synced and
 * renamed; then config.props says that the segment is sealed, and the logs that the new files
 * replace are removed. A crash in between leaves a segment that is not sealed.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_SEAL_H
#define CN_STORE_SEGMENT_SEAL_H

#include <stdint.h>

#include "base/error.h"
#include "base/files/disk.h"

CN_CHECK bool cn_segment_seal(const char *base, uint32_t number, const struct cn_disk *io,
                              struct cn_error *err);

#endif
