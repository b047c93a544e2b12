/* The records in a chunk of traces.dat.
 *
 * The stored bytes of a chunk are those records, compressed; in a file with CN_CHUNK_FLAG_PACKED they
 * begin with CN_CHUNK_DATA_HEAD, and are packed (formats/zorka/packed.h) or raw deflate.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_CHUNK_DATA_H
#define CN_STORE_SEGMENT_CHUNK_DATA_H

#include "base/bytes/record.h"
#include "base/files/chunks.h"
#include "store/index/columns.h"

#define CN_CHUNK_DATA_HEAD(F)                    \
    F(0x00, u8, form, "0 raw deflate, 1 packed") \
    F(0x01, u32, plain_len, "bytes of the records")
CN_RECORD(cn_chunk_data_head, CN_CHUNK_DATA_HEAD, 5);

enum cn_chunk_data_form { CN_CHUNK_DATA_DEFLATE, CN_CHUNK_DATA_PACKED };

struct cn_zorka_names;
struct cn_zorka_unpacker;
struct cn_zorka_values;

/* Caches what was read last. A zeroed reader is ready for use. */
struct cn_chunk_reader {
    struct cn_decompressor *decompressor;
    struct cn_zorka_unpacker *unpacker;
    uint8_t *plain; /* of the last chunk, unless it is packed and was read by record */
    size_t plain_len, capacity;
    bool is_packed; /* the last chunk: the unpacker has it */
};

void cn_chunk_reader_done(struct cn_chunk_reader *reader);

/* All records of a chunk; valid until the next call. */
CN_CHECK bool cn_chunk_reader_all(struct cn_chunk_reader *reader,
                                  const struct cn_chunk_file *file,
                                  const struct cn_chunk *chunk, struct cn_bytes *out,
                                  struct cn_error *err);

/* Open a chunk, of which only some records may be needed. */
CN_CHECK bool cn_chunk_reader_open(struct cn_chunk_reader *reader,
                                   const struct cn_chunk_file *file,
                                   const struct cn_chunk *chunk, struct cn_error *err);

/* The bytes from `off` of the records of the open chunk to the end of the record that this is in,
 * or to the end of the chunk; valid until the next call. */
CN_CHECK bool cn_chunk_reader_from(struct cn_chunk_reader *reader, uint32_t off,
                                   struct cn_bytes *out, struct cn_error *err);

/* The same from span `number` of the open chunk on, which is packed. */
CN_CHECK bool cn_chunk_reader_span(struct cn_chunk_reader *reader, uint32_t number,
                                   struct cn_bytes *out, struct cn_error *err);

/* The value of an attribute of each span of the open chunk (formats/zorka/packed.h); none if it is not
 * packed. */
CN_CHECK bool cn_chunk_reader_attribute(const struct cn_chunk_reader *reader,
                                        const struct cn_zorka_names *names,
                                        struct cn_zorka_values *out,
                                        struct cn_error *err);

/* Where the open chunk has ids; of a field with 0 bits it is unknown. */
void cn_chunk_reader_places(const struct cn_chunk_reader *reader,
                            const struct cn_chunk *chunk,
                            struct cn_chunk_place places[CN_CHUNK_FIELDS]);

#endif
