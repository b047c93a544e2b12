/* gpu.dat: the work of GPUs, whose streams are tasks after those of the program. Operations of a
 * stream are its calls; those that overlap the next one end where that begins. After them are tasks of
 * NVTX ranges, whose calls are the ranges that are open. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/gpu/format.h"
#include "formats/gpu/ranges.h"
#include "formats/gpu/records.h"
#include "formats/uftrace/directory/captures.h"
#include "formats/uftrace/directory/stream.h"
#include "model/contexts/context.h"
#include "model/gpu/builder.h"
#include "symbols/demangle.h"

/* An operation as a call. */
struct stream_op {
    uint64_t begin_ns, end_ns;
    uint32_t stream, function;
};

struct cn_uft_gpu {
    struct cn_gpu_ranges *ranges; /* NULL: there are none */
    uint32_t *range_functions;    /* by node */
    uint32_t first_track;         /* task of the first track of ranges */
    struct cn_gpu_work *work;     /* NULL: there is none */
    struct stream_op *ops;        /* by stream and time */
    uint32_t *begins;             /* of each stream, and the end */
    struct cn_uft_captures *captures;
};

void cn_uft_gpu_free(struct cn_uft_gpu *gpu)
{
    if (!gpu)
        return;
    cn_gpu_ranges_free(gpu->ranges);
    cn_uft_captures_free(gpu->captures);
    free(gpu->range_functions);
    cn_gpu_work_free(gpu->work);
    free(gpu->ops);
    free(gpu->begins);
    free(gpu);
}

/* The last task of a thread: a number may be used again. */
static bool task_of(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                    struct cn_error *err)
{
    const struct cn_uft_directory *dir = arg;
    size_t first = 0, end = dir->task_count;

    (void)err;
    (void)pid;
    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (dir->tasks[middle].tid < tid)
            first = middle + 1;
        else
            end = middle;
    }
    *out = first < dir->task_count && dir->tasks[first].tid == tid ? (uint32_t)first
                                                                   : CN_NONE;
    return true;
}

static void add_function(struct cn_uft_directory *dir, uint32_t module, const char *raw)
{
    struct cn_text text = {0};
    bool ok = cn_demangle(raw, dir->demangle, &text);
    uint64_t offset = dir->function_count - dir->modules[module].first_function;

    cn_uft_function_add(
        dir, (struct cn_call_function){
                 .name = cn_arena_strdup(&dir->rec.arena, ok ? cn_text_str(&text) : raw),
                 .raw_name = cn_arena_strdup(&dir->rec.arena, raw),
                 .module = module,
                 .type = 'T',
                 .offset = offset,
                 .size = 1,
                 .file = "",
             });
    dir->modules[module].function_count++;
    cn_text_done(&text);
}

/* Functions for kinds of work, then for kernels; returns the first. */
static uint32_t add_functions(struct cn_uft_directory *dir,
                              const struct cn_gpu_records *records)
{
    uint32_t module = cn_uft_module_add_own(dir, CN_GPU_MODULE);
    uint32_t first = (uint32_t)dir->function_count;

    dir->modules[module].first_function = first;
    for (int i = 0; i < CN_GPU_PLACE_COUNT; i++)
        add_function(dir, module, cn_gpu_place_name((enum cn_gpu_place)i));
    for (uint32_t i = 0; i < cn_gpu_records_name_count(records); i++)
        add_function(dir, module, cn_gpu_records_name(records, i));
    return first;
}

/* Give ranges their functions. */
static void place_ranges(struct cn_uft_directory *dir,
                         const struct cn_gpu_records *records)
{
    struct cn_gpu_ranges *ranges = dir->gpu->ranges;
    uint32_t module = cn_uft_module_add_own(dir, "[nvtx]");
    struct cn_map function_of = {0};

    dir->modules[module].first_function = (uint32_t)dir->function_count;
    dir->gpu->range_functions =
        cn_alloc(ranges->node_count, sizeof(*dir->gpu->range_functions));
    for (size_t i = 1; i < ranges->node_count; i++) {
        uint32_t name = ranges->nodes[i].name;
        const char *text = cn_gpu_records_name(records, name);
        uint32_t function = *cn_map_at(&function_of, name, (uint32_t)dir->function_count);

        if (function == dir->function_count)
            add_function(dir, module, *text ? text : "<range>");
        dir->gpu->range_functions[i] = function;
    }
    cn_map_done(&function_of);
}

/* Give operations their functions, and list those of streams. */
static void place_ops(struct cn_uft_gpu *gpu, const struct cn_gpu_records *records,
                      uint32_t first_function)
{
    struct cn_gpu_work *work = gpu->work;
    uint32_t *fill = cn_alloc(work->stream_count, sizeof(*fill));

    gpu->ops = cn_alloc(work->op_count, sizeof(*gpu->ops));
    gpu->begins = cn_alloc((size_t)work->stream_count + 1, sizeof(*gpu->begins));
    for (uint32_t i = 0; i < work->op_count; i++)
        if (work->ops[i].stream != CN_NONE)
            gpu->begins[work->ops[i].stream + 1]++;
    for (uint32_t i = 0; i < work->stream_count; i++) {
        gpu->begins[i + 1] += gpu->begins[i];
        fill[i] = gpu->begins[i];
    }
    for (uint32_t i = 0; i < work->op_count; i++) {
        struct cn_gpu_op *op = &work->ops[i];
        bool is_kernel = op->kind == CN_GPU_KERNEL && op->place != CN_NONE;

        op->path = CN_NONE;
        op->capture = cn_uft_captures_add(gpu->captures, records, op->capture);
        op->place = is_kernel ? first_function + CN_GPU_PLACE_COUNT + op->place
                              : first_function + (uint32_t)cn_gpu_op_place(op);
        if (op->stream != CN_NONE)
            gpu->ops[fill[op->stream]++] =
                (struct stream_op){op->begin_ns, op->end_ns, op->stream, op->place};
    }
    for (uint32_t i = 0; i + 1 < gpu->begins[work->stream_count]; i++)
        if (gpu->ops[i].stream == gpu->ops[i + 1].stream &&
            gpu->ops[i].end_ns > gpu->ops[i + 1].begin_ns)
            gpu->ops[i].end_ns = gpu->ops[i + 1].begin_ns;
    free(fill);
}

static struct cn_task stream_task(const struct cn_uft_directory *dir, uint32_t number)
{
    const struct cn_gpu_stream *stream = &dir->gpu->work->streams[number];
    uint32_t first = dir->gpu->begins[number];
    uint32_t count = dir->gpu->begins[number + 1] - first;

    return (struct cn_task){
        .pid = stream->pid,
        .has_first = count > 0,
        .first_ns = count > 0 ? dir->gpu->ops[first].begin_ns : 0,
        .data_len = (uint64_t)count * cn_gpu_op_record_size,
    };
}

static struct cn_task track_task(const struct cn_uft_directory *dir, size_t number)
{
    const struct cn_gpu_range_track *track = &dir->gpu->ranges->tracks[number];

    return (struct cn_task){
        .pid = track->pid,
        .has_first = track->count > 0,
        .first_ns = track->count > 0 ? dir->gpu->ranges->states[track->first].time_ns : 0,
        .data_len = (uint64_t)track->count * cn_gpu_range_size,
    };
}

/* Join the tasks of ranges to those of their threads. */
static void join_ranges(struct cn_uft_directory *dir, struct cn_task *tasks,
                        bool are_contexts)
{
    const struct cn_gpu_ranges *ranges = dir->gpu->ranges;
    struct cn_error ignored;

    for (uint32_t i = 0; ranges && i < ranges->track_count; i++) {
        uint32_t tid = ranges->tracks[i].tid, of = dir->gpu->first_track + i;
        uint32_t thread = CN_NONE;

        if (tid > 0)
            (void)task_of(dir, ranges->tracks[i].pid, tid, &thread, &ignored);
        tasks[of].parent = thread;
        if (are_contexts && thread != CN_NONE)
            tasks[thread].ranges = of;
    }
}

/* Tasks for the streams and then for tracks of ranges, after those of the program. */
static void add_tasks(struct cn_uft_directory *dir, bool ranges_are_contexts)
{
    struct cn_gpu_work *work = dir->gpu->work;
    const struct cn_gpu_ranges *ranges = dir->gpu->ranges;
    uint32_t stream_count = work ? work->stream_count : 0;
    uint32_t count = stream_count + (ranges ? (uint32_t)ranges->track_count : 0);
    uint32_t last_tid = dir->task_count > 0 ? dir->tasks[dir->task_count - 1].tid : 0;
    struct cn_task *tasks =
        cn_arena_alloc(&dir->rec.arena, dir->task_count + count, sizeof(*tasks));

    if (dir->task_count > 0)
        memcpy(tasks, dir->tasks, dir->task_count * sizeof(*tasks));
    dir->gpu->first_track = (uint32_t)dir->task_count + stream_count;
    for (uint32_t i = 0; i < count; i++) {
        struct cn_task *task = &tasks[dir->task_count + i];
        struct cn_text name = {0};

        if (i < stream_count) {
            *task = stream_task(dir, i);
            cn_text_printf(&name, "GPU %u stream %u", (unsigned)work->streams[i].device,
                           (unsigned)work->streams[i].number);
            task->parent = CN_NONE;
            work->streams[i].thread = (uint32_t)dir->task_count + i;
        } else {
            uint32_t tid = ranges->tracks[i - stream_count].tid;

            *task = track_task(dir, i - stream_count);
            task->is_ranges = true;
            cn_text_printf(&name, "NVTX of %s %u", tid > 0 ? "thread" : "process",
                           (unsigned)(tid > 0 ? tid : task->pid));
        }
        task->tid = last_tid + 1 + i;
        task->is_stream = true;
        task->name = cn_arena_strdup(&dir->rec.arena, cn_text_str(&name));
        cn_text_done(&name);
    }
    join_ranges(dir, tasks, ranges_are_contexts);
    dir->rec.tasks = tasks;
    dir->rec.task_count = (uint32_t)dir->task_count + count;
}

static void warn_note(void *arg, const char *text, uint64_t count)
{
    if (count > 0)
        cn_recording_warn(arg, false, "GPU work is missing: %llu %s",
                          (unsigned long long)count, text);
    else
        cn_recording_warn(arg, false, "GPU work is missing: %s", text);
}

static void add_warnings(struct cn_recording *rec, const struct cn_gpu_records *records,
                         const struct cn_gpu_work *work)
{
    cn_gpu_records_notes(records, warn_note, rec);
    if (cn_gpu_records_lost(records) > 0)
        warn_note(rec, "records were lost", cn_gpu_records_lost(records));
    if (work && work->lonely_count > 0)
        cn_recording_warn(
            rec, false, "%u GPU %s no launch in the recording",
            (unsigned)work->lonely_count,
            cn_plural(work->lonely_count, "operation has", "operations have"));
    if (work && work->early_count > 0)
        cn_recording_warn(
            rec, false,
            "%u GPU %s before their launch, by up to %llu ns: clocks differ, which were "
            "read %llu ns apart at most",
            (unsigned)work->early_count,
            cn_plural(work->early_count, "operation begins", "operations begin"),
            (unsigned long long)work->early_ns,
            (unsigned long long)cn_gpu_records_clock_error(records));
}

void cn_uft_gpu_build(struct cn_uft_directory *dir)
{
    struct cn_gpu_records_to to = {.thread = task_of, .arg = dir};
    struct cn_error problem = {0};
    struct cn_bytes file;

    if (!cn_uft_directory_find(dir, CN_GPU_FILE_NAME, &file))
        return;
    struct cn_gpu_records *records = cn_gpu_records_new(&to);
    if (!cn_gpu_records_take_file(records, file, &problem))
        cn_recording_warn(&dir->rec, true, CN_GPU_FILE_NAME ": %s", problem.text);
    struct cn_gpu_work *work = cn_gpu_records_finish(records);
    struct cn_gpu_ranges *ranges = cn_gpu_records_ranges(records);
    add_warnings(&dir->rec, records, work);
    if (ranges && ranges->unended_count > 0)
        cn_recording_warn(&dir->rec, false, "%llu NVTX %s not ended",
                          (unsigned long long)ranges->unended_count,
                          cn_plural(ranges->unended_count, "range was", "ranges were"));
    if (work || ranges) {
        dir->gpu = cn_alloc(1, sizeof(*dir->gpu));
        *dir->gpu = (struct cn_uft_gpu){
            .work = work, .ranges = ranges, .captures = cn_uft_captures_new()};
        if (work)
            place_ops(dir->gpu, records, add_functions(dir, records));
        if (ranges)
            place_ranges(dir, records);
        add_tasks(dir, cn_gpu_records_ranges_are_contexts(records));
        dir->rec.gpu = work;
    }
    cn_gpu_records_free(records);
}

void cn_uft_gpu_find_captures(struct cn_uft_directory *dir)
{
    if (dir->gpu && dir->gpu->work)
        cn_uft_captures_find(dir->gpu->captures, dir, dir->gpu->work);
}

/* The calls of a stream. */
struct gpu_task_stream {
    struct cn_uft_stream base;
    const struct stream_op *next, *end;
    struct cn_call calls[512];
};

static enum cn_step next_calls(struct cn_uft_stream *stream, struct cn_call_batch *out,
                               struct cn_error *err)
{
    struct gpu_task_stream *s = (struct gpu_task_stream *)stream;
    size_t count = 0;

    (void)err;
    for (; s->next < s->end && count + 2 <= sizeof(s->calls) / sizeof(s->calls[0]);
         s->next++) {
        s->calls[count++] = (struct cn_call){.time_ns = s->next->begin_ns,
                                             .function = s->next->function,
                                             .kind = CN_CALL_ENTER};
        s->calls[count++] = (struct cn_call){.time_ns = s->next->end_ns,
                                             .function = s->next->function,
                                             .kind = CN_CALL_EXIT};
    }
    if (count == 0)
        return CN_END;
    *out = (struct cn_call_batch){.calls = s->calls, .count = count};
    return CN_ITEM;
}

static void close_stream(struct cn_uft_stream *stream)
{
    free(stream);
}

/* The calls of a track of ranges. */
struct range_task_stream {
    struct cn_uft_stream base;
    const struct cn_uft_gpu *gpu;
    const struct cn_gpu_range_state *next, *end;
    uint64_t first_ns; /* calls that are open then begin then */
    uint32_t node;     /* that is open */
    struct cn_call calls[8 * CN_GPU_RANGE_DEPTH_MAX];
};

/* The nodes from the outermost to this one; returns how many. */
static size_t path_to(const struct cn_gpu_ranges *ranges, uint32_t node,
                      uint32_t path[CN_GPU_RANGE_DEPTH_MAX + 1])
{
    size_t depth = 0;

    for (uint32_t at = node; at > 0; at = ranges->nodes[at].parent)
        depth++;
    for (size_t i = depth; i > 0; i--, node = ranges->nodes[node].parent)
        path[i - 1] = node;
    return depth;
}

/* Exit the ranges that are not open any more, the innermost first, and enter others. */
static size_t change_to(struct range_task_stream *s, size_t count, uint32_t node,
                        uint64_t time_ns)
{
    uint32_t old[CN_GPU_RANGE_DEPTH_MAX + 1], new[CN_GPU_RANGE_DEPTH_MAX + 1];
    size_t old_depth = path_to(s->gpu->ranges, s->node, old);
    size_t new_depth = path_to(s->gpu->ranges, node, new), same = 0;

    while (same < old_depth && same < new_depth && old[same] == new[same])
        same++;
    for (size_t i = old_depth; i > same; i--)
        s->calls[count++] =
            (struct cn_call){.time_ns = time_ns,
                             .function = s->gpu->range_functions[old[i - 1]],
                             .depth = (uint16_t)(i - 1),
                             .kind = CN_CALL_EXIT};
    for (size_t i = same; i < new_depth; i++)
        s->calls[count++] = (struct cn_call){.time_ns = time_ns,
                                             .function = s->gpu->range_functions[new[i]],
                                             .depth = (uint16_t)i,
                                             .kind = CN_CALL_ENTER};
    s->node = node;
    return count;
}

static enum cn_step next_range_calls(struct cn_uft_stream *stream,
                                     struct cn_call_batch *out, struct cn_error *err)
{
    struct range_task_stream *s = (struct range_task_stream *)stream;
    size_t count = 0, most = 2 * (CN_GPU_RANGE_DEPTH_MAX + 1);

    (void)err;
    for (; s->next < s->end && count + most <= sizeof(s->calls) / sizeof(s->calls[0]);
         s->next++)
        count =
            change_to(s, count, s->next->node,
                      s->next->time_ns > s->first_ns ? s->next->time_ns : s->first_ns);
    if (count == 0)
        return CN_END;
    *out = (struct cn_call_batch){.calls = s->calls, .count = count};
    return CN_ITEM;
}

static struct cn_uft_stream *range_stream_new(const struct cn_uft_directory *dir,
                                              uint32_t task, struct cn_time_range range)
{
    const struct cn_gpu_ranges *ranges = dir->gpu->ranges;
    const struct cn_gpu_range_track *track =
        &ranges->tracks[task - dir->gpu->first_track];
    struct range_task_stream *s = cn_alloc(1, sizeof(*s));

    s->base = (struct cn_uft_stream){.base = {.rec = &dir->rec, .task = task},
                                     .next = next_range_calls,
                                     .close = close_stream};
    s->gpu = dir->gpu;
    s->first_ns = range.first_ns;
    s->next = ranges->states + track->first;
    s->end = s->next + track->count;
    /* Begin with what is open. */
    while (s->end - s->next > 1 && s->next[1].time_ns <= range.first_ns)
        s->next++;
    while (s->next < s->end && s->end[-1].time_ns > range.last_ns)
        s->end--;
    return &s->base;
}

struct cn_uft_stream *cn_uft_gpu_stream_new(const struct cn_uft_directory *dir,
                                            uint32_t task, struct cn_time_range range)
{
    const struct cn_uft_gpu *gpu = dir->gpu;

    if (task >= gpu->first_track)
        return range_stream_new(dir, task, range);
    struct gpu_task_stream *s = cn_alloc(1, sizeof(*s));
    uint32_t stream = 0;

    while (gpu->work->streams[stream].thread != task)
        stream++;
    s->base = (struct cn_uft_stream){.base = {.rec = &dir->rec, .task = task},
                                     .next = next_calls,
                                     .close = close_stream};
    s->next = gpu->ops + gpu->begins[stream];
    s->end = gpu->ops + gpu->begins[stream + 1];
    while (s->next < s->end && s->next->begin_ns < range.first_ns)
        s->next++;
    while (s->next < s->end && s->end[-1].begin_ns > range.last_ns)
        s->end--;
    return &s->base;
}
