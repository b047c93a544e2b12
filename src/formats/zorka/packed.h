/* Packed records: the records of a chunk by column (docs/formats/store.md).
 *
 * Spans of one program have the same attributes, and their values repeat. Columns of numbers take a
 * third of the bytes of the same records compressed. Unpacking makes the same bytes again, of all
 * records or of one.
 *
 *     cn_zorka_columns_clear(columns)
 *     cn_zorka_columns_add(columns, trace, &part)          of each record, when it is encoded
 *     bool is_packed = cn_zorka_pack(packer, columns, plain_len, &out);
 *
 *     cn_zorka_unpack_begin(unpacker, bytes, plain_len, err)
 *     cn_zorka_unpack_at(unpacker, off, &record, &record_off, err)
 *
 * Only records whose calls are all whole spans are packed, as those of OpenTelemetry and Zipkin are;
 * no parts of traces.
 * Threads: one thread at a time for each of columns, packer and unpacker.
 */
#ifndef CN_FORMATS_ZORKA_PACKED_H
#define CN_FORMATS_ZORKA_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_text;
struct cn_trace;
struct cn_trace_value;
struct cn_zorka_columns;
struct cn_zorka_packer;
struct cn_zorka_part;
struct cn_zorka_unpacker;

/* Limits of what is packed. */
enum { CN_ZORKA_PACKED_LEN_MAX = 1 << 22, CN_ZORKA_PACKED_SPANS_MAX = 1 << 16 };

struct cn_zorka_columns *cn_zorka_columns_new(void);
void cn_zorka_columns_free(struct cn_zorka_columns *columns); /* NULL is fine */
void cn_zorka_columns_clear(struct cn_zorka_columns *columns);

/* Add a trace that was encoded as the record after those that were added, with the `part` that
 * cn_zorka_record_encode() returned. The columns of a trace that cannot be packed so that unpacking
 * makes the same bytes are not packed at all. */
void cn_zorka_columns_add(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                          const struct cn_zorka_part *part);

struct cn_zorka_packer *cn_zorka_packer_new(void);
void cn_zorka_packer_free(struct cn_zorka_packer *packer); /* NULL is fine */

/* Append the packed form of all records that were added, which take `plain_len` bytes. False, with
 * nothing appended, if they cannot be packed. */
bool cn_zorka_pack(struct cn_zorka_packer *packer, const struct cn_zorka_columns *columns,
                   size_t plain_len, struct cn_text *out);

struct cn_zorka_unpacker *cn_zorka_unpacker_new(void);
void cn_zorka_unpacker_free(struct cn_zorka_unpacker *unpacker); /* NULL is fine */

/* Read the columns of packed records that take `plain_len` bytes. `packed` is not needed afterwards. */
CN_CHECK bool cn_zorka_unpack_begin(struct cn_zorka_unpacker *unpacker,
                                    struct cn_bytes packed, size_t plain_len,
                                    struct cn_error *err);

/* The record that byte `off` of the plain records is in, and where it begins. It is valid until the
 * next call. Records in ascending order cost least. */
CN_CHECK bool cn_zorka_unpack_at(struct cn_zorka_unpacker *unpacker, size_t off,
                                 struct cn_bytes *record, size_t *record_off,
                                 struct cn_error *err);

/* The same for span `number` of the packed records, from 0: the bytes from it on. */
CN_CHECK bool cn_zorka_unpack_span(struct cn_zorka_unpacker *unpacker, uint32_t number,
                                   struct cn_bytes *span, struct cn_error *err);

/* Where the columns of ids are in the packed bytes, for who stores their values nowhere else. */
enum cn_zorka_placed {
    CN_ZORKA_TRACE_HIGH,
    CN_ZORKA_TRACE_LOW,
    CN_ZORKA_SPAN_IDS,
    CN_ZORKA_DURATIONS,
    CN_ZORKA_PLACES
};

/* Numbers of `bits` bits each (1 to 56, or 64), the first in the lowest bits of the byte at `off`; `lowest`
 * is added to them. Of a record each, or of a span. */
struct cn_zorka_place {
    size_t off, count;
    uint64_t lowest;
    unsigned bits; /* 0: they are in another form */
};

/* Find the columns of ids of what was read last. */
void cn_zorka_unpack_places(const struct cn_zorka_unpacker *unpacker,
                            struct cn_zorka_place places[CN_ZORKA_PLACES]);

/* Words that are the name of an attribute, and those of names that its own begins with, up to a dot: in
 * maps under these it may be as well. */
struct cn_zorka_names {
    const uint32_t *own, *outer;
    size_t own_count, outer_count;
};

/* The value of an attribute of each span of the packed records, in their order: of kind CN_VALUE_NULL
 * without it, CN_VALUE_LIST if it is not one value that is in a column. The caller frees `list`. */
struct cn_zorka_values {
    struct cn_trace_value *list;
    size_t count, capacity;
};
CN_CHECK bool cn_zorka_unpack_attribute(const struct cn_zorka_unpacker *unpacker,
                                        const struct cn_zorka_names *names,
                                        struct cn_zorka_values *out,
                                        struct cn_error *err);

/* All records, to `plain`, which has room for them. */
CN_CHECK bool cn_zorka_unpack_all(struct cn_zorka_unpacker *unpacker, uint8_t *plain,
                                  struct cn_error *err);

#endif
