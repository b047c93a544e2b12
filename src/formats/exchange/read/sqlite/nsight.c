/* Times count from the start of the session. A global id has 24 bits of thread, then 24 bits of
 * process. Strings are numbers in the table StringIds. Which tables and columns there are depends on
 * the version and on what was traced. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "formats/exchange/read/sqlite/sqlite.h"
#include "formats/exchange/read/sqlite/trace.h"
#include "model/calls/recording.h"
#include "model/gpu/work.h"

enum {
    ID_BITS = 24,
    FRAME_MAX = 1024,
    NVTX_MARK = 34,
    NVTX_PUSH_POP = 59,
    NVTX_START_END = 60,
    COPY_MIGRATION = 11, /* kinds of copies from here on are of managed memory */
};

/* A frame of a backtrace. */
struct nsight_frame {
    uint64_t chain;
    uint32_t depth, name;
};

struct nsight {
    struct cn_sql_trace trace;
    struct cn_names strings;
    struct cn_map string_of;     /* by id */
    struct cn_map device_of;     /* number of CUDA by that of the GPU */
    struct nsight_frame *frames; /* by chain, outermost first */
    size_t frame_count, frame_capacity;
    struct cn_map frames_of; /* by chain: the first of its frames */
    uint64_t base_ns, sample_count;
};

static uint64_t pid_of(uint64_t global)
{
    return global >> ID_BITS & ((1U << ID_BITS) - 1);
}

static uint64_t tid_of(uint64_t global)
{
    return global & ((1U << ID_BITS) - 1);
}

static bool take_string(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_bytes value = cn_sql_text(row, 1);
    uint64_t id;

    (void)err;
    if (!cn_sql_u64(row, 0, &id))
        return true;
    cn_text_clear(&n->trace.scratch);
    cn_text_add(&n->trace.scratch, (const char *)value.ptr, value.len);
    *cn_map_at(&n->string_of, id, 0) =
        cn_names_add(&n->strings, cn_text_str(&n->trace.scratch));
    return true;
}

/* The string of a column, or NULL. */
static const char *string_at(struct nsight *n, const struct cn_sql_row *row, int column)
{
    uint64_t id;
    uint32_t number =
        cn_sql_u64(row, column, &id) ? cn_map_find(&n->string_of, id, CN_NONE) : CN_NONE;

    return number != CN_NONE && n->strings.list[number][0] ? n->strings.list[number]
                                                           : NULL;
}

static bool take_start(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;

    (void)err;
    if (cn_sql_u64(row, 0, &n->base_ns) && n->base_ns > CN_CALL_TIME_MAX)
        n->base_ns = 0;
    return true;
}

static bool take_cuda_device(void *arg, const struct cn_sql_row *row,
                             struct cn_error *err)
{
    struct nsight *n = arg;
    uint32_t gpu, cuda;

    (void)err;
    if (cn_sql_u32(row, 0, &gpu) && cn_sql_u32(row, 1, &cuda))
        *cn_map_at(&n->device_of, gpu, cuda) = cuda;
    return true;
}

static bool take_gpu(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_gpu_device device = {0};
    struct cn_bytes name = cn_sql_text(row, 1);
    uint32_t id = 0;

    if (!cn_sql_u32(row, 0, &id))
        return true;
    device.number = cn_map_find(&n->device_of, id, id);
    (void)cn_sql_u32(row, 2, &device.processors);
    (void)cn_sql_u32(row, 3, &device.warps);
    (void)cn_sql_u32(row, 4, &device.warp_threads);
    (void)cn_sql_u32(row, 5, &device.blocks);
    (void)cn_sql_u32(row, 6, &device.registers);
    (void)cn_sql_u32(row, 7, &device.shared_len);
    cn_text_clear(&n->trace.scratch);
    cn_text_add(&n->trace.scratch, (const char *)name.ptr, name.len);
    device.name = cn_text_str(&n->trace.scratch);
    return cn_kineto_device(n->trace.kineto, &device, err);
}

static bool take_process(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_bytes name = cn_sql_text(row, 1);
    uint64_t global;

    (void)err;
    if (cn_sql_u64(row, 0, &global) && name.len > 0)
        cn_call_import_process_name(n->trace.import, pid_of(global), name);
    return true;
}

static bool take_thread(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    const char *name = string_at(n, row, 1);
    uint64_t global;
    uint32_t track;

    if (!name || !cn_sql_u64(row, 0, &global))
        return true;
    if (!cn_call_import_track(n->trace.import, pid_of(global), tid_of(global),
                              (struct cn_bytes){0}, &track, err))
        return false;
    cn_call_import_track_name(n->trace.import, track,
                              (struct cn_bytes){(const uint8_t *)name, strlen(name)});
    return true;
}

static bool take_frame(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    const char *name = string_at(n, row, 1);
    struct nsight_frame frame = {0};

    (void)err;
    if (!name || !cn_sql_u64(row, 0, &frame.chain) || !cn_sql_u32(row, 2, &frame.depth))
        return true;
    frame.name = cn_sql_trace_name(&n->trace, name);
    CN_PUSH(n->frames, n->frame_count, n->frame_capacity, frame);
    return true;
}

static int compare_frames(const void *left, const void *right)
{
    const struct nsight_frame *x = left, *y = right;

    if (x->chain != y->chain)
        return x->chain < y->chain ? -1 : 1;
    return x->depth > y->depth ? -1 : x->depth < y->depth;
}

static void sort_frames(struct nsight *n)
{
    if (n->frame_count > 1)
        qsort(n->frames, n->frame_count, sizeof(*n->frames), compare_frames);
    for (size_t i = n->frame_count; i-- > 0 && n->frame_count < UINT32_MAX;)
        *cn_map_at(&n->frames_of, n->frames[i].chain, 0) = (uint32_t)i;
}

/* The functions of the backtrace of a call are calls of its duration around it. */
static bool add_frames(struct nsight *n, const struct cn_sql_span *span, uint64_t chain,
                       struct cn_error *err)
{
    static const struct cn_kineto_event plain = {.category = CN_KINETO_OTHER};
    struct cn_sql_span frame = *span;
    uint32_t first = cn_map_find(&n->frames_of, chain, CN_NONE);

    for (size_t i = first;
         i < n->frame_count && n->frames[i].chain == chain && i - first < FRAME_MAX;
         i++) {
        frame.name = n->frames[i].name;
        if (!cn_sql_trace_add(&n->trace, &plain, &frame, err))
            return false;
    }
    return true;
}

/* "cudaLaunchKernel_v7000": without the version of the interface. */
static struct cn_bytes without_version(const char *name)
{
    size_t len = strlen(name), at = len;

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    if (len - at >= 4 && at > 2 && name[at - 1] == 'v' && name[at - 2] == '_')
        len = at - 2;
    return (struct cn_bytes){(const uint8_t *)name, len};
}

static bool take_call(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_CALL};
    const char *name = string_at(n, row, 4);
    struct cn_json_token token = {.text =
                                      without_version(name ? name : "<unknown call>")};
    struct cn_sql_span span = {0};
    uint64_t global = 0, chain;

    if (!cn_sql_trace_times(&n->trace, row, 0, 1, &span))
        return true;
    (void)cn_sql_u64(row, 2, &global);
    (void)cn_sql_u64(row, 3, &event.correlation);
    span.pid = pid_of(global);
    span.tid = tid_of(global);
    span.name = cn_call_import_name(n->trace.import, token.text);
    event.process = (uint32_t)span.pid;
    cn_kineto_name(&event, &token);
    if (cn_sql_u64(row, 5, &chain) && chain > 0 && !add_frames(n, &span, chain, err))
        return false;
    return cn_sql_trace_add(&n->trace, &event, &span, err);
}

static bool take_range(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    static const struct cn_kineto_event plain = {.category = CN_KINETO_OTHER};
    struct nsight *n = arg;
    struct cn_bytes text = cn_sql_text(row, 4);
    const char *name = string_at(n, row, 5);
    struct cn_sql_span span = {0};
    uint64_t global = 0, type = 0;

    (void)cn_sql_u64(row, 2, &type);
    (void)cn_sql_u64(row, 3, &global);
    if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
        return true;
    if (!cn_sql_trace_times(&n->trace, row, 0, type == NVTX_MARK ? 0 : 1, &span))
        return true;
    span.pid = pid_of(global);
    span.tid = tid_of(global);
    /* Ranges that another thread may end need not be nested in calls. */
    span.track = type == NVTX_START_END ? "ranges" : NULL;
    span.name = text.len > 0 ? cn_call_import_name(n->trace.import, text)
                             : cn_sql_trace_name(&n->trace, name ? name : "<range>");
    return cn_sql_trace_add(&n->trace, &plain, &span, err);
}

/* The columns that all tables of operations have, in this order. */
#define OP_COLUMNS \
    "start", "end", "globalPid", "correlationId", "deviceId", "contextId", "streamId"
enum { OP_COLUMN_COUNT = 7 };

static bool read_op(struct nsight *n, const struct cn_sql_row *row,
                    struct cn_kineto_event *event, struct cn_sql_span *span)
{
    uint64_t global = 0;

    if (!cn_sql_trace_times(&n->trace, row, 0, 1, span))
        return false;
    (void)cn_sql_u64(row, 2, &global);
    span->pid = pid_of(global);
    event->process = (uint32_t)span->pid;
    (void)cn_sql_u64(row, 3, &event->correlation);
    event->has_device = cn_sql_u32(row, 4, &event->device);
    (void)cn_sql_u32(row, 5, &event->context);
    event->has_stream = cn_sql_u64(row, 6, &event->stream);
    return true;
}

static bool take_kernel(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_KERNEL, .has_shape = true};
    const char *name = string_at(n, row, OP_COLUMN_COUNT);
    struct cn_sql_span span = {0};

    if (!read_op(n, row, &event, &span))
        return true;
    if (!name)
        name = string_at(n, row, OP_COLUMN_COUNT + 1);
    for (int i = 0; i < 3; i++) {
        (void)cn_sql_u32(row, OP_COLUMN_COUNT + 2 + i, &event.shape.grid[i]);
        (void)cn_sql_u32(row, OP_COLUMN_COUNT + 5 + i, &event.shape.block[i]);
    }
    (void)cn_sql_u32(row, OP_COLUMN_COUNT + 8, &event.shape.registers);
    (void)cn_sql_u32(row, OP_COLUMN_COUNT + 9, &event.shape.static_shared_len);
    (void)cn_sql_u32(row, OP_COLUMN_COUNT + 10, &event.shape.dynamic_shared_len);
    (void)cn_sql_u64(row, OP_COLUMN_COUNT + 11, &event.shape.local_len);
    span.name = cn_sql_trace_name(&n->trace, name ? name : "<unknown kernel>");
    return cn_sql_trace_add(&n->trace, &event, &span, err);
}

/* A graph as a whole, where its kernels were not traced. */
static bool take_graph(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_KERNEL};
    struct cn_sql_span span = {0};

    if (!read_op(n, row, &event, &span))
        return true;
    span.name = cn_sql_trace_name(&n->trace, "<cuda graph>");
    return cn_sql_trace_add(&n->trace, &event, &span, err);
}

static bool take_copy(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_COPY};
    struct cn_sql_span span = {0};
    uint32_t kind = 0;

    if (!read_op(n, row, &event, &span))
        return true;
    (void)cn_sql_u64(row, OP_COLUMN_COUNT, &event.bytes);
    (void)cn_sql_u32(row, OP_COLUMN_COUNT + 1, &kind);
    /* Migrations: from the host, to the host, between devices. */
    if (kind >= COPY_MIGRATION && kind < COPY_MIGRATION + 3)
        kind = kind == COPY_MIGRATION       ? CN_GPU_HOST_TO_DEVICE
               : kind == COPY_MIGRATION + 1 ? CN_GPU_DEVICE_TO_HOST
                                            : CN_GPU_DEVICE_TO_DEVICE;
    event.detail = kind < CN_GPU_COPY_COUNT ? (uint8_t)kind : CN_GPU_COPY_UNKNOWN;
    span.name = cn_sql_trace_name(&n->trace, cn_sql_copy_name(event.detail));
    return cn_sql_trace_add(&n->trace, &event, &span, err);
}

static bool take_set(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_SET};
    struct cn_sql_span span = {0};
    uint32_t kind;

    if (!read_op(n, row, &event, &span))
        return true;
    (void)cn_sql_u64(row, OP_COLUMN_COUNT, &event.bytes);
    if (cn_sql_u32(row, OP_COLUMN_COUNT + 1, &kind) && kind < CN_GPU_MEMORY_COUNT - 1)
        event.detail = (uint8_t)(kind + CN_GPU_PAGEABLE);
    span.name = cn_sql_trace_name(&n->trace, cn_sql_set_name(event.detail));
    return cn_sql_trace_add(&n->trace, &event, &span, err);
}

static bool take_sync(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_SYNC};
    struct cn_sql_span span = {.name = CN_NONE};
    uint32_t type;

    if (!read_op(n, row, &event, &span))
        return true;
    if (cn_sql_u32(row, OP_COLUMN_COUNT, &type) && type < CN_GPU_SYNC_COUNT)
        event.detail = (uint8_t)type;
    return cn_sql_trace_add(&n->trace, &event, &span, err);
}

static bool count_sample(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct nsight *n = arg;

    (void)row, (void)err;
    n->sample_count++;
    return true;
}

static bool read_tables(struct nsight *n, struct cn_error *err)
{
    static const struct {
        const char *table;
        cn_sql_row_fn take;
        const char *columns[CN_SQL_COLUMN_MAX];
    } tables[] = {
        {"StringIds", take_string, {"id", "value"}},
        {"TARGET_INFO_SESSION_START_TIME", take_start, {"utcEpochNs"}},
        {"TARGET_INFO_CUDA_DEVICE", take_cuda_device, {"gpuId", "cudaId"}},
        {"TARGET_INFO_GPU",
         take_gpu,
         {"id", "name", "smCount", "maxWarpsPerSm", "threadsPerWarp", "maxBlocksPerSm",
          "maxRegistersPerSm", "maxShmemPerSm"}},
        {"PROCESSES", take_process, {"globalPid", "name"}},
        {"ThreadNames", take_thread, {"globalTid", "nameId"}},
        {"CUDA_CALLCHAINS", take_frame, {"id", "symbol", "stackDepth"}},
        {"NVTX_EVENTS",
         take_range,
         {"start", "end", "eventType", "globalTid", "text", "textId"}},
        {"CUPTI_ACTIVITY_KIND_RUNTIME",
         take_call,
         {"start", "end", "globalTid", "correlationId", "nameId", "callchainId"}},
        {"CUPTI_ACTIVITY_KIND_DRIVER",
         take_call,
         {"start", "end", "globalTid", "correlationId", "nameId", "callchainId"}},
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         take_kernel,
         {OP_COLUMNS, "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX",
          "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
          "dynamicSharedMemory", "localMemoryTotal"}},
        {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", take_graph, {OP_COLUMNS}},
        {"CUPTI_ACTIVITY_KIND_MEMCPY", take_copy, {OP_COLUMNS, "bytes", "copyKind"}},
        {"CUPTI_ACTIVITY_KIND_MEMSET", take_set, {OP_COLUMNS, "bytes", "memKind"}},
        {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", take_sync, {OP_COLUMNS, "syncType"}},
        {"COMPOSITE_EVENTS", count_sample, {"id"}},
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        if (!cn_sql_trace_visit(&n->trace, tables[i].table, tables[i].columns,
                                tables[i].take, n, err))
            return false;
        if (tables[i].take == take_frame)
            sort_frames(n);
    }
    return true;
}

static bool open_recording(struct cn_recording **out, const char *path,
                           const struct cn_recording_options *options,
                           struct cn_error *err)
{
    struct nsight n = {0};
    bool ok;

    (void)options;
    if (!cn_sql_trace_open(&n.trace, "nsight", path, err))
        return false;
    ok = read_tables(&n, err);
    if (ok)
        ok = cn_sql_trace_finish(&n.trace, n.base_ns, path, out, err);
    else
        (void)cn_fail_in(err, "%s", path);
    cn_sql_trace_close(&n.trace);
    cn_names_done(&n.strings);
    cn_map_done(&n.string_of);
    cn_map_done(&n.device_of);
    cn_map_done(&n.frames_of);
    free(n.frames);
    if (ok && n.sample_count > 0)
        cn_recording_warn(*out, false,
                          "%" PRIu64
                          " %s of processors: not shown, calls and GPU work are",
                          n.sample_count, cn_plural(n.sample_count, "sample", "samples"));
    return ok;
}

static bool probe(const char *path)
{
    return cn_sql_trace_probe(path, "CUPTI_ACTIVITY_KIND_RUNTIME",
                              "CUPTI_ACTIVITY_KIND_KERNEL");
}

const struct cn_format cn_format_nsight = {
    .name = "nsight",
    .summary = "Nsight Systems: SQLite databases of nsys export, with GPUs (read only)",
    .holds = "calls",
    .is_file = true,
    .probe = probe,
    .open_recording = open_recording,
};
