#include "base/bytes/cbor.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

bool cn_cbor_int(struct cn_cbor *in, int64_t *value)
{
    uint64_t number;

    if (cn_cbor_take(in, CN_CBOR_UINT, &number)) {
        *value = (int64_t)number;
        return true;
    }
    if (!cn_cbor_take(in, CN_CBOR_NEGATIVE, &number))
        return false;
    *value = (int64_t)~number;
    return true;
}

static bool take_string(struct cn_cbor *in, enum cn_cbor_kind kind, struct cn_bytes *out)
{
    struct cn_cbor at = *in;
    uint64_t len;

    if (!cn_cbor_take(&at, kind, &len) || !cn_bytes_slice(at.bytes, at.off, len, out))
        return false;
    in->off = at.off + (size_t)len;
    return true;
}

bool cn_cbor_text(struct cn_cbor *in, struct cn_bytes *out)
{
    return take_string(in, CN_CBOR_TEXT, out);
}

bool cn_cbor_byte_string(struct cn_cbor *in, struct cn_bytes *out)
{
    return take_string(in, CN_CBOR_BYTES, out);
}

bool cn_cbor_fail(const struct cn_cbor *in, const char *expected, struct cn_error *err)
{
    int byte = cn_cbor_peek(in);

    if (byte < 0)
        return cn_fail(err, CN_ERR_FORMAT, "offset %zu: the data ends where %s is due",
                       in->off, expected);
    return cn_fail(err, CN_ERR_FORMAT, "offset %zu: expected %s, found byte 0x%02x",
                   in->off, expected, (unsigned)byte);
}

/* Items still to come at each level; UINT64_MAX where the end is marked by a break. */
struct skip {
    uint64_t left[CN_CBOR_SKIP_DEPTH_MAX];
    unsigned depth;
};

static bool skip_enter(struct cn_cbor *in, struct skip *skip, uint64_t count,
                       struct cn_error *err)
{
    if (skip->depth == CN_CBOR_SKIP_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "offset %zu: items nest more than %d deep",
                       in->off, CN_CBOR_SKIP_DEPTH_MAX);
    skip->left[skip->depth++] = count;
    return true;
}

static bool skip_head(struct cn_cbor *in, struct skip *skip, struct cn_error *err)
{
    struct cn_cbor_head head;
    struct cn_cbor at = *in;
    uint64_t count;

    if (!cn_cbor_next(&at, &head))
        return cn_cbor_fail(in, "an item", err);
    bool is_open = head.info == CN_CBOR_OPEN;
    count = is_open ? UINT64_MAX : head.value;
    switch (head.kind) {
    case CN_CBOR_BYTES:
    case CN_CBOR_TEXT:
        if (is_open)
            break;
        if (head.value > at.bytes.len - at.off)
            return cn_fail(err, CN_ERR_FORMAT,
                           "offset %zu: a string of %llu bytes, %zu are left", in->off,
                           (unsigned long long)head.value, at.bytes.len - at.off);
        at.off += (size_t)head.value;
        count = 0;
        break;
    case CN_CBOR_MAP:
        if (!is_open && head.value > UINT64_MAX / 4)
            return cn_fail(err, CN_ERR_LIMIT, "offset %zu: a map of %llu pairs", in->off,
                           (unsigned long long)head.value);
        count = is_open ? UINT64_MAX : head.value * 2;
        break;
    case CN_CBOR_TAG:
        count = 1;
        break;
    case CN_CBOR_ARRAY:
        break;
    case CN_CBOR_UINT:
    case CN_CBOR_NEGATIVE:
    case CN_CBOR_SIMPLE:
    default:
        if (is_open)
            return cn_cbor_fail(in, "an item", err);
        count = 0;
        break;
    }
    *in = at;
    return count == 0 || skip_enter(in, skip, count, err);
}

bool cn_cbor_skip(struct cn_cbor *in, struct cn_error *err)
{
    struct skip skip = {.left = {1}, .depth = 1};
    struct cn_cbor at = *in;

    while (skip.depth > 0) {
        uint64_t *left = &skip.left[skip.depth - 1];

        if (*left == 0) {
            skip.depth--;
            continue;
        }
        if (*left == UINT64_MAX) {
            if (cn_cbor_byte(&at, CN_CBOR_BREAK)) {
                skip.depth--;
                continue;
            }
        } else {
            --*left;
        }
        if (!skip_head(&at, &skip, err))
            return false;
    }
    *in = at;
    return true;
}

static double real_of_half(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double mantissa = half & 1023;
    double value;

    if (exponent == 0)
        value = ldexp(mantissa, -24);
    else if (exponent < 31)
        value = ldexp(mantissa + 1024, exponent - 25);
    else
        value = mantissa != 0 ? NAN : INFINITY;
    return half & 0x8000 ? -value : value;
}

double cn_cbor_real(const struct cn_cbor_head *head)
{
    uint32_t bits = (uint32_t)head->value;
    double wide;
    float narrow;

    if (head->info == CN_CBOR_HALF)
        return real_of_half((uint16_t)head->value);
    if (head->info == CN_CBOR_FLOAT) {
        memcpy(&narrow, &bits, sizeof(narrow));
        return (double)narrow;
    }
    memcpy(&wide, &head->value, sizeof(wide));
    return wide;
}

void cn_cbor_grow(struct cn_cbor_out *out, size_t len)
{
    enum { FIRST = 4096 };
    size_t capacity = out->capacity ? out->capacity * 2 : FIRST;

    while (capacity - out->len < len)
        capacity *= 2;
    out->bytes = cn_realloc(out->bytes, capacity, 1);
    out->capacity = capacity;
}

void cn_cbor_put_byte(struct cn_cbor_out *out, uint8_t byte)
{
    cn_cbor_room(out, 1);
    cn_cbor_raw(out, byte);
}

void cn_cbor_put_int(struct cn_cbor_out *out, int64_t value)
{
    if (value < 0)
        cn_cbor_put(out, CN_CBOR_NEGATIVE, ~(uint64_t)value);
    else
        cn_cbor_put(out, CN_CBOR_UINT, (uint64_t)value);
}

void cn_cbor_put_real(struct cn_cbor_out *out, double value)
{
    cn_cbor_room(out, CN_CBOR_HEAD_MAX);
    cn_cbor_raw(out, CN_CBOR_SIMPLE << 5 | CN_CBOR_DOUBLE);
    cn_f64_be_put(out->bytes + out->len, value);
    out->len += sizeof(double);
}

void cn_cbor_out_done(struct cn_cbor_out *out)
{
    free(out->bytes);
    *out = (struct cn_cbor_out){0};
}
