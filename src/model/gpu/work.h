/* The work that a program gave to GPUs: operations of streams, the calls that launched them, and the
 * waiting of the program for them.
 *
 * Readers build it with builder.h. It belongs to a recording, where a thread is a task and the
 * place of an operation its function, or to a database, where a thread is a profile and the
 * place a context.
 *
 * Times are those of the recording or database: the clock of the device was converted.
 * Threads: immutable once built.
 */
#ifndef CN_MODEL_GPU_WORK_H
#define CN_MODEL_GPU_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cn_gpu_kind {
    CN_GPU_KERNEL,
    CN_GPU_COPY,
    CN_GPU_SET,
    CN_GPU_SYNC,      /* a thread of the program waits */
    CN_GPU_ALLOC,     /* of memory, in a thread of the program */
    CN_GPU_FREE,      /* the same */
    CN_GPU_MIGRATION, /* of managed memory, without a call */
    CN_GPU_KIND_COUNT
};

/* The detail of a copy: from where to where. Details have the order and names of HPCToolkit. */
enum cn_gpu_copy {
    CN_GPU_COPY_UNKNOWN,
    CN_GPU_HOST_TO_DEVICE,
    CN_GPU_DEVICE_TO_HOST,
    CN_GPU_HOST_TO_ARRAY,
    CN_GPU_ARRAY_TO_HOST,
    CN_GPU_ARRAY_TO_ARRAY,
    CN_GPU_ARRAY_TO_DEVICE,
    CN_GPU_DEVICE_TO_ARRAY,
    CN_GPU_DEVICE_TO_DEVICE,
    CN_GPU_HOST_TO_HOST,
    CN_GPU_PEER_TO_PEER,
    CN_GPU_COPY_COUNT
};

/* The detail of a set, an allocation and a release: the kind of memory. */
enum cn_gpu_memory {
    CN_GPU_MEMORY_UNKNOWN,
    CN_GPU_PAGEABLE,
    CN_GPU_PINNED,
    CN_GPU_DEVICE,
    CN_GPU_ARRAY,
    CN_GPU_MANAGED,
    CN_GPU_DEVICE_STATIC,
    CN_GPU_MANAGED_STATIC,
    CN_GPU_MEMORY_COUNT
};

/* The detail of a synchronization: what is waited for. */
enum cn_gpu_sync {
    CN_GPU_SYNC_UNKNOWN,
    CN_GPU_SYNC_EVENT,
    CN_GPU_SYNC_STREAM_EVENT, /* a stream waits for an event, the thread does not */
    CN_GPU_SYNC_STREAM,
    CN_GPU_SYNC_CONTEXT,
    CN_GPU_SYNC_COUNT
};

struct cn_gpu_device {
    uint32_t node, number; /* `node`: 0, or that of several recordings in one database */
    const char *name;      /* "" if unknown */
    /* Limits of a multiprocessor, 0 if unknown. */
    uint32_t warps, warp_threads, blocks, registers, shared_len;
    uint32_t processors; /* their number */
};

struct cn_gpu_stream {
    uint32_t node, pid;
    uint32_t device, context; /* numbers */
    uint64_t number;
    uint32_t thread; /* the task or profile of its operations */
};

/* How a kernel was launched, 0 where unknown. */
struct cn_gpu_shape {
    uint32_t grid[3], block[3];
    uint32_t registers; /* of a thread */
    uint32_t static_shared_len, dynamic_shared_len;
    uint32_t active_warps, max_warps; /* of a multiprocessor: theoretical occupancy */
    uint64_t local_len;               /* of the whole kernel */
};

struct cn_gpu_op {
    uint64_t begin_ns, end_ns;
    uint64_t launch_ns; /* the begin of the call that launched it */
    uint64_t bytes;
    uint64_t idle_ns; /* in which the device had no work before it, or during a wait */
    union {
        uint64_t wait_ns;  /* in which threads waited while it ran */
        uint64_t freed_ns; /* of an allocation: when it was freed; 0: never */
    };
    uint32_t thread; /* that launched it; CN_NONE: unknown, and so is launch_ns */
    uint32_t device; /* an index; in the builder a number; CN_NONE: unknown */
    uint32_t stream; /* CN_NONE: none, of a wait or an allocation */
    uint32_t place;
    uint32_t
        path; /* of a recording: the caller's path where calls do not say it; CN_NONE */
    uint32_t shape; /* of a kernel; CN_NONE: unknown */
    uint32_t
        capture; /* of a kernel of a graph: 1 + the path of the call that made its node, numbered as
                       * `path`; of a recording: 1 + one of its paths of callers; 0: unknown */
    uint8_t kind, detail;
    /* Of an allocation of device memory: its release would be known; it was there when the device had
     * most. */
    bool is_followed, is_at_peak;
};

struct cn_gpu_work {
    struct cn_gpu_device *devices; /* by node and number: all that streams have */
    struct cn_gpu_stream *streams; /* by node, device, process, context and number */
    struct cn_gpu_shape *shapes;
    struct cn_gpu_op *ops; /* by begin_ns */
    uint32_t *by_launch;   /* operations with a thread, by thread and launch_ns */
    uint32_t device_count, stream_count, shape_count, op_count, launch_count;
    uint32_t lonely_count; /* operations whose launch is unknown */
    uint32_t early_count;  /* that began before their launch: clocks differ, */
    uint64_t early_ns;     /* by at most this */
};

void cn_gpu_work_free(struct cn_gpu_work *work); /* NULL is fine */

/* The contexts below a launch that its operations are in: "<gpu kernel>", "<gpu copyin>". Kernels are
 * below theirs, others have none of their own. */
enum cn_gpu_place {
    CN_GPU_PLACE_KERNEL,
    CN_GPU_PLACE_COPY,
    CN_GPU_PLACE_COPY_IN,
    CN_GPU_PLACE_COPY_OUT,
    CN_GPU_PLACE_SET,
    CN_GPU_PLACE_SYNC,
    CN_GPU_PLACE_ALLOC,
    CN_GPU_PLACE_FREE,
    CN_GPU_PLACE_NO_LAUNCH, /* above the operations whose launch is unknown */
    CN_GPU_PLACE_MANAGED,   /* above migrations, which no call asks for */
    CN_GPU_PLACE_CAPTURED,  /* above the path of the call that made a node of a graph */
    CN_GPU_PLACE_COUNT
};
enum cn_gpu_place cn_gpu_op_place(const struct cn_gpu_op *op);

/* What is above an operation that no call of the recording launched. */
static inline enum cn_gpu_place cn_gpu_op_origin(const struct cn_gpu_op *op)
{
    return op->kind == CN_GPU_MIGRATION ? CN_GPU_PLACE_MANAGED : CN_GPU_PLACE_NO_LAUNCH;
}

/* As HPCToolkit names it; the last three are ours. */
#define CN_GPU_NO_LAUNCH "<launch not recorded>"
const char *cn_gpu_place_name(enum cn_gpu_place place);

/* The module of kernels. */
#define CN_GPU_MODULE "[gpu]"

/* True for an operation that keeps a device busy. */
static inline bool cn_gpu_op_is_busy(const struct cn_gpu_op *op)
{
    return op->kind == CN_GPU_KERNEL || op->kind == CN_GPU_COPY ||
           op->kind == CN_GPU_SET || op->kind == CN_GPU_MIGRATION;
}

/* True for an allocation of memory of a device, or that moves between it and the host. */
static inline bool cn_gpu_op_takes_memory(const struct cn_gpu_op *op)
{
    return op->kind == CN_GPU_ALLOC &&
           (op->detail == CN_GPU_DEVICE || op->detail == CN_GPU_ARRAY ||
            op->detail == CN_GPU_MANAGED || op->detail == CN_GPU_MEMORY_UNKNOWN);
}

/* True for a synchronization that a thread waits in. */
static inline bool cn_gpu_op_is_wait(const struct cn_gpu_op *op)
{
    return op->kind == CN_GPU_SYNC && op->detail != CN_GPU_SYNC_STREAM_EVENT;
}

/* The time from the launch to the begin; 0 if the launch is unknown or clocks differ. */
static inline uint64_t cn_gpu_op_delay_ns(const struct cn_gpu_op *op)
{
    return op->launch_ns > 0 && op->begin_ns > op->launch_ns
               ? op->begin_ns - op->launch_ns
               : 0;
}

static inline uint64_t cn_gpu_op_ns(const struct cn_gpu_op *op)
{
    return op->end_ns - op->begin_ns;
}

/* The first operation in by_launch of this thread, at or after a time; launch_count if there is
 * none. Others of the thread follow. */
uint32_t cn_gpu_work_launches(const struct cn_gpu_work *work, uint32_t thread,
                              uint64_t from_ns);

#endif
