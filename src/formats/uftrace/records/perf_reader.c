#include "formats/uftrace/records/perf_reader.h"

#include <inttypes.h>
#include <string.h>

#include "formats/uftrace/format.h"
#include "model/calls/recording.h"

/* Task and time, at the end of every record. */
static bool decode_sample(struct cn_bytes record, bool is_big,
                          struct cn_uft_perf_event *out)
{
    struct cn_uft_perf_sample sample;
    struct cn_bytes tail;

    if (record.len < cn_uft_perf_header_size + cn_uft_perf_sample_size)
        return false;
    (void)cn_bytes_from(record, record.len - cn_uft_perf_sample_size, &tail);
    (void)cn_uft_perf_sample_decode_any(tail, is_big, &sample);
    out->pid = sample.pid;
    out->tid = sample.tid;
    out->time_ns = sample.time_ns;
    return true;
}

static bool decode_task(struct cn_bytes body, bool is_big, struct cn_uft_perf_event *out)
{
    struct cn_uft_perf_task task;

    if (!cn_uft_perf_task_decode_any(body, is_big, &task))
        return false;
    out->pid = task.pid;
    out->tid = task.tid;
    out->parent_tid = task.parent_tid;
    out->time_ns = task.time_ns;
    return true;
}

static bool decode_name(struct cn_bytes body, bool is_big, struct cn_uft_perf_event *out)
{
    struct cn_uft_perf_comm comm;

    if (body.len < cn_uft_perf_comm_size + cn_uft_perf_sample_size)
        return false;
    (void)cn_uft_perf_comm_decode_any(body, is_big, &comm);
    (void)cn_bytes_slice(body, cn_uft_perf_comm_size,
                         body.len - cn_uft_perf_comm_size - cn_uft_perf_sample_size,
                         &out->name);
    out->name.len = strnlen((const char *)out->name.ptr, out->name.len);
    out->pid = comm.pid;
    out->tid = comm.tid;
    return true;
}

/* An event that --event chose. uftrace skips these records. */
static bool decode_chosen(struct cn_bytes record, bool is_big,
                          struct cn_uft_perf_event *out)
{
    struct cn_bytes body;
    uint64_t id;

    if (record.len < cn_uft_perf_header_size + sizeof(id) + cn_uft_perf_sample_size)
        return false;
    (void)cn_bytes_from(record, cn_uft_perf_header_size, &body);
    id = is_big ? cn_u64_be_get(body.ptr) : cn_u64_get(body.ptr);
    if (id >= CN_EVENT_USER && id < CN_EVENT_EXTERN)
        out->id = (uint32_t)id;
    return decode_sample(record, is_big, out);
}

static bool decode_event(const struct cn_uft_perf_header *head, struct cn_bytes record,
                         bool is_big, struct cn_uft_perf_event *out)
{
    struct cn_bytes body;

    (void)cn_bytes_from(record, cn_uft_perf_header_size, &body);
    switch (head->type) {
    case CN_UFT_PERF_SWITCH:
        out->id = !(head->misc & CN_UFT_PERF_MISC_OUT)    ? CN_EVENT_SCHED_IN
                  : head->misc & CN_UFT_PERF_MISC_PREEMPT ? CN_EVENT_SCHED_OUT_PREEMPT
                                                          : CN_EVENT_SCHED_OUT;
        return decode_sample(record, is_big, out);
    case CN_UFT_PERF_FORK:
        out->id = CN_EVENT_TASK_NEW;
        return decode_task(body, is_big, out);
    case CN_UFT_PERF_EXIT:
        out->id = CN_EVENT_TASK_EXIT;
        return decode_task(body, is_big, out);
    case CN_UFT_PERF_SAMPLE_RECORD:
        return decode_chosen(record, is_big, out);
    case CN_UFT_PERF_COMM:
        out->id = CN_EVENT_TASK_NAME;
        return decode_sample(record, is_big, out) && decode_name(body, is_big, out);
    default:
        return true;
    }
}

enum cn_step cn_uft_perf_next(struct cn_bytes file, bool is_big_endian, uint64_t *off,
                              struct cn_uft_perf_event *out, struct cn_error *err)
{
    struct cn_uft_perf_event event = {0};
    struct cn_uft_perf_header head;
    struct cn_bytes rest;

    if (*off >= file.len)
        return CN_END;
    (void)cn_bytes_from(file, *off, &rest);
    if (!cn_uft_perf_header_decode_any(rest, is_big_endian, &head))
        return cn_fail(err, CN_ERR_FORMAT, "%zu stray bytes at 0x%" PRIx64, rest.len,
                       *off);
    if (head.size < cn_uft_perf_header_size || head.size % CN_UFT_PERF_ALIGN != 0)
        return cn_fail(err, CN_ERR_FORMAT, "record at 0x%" PRIx64 ": size %u", *off,
                       head.size);
    if (!cn_bytes_slice(rest, 0, head.size, &event.bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "record at 0x%" PRIx64 ": %u bytes do not fit the file", *off,
                       head.size);
    if (!decode_event(&head, event.bytes, is_big_endian, &event))
        return cn_fail(err, CN_ERR_FORMAT,
                       "record at 0x%" PRIx64
                       ": %u bytes are too short for type %" PRIu32,
                       *off, head.size, head.type);
    *off += head.size;
    *out = event;
    return CN_ITEM;
}
