/* Unpacks chunks of TID.zts to bytes of TID.dat.
 *
 *     if (!cn_uft_unpacker_begin(unpacker, chunk, &lead, &err))
 *         return false;
 *     while ((step = cn_uft_unpacker_next(unpacker, &bytes, &err)) == CN_ITEM)
 *         use(bytes);
 *
 * Threads: one thread at a time for each unpacker.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_DECODE_H
#define CN_FORMATS_UFTRACE_PACKED_DECODE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/uftrace/packed/format.h"
#include "model/step.h"

struct cn_uft_unpacker;

struct cn_uft_unpacker *cn_uft_unpacker_new(void);
void cn_uft_unpacker_free(struct cn_uft_unpacker *unpacker); /* NULL is fine */

/* Read the lead of a chunk; fails when its checksum or a limit is wrong. */
CN_CHECK bool cn_uft_packed_lead_read(struct cn_bytes chunk,
                                      struct cn_uft_packed_lead *out,
                                      struct cn_error *err);

/* Start to unpack a chunk. Its bytes are borrowed until it is unpacked. */
CN_CHECK bool cn_uft_unpacker_begin(struct cn_uft_unpacker *unpacker,
                                    struct cn_bytes chunk,
                                    struct cn_uft_packed_lead *lead,
                                    struct cn_error *err);

/* The next few thousand records of the chunk, borrowed until the next call. */
CN_CHECK enum cn_step cn_uft_unpacker_next(struct cn_uft_unpacker *unpacker,
                                           struct cn_bytes *out, struct cn_error *err);

/* The entry words of the functions that are open at the start of the chunk (lead.depth of
 * them), outermost first; 0 where unknown. Borrowed until the next chunk. */
const uint64_t *cn_uft_unpacker_open_words(const struct cn_uft_unpacker *unpacker);

#endif
