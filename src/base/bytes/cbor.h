/* CBOR (RFC 8949): a reader of untrusted bytes, item by item, and a writer.
 *
 * Reading: cn_cbor_next() takes one head; the caller takes what follows it (the
 * elements of an array, the bytes of a text). Readers that expect a kind of item call
 * cn_cbor_uint(), cn_cbor_text(), ... instead. A failure does not move the position, which
 * cn_cbor_fail() reports. Nothing is allocated and nothing recurses.
 *
 * Writing: a growing buffer; zeroed it is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_BYTES_CBOR_H
#define CN_BASE_BYTES_CBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes/bytes.h"
#include "base/bytes/record.h"
#include "base/error.h"

enum cn_cbor_kind {
    CN_CBOR_UINT,
    CN_CBOR_NEGATIVE, /* -1 - value */
    CN_CBOR_BYTES,
    CN_CBOR_TEXT,
    CN_CBOR_ARRAY,
    CN_CBOR_MAP,
    CN_CBOR_TAG,
    CN_CBOR_SIMPLE, /* and floats; `info` tells which */
};

enum {
    CN_CBOR_FALSE = 20,
    CN_CBOR_TRUE = 21,
    CN_CBOR_NULL = 22,
    CN_CBOR_HALF = 25,
    CN_CBOR_FLOAT = 26,
    CN_CBOR_DOUBLE = 27,
    CN_CBOR_OPEN = 31, /* info of an item without a length, and of its end */
    CN_CBOR_BREAK = 0xff,
    CN_CBOR_HEAD_MAX = 9,        /* bytes */
    CN_CBOR_SKIP_DEPTH_MAX = 64, /* of what cn_cbor_skip() walks over */
};

struct cn_cbor {
    struct cn_bytes bytes;
    size_t off;
};

struct cn_cbor_head {
    enum cn_cbor_kind kind;
    uint8_t info;   /* the lower five bits of the first byte */
    uint64_t value; /* a number, a length, a count, a tag, or the bits of a float */
};

static inline bool cn_cbor_is_at_end(const struct cn_cbor *in)
{
    return in->off >= in->bytes.len;
}

/* The next byte, or -1 at the end. */
static inline int cn_cbor_peek(const struct cn_cbor *in)
{
    return in->off < in->bytes.len ? in->bytes.ptr[in->off] : -1;
}

/* False at the end and for heads that are not well formed. */
static inline bool cn_cbor_next(struct cn_cbor *in, struct cn_cbor_head *out)
{
    size_t left = in->bytes.len - in->off;
    const uint8_t *p = in->bytes.ptr + in->off;
    uint8_t info;

    if (left == 0)
        return false;
    info = *p & 31;
    *out = (struct cn_cbor_head){(enum cn_cbor_kind)(*p >> 5), info, info};
    if (info < 24 || info == CN_CBOR_OPEN) {
        in->off++;
        return true;
    }
    if (info > 27 || left < 1 + ((size_t)1 << (info - 24)))
        return false;
    switch (info) {
    case 24:
        out->value = p[1];
        break;
    case 25:
        out->value = cn_u16_be_get(p + 1);
        break;
    case 26:
        out->value = cn_u32_be_get(p + 1);
        break;
    default:
        out->value = cn_u64_be_get(p + 1);
        break;
    }
    in->off += 1 + ((size_t)1 << (info - 24));
    return true;
}

/* Take the next item if it is of this kind and has a number (no open length). */
static inline bool cn_cbor_take(struct cn_cbor *in, enum cn_cbor_kind kind,
                                uint64_t *value)
{
    size_t off = in->off;
    struct cn_cbor_head head;

    if (!cn_cbor_next(in, &head))
        return false;
    if (head.kind != kind || head.info == CN_CBOR_OPEN) {
        in->off = off;
        return false;
    }
    *value = head.value;
    return true;
}

static inline bool cn_cbor_uint(struct cn_cbor *in, uint64_t *value)
{
    return cn_cbor_take(in, CN_CBOR_UINT, value);
}

/* Take one byte if it is this one. */
static inline bool cn_cbor_byte(struct cn_cbor *in, uint8_t byte)
{
    if (cn_cbor_peek(in) != byte)
        return false;
    in->off++;
    return true;
}

bool cn_cbor_int(struct cn_cbor *in, int64_t *value);

/* A text or byte string with a length, borrowed from the input. */
bool cn_cbor_text(struct cn_cbor *in, struct cn_bytes *out);
bool cn_cbor_byte_string(struct cn_cbor *in, struct cn_bytes *out);

/* Skip one item and everything in it. */
CN_CHECK bool cn_cbor_skip(struct cn_cbor *in, struct cn_error *err);

/* The value of a half, float or double head. */
double cn_cbor_real(const struct cn_cbor_head *head);

/* "expected a text at offset 17, found byte 0x83" */
bool cn_cbor_fail(const struct cn_cbor *in, const char *expected, struct cn_error *err);

struct cn_cbor_out {
    uint8_t *bytes;
    size_t len, capacity;
};

void cn_cbor_grow(struct cn_cbor_out *out, size_t len);

/* Make room for `len` more bytes. */
static inline void cn_cbor_room(struct cn_cbor_out *out, size_t len)
{
    if (out->capacity - out->len < len)
        cn_cbor_grow(out, len);
}

/* The functions below up to cn_cbor_put() need room for what they write. */
static inline void cn_cbor_raw(struct cn_cbor_out *out, uint8_t byte)
{
    out->bytes[out->len++] = byte;
}

static inline void cn_cbor_raw_head(struct cn_cbor_out *out, enum cn_cbor_kind kind,
                                    uint64_t value)
{
    uint8_t *p = out->bytes + out->len;
    uint8_t first = (uint8_t)(kind << 5);

    if (value < 24) {
        p[0] = (uint8_t)(first | value);
        out->len += 1;
    } else if (value <= UINT8_MAX) {
        p[0] = first | 24;
        p[1] = (uint8_t)value;
        out->len += 2;
    } else if (value <= UINT16_MAX) {
        p[0] = first | 25;
        cn_u16_be_put(p + 1, (uint16_t)value);
        out->len += 3;
    } else if (value <= UINT32_MAX) {
        p[0] = first | 26;
        cn_u32_be_put(p + 1, (uint32_t)value);
        out->len += 5;
    } else {
        p[0] = first | 27;
        cn_u64_be_put(p + 1, value);
        out->len += 9;
    }
}

/* Always five bytes, so that the number can be filled in later at the returned offset. */
static inline size_t cn_cbor_raw_u32(struct cn_cbor_out *out, uint32_t value)
{
    out->bytes[out->len] = CN_CBOR_UINT << 5 | 26;
    cn_u32_be_put(out->bytes + out->len + 1, value);
    out->len += 5;
    return out->len - 4;
}

static inline void cn_cbor_put(struct cn_cbor_out *out, enum cn_cbor_kind kind,
                               uint64_t value)
{
    cn_cbor_room(out, CN_CBOR_HEAD_MAX);
    cn_cbor_raw_head(out, kind, value);
}

void cn_cbor_put_byte(struct cn_cbor_out *out, uint8_t byte);
void cn_cbor_put_int(struct cn_cbor_out *out, int64_t value);
void cn_cbor_put_real(struct cn_cbor_out *out, double value);
void cn_cbor_out_done(struct cn_cbor_out *out);

#endif
