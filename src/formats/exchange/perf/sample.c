/* The fields of a sample: its event defines which there are. */

#include "base/bytes/wire.h"
#include "formats/exchange/perf/file.h"

/* An optional field of 8 bytes. */
static bool take_if(struct cn_bytes *rest, bool has_field, uint64_t *out)
{
    return !has_field || cn_wire_u64_take(rest, out);
}

/* Counters of a group, without their number and times, or one counter with its times. */
static bool take_reads(struct cn_bytes *rest, uint64_t format, struct cn_bytes *out)
{
    uint64_t each = 1 + cn_perf_count(format, CN_PERF_READ_ID | CN_PERF_READ_LOST);
    uint64_t times = cn_perf_count(format, CN_PERF_READ_ENABLED | CN_PERF_READ_RUNNING);
    uint64_t count;
    struct cn_bytes skipped;

    if (!(format & CN_PERF_READ_GROUP))
        return cn_bytes_take(rest, (size_t)(8 * (each + times)), out);
    return cn_wire_u64_take(rest, &count) &&
           cn_bytes_take(rest, (size_t)(8 * times), &skipped) &&
           cn_bytes_array(*rest, 0, count, 8 * each, out) &&
           cn_bytes_from(*rest, out->len, rest);
}

uint32_t cn_perf_event_of(const struct cn_perf_file *file, uint32_t type,
                          struct cn_bytes body)
{
    /* All events have the identifier, or none: then they have the same fields. */
    uint64_t fields = file->events[0].attr.sample_type, off;
    struct cn_bytes id;

    if (fields & CN_PERF_HAS_IDENTIFIER)
        off = type == CN_PERF_SAMPLE || body.len < 8 ? 0 : body.len - 8;
    else if (fields & CN_PERF_HAS_ID && type == CN_PERF_SAMPLE)
        off = 8 * cn_perf_count(fields, CN_PERF_HAS_IP | CN_PERF_HAS_TID |
                                            CN_PERF_HAS_TIME | CN_PERF_HAS_ADDR);
    else
        return 0;
    if (!cn_bytes_slice(body, off, 8, &id))
        return 0;
    uint32_t event = cn_map_find(&file->event_of, cn_u64_get(id.ptr), 0);
    return event < file->event_count ? event : 0;
}

uint32_t cn_perf_cpu_of(const struct cn_perf_file *file,
                        const struct cn_perf_record *record)
{
    const struct cn_perf_attr *attr =
        &file->events[cn_perf_event_of(file, record->head.type, record->body)].attr;
    size_t from_end = attr->sample_type & CN_PERF_HAS_IDENTIFIER ? 16 : 8;

    if (file->event_count == 0 || !(attr->flags & CN_PERF_FLAG_SAMPLE_ID_ALL) ||
        !(attr->sample_type & CN_PERF_HAS_CPU) || record->body.len < from_end)
        return UINT32_MAX;
    return cn_u32_get(record->body.ptr + record->body.len - from_end);
}

/* A count of 8 bytes, then as many elements. */
static bool take_array(struct cn_bytes *rest, uint64_t size, struct cn_bytes *out)
{
    uint64_t count;

    return cn_wire_u64_take(rest, &count) && cn_bytes_array(*rest, 0, count, size, out) &&
           cn_bytes_from(*rest, out->len, rest);
}

static bool take_raw(struct cn_bytes *rest, struct cn_bytes *out)
{
    struct cn_bytes len;

    return cn_bytes_take(rest, sizeof(uint32_t), &len) &&
           cn_bytes_take(rest, cn_u32_get(len.ptr), out);
}

static bool take_branches(struct cn_bytes *rest, const struct cn_perf_attr *attr,
                          struct cn_bytes *out)
{
    uint64_t count, index;

    return cn_wire_u64_take(rest, &count) &&
           take_if(rest, attr->branch_sample_type & CN_PERF_BRANCH_HW_INDEX, &index) &&
           cn_bytes_array(*rest, 0, count, CN_PERF_BRANCH_LEN, out) &&
           cn_bytes_from(*rest, out->len, rest);
}

static bool take_registers(struct cn_bytes *rest, const struct cn_perf_attr *attr,
                           struct cn_bytes *out)
{
    uint64_t abi, count = cn_perf_count(attr->sample_regs_user, UINT64_MAX);
    struct cn_bytes values;

    if (!cn_wire_u64_take(rest, &abi))
        return false;
    if (abi == CN_PERF_ABI_NONE)
        return true;
    if (!cn_bytes_take(rest, (size_t)(8 * count), &values))
        return false;
    if (abi == CN_PERF_ABI_64)
        *out = values;
    return true;
}

/* The room for the copy, and after it how much of it was filled. */
static bool take_stack(struct cn_bytes *rest, struct cn_bytes *out)
{
    struct cn_bytes room;
    uint64_t len;

    if (!take_array(rest, 1, &room))
        return false;
    if (room.len == 0)
        return true;
    return cn_wire_u64_take(rest, &len) && cn_bytes_slice(room, 0, len, out);
}

static bool decode(const struct cn_perf_attr *attr, struct cn_bytes rest,
                   struct cn_perf_sample *out)
{
    uint64_t type = attr->sample_type, ignored, ids = 0, cpu = UINT32_MAX;

    if (!take_if(&rest, type & CN_PERF_HAS_IDENTIFIER, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_IP, &out->ip) ||
        !take_if(&rest, type & CN_PERF_HAS_TID, &ids) ||
        !take_if(&rest, type & CN_PERF_HAS_TIME, &out->time_ns) ||
        !take_if(&rest, type & CN_PERF_HAS_ADDR, &out->address) ||
        !take_if(&rest, type & CN_PERF_HAS_ID, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_STREAM_ID, &ignored) ||
        !take_if(&rest, type & CN_PERF_HAS_CPU, &cpu) ||
        !take_if(&rest, type & CN_PERF_HAS_PERIOD, &out->period))
        return false;
    out->pid = (uint32_t)ids;
    out->tid = (uint32_t)(ids >> 32);
    out->cpu = (uint32_t)cpu;
    return (!(type & CN_PERF_HAS_READ) ||
            take_reads(&rest, attr->read_format, &out->reads)) &&
           (!(type & CN_PERF_HAS_CALLCHAIN) || take_array(&rest, 8, &out->chain)) &&
           (!(type & CN_PERF_HAS_RAW) || take_raw(&rest, &out->raw)) &&
           (!(type & CN_PERF_HAS_BRANCH_STACK) ||
            take_branches(&rest, attr, &out->branches)) &&
           (!(type & CN_PERF_HAS_USER_REGS) ||
            take_registers(&rest, attr, &out->user_registers)) &&
           (!(type & CN_PERF_HAS_USER_STACK) || take_stack(&rest, &out->user_stack));
}

bool cn_perf_sample_decode(const struct cn_perf_file *file,
                           const struct cn_perf_record *record,
                           struct cn_perf_sample *out, struct cn_error *err)
{
    struct cn_bytes none = {(const uint8_t *)"", 0};
    struct cn_perf_sample sample = {.reads = none,
                                    .chain = none,
                                    .raw = none,
                                    .branches = none,
                                    .user_registers = none,
                                    .user_stack = none};

    if (file->event_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "a sample without an event");
    sample.event = cn_perf_event_of(file, CN_PERF_SAMPLE, record->body);
    const struct cn_perf_attr *attr = &file->events[sample.event].attr;
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
