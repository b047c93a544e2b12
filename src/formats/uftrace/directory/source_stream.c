/* Files of events, in file order: perf-cpuN.dat and extern.dat. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/uftrace/directory/perf_index.h"
#include "formats/uftrace/directory/stream.h"
#include "formats/uftrace/text/scan.h"

enum { BATCH = 512 };

struct source_stream {
    struct cn_uft_stream base;
    const struct cn_uft_directory *dir;
    const char *name;
    struct cn_bytes file;
    uint64_t at;
    size_t next_extern;
    struct cn_call calls[BATCH];
    uint32_t tids[BATCH];
    struct cn_bytes raw[BATCH];
};

/* The data of a call is a part of the file; batch.data begins at `begin_off`. */
static void set_data(struct source_stream *s, struct cn_call *call, uint64_t begin_off,
                     struct cn_bytes data)
{
    if (data.len == 0)
        return;
    call->flags = CN_CALL_HAS_DATA;
    call->data_off = (uint32_t)((uint64_t)(data.ptr - s->file.ptr) - begin_off);
    call->data_len = (uint32_t)data.len;
}

static enum cn_step finish_batch(struct source_stream *s, size_t count,
                                 uint64_t begin_off, uint64_t end_off,
                                 struct cn_call_batch *out)
{
    struct cn_bytes data = {0};

    (void)cn_bytes_slice(s->file, begin_off, end_off - begin_off, &data);
    *out = (struct cn_call_batch){s->calls, count, data, s->tids, s->raw};
    return CN_ITEM;
}

static enum cn_step perf_next(struct cn_uft_stream *stream, struct cn_call_batch *out,
                              struct cn_error *err)
{
    struct source_stream *s = (struct source_stream *)stream;
    uint64_t begin_off = s->at;
    enum cn_step step = CN_ITEM;
    size_t count = 0;

    while (count < BATCH) {
        struct cn_uft_perf_event event;

        step = cn_uft_perf_next(s->file, s->dir->rec.is_big_endian, &s->at, &event, err);
        if (step != CN_ITEM)
            break;
        if (event.id == 0)
            continue;
        s->calls[count] = (struct cn_call){
            .time_ns = event.time_ns,
            .address = event.id,
            .function = CN_NONE,
            .kind = CN_CALL_EVENT,
        };
        set_data(s, &s->calls[count], begin_off, event.name);
        s->tids[count] = event.tid;
        s->raw[count++] = event.bytes;
    }
    if (count > 0)
        return finish_batch(s, count, begin_off, s->at, out);
    return step == CN_FAIL ? (enum cn_step)cn_fail_in(err, "%s", s->name) : CN_END;
}

static enum cn_step extern_next(struct cn_uft_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err)
{
    struct source_stream *s = (struct source_stream *)stream;
    size_t count = 0;

    (void)err;
    while (count < BATCH && s->next_extern < s->dir->extern_count) {
        const struct cn_uft_extern *item = &s->dir->externs[s->next_extern++];

        s->calls[count] = (struct cn_call){
            .time_ns = item->time_ns,
            .address = CN_EVENT_EXTERN,
            .function = CN_NONE,
            .kind = CN_CALL_EVENT,
        };
        set_data(s, &s->calls[count], 0, item->text);
        s->tids[count] =
            s->dir->extern_task == CN_NONE ? 0 : s->dir->tasks[s->dir->extern_task].tid;
        s->raw[count++] = item->text;
    }
    return count > 0 ? finish_batch(s, count, 0, s->file.len, out) : CN_END;
}

static void source_close(struct cn_uft_stream *stream)
{
    free(stream);
}

struct cn_uft_stream *cn_uft_perf_stream_new(const struct cn_uft_directory *dir,
                                             const char *name, size_t i)
{
    struct source_stream *s = cn_alloc(1, sizeof(*s));

    s->base = (struct cn_uft_stream){{&dir->rec, CN_NONE}, perf_next, source_close};
    s->dir = dir;
    s->name = name;
    s->file = dir->perf_files[i];
    return &s->base;
}

struct cn_uft_stream *cn_uft_extern_stream_new(const struct cn_uft_directory *dir)
{
    struct source_stream *s = cn_alloc(1, sizeof(*s));

    s->base =
        (struct cn_uft_stream){{&dir->rec, dir->extern_task}, extern_next, source_close};
    s->dir = dir;
    s->name = "extern.dat";
    (void)cn_uft_directory_find(dir, s->name, &s->file);
    return &s->base;
}
