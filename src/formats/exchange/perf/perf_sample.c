/* The fields of a sample: its event defines which there are. */

#include <inttypes.h>

#include "formats/exchange/perf/perf_file.h"

static bool take_u64(struct cn_bytes *rest, uint64_t *out)
{
    struct cn_bytes number;

    if (!cn_bytes_take(rest, sizeof(*out), &number))
        return false;
    *out = cn_u64_get(number.ptr);
    return true;
}

/* An optional field of 8 bytes. */
static bool take_if(struct cn_bytes *rest, bool has_field, uint64_t *out)
{
    return !has_field || take_u64(rest, out);
}

static bool skip_read(struct cn_bytes *rest, uint64_t format)
{
    bool is_group = format & CN_PERF_READ_GROUP;
    uint64_t each = 1 + cn_perf_count(format, CN_PERF_READ_ID | CN_PERF_READ_LOST);
    uint64_t count = 1, len;
    uint64_t times = cn_perf_count(format, CN_PERF_READ_ENABLED | CN_PERF_READ_RUNNING);
    struct cn_bytes skipped;

    if (is_group && !take_u64(rest, &count))
        return false;
    return cn_u64_mul(count, 8 * each, &len) && cn_u64_add(len, 8 * times, &len) &&
           len <= rest->len && cn_bytes_take(rest, (size_t)len, &skipped);
}

/* The event of a sample, by its id; the fields before the id have a fixed size. */
static uint32_t event_of(const struct cn_perf_file *file, struct cn_bytes body)
{
    uint64_t type = file->events[0].attr.sample_type;
    uint64_t before = cn_perf_count(type, CN_PERF_HAS_IP | CN_PERF_HAS_TID |
                                              CN_PERF_HAS_TIME | CN_PERF_HAS_ADDR);
    struct cn_bytes id;
    uint32_t event;

    if (type & CN_PERF_HAS_IDENTIFIER)
        before = 0;
    else if (!(type & CN_PERF_HAS_ID))
        return 0;
    if (!cn_bytes_slice(body, 8 * before, 8, &id))
        return 0;
    event = cn_map_find(&file->event_of, cn_u64_get(id.ptr), 0);
    return event < file->event_count ? event : 0;
}

static bool decode(const struct cn_perf_attr *attr, struct cn_bytes rest,
                   struct cn_perf_sample *out)
{
    uint64_t type = attr->sample_type, ignored, ids = 0, count = 0;

    if (!take_if(&rest, type & CN_PERF_HAS_IDENTIFIER, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_IP, &out->ip) ||
        !take_if(&rest, type & CN_PERF_HAS_TID, &ids) ||
        !take_if(&rest, type & CN_PERF_HAS_TIME, &out->time_ns) ||
        !take_if(&rest, type & CN_PERF_HAS_ADDR, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_ID, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_STREAM_ID, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_CPU, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_PERIOD, &out->period))
        return false;
    out->pid = (uint32_t)ids;
    out->tid = (uint32_t)(ids >> 32);
    if (type & CN_PERF_HAS_READ && !skip_read(&rest, attr->read_format))
        return false;
    if (!(type & CN_PERF_HAS_CALLCHAIN))
        return true;
    return take_u64(&rest, &count) && cn_bytes_array(rest, 0, count, 8, &out->chain);
}

bool cn_perf_sample_decode(const struct cn_perf_file *file,
                           const struct cn_perf_record *record,
                           struct cn_perf_sample *out, struct cn_error *err)
{
    const struct cn_perf_attr *attr;
    struct cn_perf_sample sample = {.chain = {(const uint8_t *)"", 0}};

    if (file->event_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "a sample without an event");
    sample.event = event_of(file, record->body);
    attr = &file->events[sample.event].attr;
    if (!(attr->flags & CN_PERF_FLAG_FREQ) && attr->sample_period > 0)
        sample.period = attr->sample_period;
    else
        sample.period = 1;
    if (!decode(attr, record->body, &sample))
        return cn_fail(err, CN_ERR_FORMAT, "a sample of %zu bytes is cut off",
                       record->body.len);
    *out = sample;
    return true;
}
