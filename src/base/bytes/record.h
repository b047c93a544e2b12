/* Fixed-layout records, described once as a table of fields.
 *
 * From `F(offset, type, name, meaning)` rows, CN_RECORD() makes the struct, its
 * decoder, its encoder and the description that `cairn dump` prints. CN_RECORD_BE()
 * is the same for big-endian files, CN_RECORD_ANY() for files of either order. Bytes that no row claims are ignored when reading
 * and written as zero.
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_RECORD_H
#define CN_BASE_BYTES_RECORD_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes/bytes.h"

typedef uint8_t cn_u8;
typedef uint16_t cn_u16;
typedef uint32_t cn_u32;
typedef uint64_t cn_u64;
typedef double cn_f64;

/* memcpy keeps unaligned access and aliasing legal and compiles to one load. */
#define CN_WIRE_INT(type, suffix, from_wire, to_wire)         \
    static inline type type##suffix##_get(const uint8_t *p)   \
    {                                                         \
        type v;                                               \
        memcpy(&v, p, sizeof(v));                             \
        return from_wire(v);                                  \
    }                                                         \
    static inline void type##suffix##_put(uint8_t *p, type v) \
    {                                                         \
        v = to_wire(v);                                       \
        memcpy(p, &v, sizeof(v));                             \
    }

#define CN_WIRE_FLOAT(suffix)                                     \
    static inline cn_f64 cn_f64##suffix##_get(const uint8_t *p)   \
    {                                                             \
        uint64_t bits = cn_u64##suffix##_get(p);                  \
        cn_f64 v;                                                 \
        memcpy(&v, &bits, sizeof(v));                             \
        return v;                                                 \
    }                                                             \
    static inline void cn_f64##suffix##_put(uint8_t *p, cn_f64 v) \
    {                                                             \
        uint64_t bits;                                            \
        memcpy(&bits, &v, sizeof(bits));                          \
        cn_u64##suffix##_put(p, bits);                            \
    }

CN_WIRE_INT(cn_u8, , , )
CN_WIRE_INT(cn_u16, , le16toh, htole16)
CN_WIRE_INT(cn_u32, , le32toh, htole32)
CN_WIRE_INT(cn_u64, , le64toh, htole64)
CN_WIRE_FLOAT()
CN_WIRE_INT(cn_u8, _be, , )
CN_WIRE_INT(cn_u16, _be, be16toh, htobe16)
CN_WIRE_INT(cn_u32, _be, be32toh, htobe32)
CN_WIRE_INT(cn_u64, _be, be64toh, htobe64)
CN_WIRE_FLOAT(_be)

struct cn_field {
    uint16_t offset;
    uint16_t size;
    const char *type, *name, *meaning;
};

/* What `cairn dump` needs to print any record. */
struct cn_record_layout {
    const char *name;
    const struct cn_field *fields;
    size_t field_count;
    size_t size;
    bool is_big_endian;
};

/* The field of this name; NULL: there is none. */
static inline const struct cn_field *
cn_record_field(const struct cn_record_layout *layout, const char *name)
{
    for (size_t i = 0; i < layout->field_count; i++)
        if (strcmp(layout->fields[i].name, name) == 0)
            return &layout->fields[i];
    return NULL;
}

/* The value of an integer field in the bytes of a record. */
static inline uint64_t cn_field_get(const struct cn_record_layout *layout,
                                    const struct cn_field *field, const uint8_t *record)
{
    const uint8_t *at = record + field->offset;
    bool big = layout->is_big_endian;

    switch (field->size) {
    case 1:
        return *at;
    case 2:
        return big ? cn_u16_be_get(at) : cn_u16_get(at);
    case 4:
        return big ? cn_u32_be_get(at) : cn_u32_get(at);
    default:
        return big ? cn_u64_be_get(at) : cn_u64_get(at);
    }
}

#define CN_FIELD_MEMBER(off, type, name, meaning) cn_##type name;
#define CN_FIELD_GET(off, type, name, meaning) \
    out->name = cn_##type##_get(in.ptr + (off));
#define CN_FIELD_PUT(off, type, name, meaning) cn_##type##_put(out + (off), in->name);
#define CN_FIELD_GET_BE(off, type, name, meaning) \
    out->name = cn_##type##_be_get(in.ptr + (off));
#define CN_FIELD_PUT_BE(off, type, name, meaning) \
    cn_##type##_be_put(out + (off), in->name);
#define CN_FIELD_ROW(off, type, name, meaning) \
    {(off), sizeof(cn_##type), #type, #name, meaning},
#define CN_FIELD_FITS(off, type, name, meaning) \
    _Static_assert((off) + sizeof(cn_##type) <= size_, #name " ends after its record");

#define CN_RECORD_AS(record, TABLE, bytes, GET, PUT, big)                               \
    struct record {                                                                     \
        TABLE(CN_FIELD_MEMBER)                                                          \
    };                                                                                  \
    enum { record##_size = (bytes) };                                                   \
    static const struct cn_field record##_fields[]                                      \
        __attribute__((unused)) = {TABLE(CN_FIELD_ROW)};                                \
    static const struct cn_record_layout record##_layout __attribute__((unused)) = {    \
        #record, record##_fields, sizeof(record##_fields) / sizeof(struct cn_field),    \
        (bytes), (big)};                                                                \
    /* False when `in` is shorter than the record; extra bytes are allowed. */          \
    static inline bool record##_decode(struct cn_bytes in, struct record *out)          \
    {                                                                                   \
        enum { size_ = (bytes) };                                                       \
        TABLE(CN_FIELD_FITS)                                                            \
        if (in.len < size_)                                                             \
            return false;                                                               \
        TABLE(GET)                                                                      \
        return true;                                                                    \
    }                                                                                   \
    /* The same for a record at the front of `rest`, which is taken off. */             \
    static inline bool record##_take_first(struct cn_bytes *rest, struct record *out)   \
    {                                                                                   \
        struct cn_bytes part;                                                           \
        return cn_bytes_take(rest, (bytes), &part) && record##_decode(part, out);       \
    }                                                                                   \
    /* Returns `out`. */                                                                \
    static inline uint8_t *record##_encode(const struct record *in, uint8_t out[bytes]) \
    {                                                                                   \
        memset(out, 0, (bytes));                                                        \
        TABLE(PUT)                                                                      \
        return out;                                                                     \
    }                                                                                   \
    _Static_assert((bytes) <= UINT16_MAX, #record " is too large for a record")

#define CN_RECORD(record, TABLE, bytes) \
    CN_RECORD_AS(record, TABLE, bytes, CN_FIELD_GET, CN_FIELD_PUT, false)
#define CN_RECORD_BE(record, TABLE, bytes) \
    CN_RECORD_AS(record, TABLE, bytes, CN_FIELD_GET_BE, CN_FIELD_PUT_BE, true)

/* CN_RECORD(), and the same struct decoded from and encoded for either byte order. */
#define CN_RECORD_ANY(record, TABLE, bytes)                                      \
    CN_RECORD(record, TABLE, bytes);                                             \
    static inline bool record##_decode_any(struct cn_bytes in, bool is_big,      \
                                           struct record *out)                   \
    {                                                                            \
        if (!is_big)                                                             \
            return record##_decode(in, out);                                     \
        if (in.len < (bytes))                                                    \
            return false;                                                        \
        TABLE(CN_FIELD_GET_BE)                                                   \
        return true;                                                             \
    }                                                                            \
    static inline void record##_encode_any(const struct record *in, bool is_big, \
                                           uint8_t out[bytes])                   \
    {                                                                            \
        record##_encode(in, out);                                                \
        if (is_big) {                                                            \
            TABLE(CN_FIELD_PUT_BE)                                               \
        }                                                                        \
    }                                                                            \
    _Static_assert((bytes) > 0, #record " is empty")

#endif
