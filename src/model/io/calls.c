#include "model/io/calls.h"

#include <string.h>

#include "base/arena.h"
#include "base/search.h"
#include "model/io/system_calls.h"

/* clang-format off */
const struct cn_io_metric_text cn_io_metrics[CN_IO_METRIC_COUNT] = {
    [CN_IO_TIME] = {CN_IO_SYSTEM_CALLS, "io time (sec)", "time in system calls about files and sockets, running and waiting; of calls whose end is known"},
    [CN_IO_CALLS] = {CN_IO_SYSTEM_CALLS, "io calls", "system calls about files and sockets"},
    [CN_IO_BYTES_READ] = {CN_IO_SYSTEM_CALLS, "io read (B)", "bytes that system calls read"},
    [CN_IO_BYTES_WRITTEN] = {CN_IO_SYSTEM_CALLS, "io written (B)", "bytes that system calls wrote"},
    [CN_IO_DISK_TIME] = {CN_IO_DISKS, "disk time (sec)", "time from requests of disks to their completion, of requests that a thread of the program made itself; some at the same time"},
    [CN_IO_DISK_REQUESTS] = {CN_IO_DISKS, "disk requests", "requests of disks that a thread of the program made itself"},
    [CN_IO_DISK_BYTES_READ] = {CN_IO_DISKS, "disk read (B)", "bytes that these requests read"},
    [CN_IO_DISK_BYTES_WRITTEN] = {CN_IO_DISKS, "disk written (B)", "bytes that these requests wrote"},
    [CN_IO_MINOR_FAULTS] = {CN_IO_FAULTS, CN_IO_MINOR_NAME "s", "accesses to pages that were not mapped, which the kernel had in memory or cleared"},
    [CN_IO_MAJOR_FAULTS] = {CN_IO_FAULTS, CN_IO_MAJOR_NAME "s", "accesses to pages that were not mapped, which had to be read"},
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

static enum cn_io_kind kind_of(const struct cn_io_call *call)
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

enum cn_io_class cn_io_call_class(const struct cn_io_call *call)
{
    return cn_io_class_of(kind_of(call));
}

uint64_t cn_io_call_count(const struct cn_io_call *call)
{
    return cn_io_call_class(call) == CN_IO_FAULTS && call->result > 0
               ? (uint64_t)call->result
               : 1;
}

uint64_t cn_io_call_read(const struct cn_io_call *call)
{
    return bytes_of(call, CN_IO_READ, CN_IO_DISK_READ);
}

uint64_t cn_io_call_written(const struct cn_io_call *call)
{
    return bytes_of(call, CN_IO_WRITE, CN_IO_DISK_WRITE);
}

bool cn_io_metric_is_count(const char *name)
{
    static const enum cn_io_metric counts[] = {CN_IO_CALLS, CN_IO_DISK_REQUESTS,
                                               CN_IO_MINOR_FAULTS, CN_IO_MAJOR_FAULTS};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (strcmp(name, cn_io_metrics[counts[i]].name) == 0)
            return true;
    return false;
}

double cn_io_metric_of(const struct cn_io_call *call, enum cn_io_metric metric)
{
    if (cn_io_call_class(call) != cn_io_metrics[metric].class)
        return 0;
    switch (metric) {
    case CN_IO_TIME:
    case CN_IO_DISK_TIME:
        return call->end_ns != 0 ? (double)(call->end_ns - call->begin_ns) * 1e-9 : 0;
    case CN_IO_BYTES_READ:
    case CN_IO_DISK_BYTES_READ:
        return (double)cn_io_call_read(call);
    case CN_IO_BYTES_WRITTEN:
    case CN_IO_DISK_BYTES_WRITTEN:
        return (double)cn_io_call_written(call);
    case CN_IO_MINOR_FAULTS:
        return kind_of(call) == CN_IO_MINOR_FAULT ? (double)cn_io_call_count(call) : 0;
    case CN_IO_MAJOR_FAULTS:
        return kind_of(call) == CN_IO_MAJOR_FAULT ? (double)cn_io_call_count(call) : 0;
    case CN_IO_CALLS:
    case CN_IO_DISK_REQUESTS:
    case CN_IO_METRIC_COUNT:
        break;
    }
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
