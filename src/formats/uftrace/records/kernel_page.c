#include "formats/uftrace/records/kernel_page.h"

#include <inttypes.h>

#include "base/bytes/record.h"

enum {
    TYPE_LEN_BITS = 5,
    DELTA_BITS = 27,
    DATA_WORDS_MAX = 28,
    TYPE_PADDING = 29,
    TYPE_TIME_EXTEND = 30,
    TYPE_TIME_STAMP = 31,
    WORD = 4,
    DATA_LEN_BITS = 27, /* the bits above are flags about lost events */
};

void cn_uft_kernel_cursor_init(struct cn_uft_kernel_cursor *cursor,
                               const struct cn_uft_kernel_format *format,
                               struct cn_bytes file)
{
    *cursor = (struct cn_uft_kernel_cursor){.format = format, .file = file};
}

static uint32_t word32(const struct cn_uft_kernel_cursor *c, struct cn_bytes bytes)
{
    return c->format->is_big_endian ? cn_u32_be_get(bytes.ptr) : cn_u32_get(bytes.ptr);
}

static uint64_t word64(const struct cn_uft_kernel_cursor *c, struct cn_bytes bytes)
{
    return c->format->is_big_endian ? cn_u64_be_get(bytes.ptr) : cn_u64_get(bytes.ptr);
}

static enum cn_step next_page(struct cn_uft_kernel_cursor *c, struct cn_error *err)
{
    uint64_t head_len = sizeof(uint64_t) + c->format->long_len, len;
    struct cn_bytes page, head, size;

    if (c->next_page >= c->file.len)
        return CN_END;
    if (!cn_bytes_slice(c->file, c->next_page, c->format->page_len, &page))
        return cn_fail(
            err, CN_ERR_FORMAT, "page at 0x%" PRIx64 ": %" PRIu64 " of %" PRIu64 " bytes",
            c->next_page, (uint64_t)c->file.len - c->next_page, c->format->page_len);
    (void)cn_bytes_slice(page, 0, sizeof(uint64_t), &head);
    (void)cn_bytes_slice(page, sizeof(uint64_t), c->format->long_len, &size);
    len = cn_bits(c->format->long_len == 8 ? word64(c, size) : word32(c, size), 0,
                  DATA_LEN_BITS);
    if (!cn_bytes_slice(page, head_len, len, &c->data))
        return cn_fail(err, CN_ERR_FORMAT,
                       "page at 0x%" PRIx64 ": data of %" PRIu64
                       " bytes, at most %" PRIu64,
                       c->next_page, len, c->format->page_len - head_len);
    c->data_off = c->next_page + head_len;
    c->time_ns = word64(c, head);
    c->next_page += c->format->page_len;
    return CN_ITEM;
}

/* Take one entry of a page. *event is empty for entries of time or padding. */
static bool take_entry(struct cn_uft_kernel_cursor *c, struct cn_bytes *event,
                       uint64_t *off, struct cn_error *err)
{
    struct cn_bytes head, body = {0};
    uint64_t at = c->data_off, before = c->data.len;
    uint32_t word, type, delta, len = 0;

    if (!cn_bytes_take(&c->data, WORD, &head))
        return cn_fail(err, CN_ERR_FORMAT, "event at 0x%" PRIx64 ": truncated", at);
    word = word32(c, head);
    /* In big-endian kernels the first bit field is the highest. */
    type = c->format->is_big_endian ? word >> DELTA_BITS
                                    : word & ((1U << TYPE_LEN_BITS) - 1);
    delta = c->format->is_big_endian ? word & ((1U << DELTA_BITS) - 1)
                                     : word >> TYPE_LEN_BITS;
    if (type >= 1 && type <= DATA_WORDS_MAX)
        len = type * WORD;
    else if (type == TYPE_TIME_EXTEND || type == TYPE_TIME_STAMP)
        len = WORD;
    else if (cn_bytes_slice(c->data, 0, WORD, &head))
        len = word32(c, head);
    if (type == TYPE_PADDING && delta == 0)
        len = (uint32_t)c->data.len;
    if ((type == 0 || type == TYPE_PADDING) && len < WORD && c->data.len > 0)
        return cn_fail(err, CN_ERR_FORMAT, "event at 0x%" PRIx64 ": length %" PRIu32, at,
                       len);
    if (!cn_bytes_take(&c->data, (size_t)cn_align_up(len, WORD), &body))
        return cn_fail(err, CN_ERR_FORMAT,
                       "event at 0x%" PRIx64 ": %" PRIu32 " bytes do not fit the page",
                       at, len);
    c->data_off += before - c->data.len;
    *event = (struct cn_bytes){0};
    if (type == TYPE_TIME_STAMP)
        c->time_ns = ((uint64_t)word32(c, body) << DELTA_BITS) + delta;
    else
        c->time_ns += delta;
    if (type == TYPE_TIME_EXTEND)
        c->time_ns += (uint64_t)word32(c, body) << DELTA_BITS;
    if (type == 0)
        (void)cn_bytes_from(body, WORD, event);
    else if (type <= DATA_WORDS_MAX)
        *event = body;
    *off = c->data_off - event->len;
    return true;
}

enum cn_step cn_uft_kernel_next(struct cn_uft_kernel_cursor *cursor,
                                struct cn_bytes *event, uint64_t *time_ns, uint64_t *off,
                                struct cn_error *err)
{
    struct cn_bytes found = {0};
    enum cn_step step;

    while (found.len == 0) {
        while (cursor->data.len == 0)
            if ((step = next_page(cursor, err)) != CN_ITEM)
                return step;
        if (!take_entry(cursor, &found, off, err))
            return CN_FAIL;
    }
    *event = found;
    *time_ns = cursor->time_ns;
    return CN_ITEM;
}
