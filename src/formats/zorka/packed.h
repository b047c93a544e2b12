/* Packed records: the records of a chunk by column (docs/formats/store.md).
 *
 * Spans of one program have the same attributes, and their values repeat. Columns of numbers take a
 * third of the bytes of the same records compressed. Unpacking makes the same bytes again, of all
 * records or of one.
 *
 *     bool is_packed = cn_zorka_pack(packer, plain, &out);
 *
 *     cn_zorka_unpack_begin(unpacker, bytes, plain_len, err)
 *     cn_zorka_unpack_at(unpacker, off, &record, &record_off, err)
 *
 * Only records whose calls are all whole spans are packed, as those of OpenTelemetry and Zipkin are;
 * no parts of traces.
 * Threads: one thread at a time for each packer and unpacker.
 */
#ifndef CN_FORMATS_ZORKA_PACKED_H
#define CN_FORMATS_ZORKA_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_text;
struct cn_zorka_packer;
struct cn_zorka_unpacker;

/* Limits of what is packed. */
enum { CN_ZORKA_PACKED_LEN_MAX = 1 << 22, CN_ZORKA_PACKED_SPANS_MAX = 1 << 16 };

struct cn_zorka_packer *cn_zorka_packer_new(void);
void cn_zorka_packer_free(struct cn_zorka_packer *packer); /* NULL is fine */

/* Append the packed form of records that follow each other. False, with nothing appended, if they
 * cannot be packed so that unpacking makes the same bytes. */
bool cn_zorka_pack(struct cn_zorka_packer *packer, struct cn_bytes plain,
                   struct cn_text *out);

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

/* All records, to `plain`, which has room for them. */
CN_CHECK bool cn_zorka_unpack_all(struct cn_zorka_unpacker *unpacker, uint8_t *plain,
                                  struct cn_error *err);

#endif
