/* The calls of one task: the records of its file, with the events of processors, of the kernel
 * and from outside merged in by time.
 *
 * decode_run() is the loop that everything waits for: it handles calls without a payload and
 * leaves the rest to take_special(). It stops where something has to be merged in. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/uftrace/perf_index.h"
#include "formats/uftrace/record_reader.h"
#include "formats/uftrace/resolver.h"
#include "formats/uftrace/stream.h"

enum {
    BATCH = 1024,
    FORGET_LEN = 8 << 20, /* pages are given back in pieces of this size */
    /* The word of an entry or exit without a payload: magic, no `more`, upper type bit 0. */
    PLAIN_MASK = ((1 << CN_UFT_RECORD_MAGIC_BITS) - 1) << CN_UFT_RECORD_MAGIC_AT |
                 1 << CN_UFT_MORE_AT | 2 << CN_UFT_TYPE_AT,
    PLAIN = CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT,
};

struct task_stream {
    struct cn_uft_stream base;
    const struct cn_uft_directory *dir;
    struct cn_bytes file;
    uint64_t at, forgotten; /* offsets in the file */
    struct cn_time_range range;
    uint64_t last_ns; /* of the last record that had a time */
    bool is_ended, has_failed;
    struct cn_error failure;

    /* What is merged in. */
    const uint64_t *perf_next, *perf_end;
    struct cn_uft_perf_event perf; /* the one at perf_next */
    const struct cn_uft_extern *extern_next, *extern_end;
    struct cn_text side_data;

    /* The batch; raw and tids only in the stream of a file. */
    size_t count;
    uint64_t begin_off;
    struct cn_bytes *raw;
    uint32_t *tids;
    struct cn_call calls[BATCH];
    struct cn_uft_resolver resolver;
};

static const char *file_name(const struct task_stream *s, char name[static 16])
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%" PRIu32 ".dat", s->dir->tasks[s->base.base.task].tid);
    memcpy(name, cn_text_str(&text), text.len + 1);
    cn_text_done(&text);
    return name;
}

static bool fail_at(struct task_stream *s, const char *what, uint64_t value)
{
    char name[16];

    s->has_failed = true;
    return cn_fail(&s->failure, CN_ERR_FORMAT,
                   "%s: record at 0x%" PRIx64 ": %s %" PRIu64, file_name(s, name), s->at,
                   what, value);
}

/* A record that is not just an entry or exit. False when the loop has to end. */
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
        (void)cn_bytes_from(s->file, body, &rest);
        if (!cn_uft_payload_measure(&s->dir->rec, record, call->function, rest, &payload))
            return fail_at(s, "no end of its data in the remaining bytes, which are",
                           rest.len);
        call->flags = payload.is_skipped ? CN_CALL_DATA_SKIPPED : CN_CALL_HAS_DATA;
        call->data_off = (uint32_t)(body - s->begin_off) + payload.head_len;
        call->data_len = payload.len;
    }
    if (type == CN_UFT_LOST && time_ns == 0)
        time_ns = s->last_ns;
    else
        s->last_ns = time_ns;
    if (s->raw)
        (void)cn_bytes_slice(s->file, s->at, cn_uft_record_size + payload.all_len,
                             &s->raw[s->count]);
    s->at = body + payload.all_len;
    s->count += time_ns >= s->range.first_ns && time_ns <= s->range.last_ns;
    return true;
}

/* Entries and exits without a payload, up to the first record of another kind, one outside the
 * time during which the mappings stay as they are, or one after `stop_ns`. */
static void decode_run(struct task_stream *s, uint64_t stop_ns)
{
    struct cn_uft_resolver *resolver = &s->resolver;
    uint64_t low_ns = resolver->begin_ns, span_ns = resolver->span_ns;
    uint64_t first_ns = s->range.first_ns, at = s->at;
    struct cn_bytes file = s->file, bytes, *raw = s->raw;
    bool is_big_endian = s->dir->rec.is_big_endian;
    size_t count = s->count;

    if (stop_ns < low_ns)
        return;
    span_ns = span_ns < stop_ns - low_ns ? span_ns : stop_ns - low_ns;
    while (count < BATCH && cn_bytes_slice(file, at, cn_uft_record_size, &bytes)) {
        struct cn_uft_record record = cn_uft_record_get(bytes, is_big_endian);
        uint64_t address = record.word >> CN_UFT_ADDRESS_AT;
        struct cn_call *call = &s->calls[count];

        if ((record.word & PLAIN_MASK) != PLAIN || record.time_ns - low_ns > span_ns)
            break;
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
    s->last_ns = count > 0 ? s->calls[count - 1].time_ns : s->last_ns;
    s->at = at;
    s->count = count;
}

/* Decode until the batch is full, the file ends, or a record comes after `stop_ns`. */
static void decode_records(struct task_stream *s, uint64_t stop_ns)
{
    struct cn_bytes bytes;

    for (;;) {
        struct cn_uft_record record;

        decode_run(s, stop_ns);
        if (s->count == BATCH ||
            !cn_bytes_slice(s->file, s->at, cn_uft_record_size, &bytes))
            return;
        record = cn_uft_record_get(bytes, s->dir->rec.is_big_endian);
        if (!cn_uft_record_has_magic(record) || record.time_ns > stop_ns)
            return;
        if ((record.word & PLAIN_MASK) == PLAIN)
            cn_uft_resolver_move(&s->resolver, record.time_ns);
        else if (!take_special(s, record))
            return;
    }
}

/* Why decode_records() stopped before the batch was full: true when there is a record that
 * comes later, false when there will be none. */
static bool has_record(struct task_stream *s)
{
    struct cn_uft_record record;
    struct cn_bytes rest;
    char name[16];

    if (s->has_failed || s->is_ended)
        return false;
    (void)cn_bytes_from(s->file, s->at, &rest);
    if (rest.len == 0) {
        s->is_ended = true;
        return false;
    }
    if (rest.len < cn_uft_record_size) {
        s->has_failed = true;
        return cn_fail(&s->failure, CN_ERR_FORMAT, "%s: %zu stray bytes at 0x%" PRIx64,
                       file_name(s, name), rest.len, s->at);
    }
    record = cn_uft_record_get(rest, s->dir->rec.is_big_endian);
    if (!cn_uft_record_has_magic(record)) {
        char what[48];

        (void)snprintf(what, sizeof(what), "magic is not %d but", CN_UFT_RECORD_MAGIC);
        return fail_at(s, what,
                       cn_bits(record.word, CN_UFT_RECORD_MAGIC_AT,
                               CN_UFT_RECORD_MAGIC_BITS));
    }
    return true;
}

/* Records after the range: the file is done with, unless its order is not that of time. */
static void skip_late(struct task_stream *s)
{
    struct cn_uft_record record;
    struct cn_bytes rest;
    size_t count = s->count;

    if (!(s->dir->rec.features & CN_FEATURE_ESTIMATE_RETURN)) {
        s->is_ended = true;
        return;
    }
    (void)cn_bytes_from(s->file, s->at, &rest);
    record = cn_uft_record_get(rest, s->dir->rec.is_big_endian);
    (void)take_special(s, record);
    s->count = count;
}

static uint64_t side_time(const struct task_stream *s)
{
    uint64_t time_ns = UINT64_MAX;

    if (s->perf_next != s->perf_end)
        time_ns = s->perf.time_ns;
    if (s->extern_next != s->extern_end && s->extern_next->time_ns < time_ns)
        time_ns = s->extern_next->time_ns;
    return time_ns;
}

static void load_perf(struct task_stream *s)
{
    s->perf = (struct cn_uft_perf_event){.time_ns = UINT64_MAX};
    if (s->perf_next != s->perf_end)
        (void)cn_uft_perf_event_at(s->dir, *s->perf_next, &s->perf);
}

/* Is there an event to be merged in, and has it data? */
static bool has_side(const struct task_stream *s)
{
    return s->perf_next != s->perf_end || s->extern_next != s->extern_end;
}

static bool is_perf_first(const struct task_stream *s)
{
    return s->perf_next != s->perf_end &&
           (s->extern_next == s->extern_end ||
            s->perf.time_ns <= s->extern_next->time_ns);
}

static void take_side(struct task_stream *s)
{
    struct cn_call *call = &s->calls[s->count];
    struct cn_bytes data = {0};

    *call = (struct cn_call){.function = CN_NONE, .kind = CN_CALL_EVENT};
    if (is_perf_first(s)) {
        call->time_ns = s->perf.time_ns;
        call->address = s->perf.id;
        data = s->perf.name;
        s->perf_next++;
        load_perf(s);
    } else {
        call->time_ns = s->extern_next->time_ns;
        call->address = CN_EVENT_EXTERN;
        data = s->extern_next->text;
        s->extern_next++;
    }
    if (call->time_ns < s->range.first_ns || call->time_ns > s->range.last_ns)
        return;
    s->count++;
    if (data.len > 0) {
        call->flags = CN_CALL_HAS_DATA;
        call->data_off = (uint32_t)s->side_data.len;
        call->data_len = (uint32_t)data.len;
        cn_text_add(&s->side_data, (const char *)data.ptr, data.len);
    }
}

static bool side_has_data(const struct task_stream *s)
{
    return !is_perf_first(s) || s->perf.name.len > 0;
}

/* The data of records is borrowed from their file, that of events is copied: they cannot share
 * a batch. False when the batch has to go out first. */
static bool merge_side(struct task_stream *s)
{
    if (s->side_data.len == 0 && s->count > 0 && side_has_data(s))
        return false;
    take_side(s);
    return true;
}

static void fill_batch(struct task_stream *s)
{
    while (s->count < BATCH) {
        uint64_t side_ns = side_time(s);
        uint64_t stop_ns = side_ns < s->range.last_ns ? side_ns : s->range.last_ns;
        bool is_more;

        if (s->side_data.len == 0 && !s->is_ended) {
            decode_records(s, stop_ns);
            if (s->count == BATCH)
                return;
        }
        is_more = has_record(s);
        if (s->has_failed)
            return;
        if (is_more && side_ns > s->range.last_ns) {
            if (s->side_data.len > 0)
                return;
            skip_late(s);
            continue;
        }
        if (!has_side(s))
            return;
        /* After an event with data the next record waits for the next batch. */
        if (s->side_data.len > 0 && is_more) {
            struct cn_bytes rest;

            (void)cn_bytes_from(s->file, s->at, &rest);
            if (cn_uft_record_get(rest, s->dir->rec.is_big_endian).time_ns <= side_ns)
                return;
        }
        if (!merge_side(s))
            return;
    }
}

static void forget_behind(struct task_stream *s)
{
    struct cn_bytes behind;

    if (s->begin_off - s->forgotten < FORGET_LEN)
        return;
    if (cn_bytes_slice(s->file, s->forgotten, s->begin_off - s->forgotten, &behind))
        cn_file_forget(behind);
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
    forget_behind(s);
    if (!s->has_failed)
        fill_batch(s);
    if (s->count == 0) {
        if (!s->has_failed)
            return CN_END;
        *err = s->failure;
        return CN_FAIL;
    }
    if (s->side_data.len > 0)
        data = (struct cn_bytes){(const uint8_t *)s->side_data.chars, s->side_data.len};
    else
        (void)cn_bytes_slice(s->file, s->begin_off, s->at - s->begin_off, &data);
    *out = (struct cn_call_batch){s->calls, s->count, data, s->tids, s->raw};
    return CN_ITEM;
}

static void task_close(struct cn_uft_stream *stream)
{
    struct task_stream *s = (struct task_stream *)stream;

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
}

struct cn_uft_stream *cn_uft_task_stream_new(const struct cn_uft_directory *dir,
                                             uint32_t task, struct cn_time_range range,
                                             bool is_raw)
{
    struct task_stream *s = cn_alloc(1, sizeof(*s));
    char name[16];

    s->base = (struct cn_uft_stream){{&dir->rec, task}, task_next, task_close};
    s->dir = dir;
    s->range = range;
    (void)cn_uft_directory_find(dir, file_name(s, name), &s->file);
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
