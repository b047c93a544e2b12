/* Where records begin and end, as far as the bytes alone tell. A guess that is wrong costs
 * some space and nothing else: what was cut at the wrong place is put together again. */

#include "formats/uftrace/packed/packed_encode.h"
#include "formats/uftrace/packed/packed_file.h"
#include "formats/uftrace/packed/packed_places.h"
#include "formats/uftrace/records/record_reader.h"

/* The longest time between two records that we believe without further evidence. */
#define GAP_MAX_NS (UINT64_C(3600) * 1000000000)

/* Whether a record that comes soon after this one begins here, or nothing does. */
static bool is_followed(struct cn_uft_record record, struct cn_bytes rest,
                        bool is_big_endian)
{
    struct cn_uft_record next;

    if (rest.len < cn_uft_record_size)
        return rest.len == 0;
    next = cn_uft_record_get(rest, is_big_endian);
    return cn_uft_record_has_magic(next) &&
           (next.time_ns - record.time_ns < GAP_MAX_NS ||
            (next.word & CN_UFT_TYPE_MASK) == CN_UFT_LOST);
}

/* The payload of a record; `rest` begins behind its two words. */
static size_t payload_length(struct cn_uft_record record, struct cn_bytes rest,
                             bool is_big_endian)
{
    struct cn_bytes after;
    size_t event_len;

    if ((record.word & CN_UFT_TYPE_MASK) == CN_UFT_EVENT) {
        if (rest.len < CN_UFT_STRING_HEAD)
            return rest.len;
        event_len = cn_uft_event_len(rest, is_big_endian);
        return event_len < rest.len ? event_len : rest.len;
    }
    for (size_t len = 0; len <= CN_UFT_PAYLOAD_MAX; len += CN_UFT_PAYLOAD_ALIGN) {
        if (!cn_bytes_from(rest, len, &after))
            return rest.len;
        if (is_followed(record, after, is_big_endian))
            return len;
    }
    return 0;
}

static bool is_record(struct cn_bytes rest, bool is_big_endian)
{
    return rest.len >= cn_uft_record_size &&
           cn_uft_record_has_magic(cn_uft_record_get(rest, is_big_endian));
}

/* How many bytes at the front are no record. */
static size_t verbatim_length(struct cn_bytes rest, bool is_big_endian)
{
    size_t len = 0;
    struct cn_bytes at;

    do
        len += CN_UFT_PAYLOAD_ALIGN;
    while (len < CN_UFT_PACKED_PIECE_MAX && cn_bytes_from(rest, len, &at) &&
           !is_record(at, is_big_endian));
    return len < rest.len ? len : rest.len;
}

static void fill_one(struct cn_uft_packer *packer, struct cn_bytes *rest,
                     bool is_big_endian)
{
    struct cn_uft_record record;
    struct cn_bytes bytes;

    /* The lengths come from `rest` itself: taking them cannot fail. */
    if (!is_record(*rest, is_big_endian)) {
        (void)cn_bytes_take(rest, verbatim_length(*rest, is_big_endian), &bytes);
        cn_uft_packer_add_verbatim(packer, bytes);
        return;
    }
    (void)cn_bytes_take(rest, cn_uft_record_size, &bytes);
    record = cn_uft_record_get(bytes, is_big_endian);
    bytes = (struct cn_bytes){0};
    if (record.word & CN_UFT_MORE_MASK)
        (void)cn_bytes_take(rest, payload_length(record, *rest, is_big_endian), &bytes);
    cn_uft_packer_add(packer, record.time_ns, record.word, bytes);
}

void cn_uft_packer_fill(struct cn_uft_packer *packer, struct cn_bytes *rest,
                        bool is_big_endian)
{
    while (rest->len > 0 && !cn_uft_packer_is_full(packer)) {
        size_t used_len = cn_uft_packer_add_calls(packer, *rest);

        if (used_len == 0)
            fill_one(packer, rest, is_big_endian);
        else
            (void)cn_bytes_from(*rest, used_len, rest);
    }
}
