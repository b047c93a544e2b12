/* Files of events, in file order: perf-cpuN.dat, kernel-cpuN.dat and extern.dat. */

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/uftrace/directory/kernel.h"
#include "formats/uftrace/directory/stream.h"
#include "formats/uftrace/records/perf_reader.h"

enum { BATCH = 512 };

struct source_stream {
    struct cn_uft_stream base;
    const struct cn_uft_directory *dir;
    const char *name;
    struct cn_bytes file;
    /* Read the next call; its data is borrowed from the file. */
    enum cn_step (*take)(struct source_stream *s, struct cn_call *call,
                         struct cn_bytes *data, struct cn_error *err);
    uint64_t off;                       /* of the next event of perf-cpuN.dat */
    struct cn_uft_kernel_cursor cursor; /* of kernel-cpuN.dat */
    size_t next_extern;                 /* of extern.dat */
    bool has_failed;
    struct cn_error failure;
    size_t count; /* of the batch */
    struct cn_call calls[BATCH];
    uint32_t tids[BATCH];
    struct cn_bytes raw[BATCH];
};

static enum cn_step take_perf(struct source_stream *s, struct cn_call *call,
                              struct cn_bytes *data, struct cn_error *err)
{
    struct cn_uft_perf_event event = {0};

    while (event.id == 0) {
        enum cn_step step =
            cn_uft_perf_next(s->file, s->dir->rec.is_big_endian, &s->off, &event, err);

        if (step != CN_ITEM)
            return step;
    }
    call->time_ns = event.time_ns;
    call->address = event.id;
    *data = event.name;
    s->tids[s->count] = event.tid;
    s->raw[s->count] = event.bytes;
    return CN_ITEM;
}

static enum cn_step take_kernel(struct source_stream *s, struct cn_call *call,
                                struct cn_bytes *data, struct cn_error *err)
{
    const struct cn_uft_kernel *k = s->dir->kernel;
    struct cn_bytes *event = &s->raw[s->count];
    uint64_t time_ns, off;
    enum cn_step step = cn_uft_kernel_next(&s->cursor, event, &time_ns, &off, err);

    if (step != CN_ITEM)
        return step;
    cn_uft_kernel_decode(s->dir, *event, time_ns, call, data);
    s->tids[s->count] = (uint32_t)cn_uft_kernel_number(&k->format, k->pid, *event);
    return CN_ITEM;
}

static enum cn_step take_extern(struct source_stream *s, struct cn_call *call,
                                struct cn_bytes *data, struct cn_error *err)
{
    const struct cn_uft_directory *dir = s->dir;

    (void)err;
    if (s->next_extern == dir->extern_count)
        return CN_END;
    const struct cn_uft_extern *item = &dir->externs[s->next_extern++];
    call->time_ns = item->time_ns;
    call->address = CN_EVENT_EXTERN;
    *data = item->text;
    s->tids[s->count] =
        dir->extern_task == CN_NONE ? 0 : dir->tasks[dir->extern_task].tid;
    s->raw[s->count] = item->text;
    return CN_ITEM;
}

static enum cn_step source_next(struct cn_uft_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err)
{
    struct source_stream *s = (struct source_stream *)stream;
    uint64_t begin_off = s->cursor.format ? s->cursor.data_off : s->off;
    enum cn_step step = CN_ITEM;
    struct cn_bytes data;

    s->count = 0;
    while (s->count < BATCH && !s->has_failed) {
        struct cn_call *call = &s->calls[s->count];

        *call = (struct cn_call){.function = CN_NONE, .kind = CN_CALL_EVENT};
        data = (struct cn_bytes){0};
        step = s->take(s, call, &data, &s->failure);
        s->has_failed = step == CN_FAIL;
        if (step != CN_ITEM)
            break;
        if (data.len > 0) {
            call->flags |= CN_CALL_HAS_DATA;
            call->data_off = (uint32_t)((uint64_t)(data.ptr - s->file.ptr) - begin_off);
            call->data_len = (uint32_t)data.len;
        }
        s->count++;
    }
    if (s->count == 0) {
        if (!s->has_failed)
            return CN_END;
        *err = s->failure;
        return cn_fail_in(err, "%s", s->name);
    }
    (void)cn_bytes_from(s->file, begin_off, &data);
    *out = (struct cn_call_batch){.calls = s->calls,
                                  .count = s->count,
                                  .data = data,
                                  .tids = s->tids,
                                  .raw = s->raw};
    return CN_ITEM;
}

static void source_close(struct cn_uft_stream *stream)
{
    free(stream);
}

struct cn_uft_stream *cn_uft_source_stream_new(const struct cn_uft_directory *dir,
                                               const struct cn_source *source)
{
    struct source_stream *s = cn_alloc(1, sizeof(*s));

    s->base = (struct cn_uft_stream){
        {.rec = &dir->rec, .task = source->task}, source_next, source_close};
    s->dir = dir;
    s->name = source->name;
    (void)cn_uft_directory_find(dir, source->name, &s->file);
    s->take = source->kind == CN_SOURCE_PERF     ? take_perf
              : source->kind == CN_SOURCE_KERNEL ? take_kernel
                                                 : take_extern;
    if (source->kind == CN_SOURCE_KERNEL)
        cn_uft_kernel_cursor_init(&s->cursor, &dir->kernel->format, s->file);
    return &s->base;
}
