/* The content of a file at 64-bit offsets: in memory or mapped as a whole, or read by range where it
 * cannot be.
 *
 *     cn_file_open_content(&file, path, err) ... cn_content_slice(cn_file_content(&file), ...)
 *
 * Native programs map their files, so a slice costs nothing and stays valid. The engine of pages
 * without a server has 32-bit addresses and nothing to map: after cn_ranges_begin(), content
 * is read where it is asked for, and the parts used last are cached. A slice then stays valid until
 * CN_CONTENT_SLICES others of any file were asked for. A file that can no longer be read ends the program
 * with a message, as for mapped files.
 * Threads: any thread, but one thread at a time after cn_ranges_begin().
 */
#ifndef CN_BASE_FILES_CONTENT_H
#define CN_BASE_FILES_CONTENT_H

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_ranges; /* a file that is read by range */

enum { CN_CONTENT_SLICES = 16 };

struct cn_content {
    const uint8_t *ptr; /* of all bytes, unless they are read by range */
    uint64_t len;
    struct cn_ranges *ranges; /* NULL: they are in memory */
};

static inline struct cn_content cn_content_of(struct cn_bytes bytes)
{
    return (struct cn_content){.ptr = bytes.ptr, .len = bytes.len};
}

/* From now on, content is read by range: in pages of this length, of which `cached_len` bytes are
 * cached. */
void cn_ranges_begin(size_t page_len, uint64_t cached_len);

/* The length of a page. */
size_t cn_ranges_page_len(void);

/* NULL before cn_ranges_begin(). Takes over the descriptor if it succeeds. */
struct cn_ranges *cn_ranges_open(int fd, const char *path, uint64_t len);
void cn_ranges_close(struct cn_ranges *ranges); /* NULL is fine */

struct cn_content cn_ranges_content(struct cn_ranges *ranges);

/* That of `ranges`, or the bytes where it is NULL. */
static inline struct cn_content cn_content_in(struct cn_bytes bytes,
                                              struct cn_ranges *ranges)
{
    return ranges ? cn_ranges_content(ranges) : cn_content_of(bytes);
}

/* Bytes that lie inside: valid for a while, or until it is closed. */
struct cn_bytes cn_ranges_read(struct cn_ranges *ranges, uint64_t off, uint64_t len);
struct cn_bytes cn_ranges_keep(struct cn_ranges *ranges, uint64_t off, uint64_t len);

static inline bool cn_content_has(struct cn_content content, uint64_t off, uint64_t len)
{
    return off <= content.len && len <= content.len - off;
}

/* The `len` bytes at `off`. False when they are not all inside. */
static inline bool cn_content_slice(struct cn_content content, uint64_t off, uint64_t len,
                                    struct cn_bytes *out)
{
    if (!cn_content_has(content, off, len))
        return false;
    *out = content.ranges
               ? cn_ranges_read(content.ranges, off, len)
               : (struct cn_bytes){off ? content.ptr + off : content.ptr, (size_t)len};
    return true;
}

/* The same, but valid as long as the content. */
static inline bool cn_content_keep(struct cn_content content, uint64_t off, uint64_t len,
                                   struct cn_bytes *out)
{
    if (!content.ranges)
        return cn_content_slice(content, off, len, out);
    if (!cn_content_has(content, off, len))
        return false;
    *out = cn_ranges_keep(content.ranges, off, len);
    return true;
}

/* An array of `count` elements of `size` bytes at `off`. */
static inline bool cn_content_array(struct cn_content content, uint64_t off,
                                    uint64_t count, uint64_t size, struct cn_bytes *out)
{
    uint64_t len;

    return cn_u64_mul(count, size, &len) && cn_content_slice(content, off, len, out);
}

/* All of it, which is in memory; nothing of content that is read by range. */
static inline struct cn_bytes cn_content_bytes(struct cn_content content)
{
    return (struct cn_bytes){content.ptr, content.ptr ? (size_t)content.len : 0};
}

#endif
