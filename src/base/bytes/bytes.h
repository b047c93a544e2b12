/* Bounded views of bytes we did not write ourselves.
 *
 * A parser receives a struct cn_bytes, never a bare pointer. Offsets, lengths and counts
 * from a file are uint64_t until one of these functions has checked them; only these
 * functions compare them with the end. Bytes whose index is below `len`, and fields of a
 * record whose length was checked, are read directly.
 * Threads: any thread; a view borrows its bytes.
 */
#ifndef CN_BASE_BYTES_BYTES_H
#define CN_BASE_BYTES_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cn_bytes {
    const uint8_t *ptr;
    size_t len;
};

/* The `len` bytes at `off`. False when they are not all inside b. */
static inline bool cn_bytes_slice(struct cn_bytes b, uint64_t off, uint64_t len,
                                  struct cn_bytes *out)
{
    if (off > b.len || len > b.len - off)
        return false;
    /* A view of nothing may have no address, and adding even 0 to that is undefined. */
    *out = (struct cn_bytes){off ? b.ptr + off : b.ptr, (size_t)len};
    return true;
}

/* An array of `count` elements of `size` bytes at `off`. */
static inline bool cn_bytes_array(struct cn_bytes b, uint64_t off, uint64_t count,
                                  uint64_t size, struct cn_bytes *out)
{
    uint64_t len;

    return !__builtin_mul_overflow(count, size, &len) && cn_bytes_slice(b, off, len, out);
}

/* Split the first `len` bytes off the front of b. */
static inline bool cn_bytes_take(struct cn_bytes *b, size_t len, struct cn_bytes *out)
{
    if (!cn_bytes_slice(*b, 0, len, out))
        return false;
    return cn_bytes_slice(*b, len, b->len - len, b);
}

/* Split off what precedes the first `end`, which is removed with it. Without one everything is
 * split off, and the result is false. */
static inline bool cn_bytes_take_until(struct cn_bytes *b, char end, struct cn_bytes *out)
{
    const uint8_t *at = b->len > 0 ? memchr(b->ptr, end, b->len) : NULL;
    struct cn_bytes skipped;

    (void)cn_bytes_take(b, at ? (size_t)(at - b->ptr) : b->len, out);
    return at && cn_bytes_take(b, 1, &skipped);
}

/* Element `i` of an array whose elements are `size` bytes. The caller knows that it is
 * inside: the array came from cn_bytes_array() and i is below its count. */
static inline struct cn_bytes cn_bytes_element(struct cn_bytes array, uint64_t i,
                                               uint64_t size)
{
    return (struct cn_bytes){array.ptr + i * size, (size_t)size};
}

/* Everything from `off` on. False when off lies beyond the end. */
static inline bool cn_bytes_from(struct cn_bytes b, uint64_t off, struct cn_bytes *out)
{
    return off <= b.len && cn_bytes_slice(b, off, b.len - off, out);
}

/* The NUL-terminated string at `off`, borrowed. NULL when its end is not inside b. */
static inline const char *cn_bytes_string(struct cn_bytes b, uint64_t off)
{
    struct cn_bytes rest;

    if (!cn_bytes_from(b, off, &rest) || rest.len == 0 ||
        !memchr(rest.ptr, '\0', rest.len))
        return NULL;
    return (const char *)rest.ptr;
}

/* The characters of `str`, without its NUL. */
static inline struct cn_bytes cn_bytes_of(const char *str)
{
    return (struct cn_bytes){(const uint8_t *)str, strlen(str)};
}

/* True if the bytes are the characters of `str`. */
static inline bool cn_bytes_equal(struct cn_bytes b, const char *str)
{
    size_t len = strlen(str);

    return b.len == len && (len == 0 || memcmp(b.ptr, str, len) == 0);
}

/* Checked arithmetic on numbers from input: false when the result does not fit. */
static inline bool cn_u64_add(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool cn_u64_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* The sum, or UINT64_MAX if it does not fit. */
static inline uint64_t cn_u64_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return cn_u64_add(a, b, &sum) ? sum : UINT64_MAX;
}

/* The next multiple of `align`, a power of two. */
static inline uint64_t cn_align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* `width` bits of `word`, 1 to 64, the lowest at position `at`. */
static inline uint64_t cn_bits(uint64_t word, unsigned at, unsigned width)
{
    return (word >> at) & (UINT64_MAX >> (64 - width));
}

#endif
