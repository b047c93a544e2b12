#include "model/io/calls.h"

#include "base/arena.h"
#include "model/io/system_calls.h"

/* clang-format off */
const struct cn_io_metric_text cn_io_metrics[CN_IO_METRIC_COUNT] = {
    [CN_IO_TIME] = {"io time (sec)", "time in system calls about files and sockets, running and waiting; of calls whose end is known"},
    [CN_IO_CALLS] = {"io calls", "system calls about files and sockets"},
    [CN_IO_BYTES_READ] = {"io read (B)", "bytes that system calls read"},
    [CN_IO_BYTES_WRITTEN] = {"io written (B)", "bytes that system calls wrote"},
};
/* clang-format on */

static uint64_t bytes_of(const struct cn_io_call *call, enum cn_io_kind kind)
{
    return call->end_ns != 0 && call->result > 0 &&
                   cn_system_call(call->call)->kind == kind
               ? (uint64_t)call->result
               : 0;
}

uint64_t cn_io_call_read(const struct cn_io_call *call)
{
    return bytes_of(call, CN_IO_READ);
}

uint64_t cn_io_call_written(const struct cn_io_call *call)
{
    return bytes_of(call, CN_IO_WRITE);
}

double cn_io_metric_of(const struct cn_io_call *call, enum cn_io_metric metric)
{
    if (metric == CN_IO_TIME)
        return call->end_ns != 0 ? (double)(call->end_ns - call->begin_ns) * 1e-9 : 0;
    if (metric == CN_IO_BYTES_READ)
        return (double)cn_io_call_read(call);
    if (metric == CN_IO_BYTES_WRITTEN)
        return (double)cn_io_call_written(call);
    return 1;
}

struct cn_io_calls *cn_io_calls_copy(const struct cn_io_calls *calls,
                                     struct cn_arena *arena)
{
    struct cn_io_calls *copy;
    const char **targets;

    if (!calls)
        return NULL;
    copy = cn_arena_dup(arena, calls, 1, sizeof(*copy));
    targets = cn_arena_dup(arena, calls->targets, calls->target_count, sizeof(*targets));
    copy->list = cn_arena_dup(arena, calls->list, calls->count, sizeof(*copy->list));
    for (size_t i = 0; i < calls->target_count; i++)
        targets[i] = cn_arena_strdup(arena, targets[i]);
    copy->targets = targets;
    return copy;
}
