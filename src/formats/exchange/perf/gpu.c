#include "formats/exchange/perf/gpu.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "formats/exchange/read/stacks/import.h"
#include "formats/gpu/ranges.h"
#include "formats/gpu/records.h"
#include "model/gpu/builder.h"
#include "model/gpu/metrics.h"
#include "model/gpu/timelines.h"
#include "symbols/demangle.h"

/* A stack of a launch. */
struct cn_perf_gpu_stack {
    struct cn_bytes addresses; /* a copy */
    uint32_t pid, context;
    uint64_t time_ns; /* of its record */
};

/* A thread of the program. */
struct cn_perf_gpu_writer {
    uint32_t pid, tid;
};

/* In the place of a stack that was not taken. */
#define NO_PATH "<path not recorded>"
/* The module of ranges, and the name of those without one. */
#define RANGE_MODULE  "[nvtx]"
#define RANGE_UNNAMED "<range>"

void cn_perf_gpu_init(struct cn_perf_gpu_work *gpu, struct cn_import *import,
                      struct cn_perf_threads *threads, cn_perf_context_fn context_of,
                      void *arg)
{
    *gpu = (struct cn_perf_gpu_work){
        .import = import, .threads = threads, .context_of = context_of, .arg = arg};
}

void cn_perf_gpu_done(struct cn_perf_gpu_work *gpu)
{
    cn_gpu_records_free(gpu->records);
    gpu->records = NULL;
    cn_gpu_ranges_free(gpu->ranges);
    cn_gpu_records_free(gpu->range_records);
    cn_map_done(&gpu->context_of_node);
    cn_map_done(&gpu->context_of_stack);
    cn_map_done(&gpu->writer_of);
    free(gpu->writers);
    free(gpu->stacks);
    cn_arena_done(&gpu->arena);
}

static bool thread_of(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                      struct cn_error *err)
{
    struct cn_perf_gpu_work *gpu = arg;
    struct cn_perf_sample sample = {.pid = pid, .tid = tid, .cpu = UINT32_MAX};

    if (!cn_perf_threads_of(gpu->threads, &sample, out, err))
        return false;
    *out = cn_perf_threads_number(gpu->threads, *out);
    if (*cn_map_at(&gpu->writer_of, *out, (uint32_t)gpu->writer_count) ==
        gpu->writer_count) {
        CN_PUSH(gpu->writers, gpu->writer_count, gpu->writer_capacity,
                (struct cn_perf_gpu_writer){pid, tid});
    }
    return true;
}

static uint32_t stack_of(void *arg, uint32_t pid, struct cn_bytes addresses)
{
    struct cn_perf_gpu_work *gpu = arg;
    struct cn_perf_gpu_stack stack = {
        .addresses = {cn_arena_dup(&gpu->arena, addresses.ptr, addresses.len, 1),
                      addresses.len},
        .pid = pid,
        .context = gpu->context_of(gpu->arg, pid, addresses, CN_NONE, 0),
        .time_ns = gpu->time_ns,
    };

    CN_PUSH(gpu->stacks, gpu->stack_count, gpu->stack_capacity, stack);
    return (uint32_t)gpu->stack_count - 1;
}

bool cn_perf_gpu_take(struct cn_perf_gpu_work *gpu, const struct cn_perf_record *record,
                      struct cn_error *err)
{
    struct cn_bytes rest = record->body;
    struct cn_perf_gpu head;
    struct cn_error problem = {0};

    if (!cn_perf_gpu_take_first(&rest, &head))
        return true;
    if (!gpu->records)
        gpu->records = cn_gpu_records_new(
            &(struct cn_gpu_records_to){.thread = gpu->finds_names ? NULL : thread_of,
                                        .stack = stack_of,
                                        .arg = gpu});
    gpu->time_ns = head.time_ns;
    struct cn_gpu_writer_id by = {head.pid, head.tid, head.image};
    if (cn_gpu_records_take(gpu->records, by, rest, &problem))
        return true;
    if (problem.kind != CN_ERR_FORMAT) {
        *err = problem;
        return false;
    }
    if (gpu->bad_count++ == 0) {
        (void)cn_fail_in(&problem, "GPU work at 0x%" PRIx64, record->off);
        gpu->damage = problem;
    }
    return true;
}

/* Threads of the program have no number yet. */
static bool no_thread(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                      struct cn_error *err)
{
    (void)arg;
    (void)pid;
    (void)tid;
    (void)err;
    *out = CN_NONE;
    return true;
}

bool cn_perf_gpu_wants_ranges(const struct cn_perf_gpu_work *gpu)
{
    return !gpu->range_records && gpu->records &&
           cn_gpu_records_ranges_are_contexts(gpu->records);
}

static void begin_ranges(struct cn_perf_gpu_work *gpu)
{
    if (!gpu->range_records)
        gpu->range_records =
            cn_gpu_records_new(&(struct cn_gpu_records_to){.thread = no_thread});
}

bool cn_perf_gpu_ranges_take(struct cn_perf_gpu_work *gpu,
                             const struct cn_perf_record *record, struct cn_error *err)
{
    struct cn_bytes rest = record->body;
    struct cn_perf_gpu head;
    struct cn_error problem = {0};

    if (!cn_perf_gpu_take_first(&rest, &head))
        return true;
    begin_ranges(gpu);
    struct cn_gpu_writer_id by = {head.pid, head.tid, head.image};
    /* Damage is told when they are read again. */
    if (cn_gpu_records_take(gpu->range_records, by, rest, &problem) ||
        problem.kind == CN_ERR_FORMAT)
        return true;
    *err = problem;
    return false;
}

void cn_perf_gpu_ranges_end(struct cn_perf_gpu_work *gpu)
{
    begin_ranges(gpu);
    gpu->ranges = cn_gpu_records_ranges(gpu->range_records);
}

uint32_t cn_perf_gpu_ranges_at(const struct cn_perf_gpu_work *gpu, uint32_t pid,
                               uint32_t tid, uint64_t time_ns)
{
    return gpu->ranges ? cn_gpu_ranges_at(gpu->ranges, pid, tid, time_ns) : 0;
}

/* Below `parent`, with names of `records`. */
static uint32_t range_context(struct cn_perf_gpu_work *gpu,
                              const struct cn_gpu_records *records,
                              const struct cn_gpu_ranges *ranges, uint32_t parent,
                              uint32_t node)
{
    uint32_t path[CN_GPU_RANGE_DEPTH_MAX + 1]; /* a mark is below all */
    size_t depth = 0;
    uint32_t context =
        cn_map_find(&gpu->context_of_node, (uint64_t)parent << 32 | node, CN_NONE);

    if (context != CN_NONE)
        return context;
    for (uint32_t at = node; at > 0; at = ranges->nodes[at].parent)
        path[depth++] = ranges->nodes[at].name;
    context = parent;
    while (depth > 0) {
        const char *name = cn_gpu_records_name(records, path[--depth]);
        struct cn_import_frame frame = {
            .name = *name ? name : RANGE_UNNAMED, .module = RANGE_MODULE, .file = ""};

        context =
            cn_import_call(gpu->import, context, cn_import_frame(gpu->import, &frame));
    }
    *cn_map_at(&gpu->context_of_node, (uint64_t)parent << 32 | node, 0) = context;
    return context;
}

uint32_t cn_perf_gpu_range_context(struct cn_perf_gpu_work *gpu, uint32_t parent,
                                   uint32_t node)
{
    return node > 0 ? range_context(gpu, gpu->range_records, gpu->ranges, parent, node)
                    : parent;
}

/* What is added to the import at the end. */
struct gpu_adding {
    struct cn_perf_gpu_work *gpu;
    struct cn_gpu_work *work;
    uint32_t metrics[CN_GPU_METRIC_COUNT]; /* CN_NONE: not yet added */
    uint32_t places[CN_GPU_PLACE_COUNT];   /* frames; CN_NONE: not yet added */
    uint32_t *kernels;                     /* by name: frames */
    struct cn_map call_of;                 /* by context and path with a call: contexts */
    struct cn_map captured_of; /* by context of the launch and captured path: contexts */
};

static uint32_t frame_of(struct cn_import *import, const char *name)
{
    return cn_import_frame(
        import,
        &(struct cn_import_frame){.name = name, .module = CN_GPU_MODULE, .file = ""});
}

static uint32_t place_frame(struct gpu_adding *a, enum cn_gpu_place place)
{
    if (a->places[place] == CN_NONE)
        a->places[place] = frame_of(a->gpu->import, cn_gpu_place_name(place));
    return a->places[place];
}

static uint32_t kernel_frame(struct gpu_adding *a, uint32_t name)
{
    const char *raw = cn_gpu_records_name(a->gpu->records, name);
    struct cn_text text = {0};

    if (a->kernels[name] == CN_NONE) {
        bool ok = cn_demangle(raw, CN_DEMANGLE_FULL, &text);

        a->kernels[name] = frame_of(a->gpu->import, ok ? cn_text_str(&text) : raw);
        cn_text_done(&text);
    }
    return a->kernels[name];
}

/* The context of a stack of a launch, with the ranges that were open then. */
static uint32_t stack_context(struct cn_perf_gpu_work *gpu, uint32_t stack,
                              const struct cn_gpu_op *op)
{
    const struct cn_perf_gpu_stack *s = &gpu->stacks[stack];
    uint32_t writer = cn_map_find(&gpu->writer_of, op->thread, CN_NONE);
    uint32_t node = writer != CN_NONE
                        ? cn_perf_gpu_ranges_at(gpu, gpu->writers[writer].pid,
                                                gpu->writers[writer].tid, op->launch_ns)
                        : 0;
    uint64_t key = (uint64_t)stack << 32 | node;
    uint32_t context = cn_map_find(&gpu->context_of_stack, key, CN_NONE);

    if (node == 0)
        return s->context;
    if (context == CN_NONE) {
        gpu->time_ns = s->time_ns;
        context = gpu->context_of(gpu->arg, s->pid, s->addresses, CN_NONE, node);
        *cn_map_at(&gpu->context_of_stack, key, 0) = context;
    }
    return context;
}

/* The context of the call that launched an operation. */
static uint32_t launch_of(struct gpu_adding *a, const struct cn_gpu_op *op)
{
    struct cn_import *import = a->gpu->import;
    struct cn_gpu_path path = cn_gpu_records_path(a->gpu->records, op->path);
    uint32_t context =
        path.stack != CN_NONE ? stack_context(a->gpu, path.stack, op) : CN_NONE;

    if (op->thread == CN_NONE)
        return cn_import_call(import, 0, place_frame(a, cn_gpu_op_origin(op)));
    if (context == CN_NONE)
        context = cn_import_call(import, 0, frame_of(import, NO_PATH));
    if (!path.call[0])
        return context;
    uint32_t *call = cn_map_at(&a->call_of, (uint64_t)context << 32 | op->path, CN_NONE);
    if (*call == CN_NONE)
        *call = cn_import_call(import, context, frame_of(import, path.call));
    return *call;
}

/* The addresses of a stack without the outermost ones that another one has as well. */
static struct cn_bytes without_common(struct cn_bytes of, struct cn_bytes other)
{
    while (of.len > 8 && other.len > 8 &&
           cn_u64_get(of.ptr + of.len - 8) == cn_u64_get(other.ptr + other.len - 8)) {
        of.len -= 8;
        other.len -= 8;
    }
    return of;
}

/* The context of a kernel's call: where it was launched, and below that where it was captured. */
static uint32_t call_of(struct gpu_adding *a, const struct cn_gpu_op *op)
{
    struct cn_import *import = a->gpu->import;
    uint32_t launch = launch_of(a, op);
    uint64_t key = (uint64_t)launch << 32 | op->capture;

    if (op->capture == 0)
        return launch;
    uint32_t context = cn_map_find(&a->captured_of, key, CN_NONE);
    struct cn_gpu_path captured = cn_gpu_records_path(a->gpu->records, op->capture - 1);
    if (context != CN_NONE || captured.stack == CN_NONE)
        return context != CN_NONE ? context : launch;
    struct cn_gpu_path path = cn_gpu_records_path(a->gpu->records, op->path);
    const struct cn_perf_gpu_stack *stack = &a->gpu->stacks[captured.stack];
    struct cn_bytes addresses = stack->addresses;
    if (op->thread != CN_NONE && path.stack != CN_NONE)
        addresses = without_common(addresses, a->gpu->stacks[path.stack].addresses);
    context = cn_import_call(import, launch, place_frame(a, CN_GPU_PLACE_CAPTURED));
    context = a->gpu->context_of(a->gpu->arg, stack->pid, addresses, context, 0);
    if (captured.call[0])
        context = cn_import_call(import, context, frame_of(import, captured.call));
    *cn_map_at(&a->captured_of, key, 0) = context;
    return context;
}

static bool add_amount(struct gpu_adding *a, uint32_t thread, uint32_t context,
                       const struct cn_gpu_amount *amount, struct cn_error *err)
{
    struct cn_import *import = a->gpu->import;
    uint32_t *metric = &a->metrics[amount->metric];

    if (*metric == CN_NONE &&
        !cn_import_metric(import, cn_gpu_metric_name(amount->metric), metric, err))
        return false;
    return cn_import_add(import, thread, context, *metric,
                         cn_gpu_amount_value(amount->metric, amount->amount), err);
}

static bool add_op(struct gpu_adding *a, struct cn_gpu_op *op, struct cn_error *err)
{
    uint64_t epoch_ns = a->gpu->threads->epoch_ns;
    struct cn_gpu_amount amounts[CN_GPU_AMOUNT_MAX];
    size_t count = cn_gpu_amounts(a->work, op, amounts);
    uint32_t context = cn_import_call(a->gpu->import, call_of(a, op),
                                      place_frame(a, cn_gpu_op_place(op)));
    uint32_t thread = op->thread != CN_NONE   ? op->thread
                      : op->stream != CN_NONE ? a->work->streams[op->stream].thread
                                              : CN_NONE;

    if (op->kind == CN_GPU_KERNEL && op->place != CN_NONE)
        context = cn_import_call(a->gpu->import, context, kernel_frame(a, op->place));
    op->place = context;
    if (op->thread != CN_NONE && op->stream != CN_NONE && op->launch_ns > 0)
        cn_import_launch(a->gpu->import, op->thread, cn_u64_sum(epoch_ns, op->launch_ns),
                         a->work->streams[op->stream].thread,
                         cn_u64_sum(epoch_ns, op->begin_ns));
    for (size_t i = 0; i < count && thread != CN_NONE; i++)
        if (!add_amount(a, thread, context, &amounts[i], err))
            return false;
    return true;
}

static bool add_sample(void *arg, uint32_t stream, uint64_t time_ns, uint32_t place,
                       struct cn_error *err)
{
    const struct gpu_adding *a = arg;

    (void)err;
    time_ns = cn_u64_sum(a->gpu->threads->epoch_ns, time_ns);
    if (place != 0)
        cn_import_resume(a->gpu->import, a->work->streams[stream].thread, time_ns, place);
    else
        cn_import_wait(a->gpu->import, a->work->streams[stream].thread, time_ns);
    return true;
}

/* Streams are threads of the import. */
static bool number_streams(struct cn_perf_gpu_work *gpu, struct cn_error *err)
{
    struct cn_gpu_builder *builder = cn_gpu_records_builder(gpu->records);
    uint32_t count = cn_gpu_builder_stream_count(builder);

    for (uint32_t i = 0; i < count; i++) {
        struct cn_gpu_stream *stream = cn_gpu_builder_stream_at(builder, i);
        struct cn_import_identity identity = {.name = ""};
        size_t n = 0;

        if (gpu->threads->rank != CN_PERF_NO_RANK) {
            identity.kinds[n] = "RANK";
            identity.numbers[n++] = gpu->threads->rank;
        }
        identity.kinds[n] = "PROCESS";
        identity.numbers[n++] = stream->pid;
        identity.kinds[n] = "GPUDEVICE";
        identity.numbers[n++] = stream->device;
        identity.kinds[n] = "GPUCONTEXT";
        identity.numbers[n++] = stream->context;
        identity.kinds[n] = "GPUSTREAM";
        identity.numbers[n] = stream->number;
        if (!cn_import_thread(gpu->import, &identity, &stream->thread, err))
            return false;
    }
    return true;
}

static void warn_note(void *arg, const char *text, uint64_t count)
{
    struct cn_perf_gpu_work *gpu = arg;

    if (count > 0)
        cn_import_warn(gpu->import, false, "GPU work is missing: %" PRIu64 " %s", count,
                       text);
    else
        cn_import_warn(gpu->import, false, "GPU work is missing: %s", text);
}

static void add_warnings(struct cn_perf_gpu_work *gpu, const struct cn_gpu_work *work)
{
    cn_gpu_records_notes(gpu->records, warn_note, gpu);
    if (gpu->bad_count > 0)
        cn_import_warn(gpu->import, true,
                       "records of GPU work that cannot be read: %" PRIu64
                       ", the first: %s",
                       gpu->bad_count, gpu->damage.text);
    if (work && work->lonely_count > 0)
        cn_import_warn(gpu->import, false, "%" PRIu32 " GPU %s no launch in the file",
                       work->lonely_count,
                       cn_plural(work->lonely_count, "operation has", "operations have"));
    if (work && work->early_count > 0)
        cn_import_warn(
            gpu->import, false,
            "%" PRIu32 " GPU %s before their launch, by up to %" PRIu64
            " ns: clocks differ, which were read %" PRIu64 " ns apart at most",
            work->early_count,
            cn_plural(work->early_count, "operation begins", "operations begin"),
            work->early_ns, cn_gpu_records_clock_error(gpu->records));
}

/* A track of ranges is a thread of the import. Its numbers are not those of another identity, even
 * without their kinds: Hatchet tells identities apart by the numbers alone. */
static bool add_track(struct cn_perf_gpu_work *gpu, const struct cn_gpu_records *records,
                      const struct cn_gpu_ranges *ranges,
                      const struct cn_gpu_range_track *track, struct cn_error *err)
{
    struct cn_import_identity identity = {.name = ""};
    uint32_t thread;
    size_t n = 0;

    if (gpu->threads->rank != CN_PERF_NO_RANK) {
        identity.kinds[n] = "RANK";
        identity.numbers[n++] = gpu->threads->rank;
    }
    identity.kinds[n] = "PROCESS";
    identity.numbers[n++] = track->pid;
    if (track->tid > 0) {
        identity.kinds[n] = "THREAD";
        identity.numbers[n++] = track->tid;
    }
    identity.kinds[n] = "NVTX";
    if (!cn_import_thread(gpu->import, &identity, &thread, err))
        return false;
    for (size_t i = 0; i < track->count; i++) {
        const struct cn_gpu_range_state *state = &ranges->states[track->first + i];
        uint64_t time_ns = cn_u64_sum(gpu->threads->epoch_ns, state->time_ns);

        if (state->node > 0)
            cn_import_resume(gpu->import, thread, time_ns,
                             range_context(gpu, records, ranges, 0, state->node));
        else
            cn_import_wait(gpu->import, thread, time_ns);
    }
    return true;
}

static bool add_tracks(struct cn_perf_gpu_work *gpu, struct cn_error *err)
{
    struct cn_gpu_ranges *own = gpu->ranges ? NULL : cn_gpu_records_ranges(gpu->records);
    const struct cn_gpu_ranges *ranges = gpu->ranges ? gpu->ranges : own;
    const struct cn_gpu_records *records =
        gpu->ranges ? gpu->range_records : gpu->records;
    bool ok = true;

    for (size_t i = 0; ranges && i < ranges->track_count && ok; i++)
        ok = add_track(gpu, records, ranges, &ranges->tracks[i], err);
    if (ranges && ranges->unended_count > 0)
        cn_import_warn(gpu->import, false, "%" PRIu64 " NVTX %s not ended",
                       ranges->unended_count,
                       cn_plural(ranges->unended_count, "range was", "ranges were"));
    cn_gpu_ranges_free(own);
    return ok;
}

static void fill(uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i] = CN_NONE;
}

bool cn_perf_gpu_finish(struct cn_perf_gpu_work *gpu, struct cn_error *err)
{
    struct gpu_adding a = {.gpu = gpu};
    bool ok = true;

    if (!gpu->records || gpu->finds_names)
        return true;
    if (!number_streams(gpu, err) || !add_tracks(gpu, err))
        return false;
    a.work = cn_gpu_records_finish(gpu->records);
    add_warnings(gpu, a.work);
    if (!a.work)
        return true;
    uint32_t name_count = cn_gpu_records_name_count(gpu->records);
    a.kernels = cn_alloc(name_count, sizeof(*a.kernels));
    fill(a.kernels, name_count);
    fill(a.metrics, CN_GPU_METRIC_COUNT);
    fill(a.places, CN_GPU_PLACE_COUNT);
    for (uint32_t i = 0; i < a.work->op_count && ok; i++)
        ok = add_op(&a, &a.work->ops[i], err);
    ok = ok && cn_gpu_timelines(a.work, add_sample, &a, err);
    cn_import_gpu_memory(gpu->import, a.work, gpu->threads->epoch_ns);
    free(a.kernels);
    cn_map_done(&a.call_of);
    cn_map_done(&a.captured_of);
    cn_gpu_work_free(a.work);
    return ok;
}
