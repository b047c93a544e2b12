#include "formats/uftrace/directory/stream.h"

#include "formats/uftrace/directory/kernel.h"
#include "formats/uftrace/directory/parts.h"
#include "formats/uftrace/directory/range_index.h"
#include "formats/uftrace/directory/resolver.h"

static bool stream_open(const struct cn_recording *rec, uint32_t task,
                        struct cn_time_range range, struct cn_call_stream **out,
                        struct cn_error *err)
{
    (void)err;
    *out = &cn_uft_task_stream_new(cn_uft_directory_of(rec), task, range, false)->base;
    return true;
}

static bool part_open(const struct cn_recording *rec, uint32_t task,
                      const struct cn_call_part *part, struct cn_call_stream **out,
                      struct cn_error *err)
{
    (void)err;
    *out = &cn_uft_part_stream_new(cn_uft_directory_of(rec), task, part)->base;
    return true;
}

static bool source_open(const struct cn_recording *rec, uint32_t source,
                        struct cn_call_stream **out, struct cn_error *err)
{
    const struct cn_uft_directory *dir = cn_uft_directory_of(rec);
    const struct cn_source *s = &rec->sources[source];
    size_t first = source;

    (void)err;
    while (first > 0 && rec->sources[first - 1].kind == s->kind)
        first--;
    switch (s->kind) {
    case CN_SOURCE_TASK:
        *out = &cn_uft_task_stream_new(dir, s->task, cn_time_always, true)->base;
        break;
    case CN_SOURCE_PERF:
        *out = &cn_uft_perf_stream_new(dir, s->name, source - first)->base;
        break;
    case CN_SOURCE_EXTERN:
        *out = &cn_uft_extern_stream_new(dir)->base;
        break;
    case CN_SOURCE_KERNEL:
        *out = &cn_uft_kernel_stream_new(dir, s->name, source - first)->base;
        break;
    }
    return true;
}

static enum cn_step stream_next(struct cn_call_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err)
{
    struct cn_uft_stream *s = (struct cn_uft_stream *)stream;

    return s->next(s, out, err);
}

static void stream_close(struct cn_call_stream *stream)
{
    struct cn_uft_stream *s = (struct cn_uft_stream *)stream;

    s->close(s);
}

const struct cn_recording_ops cn_uft_recording_ops = {
    .stream_open = stream_open,
    .parts = cn_uft_parts,
    .part_open = part_open,
    .source_open = source_open,
    .stream_next = stream_next,
    .stream_close = stream_close,
    .find_function = cn_uft_find_function,
    .print_tracepoint = cn_uft_kernel_print,
    .prepare = cn_uft_ranges_prepare,
    .close = cn_uft_close,
};
