/* Seals a segment: replaces its logs by files that can be searched fast.
 *
 * text.dat, text.idx, meta.dat and post.dat are written under temporary names, synced and renamed;
 * then config.props is replaced, and the logs are removed, except text.log. A crash in between
 * leaves an unsealed segment. A sealed segment is left as it is.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_SEAL_H
#define CN_STORE_SEGMENT_SEAL_H

#include <stdint.h>

#include "base/error.h"
#include "base/files/disk.h"

CN_CHECK bool cn_segment_seal(const char *base, uint32_t number, const struct cn_disk *io,
                              struct cn_error *err);

/* Write the rows of a sealed segment so that searches need not read its traces for ids: for object storage,
 * where the parts of a file that are needed are fetched. */
CN_CHECK bool cn_segment_gather_ids(const char *base, uint32_t number,
                                    const struct cn_disk *io, struct cn_error *err);

#endif
