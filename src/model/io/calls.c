#include "model/io/calls.h"

#include "base/arena.h"
#include "base/search.h"
#include "model/io/system_calls.h"

/* clang-format off */
const struct cn_io_metric_text cn_io_metrics[CN_IO_METRIC_COUNT] = {
    [CN_IO_TIME] = {"io time (sec)", "time in system calls about files and sockets, running and waiting; of calls whose end is known"},
    [CN_IO_CALLS] = {"io calls", "system calls about files and sockets"},
    [CN_IO_BYTES_READ] = {"io read (B)", "bytes that system calls read"},
    [CN_IO_BYTES_WRITTEN] = {"io written (B)", "bytes that system calls wrote"},
    [CN_IO_DISK_TIME] = {"disk time (sec)", "time from requests of disks to their completion, of requests that a thread of the program made itself; some at the same time"},
    [CN_IO_DISK_REQUESTS] = {"disk requests", "requests of disks that a thread of the program made itself"},
    [CN_IO_DISK_BYTES_READ] = {"disk read (B)", "bytes that these requests read"},
    [CN_IO_DISK_BYTES_WRITTEN] = {"disk written (B)", "bytes that these requests wrote"},
};
/* clang-format on */

static bool is_before(const void *list, uint64_t number, uint64_t key)
{
    return ((const struct cn_io_call *)list)[number].profile < key;
}

size_t cn_io_calls_first(const struct cn_io_calls *calls, uint32_t profile)
{
    return (size_t)cn_search(0, calls->count, is_before, calls->list, profile);
}

static unsigned kind_of(const struct cn_io_call *call)
{
    return cn_system_call(call->call)->kind;
}

static uint64_t bytes_of(const struct cn_io_call *call, enum cn_io_kind kind,
                         enum cn_io_kind disk_kind)
{
    return call->end_ns != 0 && call->result > 0 &&
                   (kind_of(call) == kind || kind_of(call) == disk_kind)
               ? (uint64_t)call->result
               : 0;
}

bool cn_io_call_is_disk(const struct cn_io_call *call)
{
    return cn_io_kind_is_disk(kind_of(call));
}

uint64_t cn_io_call_read(const struct cn_io_call *call)
{
    return bytes_of(call, CN_IO_READ, CN_IO_DISK_READ);
}

uint64_t cn_io_call_written(const struct cn_io_call *call)
{
    return bytes_of(call, CN_IO_WRITE, CN_IO_DISK_WRITE);
}

double cn_io_metric_of(const struct cn_io_call *call, enum cn_io_metric metric)
{
    if (cn_io_call_is_disk(call) != (metric >= CN_IO_DISK_TIME))
        return 0;
    if (metric == CN_IO_TIME || metric == CN_IO_DISK_TIME)
        return call->end_ns != 0 ? (double)(call->end_ns - call->begin_ns) * 1e-9 : 0;
    if (metric == CN_IO_BYTES_READ || metric == CN_IO_DISK_BYTES_READ)
        return (double)cn_io_call_read(call);
    if (metric == CN_IO_BYTES_WRITTEN || metric == CN_IO_DISK_BYTES_WRITTEN)
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
