/* Messages between processes: numbers in little endian and strings, one after another.
 *
 * Writers append to a text. Readers take from the front of the bytes and check the result
 * of every call.
 * Threads: any thread, each with its own message.
 */
#ifndef CN_BASE_BYTES_WIRE_H
#define CN_BASE_BYTES_WIRE_H

#include "base/bytes/record.h"
#include "base/error.h"
#include "base/text.h"

/* Append a message for other processes; take that of process number `from`. */
typedef void (*cn_wire_encode)(void *arg, struct cn_text *message);
typedef bool (*cn_wire_take)(void *arg, unsigned from, struct cn_bytes message,
                             struct cn_error *err);

static inline void cn_wire_u32(struct cn_text *to, uint32_t value)
{
    cn_u32_put((uint8_t *)cn_text_room(to, sizeof(value)), value);
    cn_text_advance(to, sizeof(value));
}

static inline void cn_wire_u64(struct cn_text *to, uint64_t value)
{
    cn_u64_put((uint8_t *)cn_text_room(to, sizeof(value)), value);
    cn_text_advance(to, sizeof(value));
}

static inline void cn_wire_bytes(struct cn_text *to, const void *data, size_t len)
{
    cn_wire_u64(to, len);
    cn_text_add(to, data, len);
}

/* With its NUL, so that it can be borrowed when read. */
static inline void cn_wire_str(struct cn_text *to, const char *str)
{
    cn_wire_bytes(to, str, strlen(str) + 1);
}

static inline struct cn_bytes cn_wire_view(const struct cn_text *from)
{
    return (struct cn_bytes){(const uint8_t *)from->chars, from->len};
}

CN_CHECK static inline bool cn_wire_u32_take(struct cn_bytes *from, uint32_t *out)
{
    struct cn_bytes bytes;

    if (!cn_bytes_take(from, sizeof(*out), &bytes))
        return false;
    *out = cn_u32_get(bytes.ptr);
    return true;
}

CN_CHECK static inline bool cn_wire_u64_take(struct cn_bytes *from, uint64_t *out)
{
    struct cn_bytes bytes;

    if (!cn_bytes_take(from, sizeof(*out), &bytes))
        return false;
    *out = cn_u64_get(bytes.ptr);
    return true;
}

CN_CHECK static inline bool cn_wire_bytes_take(struct cn_bytes *from,
                                               struct cn_bytes *out)
{
    uint64_t len;

    return cn_wire_u64_take(from, &len) && len <= from->len &&
           cn_bytes_take(from, (size_t)len, out);
}

/* Borrowed from the message. */
CN_CHECK static inline bool cn_wire_str_take(struct cn_bytes *from, const char **out)
{
    struct cn_bytes bytes;

    if (!cn_wire_bytes_take(from, &bytes) || bytes.len == 0 ||
        bytes.ptr[bytes.len - 1] != '\0')
        return false;
    *out = (const char *)bytes.ptr;
    return true;
}

static inline void cn_wire_error(struct cn_text *to, const struct cn_error *err)
{
    cn_wire_u32(to, err->kind);
    cn_wire_str(to, err->text);
}

CN_CHECK static inline bool cn_wire_error_take(struct cn_bytes *from,
                                               struct cn_error *out)
{
    uint32_t kind;
    const char *text;

    if (!cn_wire_u32_take(from, &kind) || !cn_wire_str_take(from, &text) ||
        kind >= CN_ERR_KIND_COUNT)
        return false;
    *out = (struct cn_error){0};
    if (kind != CN_ERR_NONE)
        (void)cn_fail(out, (enum cn_error_kind)kind, "%s", text);
    return true;
}

/* The number of elements of at least `size` bytes that follow; fails if the rest of the
 * message is too short for them. */
CN_CHECK static inline bool cn_wire_count_take(struct cn_bytes *from, size_t size,
                                               size_t *out)
{
    uint64_t count;

    if (!cn_wire_u64_take(from, &count) || count > from->len / size)
        return false;
    *out = (size_t)count;
    return true;
}

#endif
