#include "formats/uftrace/records/reader.h"

#include "model/calls/values.h"

static uint64_t type_of(struct cn_uft_record record)
{
    return cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS);
}

static uint64_t depth_of(struct cn_uft_record record)
{
    return cn_bits(record.word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS);
}

/* True if a record may begin here, or the file ends. */
static bool is_boundary(const struct cn_recording *rec, struct cn_bytes rest)
{
    return rest.len == 0 ||
           (rest.len >= cn_uft_record_size &&
            cn_uft_record_has_magic(cn_uft_record_get(rest, rec->is_big_endian)));
}

/* True if `next` may follow `record` in a plausible recording. */
static bool follows(struct cn_uft_record record, struct cn_uft_record next)
{
    enum { HOUR_S = 3600 };
    uint64_t type = type_of(next), depth = depth_of(record);

    if (!cn_uft_record_has_magic(next))
        return false;
    if (type == CN_UFT_LOST)
        return next.time_ns == 0 || next.time_ns >= record.time_ns;
    if (next.time_ns < record.time_ns ||
        next.time_ns - record.time_ns > (uint64_t)HOUR_S * 1000000000)
        return false;
    if (type == CN_UFT_EVENT)
        return cn_bits(next.word, CN_UFT_ADDRESS_AT, CN_UFT_ADDRESS_BITS) <
               2 * (uint64_t)CN_EVENT_EXTERN;
    if (type_of(record) == CN_UFT_ENTRY)
        return type == CN_UFT_ENTRY ? depth_of(next) == depth + 1
                                    : depth_of(next) == depth;
    return type == CN_UFT_ENTRY ? depth_of(next) == depth : depth_of(next) + 1 == depth;
}

static bool find_next(const struct cn_recording *rec, struct cn_uft_record record,
                      struct cn_bytes rest, struct cn_uft_payload *out)
{
    struct cn_bytes at;
    uint64_t len = 0;

    while (len <= CN_UFT_PAYLOAD_MAX && cn_bytes_from(rest, len, &at) &&
           at.len >= cn_uft_record_size) {
        if (follows(record, cn_uft_record_get(at, rec->is_big_endian))) {
            *out = (struct cn_uft_payload){.all_len = (uint32_t)len, .is_skipped = true};
            return true;
        }
        len += CN_UFT_PAYLOAD_ALIGN;
    }
    /* No record up to the end: the payload ends the file. */
    if (rest.len > CN_UFT_PAYLOAD_MAX || rest.len % CN_UFT_PAYLOAD_ALIGN != 0)
        return false;
    *out = (struct cn_uft_payload){.all_len = (uint32_t)rest.len, .is_skipped = true};
    return true;
}

static bool measure_event(const struct cn_recording *rec, struct cn_bytes rest,
                          struct cn_uft_payload *out)
{
    if (rest.len < CN_UFT_STRING_HEAD)
        return false;
    uint32_t len = rec->is_big_endian ? cn_u16_be_get(rest.ptr) : cn_u16_get(rest.ptr);
    uint32_t all = cn_uft_event_len(rest, rec->is_big_endian);
    if (all > rest.len)
        return false;
    *out = (struct cn_uft_payload){CN_UFT_STRING_HEAD, len, all, false};
    return true;
}

bool cn_uft_payload_measure(const struct cn_recording *rec, struct cn_uft_record record,
                            uint32_t function, struct cn_bytes rest,
                            struct cn_uft_payload *out)
{
    uint64_t type = type_of(record);
    struct cn_bytes after;
    uint32_t len, all;

    if (type == CN_UFT_EVENT)
        return measure_event(rec, rest, out);
    if (function == CN_NONE || type == CN_UFT_LOST)
        return find_next(rec, record, rest, out);
    const struct cn_argument_specs *specs = type == CN_UFT_ENTRY
                                                ? &rec->functions[function].arguments
                                                : &rec->functions[function].result;
    if (!cn_call_values_measure(specs, rest, rec->is_big_endian, &len) ||
        len > CN_UFT_PAYLOAD_MAX)
        return find_next(rec, record, rest, out);
    all = (uint32_t)cn_align_up(len, CN_UFT_PAYLOAD_ALIGN);
    if (!cn_bytes_from(rest, all, &after) || !is_boundary(rec, after))
        return find_next(rec, record, rest, out);
    *out = (struct cn_uft_payload){0, len, all, false};
    return true;
}

bool cn_uft_first_time(const struct cn_recording *rec, struct cn_bytes file,
                       uint64_t *time_ns)
{
    struct cn_bytes rest = file, bytes;

    while (cn_bytes_take(&rest, cn_uft_record_size, &bytes)) {
        struct cn_uft_record record = cn_uft_record_get(bytes, rec->is_big_endian);

        if (!cn_uft_record_has_magic(record))
            return false;
        if (type_of(record) != CN_UFT_LOST) {
            *time_ns = record.time_ns;
            return true;
        }
    }
    return false;
}
