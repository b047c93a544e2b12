/* Writes numbers of a fixed number of bits to a block file, the first in the lowest bits.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_BIT_WRITER_H
#define CN_STORE_INDEX_BIT_WRITER_H

#include "base/bytes/record.h"
#include "base/files/blocks.h"

enum { CN_BIT_WRITER_WORD = 64 };

/* Numbers of the same number of bits, written one after the other. */
struct cn_bit_writer {
    struct cn_block_writer *out;
    uint64_t waiting;
    unsigned bits, used;
};

static inline bool cn_bit_writer_add(struct cn_bit_writer *writer, uint64_t value,
                                     struct cn_error *err)
{
    uint8_t bytes[sizeof(uint64_t)];

    writer->waiting |= value << writer->used;
    if (writer->used + writer->bits < CN_BIT_WRITER_WORD) {
        writer->used += writer->bits;
        return true;
    }
    cn_u64_put(bytes, writer->waiting);
    writer->waiting =
        writer->used == 0 ? 0 : value >> (CN_BIT_WRITER_WORD - writer->used);
    writer->used = writer->used + writer->bits - CN_BIT_WRITER_WORD;
    return cn_block_writer_add(writer->out, bytes, sizeof(bytes), err);
}

/* The last bytes. */
static inline bool cn_bit_writer_end(struct cn_bit_writer *writer, struct cn_error *err)
{
    uint8_t bytes[sizeof(uint64_t)];

    cn_u64_put(bytes, writer->waiting);
    return cn_block_writer_add(writer->out, bytes, (writer->used + 7) / 8, err);
}

static inline bool cn_block_writer_add_u64(struct cn_block_writer *writer, uint64_t value,
                                           struct cn_error *err)
{
    uint8_t bytes[sizeof(uint64_t)];

    cn_u64_put(bytes, value);
    return cn_block_writer_add(writer, bytes, sizeof(bytes), err);
}

#endif
