/* Finding the ends of records from the bytes alone. A wrong guess costs some space,
 * nothing else: unpacking gives the same bytes. */

#include "formats/uftrace/packed/encode.h"
#include "formats/uftrace/packed/file.h"
#include "formats/uftrace/packed/predictor.h"
#include "formats/uftrace/records/reader.h"

/* The longest plausible time between two records. */
#define GAP_MAX_NS (UINT64_C(3600) * 1000000000)

/* True if a plausible next record begins here, or the data ends. */
static bool is_followed(struct cn_uft_record record, struct cn_bytes rest,
                        bool is_big_endian)
{
    if (rest.len < cn_uft_record_size)
        return rest.len == 0;
    struct cn_uft_record next = cn_uft_record_get(rest, is_big_endian);
    return cn_uft_record_has_magic(next) &&
           (next.time_ns - record.time_ns < GAP_MAX_NS ||
            (next.word & CN_UFT_TYPE_MASK) == CN_UFT_LOST);
}

/* The length of a record's payload; `rest` begins after its two words. */
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

/* The number of bytes before the next record. */
static size_t verbatim_length(struct cn_bytes rest, bool is_big_endian)
{
    size_t len = 0;
    struct cn_bytes at;

    do
        len += CN_UFT_PAYLOAD_ALIGN;
    while (len < CN_UFT_PACKED_BYTES_MAX && cn_bytes_from(rest, len, &at) &&
           !is_record(at, is_big_endian));
    return len < rest.len ? len : rest.len;
}

static void fill_one(struct cn_uft_packer *packer, struct cn_bytes *rest,
                     bool is_big_endian)
{
    struct cn_bytes bytes;

    /* The lengths fit `rest`, so taking them cannot fail. */
    if (!is_record(*rest, is_big_endian)) {
        (void)cn_bytes_take(rest, verbatim_length(*rest, is_big_endian), &bytes);
        cn_uft_packer_add_verbatim(packer, bytes);
        return;
    }
    (void)cn_bytes_take(rest, cn_uft_record_size, &bytes);
    struct cn_uft_record record = cn_uft_record_get(bytes, is_big_endian);
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
