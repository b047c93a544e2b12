/* The calls of one task: the records of its file, with the events of perf-cpuN.dat,
 * kernel-cpuN.dat, extern.dat and syscalls.dat merged in by time.
 *
 * decode_run() is the hot loop: it decodes calls without a payload and stops at records
 * of another kind, which take_special() decodes, and where an event must be merged in. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/text.h"
#include "formats/uftrace/directory/kernel.h"
#include "formats/uftrace/directory/perf_index.h"
#include "formats/uftrace/directory/resolver.h"
#include "formats/uftrace/directory/stream.h"
#include "formats/uftrace/directory/syscalls.h"
#include "formats/uftrace/records/reader.h"

enum {
    BATCH = 1024,
    FORGET_LEN = 512 << 10, /* mapped pages are dropped in steps of this size */
    /* The word of an entry or exit without a payload: magic, no `more`, upper type
     * bit 0. */
    PLAIN_MASK = ((1 << CN_UFT_RECORD_MAGIC_BITS) - 1) << CN_UFT_RECORD_MAGIC_AT |
                 1 << CN_UFT_MORE_AT | 2 << CN_UFT_TYPE_AT,
    PLAIN = CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT,
};

struct task_stream {
    struct cn_uft_stream base;
    const struct cn_uft_directory *dir;
    const struct cn_uft_records *records;
    struct cn_uft_records part; /* the records of a part of a task */
    struct cn_uft_record_reader *reader;
    struct cn_bytes block;  /* current block of records; all of a mapped plain file */
    uint64_t block_off;     /* its offset in TID.dat */
    uint64_t at, forgotten; /* offsets in the block */
    bool is_final;          /* no block follows */
    bool wants_block;       /* the next record ends in the next block */
    struct cn_time_range range;
    uint64_t last_ns;   /* of the last record that had a time */
    bool is_ordered;    /* records must be in the order of time */
    uint64_t record_ns; /* then: of the last record, lost ones apart */
    bool is_ended, has_failed;
    struct cn_error failure, disorder; /* the first record that is not in order */

    /* Events to merge in. */
    const uint64_t *perf_next, *perf_end;
    struct cn_uft_perf_event perf; /* the event at perf_next */
    uint64_t in_ns;      /* when to merge in the event "in" of a wait that began; or 0 */
    uint64_t last_in_ns; /* of the last wait */
    uint64_t end_ns;     /* of the first record after a part */
    const struct cn_uft_extern *extern_next, *extern_end;
    const struct cn_uft_kernel_record *kernel_next, *kernel_end;
    size_t syscall_next, syscall_end; /* numbers of their entries and exits */
    uint32_t kernel_depth; /* calls of the program around the open ones of the kernel */
    bool is_in_kernel;
    struct cn_text side_data;

    /* The batch; raw and tids are used for streams of a file only. */
    size_t count;
    uint64_t begin_off;
    struct cn_bytes *raw;
    uint32_t *tids;
    struct cn_call calls[BATCH];
    struct cn_uft_resolver resolver;
};

static bool fail_at(struct task_stream *s, const char *what, uint64_t value)
{
    s->has_failed = true;
    return cn_fail(&s->failure, CN_ERR_FORMAT, "%s: record at 0x%" PRIx64 ": %s %" PRIu64,
                   s->records->name, s->block_off + s->at, what, value);
}

/* A record that is earlier than the one before it: it is read, and noted for the end. */
static void note_order(struct task_stream *s, uint64_t time_ns)
{
    if (s->is_ordered && time_ns < s->record_ns && s->disorder.kind == CN_ERR_NONE)
        (void)cn_fail(&s->disorder, CN_ERR_FORMAT,
                      "%s: record at 0x%" PRIx64 ": time runs backwards: %" PRIu64
                      " after %" PRIu64,
                      s->records->name, s->block_off + s->at, time_ns, s->record_ns);
    s->record_ns = time_ns;
}

/* True if a payload may continue in the next block. */
static bool is_cut(const struct task_stream *s, unsigned type, struct cn_bytes rest)
{
    uint64_t needed = CN_UFT_PAYLOAD_MAX + cn_uft_record_size;

    if (s->is_final)
        return false;
    if (type == CN_UFT_EVENT && rest.len >= CN_UFT_STRING_HEAD)
        needed = cn_uft_event_len(rest, s->dir->rec.is_big_endian);
    return rest.len < needed;
}

/* Decode a record that is not a plain entry or exit. False when the batch must end. */
static bool take_special(struct task_stream *s, struct cn_uft_record record)
{
    struct cn_uft_payload payload = {0};
    struct cn_call *call = &s->calls[s->count];
    struct cn_bytes rest;
    uint64_t body = s->at + cn_uft_record_size, time_ns = record.time_ns;
    unsigned type = (unsigned)cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS);

    *call = (struct cn_call){
        .time_ns = record.time_ns,
        .address = cn_bits(record.word, CN_UFT_ADDRESS_AT, CN_UFT_ADDRESS_BITS),
        .function = CN_NONE,
        .depth = (uint16_t)cn_bits(record.word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS),
        .kind = (uint8_t)type,
    };
    if (type <= CN_UFT_EXIT)
        call->function = cn_uft_resolve(&s->resolver, record.time_ns, call->address);
    if (record.word & 1 << CN_UFT_MORE_AT) {
        (void)cn_bytes_from(s->block, body, &rest);
        s->wants_block = is_cut(s, type, rest);
        if (s->wants_block)
            return false;
        if (!cn_uft_payload_measure(&s->dir->rec, record, call->function, rest, &payload))
            return fail_at(s,
                           "its payload does not end in the remaining bytes:", rest.len);
        call->flags = payload.is_skipped ? CN_CALL_DATA_SKIPPED : CN_CALL_HAS_DATA;
        call->data_off = (uint32_t)(body - s->begin_off) + payload.head_len;
        call->data_len = payload.len;
    }
    if (type != CN_UFT_LOST)
        note_order(s, time_ns);
    if (type == CN_UFT_LOST && time_ns == 0)
        time_ns = s->last_ns;
    else
        s->last_ns = time_ns;
    if (s->raw)
        (void)cn_bytes_slice(s->block, s->at, cn_uft_record_size + payload.all_len,
                             &s->raw[s->count]);
    s->at = body + payload.all_len;
    s->count += time_ns >= s->range.first_ns && time_ns <= s->range.last_ns;
    return true;
}

/* Decode entries and exits without a payload, up to the first record of another kind,
 * before the one before it, outside the time range of the current mappings, or after
 * `stop_ns`. */
static void decode_run(struct task_stream *s, uint64_t stop_ns)
{
    struct cn_uft_resolver *resolver = &s->resolver;
    uint64_t low_ns = resolver->begin_ns, span_ns = resolver->span_ns;
    uint64_t first_ns = s->range.first_ns, at = s->at;
    uint64_t order_mask =
        s->is_ordered ? UINT64_MAX : 0; /* the next is not before this */
    struct cn_bytes block = s->block, bytes, *raw = s->raw;
    bool is_big_endian = s->dir->rec.is_big_endian;
    size_t count = s->count;

    if (s->is_ordered && s->record_ns > low_ns) {
        if (s->record_ns - low_ns > span_ns)
            return;
        span_ns -= s->record_ns - low_ns;
        low_ns = s->record_ns;
    }
    if (stop_ns < low_ns)
        return;
    span_ns = span_ns < stop_ns - low_ns ? span_ns : stop_ns - low_ns;
    while (count < BATCH && cn_bytes_slice(block, at, cn_uft_record_size, &bytes)) {
        struct cn_uft_record record = cn_uft_record_get(bytes, is_big_endian);
        uint64_t address = record.word >> CN_UFT_ADDRESS_AT;
        struct cn_call *call = &s->calls[count];
        uint64_t after_ns = record.time_ns - low_ns;

        if ((record.word & PLAIN_MASK) != PLAIN || after_ns > span_ns)
            break;
        low_ns += after_ns & order_mask;
        span_ns -= after_ns & order_mask;
        call->time_ns = record.time_ns;
        call->address = address;
        call->function = cn_uft_resolve_now(resolver, address);
        call->depth = (uint16_t)cn_bits(record.word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS);
        call->kind = (uint8_t)cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS);
        call->flags = 0;
        call->data_off = call->data_len = 0;
        if (raw)
            raw[count] = bytes;
        at += cn_uft_record_size;
        count += record.time_ns >= first_ns;
    }
    if (at > s->at &&
        cn_bytes_slice(block, at - cn_uft_record_size, cn_uft_record_size, &bytes))
        s->last_ns = s->record_ns = cn_uft_record_get(bytes, is_big_endian).time_ns;
    s->at = at;
    s->count = count;
}

/* Decode until the batch is full, the block ends, or a record is later than `stop_ns`. */
static void decode_records(struct task_stream *s, uint64_t stop_ns)
{
    struct cn_bytes bytes;

    for (;;) {
        decode_run(s, stop_ns);
        if (s->count == BATCH ||
            !cn_bytes_slice(s->block, s->at, cn_uft_record_size, &bytes))
            return;
        struct cn_uft_record record = cn_uft_record_get(bytes, s->dir->rec.is_big_endian);
        if (!cn_uft_record_has_magic(record) || record.time_ns > stop_ns)
            return;
        if ((record.word & PLAIN_MASK) == PLAIN) {
            note_order(s, record.time_ns);
            cn_uft_resolver_move(&s->resolver, record.time_ns);
        } else if (!take_special(s, record)) {
            return;
        }
    }
}

/* True if decode_records() stopped at a later record; false at the end and at damage. */
static bool has_record(struct task_stream *s)
{
    struct cn_bytes rest;

    if (s->has_failed || s->is_ended)
        return false;
    (void)cn_bytes_from(s->block, s->at, &rest);
    if (rest.len == 0) {
        s->is_ended = true;
        return false;
    }
    if (rest.len < cn_uft_record_size) {
        s->has_failed = true;
        return cn_fail(&s->failure, CN_ERR_FORMAT, "%s: %zu stray bytes at 0x%" PRIx64,
                       s->records->name, rest.len, s->block_off + s->at);
    }
    struct cn_uft_record record = cn_uft_record_get(rest, s->dir->rec.is_big_endian);
    if (!cn_uft_record_has_magic(record)) {
        char what[48];

        (void)snprintf(what, sizeof(what), "magic is not %d but", CN_UFT_RECORD_MAGIC);
        return fail_at(
            s, what,
            cn_bits(record.word, CN_UFT_RECORD_MAGIC_AT, CN_UFT_RECORD_MAGIC_BITS));
    }
    return true;
}

/* Skip a record after the time range: the file ends there, if it is in the order of
 * time. */
static void skip_late(struct task_stream *s)
{
    struct cn_bytes rest;
    size_t count = s->count;

    if (!(s->dir->rec.features & CN_FEATURE_ESTIMATE_RETURN)) {
        s->is_ended = true;
        return;
    }
    (void)cn_bytes_from(s->block, s->at, &rest);
    struct cn_uft_record record = cn_uft_record_get(rest, s->dir->rec.is_big_endian);
    (void)take_special(s, record);
    s->count = count;
}

enum stream_side { SIDE_NONE, SIDE_PERF, SIDE_EXTERN, SIDE_KERNEL, SIDE_SYSCALL };

/* The kind and the time of the next event to merge in. */
static enum stream_side next_side(const struct task_stream *s, uint64_t *time_ns)
{
    enum stream_side side = SIDE_NONE;

    *time_ns = UINT64_MAX;
    if (s->perf_next != s->perf_end) {
        side = SIDE_PERF;
        *time_ns = s->perf.time_ns;
    }
    if (s->extern_next != s->extern_end &&
        (side == SIDE_NONE || s->extern_next->time_ns < *time_ns)) {
        side = SIDE_EXTERN;
        *time_ns = s->extern_next->time_ns;
    }
    if (s->kernel_next != s->kernel_end &&
        (side == SIDE_NONE || s->kernel_next->time_ns < *time_ns)) {
        side = SIDE_KERNEL;
        *time_ns = s->kernel_next->time_ns;
    }
    if (s->syscall_next < s->syscall_end) {
        uint64_t syscall_ns = cn_uft_syscall_time(s->dir, s->syscall_next);

        if (side == SIDE_NONE || syscall_ns < *time_ns) {
            side = SIDE_SYSCALL;
            *time_ns = syscall_ns;
        }
    }
    return side;
}

static void load_perf(struct task_stream *s)
{
    s->perf = (struct cn_uft_perf_event){.time_ns = UINT64_MAX};
    if (s->perf_next != s->perf_end)
        (void)cn_uft_perf_event_at(s->dir, *s->perf_next, &s->perf);
    if (s->in_ns > 0)
        s->perf.time_ns = s->last_in_ns = s->in_ns;
    s->in_ns = 0;
}

static uint64_t next_record_ns(const struct task_stream *s, bool is_more)
{
    struct cn_bytes rest;

    if (!is_more)
        return s->end_ns;
    (void)cn_bytes_from(s->block, s->at, &rest);
    return cn_uft_record_get(rest, s->dir->rec.is_big_endian).time_ns;
}

/* The event at perf_next begins a wait, and the next record comes after it. A task records
 * nothing while it waits, but the clocks of its records and of the kernel may differ: move
 * a wait that contains records into the first gap between two of them that has half of
 * it. False when that gap comes later: the event is delayed to the next record. */
static bool place_wait(struct task_stream *s, bool is_more)
{
    uint64_t next_ns = next_record_ns(s, is_more), wait_ns, begin_ns;
    uint64_t low_ns = s->last_in_ns > s->last_ns ? s->last_in_ns : s->last_ns;
    struct cn_uft_perf_event out, in;

    if (s->perf_end - s->perf_next < 2 || next_ns <= s->perf.time_ns ||
        next_ns <= low_ns || !cn_uft_perf_event_at(s->dir, s->perf_next[0], &out) ||
        !cn_uft_perf_event_at(s->dir, s->perf_next[1], &in) ||
        !cn_uft_perf_is_out(&out) || in.id != CN_EVENT_SCHED_IN)
        return true;
    wait_ns = in.time_ns - out.time_ns;
    begin_ns = out.time_ns > low_ns ? out.time_ns : low_ns;
    if (next_ns <= in.time_ns && next_ns - begin_ns < wait_ns / 2) {
        s->perf.time_ns = next_ns;
        return false;
    }
    if (next_ns - 1 - low_ns < wait_ns) {
        begin_ns = low_ns;
        wait_ns = next_ns - 1 - low_ns;
    } else if (begin_ns > next_ns - 1 - wait_ns) {
        begin_ns = next_ns - 1 - wait_ns;
    }
    s->perf.time_ns = begin_ns;
    s->in_ns = begin_ns + wait_ns;
    return true;
}

/* Decode the next event of this kind. */
static struct cn_bytes decode_side(const struct task_stream *s, enum stream_side side,
                                   struct cn_call *call)
{
    struct cn_bytes data = {0};

    *call = (struct cn_call){.function = CN_NONE, .kind = CN_CALL_EVENT};
    if (side == SIDE_PERF) {
        call->time_ns = s->perf.time_ns;
        call->address = s->perf.id;
        call->depth = cn_uft_perf_processor(s->dir, *s->perf_next);
        data = s->perf.name;
    } else if (side == SIDE_EXTERN) {
        call->time_ns = s->extern_next->time_ns;
        call->address = CN_EVENT_EXTERN;
        data = s->extern_next->text;
    } else if (side == SIDE_SYSCALL) {
        cn_uft_syscall_decode(s->dir, s->syscall_next, call);
    } else {
        cn_uft_kernel_decode_record(s->dir, s->kernel_next, call, &data);
    }
    return data;
}

/* The number of calls of the program that are open: functions of the kernel are inside
 * them, and count from 0. */
static uint32_t open_count(const struct task_stream *s, bool is_more)
{
    struct cn_bytes rest;

    for (size_t i = s->count; i > 0; i--) {
        const struct cn_call *call = &s->calls[i - 1];

        if (!(call->flags & CN_CALL_KERNEL) && call->kind <= CN_CALL_EXIT)
            return call->depth + (call->kind == CN_CALL_ENTER ? 1u : 0u);
    }
    if (!is_more)
        return 0;
    (void)cn_bytes_from(s->block, s->at, &rest);
    struct cn_uft_record record = cn_uft_record_get(rest, s->dir->rec.is_big_endian);
    return (uint32_t)cn_bits(record.word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS) +
           (cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS) == CN_UFT_EXIT ? 1u
                                                                                  : 0u);
}

/* Merge in the next event of this kind. The data of records is borrowed from their file,
 * that of events is copied, so they cannot share a batch. False when the batch must end
 * first. */
static bool merge_side(struct task_stream *s, enum stream_side side, bool is_more)
{
    struct cn_call *call = &s->calls[s->count];
    struct cn_bytes data = decode_side(s, side, call);

    if (call->flags & CN_CALL_KERNEL) {
        if (!s->is_in_kernel || (call->kind == CN_CALL_ENTER && call->depth == 0))
            s->kernel_depth = open_count(s, is_more);
        s->is_in_kernel = call->kind == CN_CALL_ENTER || call->depth > 0;
        call->depth = (uint16_t)(call->depth + s->kernel_depth);
    }
    if (s->side_data.len == 0 && s->count > 0 && data.len > 0)
        return false;
    if (side == SIDE_PERF) {
        s->perf_next++;
        load_perf(s);
    } else if (side == SIDE_EXTERN) {
        s->extern_next++;
    } else if (side == SIDE_SYSCALL) {
        s->syscall_next = s->syscall_next + 1 < s->syscall_end
                              ? cn_uft_syscalls_skip(s->dir, s->syscall_next + 1)
                              : s->syscall_end;
    } else {
        s->kernel_next++;
    }
    if (call->time_ns < s->range.first_ns || call->time_ns > s->range.last_ns)
        return true;
    s->count++;
    if (data.len > 0) {
        call->flags |= CN_CALL_HAS_DATA;
        call->data_off = (uint32_t)s->side_data.len;
        call->data_len = (uint32_t)data.len;
        cn_text_add(&s->side_data, (const char *)data.ptr, data.len);
    }
    return true;
}

/* True if the next record is earlier than the next event. After an event with data it
 * must wait for the next batch. */
static bool is_record_due(const struct task_stream *s, uint64_t side_ns)
{
    struct cn_bytes rest;

    (void)cn_bytes_from(s->block, s->at, &rest);
    return cn_uft_record_get(rest, s->dir->rec.is_big_endian).time_ns <= side_ns;
}

/* Read the next block. It may reuse the memory of the last one, so the batch must be
 * empty. */
static void next_block(struct task_stream *s)
{
    struct cn_uft_record_block block;
    uint64_t left = s->block.len - s->at;
    enum cn_step step =
        cn_uft_record_reader_next(s->reader, (size_t)s->at, &block, &s->failure);

    s->wants_block = false;
    s->has_failed = step == CN_FAIL;
    s->is_ended = step == CN_END;
    if (step != CN_ITEM)
        return;
    /* The block has no more than the rest of the last one: the data ends. */
    s->is_final =
        cn_uft_records_are_one_block(s->records) || (left > 0 && block.bytes.len == left);
    s->block = block.bytes;
    s->block_off = block.off;
    s->at = s->begin_off = 0;
}

static bool is_block_done(const struct task_stream *s)
{
    return !s->is_final && !s->is_ended &&
           (s->wants_block || s->block.len - s->at < cn_uft_record_size);
}

static void fill_batch(struct task_stream *s)
{
    while (s->count < BATCH) {
        uint64_t side_ns;
        enum stream_side side = next_side(s, &side_ns);
        bool is_copied = s->side_data.len > 0, is_more;

        if (!is_copied && !s->is_ended)
            decode_records(s, side_ns < s->range.last_ns ? side_ns : s->range.last_ns);
        if (s->count == BATCH)
            return;
        if (is_block_done(s)) {
            if (s->count > 0)
                return;
            next_block(s);
            if (s->has_failed)
                return;
            continue;
        }
        is_more = has_record(s);
        if (s->has_failed || (is_copied && is_more && is_record_due(s, side_ns)))
            return;
        if (is_more && side_ns > s->range.last_ns) {
            if (is_copied)
                return;
            skip_late(s);
        } else if (side == SIDE_PERF && !place_wait(s, is_more)) {
            continue;
        } else if (side == SIDE_NONE || !merge_side(s, side, is_more)) {
            return;
        }
    }
}

static void drop_read_pages(struct task_stream *s)
{
    struct cn_bytes pages;

    if (!s->records->is_mapped || s->records->is_packed ||
        s->begin_off - s->forgotten < FORGET_LEN)
        return;
    if (cn_bytes_slice(s->block, s->forgotten, s->begin_off - s->forgotten, &pages))
        cn_file_forget(pages);
    s->forgotten = s->begin_off;
}

static enum cn_step task_next(struct cn_uft_stream *stream, struct cn_call_batch *out,
                              struct cn_error *err)
{
    struct task_stream *s = (struct task_stream *)stream;
    struct cn_bytes data;

    s->last_ns = s->count > 0 ? s->calls[s->count - 1].time_ns : s->last_ns;
    s->count = 0;
    s->begin_off = s->at;
    cn_text_clear(&s->side_data);
    drop_read_pages(s);
    if (!s->has_failed)
        fill_batch(s);
    if (s->count == 0) {
        /* As when the task is read as a whole. Lost records may have no time. */
        if (!s->has_failed && s->end_ns > 0)
            note_order(s, s->end_ns);
        s->base.base.is_whole = !s->has_failed;
        if (!s->has_failed && s->disorder.kind == CN_ERR_NONE)
            return CN_END;
        *err = s->has_failed ? s->failure : s->disorder;
        return CN_FAIL;
    }
    if (s->side_data.len > 0)
        data = (struct cn_bytes){(const uint8_t *)s->side_data.chars, s->side_data.len};
    else
        (void)cn_bytes_slice(s->block, s->begin_off, s->at - s->begin_off, &data);
    *out = (struct cn_call_batch){.calls = s->calls,
                                  .count = s->count,
                                  .data = data,
                                  .tids = s->tids,
                                  .raw = s->raw};
    return CN_ITEM;
}

static void task_close(struct cn_uft_stream *stream)
{
    struct task_stream *s = (struct task_stream *)stream;

    cn_uft_record_reader_free(s->reader);
    cn_text_done(&s->side_data);
    free(s->raw);
    free(s->tids);
    free(s);
}

static void prepare_side(struct task_stream *s, uint32_t task)
{
    const struct cn_uft_directory *dir = s->dir;

    if (dir->perf_begins) {
        s->perf_next = dir->perf_records + dir->perf_begins[task];
        s->perf_end = dir->perf_records + dir->perf_begins[task + 1];
        load_perf(s);
    }
    if (dir->extern_task == task && dir->extern_count > 0) {
        s->extern_next = dir->externs;
        s->extern_end = dir->externs + dir->extern_count;
    }
    cn_uft_kernel_task(dir, task, &s->kernel_next, &s->kernel_end);
    cn_uft_syscalls_task(dir, task, &s->syscall_next, &s->syscall_end);
}

struct cn_uft_stream *cn_uft_task_stream_new(const struct cn_uft_directory *dir,
                                             uint32_t task, struct cn_time_range range,
                                             bool is_raw)
{
    struct task_stream *s = cn_alloc(1, sizeof(*s));

    s->base =
        (struct cn_uft_stream){{.rec = &dir->rec, .task = task}, task_next, task_close};
    s->dir = dir;
    s->range = range;
    s->end_ns = UINT64_MAX;
    s->is_ordered = !is_raw && !(dir->rec.features & CN_FEATURE_ESTIMATE_RETURN);
    s->records = &dir->records[task];
    s->is_ended = !s->records->name;
    if (s->records->name)
        s->reader = cn_uft_record_reader_new(
            s->records, cn_uft_ranges_find(dir, task, range.first_ns));
    cn_uft_resolver_init(&s->resolver, dir, task);
    if (is_raw) {
        s->raw = cn_alloc(BATCH, sizeof(*s->raw));
        s->tids = cn_alloc(BATCH, sizeof(*s->tids));
        for (size_t i = 0; i < BATCH; i++)
            s->tids[i] = dir->tasks[task].tid;
    } else {
        prepare_side(s, task);
    }
    return &s->base;
}

static bool is_perf_before(const void *stream, uint64_t index, uint64_t time_ns)
{
    const struct task_stream *s = stream;
    struct cn_uft_perf_event event = {0};

    (void)cn_uft_perf_event_at(s->dir, s->perf_next[index], &event);
    return event.time_ns < time_ns;
}

/* Limit the events to those of this part. */
static void limit_side(struct task_stream *s, const struct cn_call_part *part)
{
    size_t count = (size_t)(s->perf_end - s->perf_next);

    if (count > 0) {
        if (part->end_ns < UINT64_MAX)
            s->perf_end =
                s->perf_next + cn_search(0, count, is_perf_before, s, part->end_ns);
        s->perf_next += cn_search(0, count, is_perf_before, s, part->begin_ns);
        load_perf(s);
    }
    while (s->extern_next != s->extern_end && s->extern_next->time_ns < part->begin_ns)
        s->extern_next++;
    while (s->extern_next != s->extern_end && s->extern_end[-1].time_ns >= part->end_ns)
        s->extern_end--;
    while (s->kernel_next != s->kernel_end && s->kernel_next->time_ns < part->begin_ns)
        s->kernel_next++;
    while (s->kernel_next != s->kernel_end && s->kernel_end[-1].time_ns >= part->end_ns)
        s->kernel_end--;
    s->syscall_end =
        cn_uft_syscalls_find(s->dir, s->syscall_next, s->syscall_end, part->end_ns);
    s->syscall_next =
        cn_uft_syscalls_find(s->dir, s->syscall_next, s->syscall_end, part->begin_ns);
    if (s->syscall_next < s->syscall_end)
        s->syscall_next = cn_uft_syscalls_skip(s->dir, s->syscall_next);
}

struct cn_uft_stream *cn_uft_part_stream_new(const struct cn_uft_directory *dir,
                                             uint32_t task,
                                             const struct cn_call_part *part)
{
    struct task_stream *s =
        (struct task_stream *)cn_uft_task_stream_new(dir, task, cn_time_always, false);

    s->part = *s->records;
    s->part.content.len = part->end_off;
    s->part.chunks.content.len = part->end_off;
    s->records = &s->part;
    s->end_ns = part->end_ns;
    cn_uft_record_reader_free(s->reader);
    s->reader = cn_uft_record_reader_new(s->records, part->begin_off);
    limit_side(s, part);
    return &s->base;
}
