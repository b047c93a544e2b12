#include "base/bytes/protobuf.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/bytes/utf8.h"

enum {
    LEN_ROOM = 5, /* bytes kept for the length of a message that is open */
    VARINT_BITS = 7,
    VARINT_MORE = 0x80,
    WIRE_BITS = 3,
    FIXED64_LEN = 8,
    FIXED32_LEN = 4,
};

void cn_pb_done(struct cn_pb *pb)
{
    free(pb->bytes);
    *pb = (struct cn_pb){0};
}

static uint8_t *room(struct cn_pb *pb, size_t len)
{
    if (pb->capacity - pb->len < len) {
        size_t capacity = pb->capacity ? pb->capacity : 256;

        while (capacity - pb->len < len)
            capacity *= 2;
        pb->bytes = cn_realloc(pb->bytes, capacity, 1);
        pb->capacity = capacity;
    }
    return pb->bytes + pb->len;
}

static size_t put_varint(uint8_t *to, uint64_t value)
{
    size_t len = 0;

    while (value >= VARINT_MORE) {
        to[len++] = (uint8_t)(value | VARINT_MORE);
        value >>= VARINT_BITS;
    }
    to[len++] = (uint8_t)value;
    return len;
}

static void add_varint(struct cn_pb *pb, uint64_t value)
{
    pb->len += put_varint(room(pb, CN_PB_VARINT_MAX), value);
}

static void add_key(struct cn_pb *pb, uint32_t number, enum cn_pb_wire wire)
{
    add_varint(pb, (uint64_t)number << WIRE_BITS | wire);
}

void cn_pb_u64(struct cn_pb *pb, uint32_t number, uint64_t value)
{
    add_key(pb, number, CN_PB_VARINT);
    add_varint(pb, value);
}

void cn_pb_fixed64(struct cn_pb *pb, uint32_t number, uint64_t value)
{
    add_key(pb, number, CN_PB_FIXED64);
    cn_u64_put(room(pb, FIXED64_LEN), value);
    pb->len += FIXED64_LEN;
}

void cn_pb_bytes(struct cn_pb *pb, uint32_t number, const void *data, size_t len)
{
    add_key(pb, number, CN_PB_BYTES);
    add_varint(pb, len);
    cn_pb_raw(pb, data, len);
}

void cn_pb_fixed32(struct cn_pb *pb, uint32_t number, uint32_t value)
{
    add_key(pb, number, CN_PB_FIXED32);
    cn_u32_put(room(pb, FIXED32_LEN), value);
    pb->len += FIXED32_LEN;
}

void cn_pb_str(struct cn_pb *pb, uint32_t number, const char *value)
{
    cn_pb_chars(pb, number, value, strlen(value));
}

void cn_pb_chars(struct cn_pb *pb, uint32_t number, const char *value, size_t len)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t at, step;

    if (cn_utf8_is_valid(value, len)) {
        cn_pb_bytes(pb, number, value, len);
        return;
    }
    at = cn_pb_open(pb, number);
    for (size_t i = 0; i < len; i += step ? step : 1) {
        step = cn_utf8_char_len(value + i, len - i);
        if (step > 0)
            memcpy(room(pb, step), value + i, step);
        else
            memcpy(room(pb, sizeof(replacement)), replacement, sizeof(replacement) - 1);
        pb->len += step ? step : sizeof(replacement) - 1;
    }
    cn_pb_close(pb, at);
}

void cn_pb_raw(struct cn_pb *pb, const void *fields, size_t len)
{
    if (len > 0)
        memcpy(room(pb, len), fields, len);
    pb->len += len;
}

void cn_pb_packed(struct cn_pb *pb, uint32_t number, const uint64_t *values, size_t count)
{
    size_t at = cn_pb_open(pb, number);

    for (size_t i = 0; i < count; i++)
        add_varint(pb, values[i]);
    cn_pb_close(pb, at);
}

size_t cn_pb_open(struct cn_pb *pb, uint32_t number)
{
    assert(pb->depth < CN_PB_DEPTH_MAX);
    pb->depth++;
    add_key(pb, number, CN_PB_BYTES);
    (void)room(pb, LEN_ROOM);
    pb->len += LEN_ROOM;
    return pb->len;
}

/* The length takes fewer bytes than were kept for it, nearly always: close the gap. */
void cn_pb_close(struct cn_pb *pb, size_t at)
{
    uint8_t *body = pb->bytes + at;
    size_t len = pb->len - at;

    assert(pb->depth > 0 && len <= UINT32_MAX);
    pb->depth--;
    size_t len_len = put_varint(body - LEN_ROOM, len);
    if (len_len < LEN_ROOM) {
        memmove(body - LEN_ROOM + len_len, body, len);
        pb->len -= LEN_ROOM - len_len;
    }
}

struct cn_pb_reader cn_pb_read(struct cn_bytes bytes)
{
    return (struct cn_pb_reader){.rest = bytes};
}

/* False when it is cut off or longer than 64 bits. */
static bool take_long_varint(struct cn_bytes *rest, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < CN_PB_VARINT_MAX && i < rest->len; i++) {
        uint64_t part = rest->ptr[i] & (VARINT_MORE - 1u);
        struct cn_bytes used;

        /* The tenth byte has room for one bit. */
        if (i == CN_PB_VARINT_MAX - 1 && part > 1)
            return false;
        value |= part << (VARINT_BITS * i);
        if (!(rest->ptr[i] & VARINT_MORE)) {
            *out = value;
            return cn_bytes_take(rest, i + 1, &used);
        }
    }
    return false;
}

/* Most numbers have one byte: keys and lengths. */
static inline bool take_varint(struct cn_bytes *rest, uint64_t *out)
{
    if (rest->len == 0 || rest->ptr[0] & VARINT_MORE)
        return take_long_varint(rest, out);
    *out = rest->ptr[0];
    rest->ptr++;
    rest->len--;
    return true;
}

static bool take_fixed(struct cn_bytes *rest, size_t len, uint64_t *out)
{
    struct cn_bytes used;

    if (!cn_bytes_take(rest, len, &used))
        return false;
    *out = len == FIXED64_LEN ? cn_u64_get(used.ptr) : cn_u32_get(used.ptr);
    return true;
}

static bool take_value(struct cn_bytes *rest, struct cn_pb_field *field)
{
    uint64_t len;

    switch (field->wire) {
    case CN_PB_VARINT:
        return take_varint(rest, &field->value);
    case CN_PB_FIXED64:
        return take_fixed(rest, FIXED64_LEN, &field->value);
    case CN_PB_FIXED32:
        return take_fixed(rest, FIXED32_LEN, &field->value);
    case CN_PB_BYTES:
        return take_varint(rest, &len) && len <= rest->len &&
               cn_bytes_take(rest, (size_t)len, &field->bytes);
    default:
        return false;
    }
}

static bool fail_value(const struct cn_pb_reader *reader, struct cn_bytes rest,
                       const struct cn_pb_field *field, struct cn_error *err)
{
    uint64_t len;

    if (field->wire != CN_PB_VARINT && field->wire != CN_PB_BYTES &&
        field->wire != CN_PB_FIXED32 && field->wire != CN_PB_FIXED64)
        return cn_fail(err, CN_ERR_FORMAT,
                       "field %" PRIu32 " at %" PRIu64
                       " is of wire type %u, which is unknown",
                       field->number, reader->off, field->wire);
    if (field->wire == CN_PB_BYTES && take_varint(&rest, &len))
        return cn_fail(err, CN_ERR_FORMAT,
                       "field %" PRIu32 " at %" PRIu64 " is cut off: it has %" PRIu64
                       " bytes, and %zu follow",
                       field->number, reader->off, len, rest.len);
    return cn_fail(err, CN_ERR_FORMAT,
                   "field %" PRIu32 " at %" PRIu64 " is cut off or too large",
                   field->number, reader->off);
}

/* Most fields: a text or message, or a number, whose key and length take a byte each. Nothing is
 * copied through memory: a struct that was just written in parts is slow to load. */
static inline bool take_small(struct cn_pb_reader *reader, struct cn_pb_field *out)
{
    const uint8_t *at = reader->rest.ptr;
    size_t left = reader->rest.len, taken = 2, len = 0;
    uint64_t value = 0;

    if (left < 2 || ((at[0] | at[1]) & VARINT_MORE) || at[0] >> WIRE_BITS == 0)
        return false;
    unsigned wire = at[0] & ((1 << WIRE_BITS) - 1);
    if (wire == CN_PB_BYTES)
        len = at[1];
    else if (wire == CN_PB_VARINT)
        value = at[1];
    else
        return false;
    if (len > left - taken)
        return false;
    out->number = at[0] >> WIRE_BITS;
    out->wire = (uint8_t)wire;
    out->value = value;
    out->bytes.ptr = wire == CN_PB_BYTES ? at + taken : NULL;
    out->bytes.len = len;
    reader->off += taken + len;
    out->off = reader->off - len;
    reader->rest.ptr = at + taken + len;
    reader->rest.len = left - taken - len;
    return true;
}

enum cn_pb_step cn_pb_next(struct cn_pb_reader *reader, struct cn_pb_field *out,
                           struct cn_error *err)
{
    if (take_small(reader, out))
        return CN_PB_FIELD;
    struct cn_bytes rest = reader->rest;
    struct cn_pb_field field = {0};
    uint64_t key;

    if (rest.len == 0)
        return CN_PB_END;
    if (!take_varint(&rest, &key))
        return cn_fail(err, CN_ERR_FORMAT, "the field at %" PRIu64 " has no key",
                       reader->off);
    if (key >> WIRE_BITS == 0 || key >> WIRE_BITS > CN_PB_NUMBER_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the field at %" PRIu64 " has number %" PRIu64
                       ", which is not in 1..%d",
                       reader->off, key >> WIRE_BITS, CN_PB_NUMBER_MAX);
    field.number = (uint32_t)(key >> WIRE_BITS);
    field.wire = key & ((1 << WIRE_BITS) - 1);
    struct cn_bytes value = rest;
    if (!take_value(&rest, &field))
        return fail_value(reader, value, &field, err);
    reader->off += reader->rest.len - rest.len;
    field.off = reader->off - field.bytes.len;
    reader->rest = rest;
    *out = field;
    return CN_PB_FIELD;
}

bool cn_pb_enter(const struct cn_pb_reader *outer, const struct cn_pb_field *field,
                 struct cn_pb_reader *inner, struct cn_error *err)
{
    if (field->wire != CN_PB_BYTES)
        return cn_fail(err, CN_ERR_FORMAT,
                       "field %" PRIu32 " at %" PRIu64 " is a number, not a message",
                       field->number, field->off);
    if (outer->depth + 1 >= CN_PB_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "the message at %" PRIu64 " is %u deep; the limit is %d",
                       field->off, outer->depth + 1, CN_PB_DEPTH_MAX);
    *inner = (struct cn_pb_reader){.rest = field->bytes,
                                   .off = field->off,
                                   .depth = outer->depth + 1,
                                   .takes_cut = outer->takes_cut};
    return true;
}

/* The rest of the message, if it is the beginning of a field of bytes. */
static bool cut_field(const struct cn_pb_reader *reader, struct cn_pb_field *out)
{
    struct cn_bytes rest = reader->rest;
    uint64_t key, len;

    if (!take_varint(&rest, &key) || (key & ((1 << WIRE_BITS) - 1)) != CN_PB_BYTES ||
        key >> WIRE_BITS == 0 || key >> WIRE_BITS > CN_PB_NUMBER_MAX ||
        !take_varint(&rest, &len))
        return false;
    *out = (struct cn_pb_field){.number = (uint32_t)(key >> WIRE_BITS),
                                .wire = CN_PB_BYTES,
                                .bytes = rest,
                                .off = reader->off + reader->rest.len - rest.len};
    return true;
}

bool cn_pb_read_fields(struct cn_pb_reader *reader, cn_pb_field_fn take, void *arg,
                       struct cn_error *err)
{
    struct cn_pb_field field;
    enum cn_pb_step step;

    while ((step = cn_pb_next(reader, &field, err)) == CN_PB_FIELD)
        if (!take(arg, reader, &field, err))
            return false;
    if (step == CN_PB_FAIL && reader->takes_cut && cut_field(reader, &field)) {
        struct cn_error ignored;

        reader->is_at_cut = true;
        (void)take(arg, reader, &field, &ignored);
    }
    return step == CN_PB_END;
}

bool cn_pb_read_message(const struct cn_pb_reader *outer, const struct cn_pb_field *field,
                        cn_pb_field_fn take, void *arg, struct cn_error *err)
{
    struct cn_pb_reader reader;

    return cn_pb_enter(outer, field, &reader, err) &&
           cn_pb_read_fields(&reader, take, arg, err);
}

/* The bytes of field `number`, if it comes next and has fewer than 128. */
static inline bool take_short(struct cn_bytes *rest, uint32_t number,
                              struct cn_bytes *out)
{
    enum { HEAD_LEN = 2 };

    if (rest->len < HEAD_LEN || rest->ptr[0] != (number << WIRE_BITS | CN_PB_BYTES) ||
        rest->ptr[1] & VARINT_MORE || rest->ptr[1] > rest->len - HEAD_LEN)
        return false;
    *out = (struct cn_bytes){rest->ptr + HEAD_LEN, rest->ptr[1]};
    rest->ptr = out->ptr + out->len;
    rest->len -= HEAD_LEN + out->len;
    return true;
}

bool cn_pb_text_pair(struct cn_bytes message, uint32_t first, uint32_t second,
                     uint32_t inner, struct cn_bytes *first_text,
                     struct cn_bytes *inner_text)
{
    struct cn_bytes rest;

    return take_short(&message, first, first_text) &&
           take_short(&message, second, &rest) && message.len == 0 &&
           take_short(&rest, inner, inner_text) && rest.len == 0;
}

bool cn_pb_next_number(struct cn_pb_field *field, uint64_t *out)
{
    if (field->wire == CN_PB_BYTES)
        return take_varint(&field->bytes, out);
    if (field->number == 0)
        return false;
    field->number = 0; /* a number by itself is delivered once */
    *out = field->value;
    return true;
}

int64_t cn_pb_as_i64(uint64_t value)
{
    int64_t out;

    memcpy(&out, &value, sizeof(out));
    return out;
}

double cn_pb_as_f64(uint64_t value)
{
    double out;

    memcpy(&out, &value, sizeof(out));
    return out;
}
