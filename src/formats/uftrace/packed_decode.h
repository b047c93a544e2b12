/* Unpacking chunks of records: from a chunk of TID.zts the bytes of TID.dat.
 *
 * Threads: one thread at a time for each unpacker.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_DECODE_H
#define CN_FORMATS_UFTRACE_PACKED_DECODE_H

#include "base/bytes.h"
#include "base/error.h"
#include "formats/uftrace/packed_format.h"

struct cn_uft_unpacker;

/* A chunk unpacked; borrowed from the unpacker until its next use. */
struct cn_uft_unpacked {
    struct cn_uft_packed_lead lead;
    struct cn_bytes bytes; /* of TID.dat */
    const uint64_t
        *open_words; /* lead.depth of them: entries of the functions that are open
                                   at the start, outermost first, 0 where unknown */
};

struct cn_uft_unpacker *cn_uft_unpacker_new(void);
void cn_uft_unpacker_free(struct cn_uft_unpacker *unpacker); /* NULL is fine */

/* The lead of a chunk, checked against its own checksum and the limits. */
CN_CHECK bool cn_uft_packed_lead_read(struct cn_bytes chunk,
                                      struct cn_uft_packed_lead *out,
                                      struct cn_error *err);

/* Unpack a whole chunk. */
CN_CHECK bool cn_uft_unpack(struct cn_uft_unpacker *unpacker, struct cn_bytes chunk,
                            struct cn_uft_unpacked *out, struct cn_error *err);

#endif
