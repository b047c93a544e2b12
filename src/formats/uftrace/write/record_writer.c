/* Files of records: TID.dat, and the events of tasks in perf-cpu0.dat and
 * extern.dat. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/records/record_reader.h"
#include "formats/uftrace/write/writer.h"

/* An event that has no place in TID.dat. */
struct side_event {
    uint64_t time_ns;
    uint32_t tid, pid, parent_tid, parent_pid;
    uint32_t id;
    char *text; /* owned */
};

struct side_events {
    struct side_event *list;
    size_t count, capacity;
};

static bool is_side(const struct cn_call *call)
{
    return call->kind == CN_CALL_EVENT &&
           ((call->address >= CN_EVENT_SCHED_IN &&
             call->address <= CN_EVENT_SCHED_BOTH_PREEMPT) ||
            call->address == CN_EVENT_EXTERN);
}

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
        .text = cn_alloc(data.len + 1, 1),
    };

    if (data.len > 0)
        memcpy(event.text, data.ptr, data.len);
    side->list = cn_grow(side->list, side->count, &side->capacity, sizeof(*side->list));
    side->list[side->count++] = event;
}

static uint64_t word_of(const struct cn_call *call, bool has_more)
{
    return (uint64_t)call->kind << CN_UFT_TYPE_AT | (uint64_t)has_more << CN_UFT_MORE_AT |
           (uint64_t)CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT |
           (uint64_t)(call->depth & ((1 << CN_UFT_DEPTH_BITS) - 1)) << CN_UFT_DEPTH_AT |
           call->address << CN_UFT_ADDRESS_AT;
}

static uint64_t word_swapped(uint64_t word)
{
    return cn_bits(word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS) << CN_UFT_TYPE_AT_BE |
           cn_bits(word, CN_UFT_MORE_AT, CN_UFT_MORE_BITS) << CN_UFT_MORE_AT_BE |
           cn_bits(word, CN_UFT_RECORD_MAGIC_AT, CN_UFT_RECORD_MAGIC_BITS)
               << CN_UFT_RECORD_MAGIC_AT_BE |
           cn_bits(word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS) << CN_UFT_DEPTH_AT_BE |
           cn_bits(word, CN_UFT_ADDRESS_AT, CN_UFT_ADDRESS_BITS) << CN_UFT_ADDRESS_AT_BE;
}

static bool write_call(struct cn_out *out, const struct cn_recording *rec,
                       const struct cn_call_batch *batch, const struct cn_call *call,
                       struct cn_error *err)
{
    struct cn_bytes data = cn_call_data(batch, call);
    bool has_data = (call->flags & CN_CALL_HAS_DATA) != 0;
    uint64_t word = word_of(call, has_data);
    uint8_t bytes[cn_uft_record_size + CN_UFT_STRING_HEAD];
    size_t len = cn_uft_record_size;

    if (rec->is_big_endian) {
        struct cn_uft_record_be record = {call->time_ns, word_swapped(word)};

        cn_uft_record_be_encode(&record, bytes);
        cn_u16_be_put(bytes + len, (uint16_t)data.len);
    } else {
        struct cn_uft_record record = {call->time_ns, word};

        cn_uft_record_encode(&record, bytes);
        cn_u16_put(bytes + len, (uint16_t)data.len);
    }
    if (has_data && call->kind == CN_CALL_EVENT)
        len += CN_UFT_STRING_HEAD;
    if (!cn_out_write(out, bytes, len, err))
        return false;
    return !has_data || (cn_out_write(out, data.ptr, data.len, err) &&
                         cn_out_pad(out, CN_UFT_PAYLOAD_ALIGN, err));
}

static uint32_t data_max(const struct cn_call *call)
{
    return call->kind == CN_CALL_EVENT ? UINT16_MAX : CN_UFT_PAYLOAD_MAX;
}

/* What a record cannot hold. */
struct losses {
    uint64_t depths, addresses, data, merged, damaged;
};

static void count_losses(const struct cn_call *call, struct losses *losses)
{
    losses->depths += call->depth >= 1 << CN_UFT_DEPTH_BITS;
    losses->addresses += call->address >> CN_UFT_ADDRESS_BITS != 0;
    losses->data +=
        call->data_len > data_max(call) || (call->flags & CN_CALL_DATA_SKIPPED) != 0;
}

static void tell_losses(const struct cn_uft_writing *w, const struct losses *losses)
{
    cn_write_lose(w->options, "calls deeper than 1023", losses->depths);
    cn_write_lose(w->options, "addresses of more than 48 bits", losses->addresses);
    cn_write_lose(w->options, "arguments that are too long or cannot be read",
                  losses->data);
    cn_write_lose(w->options, "merged schedule events", losses->merged);
    cn_write_lose(w->options, "tasks behind the place where they are damaged",
                  losses->damaged);
}

static bool write_batch(struct cn_out *out, const struct cn_recording *rec, uint32_t task,
                        const struct cn_call_batch *batch, struct side_events *side,
                        struct losses *losses, struct cn_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct cn_call call = batch->calls[i];

        if (is_side(&call)) {
            add_side(side, rec, task, batch, &call);
            continue;
        }
        count_losses(&call, losses);
        if (call.data_len > data_max(&call))
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
    struct cn_text name = {0};
    struct cn_call_stream *stream = NULL;
    struct cn_call_batch batch;
    struct cn_error damage = {0};
    enum cn_step step = CN_END;
    bool ok;

    cn_text_printf(&name, "%" PRIu32 ".dat", w->rec->tasks[task].tid);
    ok = cn_out_open_at(&out, w->dir, cn_text_str(&name), err) &&
         cn_recording_stream_open(w->rec, task, cn_time_always, &stream, err);
    while (ok && (step = cn_call_stream_next(stream, &batch, &damage)) == CN_ITEM)
        ok = write_batch(&out, w->rec, task, &batch, side, losses, err);
    losses->damaged += step == CN_FAIL;
    ok = ok && cn_out_close(&out, err);
    cn_out_abandon(&out);
    cn_call_stream_close(stream);
    cn_text_done(&name);
    return ok;
}

static int by_time(const void *a, const void *b)
{
    const struct side_event *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Numbers in the byte order of the recording, into a small record. */
struct packer {
    uint8_t bytes[128];
    size_t len;
    bool is_big_endian;
};

static void pack16(struct packer *p, uint16_t value)
{
    if (p->is_big_endian)
        cn_u16_be_put(p->bytes + p->len, value);
    else
        cn_u16_put(p->bytes + p->len, value);
    p->len += sizeof(value);
}

static void pack32(struct packer *p, uint32_t value)
{
    if (p->is_big_endian)
        cn_u32_be_put(p->bytes + p->len, value);
    else
        cn_u32_put(p->bytes + p->len, value);
    p->len += sizeof(value);
}

static void pack64(struct packer *p, uint64_t value)
{
    if (p->is_big_endian)
        cn_u64_be_put(p->bytes + p->len, value);
    else
        cn_u64_put(p->bytes + p->len, value);
    p->len += sizeof(value);
}

static void pack_body(struct packer *p, const struct side_event *event)
{
    enum { NAME_LEN_MAX = 63 };
    size_t len = strnlen(event->text, NAME_LEN_MAX);

    if (event->id == CN_EVENT_TASK_NAME) {
        pack32(p, event->pid);
        pack32(p, event->tid);
        memcpy(p->bytes + p->len, event->text, len);
        p->len += cn_align_up(len + 1, CN_UFT_PERF_ALIGN);
    } else if (event->id == CN_EVENT_TASK_NEW || event->id == CN_EVENT_TASK_EXIT) {
        pack32(p, event->pid);
        pack32(p, event->parent_pid);
        pack32(p, event->tid);
        pack32(p, event->parent_tid);
        pack64(p, event->time_ns);
    }
}

static void pack_event(struct packer *p, const struct side_event *event)
{
    uint32_t type = CN_UFT_PERF_SWITCH;
    uint16_t misc = 0;
    size_t len;

    if (event->id == CN_EVENT_TASK_NAME)
        type = CN_UFT_PERF_COMM;
    else if (event->id == CN_EVENT_TASK_NEW)
        type = CN_UFT_PERF_FORK;
    else if (event->id == CN_EVENT_TASK_EXIT)
        type = CN_UFT_PERF_EXIT;
    else if (event->id == CN_EVENT_SCHED_OUT)
        misc = CN_UFT_PERF_MISC_OUT;
    else if (event->id == CN_EVENT_SCHED_OUT_PREEMPT)
        misc = CN_UFT_PERF_MISC_OUT | CN_UFT_PERF_MISC_PREEMPT;
    memset(p->bytes, 0, sizeof(p->bytes));
    p->len = cn_uft_perf_header_size;
    pack_body(p, event);
    pack32(p, event->pid);
    pack32(p, event->tid);
    pack64(p, event->time_ns);
    len = p->len;
    p->len = 0;
    pack32(p, type);
    pack16(p, misc);
    pack16(p, (uint16_t)len);
    p->len = len;
}

/* The two halves of `schedule` are stored one by one; a merged event cannot be. */
static bool is_perf(const struct side_event *event)
{
    return event->id != CN_EVENT_EXTERN && event->id != CN_EVENT_SCHED_BOTH &&
           event->id != CN_EVENT_SCHED_BOTH_PREEMPT;
}

static bool write_side(const struct cn_uft_writing *w, struct side_events *side,
                       struct losses *losses, struct cn_error *err)
{
    struct packer packer = {.is_big_endian = w->rec->is_big_endian};
    struct cn_text perf = {0}, externs = {0};
    bool ok = true;

    if (side->count > 1)
        qsort(side->list, side->count, sizeof(*side->list), by_time);
    for (size_t i = 0; i < side->count; i++) {
        const struct side_event *event = &side->list[i];

        if (event->id == CN_EVENT_EXTERN) {
            cn_text_printf(&externs, "%" PRIu64 ".%09" PRIu64 " %s\n",
                           event->time_ns / 1000000000, event->time_ns % 1000000000,
                           event->text);
        } else if (is_perf(event)) {
            pack_event(&packer, event);
            cn_text_add(&perf, (const char *)packer.bytes, packer.len);
        } else {
            losses->merged++;
        }
    }
    if (perf.len > 0)
        ok = cn_uft_write_text(w, "perf-cpu0.dat", &perf, err);
    if (ok && externs.len > 0)
        ok = cn_uft_write_text(w, "extern.dat", &externs, err);
    cn_text_done(&perf);
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
    tell_losses(w, &losses);
    for (size_t i = 0; i < side.count; i++)
        free(side.list[i].text);
    free(side.list);
    return ok;
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
            ok = cn_out_write(&out, batch.raw[i].ptr, batch.raw[i].len, err);
    losses.damaged = step == CN_FAIL;
    ok = ok && cn_out_close(&out, err);
    tell_losses(w, &losses);
    cn_out_abandon(&out);
    cn_call_stream_close(stream);
    return ok;
}
