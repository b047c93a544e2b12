/* Writes records to TID.dat, and other events to perf-cpuN.dat and extern.dat. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/run/progress.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/records/reader.h"
#include "formats/uftrace/write/writer.h"

/* An event that is not stored in TID.dat. */
struct side_event {
    uint64_t time_ns;
    uint32_t tid, pid, parent_tid, parent_pid;
    uint32_t id;
    uint32_t processor; /* 0 if it is unknown */
    char *text;         /* owned */
};

struct side_events {
    struct side_event *list;
    size_t count, capacity;
};

static void add_side(struct side_events *side, const struct cn_recording *rec,
                     uint32_t task, const struct cn_call_batch *batch,
                     const struct cn_call *call)
{
    const struct cn_task *t = &rec->tasks[task];
    struct cn_bytes data = cn_call_data(batch, call);
    struct side_event event = {
        .time_ns = call->time_ns,
        .tid = t->tid,
        .pid = t->pid,
        .parent_tid = t->parent == CN_NONE ? 0 : rec->tasks[t->parent].tid,
        .parent_pid = t->parent == CN_NONE ? 0 : rec->tasks[t->parent].pid,
        .id = (uint32_t)call->address,
        .processor = call->depth > 0 ? call->depth - 1U : 0,
        .text = cn_alloc(data.len + 1, 1),
    };

    if (data.len > 0)
        memcpy(event.text, data.ptr, data.len);
    CN_PUSH(side->list, side->count, side->capacity, event);
}

static bool write_call(struct cn_out *out, const struct cn_recording *rec,
                       const struct cn_call_batch *batch, const struct cn_call *call,
                       struct cn_error *err)
{
    struct cn_bytes data = cn_call_data(batch, call);
    bool has_data = (call->flags & CN_CALL_HAS_DATA) != 0;
    uint64_t depth = call->depth & ((1 << CN_UFT_DEPTH_BITS) - 1);
    struct cn_uft_record record = {
        call->time_ns,
        (uint64_t)call->kind << CN_UFT_TYPE_AT | (uint64_t)has_data << CN_UFT_MORE_AT |
            (uint64_t)CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT |
            depth << CN_UFT_DEPTH_AT | call->address << CN_UFT_ADDRESS_AT,
    };
    uint8_t bytes[cn_uft_record_size + CN_UFT_STRING_HEAD];
    size_t len = cn_uft_record_size;

    cn_uft_record_put(record, rec->is_big_endian, bytes);
    if (has_data && call->kind == CN_CALL_EVENT) {
        if (rec->is_big_endian)
            cn_u16_be_put(bytes + len, (uint16_t)data.len);
        else
            cn_u16_put(bytes + len, (uint16_t)data.len);
        len += CN_UFT_STRING_HEAD;
    }
    if (!cn_out_write(out, bytes, len, err))
        return false;
    return !has_data || (cn_out_write(out, data.ptr, data.len, err) &&
                         cn_out_pad(out, CN_UFT_PAYLOAD_ALIGN, err));
}

/* What cannot be stored, counted. */
struct losses {
    uint64_t depths, addresses, data, merged, damaged;
};

/* A file is damaged: it is written up to the damage. */
static void note_damage(const struct cn_uft_writing *w, struct losses *losses,
                        const struct cn_error *damage)
{
    losses->damaged++;
    if (w->options && w->options->damage && w->options->damage->kind == CN_ERR_NONE)
        *w->options->damage = *damage;
}

static void report_losses(const struct cn_uft_writing *w, const struct losses *losses)
{
    cn_write_lose(w->options, "calls deeper than 1023", losses->depths);
    cn_write_lose(w->options, "addresses of more than 48 bits", losses->addresses);
    cn_write_lose(w->options, "arguments too long or unreadable", losses->data);
    cn_write_lose(w->options, "merged schedule events", losses->merged);
    cn_write_lose(w->options, "tasks truncated at damage", losses->damaged);
}

static bool write_batch(struct cn_out *out, const struct cn_recording *rec, uint32_t task,
                        const struct cn_call_batch *batch, struct side_events *side,
                        struct losses *losses, struct cn_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct cn_call call = batch->calls[i];
        bool is_event = call.kind == CN_CALL_EVENT;
        bool is_too_long =
            cn_call_data_len(&call) > (is_event ? UINT16_MAX : CN_UFT_PAYLOAD_MAX);

        if (is_event && ((call.address >= CN_EVENT_SCHED_IN &&
                          call.address <= CN_EVENT_SCHED_BOTH_PREEMPT) ||
                         call.address == CN_EVENT_EXTERN)) {
            add_side(side, rec, task, batch, &call);
            continue;
        }
        losses->depths += call.depth >= 1 << CN_UFT_DEPTH_BITS;
        losses->addresses += call.address >> CN_UFT_ADDRESS_BITS != 0;
        losses->data += is_too_long || (call.flags & CN_CALL_DATA_SKIPPED) != 0;
        if (is_too_long)
            call.flags &= (uint8_t)~CN_CALL_HAS_DATA;
        if (!write_call(out, rec, batch, &call, err))
            return false;
    }
    return true;
}

static bool write_task(const struct cn_uft_writing *w, uint32_t task,
                       struct side_events *side, struct losses *losses,
                       struct cn_error *err)
{
    struct cn_out out = {0};
    struct cn_call_stream *stream = NULL;
    struct cn_call_batch batch;
    struct cn_error damage = {0};
    enum cn_step step = CN_END;
    char *name = cn_strprintf("%" PRIu32 ".dat", w->rec->tasks[task].tid);
    bool ok =
        cn_out_open_at(&out, w->dir, name, err) &&
        cn_recording_stream_open(w->rec, task, cn_uft_written_range(w), &stream, err);

    while (ok && (step = cn_call_stream_next(stream, &batch, &damage)) == CN_ITEM)
        ok = write_batch(&out, w->rec, task, &batch, side, losses, err);
    if (step == CN_FAIL)
        note_damage(w, losses, &damage);
    ok = ok && cn_out_close(&out, err);
    cn_out_abandon(&out);
    cn_call_stream_close(stream);
    free(name);
    return ok;
}

/* Append an event as the kernel writes it. */
static void add_perf(struct cn_text *out, const struct side_event *event, bool is_big)
{
    enum { NAME_LEN_MAX = 63 };
    uint8_t bytes[128] = {0};
    struct cn_uft_perf_header head = {.type = CN_UFT_PERF_SWITCH};
    struct cn_uft_perf_comm comm = {event->pid, event->tid};
    struct cn_uft_perf_task task = {event->pid, event->parent_pid, event->tid,
                                    event->parent_tid, event->time_ns};
    struct cn_uft_perf_sample sample = {event->pid, event->tid, event->time_ns};
    size_t len = cn_uft_perf_header_size, name_len;

    if (event->id == CN_EVENT_TASK_NAME) {
        head.type = CN_UFT_PERF_COMM;
        name_len = strnlen(event->text, NAME_LEN_MAX);
        cn_uft_perf_comm_encode_any(&comm, is_big, bytes + len);
        len += cn_uft_perf_comm_size;
        memcpy(bytes + len, event->text, name_len);
        len += cn_align_up(name_len + 1, CN_UFT_PERF_ALIGN);
    } else if (event->id == CN_EVENT_TASK_NEW || event->id == CN_EVENT_TASK_EXIT) {
        head.type = event->id == CN_EVENT_TASK_NEW ? CN_UFT_PERF_FORK : CN_UFT_PERF_EXIT;
        cn_uft_perf_task_encode_any(&task, is_big, bytes + len);
        len += cn_uft_perf_task_size;
    } else if (event->id == CN_EVENT_SCHED_OUT) {
        head.misc = CN_UFT_PERF_MISC_OUT;
    } else if (event->id == CN_EVENT_SCHED_OUT_PREEMPT) {
        head.misc = CN_UFT_PERF_MISC_OUT | CN_UFT_PERF_MISC_PREEMPT;
    }
    cn_uft_perf_sample_encode_any(&sample, is_big, bytes + len);
    len += cn_uft_perf_sample_size;
    head.size = (uint16_t)len;
    cn_uft_perf_header_encode_any(&head, is_big, bytes);
    cn_text_add(out, (const char *)bytes, len);
}

/* Write the events of one processor, which begin at `first`, and go on to the next. */
static bool write_processor(const struct cn_uft_writing *w,
                            const struct side_events *side, size_t *first,
                            struct losses *losses, struct cn_text *externs,
                            struct cn_error *err)
{
    uint32_t processor = side->list[*first].processor;
    struct cn_text perf = {0};
    bool ok = true;

    for (; *first < side->count && side->list[*first].processor == processor; ++*first) {
        const struct side_event *event = &side->list[*first];

        if (event->id == CN_EVENT_EXTERN) {
            cn_text_printf(externs, "%" PRIu64 ".%09" PRIu64 " %s\n",
                           event->time_ns / 1000000000, event->time_ns % 1000000000,
                           event->text);
        } else if (event->id == CN_EVENT_SCHED_BOTH ||
                   event->id == CN_EVENT_SCHED_BOTH_PREEMPT) {
            losses->merged++; /* the file has no merged events */
        } else {
            add_perf(&perf, event, w->rec->is_big_endian);
        }
    }
    char *name = cn_strprintf("perf-cpu%" PRIu32 ".dat", processor);
    if (perf.len > 0)
        ok = cn_uft_write_text(w, name, &perf, err);
    cn_text_done(&perf);
    free(name);
    return ok;
}

static bool write_side(const struct cn_uft_writing *w, struct side_events *side,
                       struct losses *losses, struct cn_error *err)
{
    struct cn_text externs = {0};
    size_t first = 0;
    bool ok = true;

    CN_SORT(side->list, side->count, CN_UP(struct side_event, processor),
            CN_UP(struct side_event, time_ns), CN_UP(struct side_event, tid));
    while (ok && first < side->count)
        ok = write_processor(w, side, &first, losses, &externs, err);
    if (ok && externs.len > 0)
        ok = cn_uft_write_text(w, "extern.dat", &externs, err);
    cn_text_done(&externs);
    return ok;
}

bool cn_uft_write_records(const struct cn_uft_writing *w, struct cn_error *err)
{
    struct side_events side = {0};
    struct losses losses = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < w->rec->task_count; i++)
        ok = cn_progress_report(w->options ? w->options->progress : NULL,
                                "writing records", i, w->rec->task_count, "tasks", err) &&
             write_task(w, i, &side, &losses, err);
    ok = ok && write_side(w, &side, &losses, err);
    report_losses(w, &losses);
    cn_write_lose(w->options, "flows between calls", w->rec->flow_count);
    for (size_t i = 0; i < side.count; i++)
        free(side.list[i].text);
    free(side.list);
    return ok;
}

/* Of a time range, copy what is in it. Tasks have the names of their events: those before the range
 * become events at its beginning. */
static bool copy_record(struct cn_out *out, const struct cn_uft_writing *w,
                        const struct cn_call *call, struct cn_bytes raw,
                        struct cn_error *err)
{
    struct cn_time_range range = cn_uft_written_range(w);
    bool is_name = call->kind == CN_CALL_EVENT && call->address == CN_EVENT_TASK_NAME;
    uint8_t time[8];

    if (call->time_ns >= range.first_ns)
        return call->time_ns > range.last_ns || cn_out_write(out, raw.ptr, raw.len, err);
    if (!is_name || raw.len < sizeof(time))
        return true;
    /* The time is the end of such an event. */
    if (w->rec->is_big_endian)
        cn_u64_be_put(time, range.first_ns);
    else
        cn_u64_put(time, range.first_ns);
    return cn_out_write(out, raw.ptr, raw.len - sizeof(time), err) &&
           cn_out_write(out, time, sizeof(time), err);
}

bool cn_uft_copy_records(const struct cn_uft_writing *w, uint32_t source,
                         struct cn_error *err)
{
    struct cn_out out = {0};
    struct cn_call_stream *stream = NULL;
    struct cn_call_batch batch;
    struct losses losses = {0};
    struct cn_error damage = {0};
    enum cn_step step = CN_END;
    bool ok = cn_out_open_at(&out, w->dir, w->rec->sources[source].name, err) &&
              cn_recording_source_open(w->rec, source, &stream, err);

    while (ok && (step = cn_call_stream_next(stream, &batch, &damage)) == CN_ITEM)
        for (size_t i = 0; ok && i < batch.count; i++)
            ok = copy_record(&out, w, &batch.calls[i], batch.raw[i], err);
    if (step == CN_FAIL)
        note_damage(w, &losses, &damage);
    ok = ok && cn_out_close(&out, err);
    report_losses(w, &losses);
    cn_out_abandon(&out);
    cn_call_stream_close(stream);
    return ok;
}
