/* System calls about files and sockets, one by one; requests of disks and page faults are described in the same
 * way. A page fault that was sampled has the number of those that it stands for as its result, and no duration.
 *
 * The maker of a list owns it; the arena of a database owns those of the database.
 * Threads: immutable.
 */
#ifndef CN_MODEL_IO_CALLS_H
#define CN_MODEL_IO_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/io/system_calls.h"

struct cn_arena;

struct cn_io_call {
    uint64_t begin_ns, end_ns; /* since the epoch; end 0: unknown */
    int64_t result;            /* of a call whose end is known; negative: an error */
    uint32_t profile;
    uint32_t caller;    /* the context that made the call */
    uint32_t context;   /* of the call and what it is about, below the caller */
    uint32_t target;    /* of the list: a file or a peer; CN_NONE: it has none */
    int32_t descriptor; /* -1: none */
    uint16_t call;      /* model/io/system_calls.h */
};

struct cn_io_calls {
    struct cn_io_call *list; /* by their beginnings; of recordings, by task first */
    const char *const *targets;
    size_t count, target_count;
};

/* Where the calls of a profile begin in a list that is sorted by profile. */
size_t cn_io_calls_first(const struct cn_io_calls *calls, uint32_t profile);

/* A copy in `arena`; NULL for NULL. */
struct cn_io_calls *cn_io_calls_copy(const struct cn_io_calls *calls,
                                     struct cn_arena *arena);

enum cn_io_class cn_io_call_class(const struct cn_io_call *call);

/* How many it stands for: 1, or page faults. */
uint64_t cn_io_call_count(const struct cn_io_call *call);

/* Bytes that a call read or wrote; 0 if it failed, is of another kind, or its end is unknown. */
uint64_t cn_io_call_read(const struct cn_io_call *call);
uint64_t cn_io_call_written(const struct cn_io_call *call);

/* The metrics of such calls. */
enum cn_io_metric {
    CN_IO_TIME,
    CN_IO_CALLS,
    CN_IO_BYTES_READ,
    CN_IO_BYTES_WRITTEN,
    CN_IO_DISK_TIME, /* the same of disks */
    CN_IO_DISK_REQUESTS,
    CN_IO_DISK_BYTES_READ,
    CN_IO_DISK_BYTES_WRITTEN,
    CN_IO_MINOR_FAULTS,
    CN_IO_MAJOR_FAULTS,
    CN_IO_METRIC_COUNT
};

struct cn_io_metric_text {
    enum cn_io_class class; /* of the calls that it is of */
    const char *name, *description;
};
extern const struct cn_io_metric_text cn_io_metrics[CN_IO_METRIC_COUNT];

/* True for the name of a metric that counts calls, requests or page faults. */
bool cn_io_metric_is_count(const char *name);

/* What a call adds to a metric. */
double cn_io_metric_of(const struct cn_io_call *call, enum cn_io_metric metric);

#endif
