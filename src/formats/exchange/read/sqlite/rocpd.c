/* The views of the file are the same in all versions of its tables, whose names end with an id of the
 * run. A region is a call of the run-time, or a range; an operation has the `stack_id` of the call
 * that launched it. */

#include <string.h>

#include "formats/exchange/read/sqlite/sqlite.h"
#include "formats/exchange/read/sqlite/trace.h"
#include "model/calls/recording.h"
#include "model/gpu/work.h"

/* The columns that all views have, in this order. */
#define COLUMNS "start", "end", "pid", "tid", "stack_id", "name"
enum { COLUMN_COUNT = 6 };

static bool read_row(struct cn_sql_trace *trace, const struct cn_sql_row *row,
                     struct cn_kineto_event *event, struct cn_sql_span *span)
{
    struct cn_bytes name = cn_sql_text(row, 5);

    if (!cn_sql_trace_times(trace, row, 0, 1, span))
        return false;
    (void)cn_sql_u64(row, 2, &span->pid);
    (void)cn_sql_u64(row, 3, &span->tid);
    (void)cn_sql_u64(row, 4, &event->correlation);
    event->process = (uint32_t)span->pid;
    span->name = name.len > 0 ? cn_call_import_name(trace->import, name)
                              : cn_sql_trace_name(trace, "<unknown>");
    return true;
}

static bool take_region(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct cn_sql_trace *trace = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_CALL};
    struct cn_json_token token = {.text = cn_sql_text(row, 5)};
    struct cn_sql_span span = {0};

    if (!read_row(trace, row, &event, &span))
        return true;
    cn_kineto_name(&event, &token);
    return cn_sql_trace_add(trace, &event, &span, err);
}

/* Sizes of grids are in threads. */
static bool take_kernel(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct cn_sql_trace *trace = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_KERNEL, .has_shape = true};
    struct cn_gpu_shape *shape = &event.shape;
    struct cn_sql_span span = {0};

    if (!read_row(trace, row, &event, &span))
        return true;
    event.has_device = cn_sql_u32(row, COLUMN_COUNT, &event.device);
    event.has_stream = cn_sql_u64(row, COLUMN_COUNT + 1, &event.stream);
    for (int i = 0; i < 3; i++) {
        (void)cn_sql_u32(row, COLUMN_COUNT + 2 + i, &shape->grid[i]);
        (void)cn_sql_u32(row, COLUMN_COUNT + 5 + i, &shape->block[i]);
        if (shape->block[i] > 0)
            shape->grid[i] =
                shape->grid[i] / shape->block[i] + (shape->grid[i] % shape->block[i] > 0);
    }
    (void)cn_sql_u32(row, COLUMN_COUNT + 8, &shape->dynamic_shared_len);
    (void)cn_sql_u32(row, COLUMN_COUNT + 9, &shape->registers);
    return cn_sql_trace_add(trace, &event, &span, err);
}

static bool is_gpu(const struct cn_sql_row *row, int column)
{
    struct cn_bytes type = cn_sql_text(row, column);

    return type.len == 3 && memcmp(type.ptr, "GPU", 3) == 0;
}

/* A copy belongs to the device of its GPU; between two, of its target. */
static bool take_copy(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct cn_sql_trace *trace = arg;
    struct cn_kineto_event event = {.category = CN_KINETO_COPY};
    struct cn_sql_span span = {0};
    bool from = is_gpu(row, COLUMN_COUNT + 1), to = is_gpu(row, COLUMN_COUNT + 3);
    uint32_t source = 0, target = 0;

    if (!read_row(trace, row, &event, &span))
        return true;
    (void)cn_sql_u32(row, COLUMN_COUNT, &source);
    (void)cn_sql_u32(row, COLUMN_COUNT + 2, &target);
    event.has_device = from || to;
    event.device = to ? target : source;
    event.has_stream = cn_sql_u64(row, COLUMN_COUNT + 4, &event.stream);
    (void)cn_sql_u64(row, COLUMN_COUNT + 5, &event.bytes);
    event.detail = !from && to        ? CN_GPU_HOST_TO_DEVICE
                   : from && !to      ? CN_GPU_DEVICE_TO_HOST
                   : !from            ? CN_GPU_HOST_TO_HOST
                   : source == target ? CN_GPU_DEVICE_TO_DEVICE
                                      : CN_GPU_PEER_TO_PEER;
    span.name = cn_sql_trace_name(trace, cn_sql_copy_name(event.detail));
    return cn_sql_trace_add(trace, &event, &span, err);
}

static bool take_agent(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct cn_sql_trace *trace = arg;
    struct cn_gpu_device device = {0};
    struct cn_bytes name = cn_sql_text(row, 2);

    if (!is_gpu(row, 0) || !cn_sql_u32(row, 1, &device.number))
        return true;
    if (name.len == 0)
        name = cn_sql_text(row, 3);
    cn_text_clear(&trace->scratch);
    cn_text_add(&trace->scratch, (const char *)name.ptr, name.len);
    device.name = cn_text_str(&trace->scratch);
    return cn_kineto_device(trace->kineto, &device, err);
}

static bool take_process(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct cn_sql_trace *trace = arg;
    struct cn_bytes command = cn_sql_text(row, 1);
    uint64_t pid;

    (void)err;
    if (cn_sql_u64(row, 0, &pid) && command.len > 0)
        cn_call_import_process_name(trace->import, pid, command);
    return true;
}

static bool take_thread(void *arg, const struct cn_sql_row *row, struct cn_error *err)
{
    struct cn_sql_trace *trace = arg;
    struct cn_bytes name = cn_sql_text(row, 2);
    uint64_t pid, tid;
    uint32_t track;

    if (name.len == 0 || !cn_sql_u64(row, 0, &pid) || !cn_sql_u64(row, 1, &tid))
        return true;
    if (!cn_call_import_track(trace->import, pid, tid, (struct cn_bytes){0}, &track, err))
        return false;
    cn_call_import_track_name(trace->import, track, name);
    return true;
}

static bool read_views(struct cn_sql_trace *trace, struct cn_error *err)
{
    static const struct {
        const char *view;
        cn_sql_row_fn take;
        const char *columns[CN_SQL_COLUMN_MAX];
    } views[] = {
        {"rocpd_info_agent", take_agent, {"type", "type_index", "product_name", "name"}},
        {"processes", take_process, {"pid", "command"}},
        {"threads", take_thread, {"pid", "tid", "name"}},
        {"regions", take_region, {COLUMNS}},
        {"kernels",
         take_kernel,
         {COLUMNS, "agent_type_index", "stream_id", "grid_x", "grid_y", "grid_z",
          "workgroup_x", "workgroup_y", "workgroup_z", "lds_size", "arch_vgpr_count"}},
        {"memory_copies",
         take_copy,
         {COLUMNS, "src_agent_type_index", "src_agent_type", "dst_agent_type_index",
          "dst_agent_type", "stream_id", "size"}},
    };

    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
        if (!cn_sql_trace_visit(trace, views[i].view, views[i].columns, views[i].take,
                                trace, err))
            return false;
    return true;
}

static bool open_recording(struct cn_recording **out, const char *path,
                           const struct cn_recording_options *options,
                           struct cn_error *err)
{
    struct cn_sql_trace trace = {0};
    bool ok;

    (void)options;
    if (!cn_sql_trace_open(&trace, "rocpd", path, err))
        return false;
    ok = read_views(&trace, err);
    if (ok)
        return cn_sql_trace_finish(&trace, 0, path, out, err);
    cn_sql_trace_close(&trace);
    return cn_fail_in(err, "%s", path);
}

static bool probe(const char *path)
{
    return cn_sql_trace_probe(path, "rocpd_kernel_dispatch", "rocpd_region");
}

const struct cn_format cn_format_rocpd = {
    .name = "rocpd",
    .summary = "rocprofv3 of ROCm: SQLite databases with GPUs (read only)",
    .holds = "calls",
    .is_file = true,
    .probe = probe,
    .open_recording = open_recording,
};
