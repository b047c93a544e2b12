#include "formats/gpu/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "formats/gpu/format.h"
#include "formats/gpu/ranges.h"
#include "model/contexts/context.h"
#include "model/gpu/builder.h"

/* One program in a process. */
struct gpu_process {
    uint64_t to_host; /* add it to times of the GPU's clock, modulo 2^64 */
    uint32_t device;  /* that it used; CN_NONE: none yet, or several */
    bool has_device;
};

struct gpu_pair {
    uint32_t stack, name; /* of an index of stacks and of names; CN_NONE: none */
    uint32_t thread;      /* of a capture without a stack, at a time; else CN_NONE */
    uint64_t time_ns;
};

struct gpu_line {
    const char *text;
    uint64_t count;
};

struct cn_gpu_records {
    struct cn_gpu_records_to to;
    struct cn_gpu_builder *builder; /* NULL: finished */
    struct cn_arena arena;
    struct cn_map process_of, name_of, stack_of, path_of, device_of;
    struct cn_map node_of; /* by process and node: a path */
    struct gpu_process *processes;
    const char **names; /* NULL: no record yet */
    uint32_t *stacks;   /* CN_NONE: no record yet */
    struct gpu_pair *paths;
    struct gpu_line *notes;
    size_t process_count, process_capacity, name_count, name_capacity;
    size_t stack_count, stack_capacity, path_count, path_capacity;
    size_t note_count, note_capacity;
    uint64_t lost_count, clock_error_ns;
    struct cn_gpu_range_event *events;
    size_t event_count, event_capacity;
    bool ranges_are_contexts, has_work;
};

struct cn_gpu_records *cn_gpu_records_new(const struct cn_gpu_records_to *to)
{
    struct cn_gpu_records *r = cn_alloc(1, sizeof(*r));

    r->to = *to;
    r->builder = cn_gpu_builder_new();
    return r;
}

void cn_gpu_records_free(struct cn_gpu_records *r)
{
    if (!r)
        return;
    cn_gpu_builder_free(r->builder);
    cn_map_done(&r->process_of);
    cn_map_done(&r->name_of);
    cn_map_done(&r->stack_of);
    cn_map_done(&r->path_of);
    cn_map_done(&r->device_of);
    cn_map_done(&r->node_of);
    free(r->processes);
    free(r->names);
    free(r->stacks);
    free(r->paths);
    free(r->notes);
    free(r->events);
    cn_arena_done(&r->arena);
    free(r);
}

static uint64_t key_of(uint32_t process, uint32_t number)
{
    return (uint64_t)process << 32 | number;
}

static uint32_t process_at(struct cn_gpu_records *r, struct cn_gpu_writer_id by)
{
    uint32_t at =
        *cn_map_at(&r->process_of, key_of(by.pid, by.image), (uint32_t)r->process_count);

    if (at == r->process_count) {
        CN_PUSH(r->processes, r->process_count, r->process_capacity,
                (struct gpu_process){.device = CN_NONE});
    }
    return at;
}

/* The index of a name that may follow later; CN_NONE for number 0. */
static uint32_t name_at(struct cn_gpu_records *r, uint32_t process, uint32_t number)
{
    if (number == 0)
        return CN_NONE;
    uint32_t at =
        *cn_map_at(&r->name_of, key_of(process, number), (uint32_t)r->name_count);
    if (at == r->name_count) {
        CN_PUSH(r->names, r->name_count, r->name_capacity, NULL);
    }
    return at;
}

static uint32_t stack_at(struct cn_gpu_records *r, uint32_t process, uint32_t number)
{
    if (number == 0)
        return CN_NONE;
    uint32_t at =
        *cn_map_at(&r->stack_of, key_of(process, number), (uint32_t)r->stack_count);
    if (at == r->stack_count) {
        CN_PUSH(r->stacks, r->stack_count, r->stack_capacity, CN_NONE);
    }
    return at;
}

static uint32_t path_at(struct cn_gpu_records *r, uint32_t stack, uint32_t name)
{
    uint32_t at = *cn_map_at(&r->path_of, key_of(stack, name), (uint32_t)r->path_count);

    if (at == r->path_count) {
        CN_PUSH(r->paths, r->path_count, r->path_capacity,
                (struct gpu_pair){stack, name, CN_NONE, 0});
    }
    return at;
}

/* A text of the file that another one may change meanwhile, or that is damaged: copied, with
 * characters that terminals obey replaced. */
static const char *keep(struct cn_gpu_records *r, const char *text)
{
    char *copy = cn_arena_strdup(&r->arena, text);

    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return copy;
}

/* One record of a thread. */
struct gpu_taking {
    struct cn_gpu_records *r;
    struct cn_gpu_writer_id by;
    uint32_t process; /* its index: numbers are those of it */
    uint32_t flags;   /* of the record */
};

static bool bad(struct cn_error *err, const char *what)
{
    return cn_fail(err, CN_ERR_FORMAT, "%s does not fit its record", what);
}

static void add_note(struct cn_gpu_records *r, const char *text, uint64_t count)
{
    enum { NOTES_MAX = 256 };

    for (size_t i = 0; i < r->note_count; i++)
        if (strcmp(r->notes[i].text, text) == 0) {
            r->notes[i].count += count;
            return;
        }
    if (r->note_count < NOTES_MAX) {
        CN_PUSH(r->notes, r->note_count, r->note_capacity,
                (struct gpu_line){keep(r, text), count});
    }
}

static bool take_note(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_note note;
    const char *text;

    if (!cn_gpu_note_decode(bytes, &note) ||
        !(text = cn_bytes_string(bytes, cn_gpu_note_size)))
        return bad(err, "a note");
    add_note(t->r, text, note.count);
    return true;
}

static bool take_name(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_name name;
    const char *text;

    if (!cn_gpu_name_decode(bytes, &name) ||
        !(text = cn_bytes_string(bytes, cn_gpu_name_size)))
        return bad(err, "a name");
    uint32_t at = name_at(t->r, t->process, name.id);
    if (at == CN_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "a name has the number 0");
    t->r->names[at] = keep(t->r, text);
    return true;
}

static bool take_stack(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_records *r = t->r;
    struct cn_gpu_stack stack;
    struct cn_bytes addresses;

    if (!cn_gpu_stack_decode(bytes, &stack) || stack.count > CN_GPU_STACK_MAX ||
        !cn_bytes_array(bytes, cn_gpu_stack_size, stack.count, 8, &addresses))
        return bad(err, "a stack");
    uint32_t at = stack_at(r, t->process, stack.id);
    if (at == CN_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "a stack has the number 0");
    if (r->to.stack)
        r->stacks[at] = r->to.stack(r->to.arg, t->by.pid, addresses);
    return true;
}

static bool take_call(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_records *r = t->r;
    struct cn_gpu_call call;
    uint32_t thread;

    if (!cn_gpu_call_decode(bytes, &call))
        return bad(err, "a call");
    if (!r->to.thread(r->to.arg, t->by.pid, t->by.tid, &thread, err))
        return false;
    if (thread == CN_NONE)
        return true;
    cn_gpu_builder_launch(r->builder,
                          &(struct cn_gpu_launch){
                              .correlation = call.correlation,
                              .launch_ns = call.time_ns,
                              .pid = t->process,
                              .thread = thread,
                              .path = path_at(r, stack_at(r, t->process, call.stack),
                                              name_at(r, t->process, call.name)),
                          });
    return true;
}

/* The device of a context is known by operations with both, and by others where the process uses one
 * device. */
static uint32_t device_of(struct cn_gpu_records *r, uint32_t number,
                          const struct cn_gpu_op_record *op)
{
    struct gpu_process *process = &r->processes[number];

    if (op->device == CN_NONE)
        return cn_map_find(&r->device_of, key_of(number, op->context), process->device);
    if (op->stream != CN_NONE) {
        *cn_map_at(&r->device_of, key_of(number, op->context), 0) = op->device;
        process->device =
            process->has_device && process->device != op->device ? CN_NONE : op->device;
        process->has_device = true;
    }
    return op->device;
}

static uint64_t node_key(const struct gpu_taking *t, uint64_t node)
{
    uint64_t key[] = {t->process, node};

    return XXH3_64bits(key, sizeof(key));
}

/* A copy has the path of its original. */
static bool take_node(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_records *r = t->r;
    struct cn_gpu_node node;
    uint32_t path;

    if (!cn_gpu_node_decode(bytes, &node))
        return bad(err, "a node");
    if (node.copied_from != 0)
        path = cn_map_find(&r->node_of, node_key(t, node.copied_from), CN_NONE);
    else
        path = path_at(r, stack_at(r, t->process, node.stack),
                       name_at(r, t->process, node.name));
    if (path != CN_NONE)
        *cn_map_at(&r->node_of, node_key(t, node.node), 0) = path;
    return true;
}

/* Nodes that one call made have the same path. */
static bool take_capture(struct gpu_taking *t, struct cn_bytes bytes,
                         struct cn_error *err)
{
    struct cn_gpu_records *r = t->r;
    struct cn_gpu_capture capture;
    uint32_t thread;

    if (!cn_gpu_capture_decode(bytes, &capture))
        return bad(err, "a capture");
    if (!r->to.thread(r->to.arg, t->by.pid, t->by.tid, &thread, err))
        return false;
    if (thread == CN_NONE)
        return true;
    const struct gpu_pair *last = r->path_count > 0 ? &r->paths[r->path_count - 1] : NULL;
    if (!last || last->thread != thread || last->time_ns != capture.time_ns) {
        CN_PUSH(r->paths, r->path_count, r->path_capacity,
                (struct gpu_pair){CN_NONE, CN_NONE, thread, capture.time_ns});
    }
    *cn_map_at(&r->node_of, node_key(t, capture.node), 0) = (uint32_t)r->path_count - 1;
    return true;
}

static bool take_op(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    static const uint8_t details[CN_GPU_KIND_COUNT] = {
        [CN_GPU_KERNEL] = 1,
        [CN_GPU_COPY] = CN_GPU_COPY_COUNT,
        [CN_GPU_SET] = CN_GPU_MEMORY_COUNT,
        [CN_GPU_SYNC] = CN_GPU_SYNC_COUNT,
        [CN_GPU_ALLOC] = CN_GPU_MEMORY_COUNT,
        [CN_GPU_FREE] = CN_GPU_MEMORY_COUNT,
        [CN_GPU_MIGRATION] = CN_GPU_COPY_COUNT,
    };
    struct cn_gpu_records *r = t->r;
    struct cn_gpu_op_record o;

    if (!cn_gpu_op_record_decode(bytes, &o))
        return bad(err, "an operation");
    if (o.kind >= CN_GPU_KIND_COUNT || o.detail >= details[o.kind])
        return cn_fail(err, CN_ERR_FORMAT, "no operation has kind %u, detail %u", o.kind,
                       o.detail);
    /* Variables are allocated as their module is loaded: no call asks for it. */
    if ((o.kind == CN_GPU_ALLOC || o.kind == CN_GPU_FREE) &&
        (o.detail == CN_GPU_DEVICE_STATIC || o.detail == CN_GPU_MANAGED_STATIC))
        return true;
    uint64_t to_host =
        t->flags & CN_GPU_HOST_TIMES ? 0 : r->processes[t->process].to_host;
    struct cn_gpu_op op = {
        .begin_ns = o.begin + to_host,
        .end_ns = o.end + to_host,
        .bytes = o.bytes,
        .thread = CN_NONE,
        .device = device_of(r, t->process, &o),
        .stream = CN_NONE,
        .place = name_at(r, t->process, o.name),
        .path = CN_NONE,
        .shape = CN_NONE,
        .kind = o.kind,
        .detail = o.detail,
    };
    if (cn_gpu_op_is_busy(&op) && (o.begin == 0 || o.end == 0)) {
        add_note(r, "operations without a time: the GPU did not measure them", 1);
        return true;
    }
    if (op.end_ns < op.begin_ns)
        add_note(
            r,
            "times: operations end before they begin, and are shown without a duration",
            1);
    if (o.stream != CN_NONE && op.device != CN_NONE)
        op.stream =
            cn_gpu_builder_stream(r->builder, t->by.pid, op.device, o.context, o.stream);
    if (o.kind == CN_GPU_KERNEL)
        op.shape = cn_gpu_builder_shape(r->builder,
                                        &(struct cn_gpu_shape){
                                            .grid = {o.grid_x, o.grid_y, o.grid_z},
                                            .block = {o.block_x, o.block_y, o.block_z},
                                            .registers = o.registers,
                                            .static_shared_len = o.static_shared_len,
                                            .dynamic_shared_len = o.dynamic_shared_len,
                                            .local_len = o.local_len,
                                        });
    if (o.kind == CN_GPU_KERNEL && o.object != 0)
        op.capture = 1 + cn_map_find(&r->node_of, node_key(t, o.object), CN_NONE);
    cn_gpu_builder_op(r->builder, t->process, o.correlation, &op);
    if ((o.kind == CN_GPU_ALLOC || o.kind == CN_GPU_FREE) && o.object != 0)
        cn_gpu_builder_memory(r->builder, t->process, o.object);
    return true;
}

static bool take_device(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_device_record d;
    const char *name;

    if (!cn_gpu_device_record_decode(bytes, &d) ||
        !(name = cn_bytes_string(bytes, cn_gpu_device_record_size)))
        return bad(err, "a device");
    return cn_gpu_builder_device(t->r->builder,
                                 &(struct cn_gpu_device){
                                     .number = d.number,
                                     .name = keep(t->r, name),
                                     .warps = d.warps,
                                     .warp_threads = d.warp_threads,
                                     .blocks = d.blocks,
                                     .registers = d.registers,
                                     .shared_len = d.shared_len,
                                     .processors = d.processors,
                                 }) ||
           cn_fail(err, CN_ERR_LIMIT, "more than %d devices", CN_GPU_DEVICE_MAX);
}

static bool take_clock(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_clock clock;

    if (!cn_gpu_clock_decode(bytes, &clock))
        return bad(err, "a clock");
    t->r->processes[t->process].to_host = clock.host_ns - clock.gpu;
    if (clock.error_ns > t->r->clock_error_ns)
        t->r->clock_error_ns = clock.error_ns;
    return true;
}

static bool take_range(struct gpu_taking *t, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_gpu_records *r = t->r;
    struct cn_gpu_range range;

    if (!cn_gpu_range_decode(bytes, &range))
        return bad(err, "a range");
    if (range.kind == 0 || range.kind > CN_GPU_RANGES_ARE_CONTEXTS)
        return cn_fail(err, CN_ERR_FORMAT, "no range has kind %u", range.kind);
    if (range.kind == CN_GPU_RANGES_ARE_CONTEXTS) {
        r->ranges_are_contexts = true;
        return true;
    }
    CN_PUSH(r->events, r->event_count, r->event_capacity,
            (struct cn_gpu_range_event){
                .time_ns = range.time_ns,
                .id = range.id,
                .pid = t->by.pid,
                .tid = t->by.tid,
                .name = name_at(r, t->process, range.name),
                .domain = range.domain,
                .kind = (uint8_t)range.kind,
            });
    return true;
}

static bool take_record(struct gpu_taking *t, unsigned type, struct cn_bytes bytes,
                        struct cn_error *err)
{
    static bool (*const takers[])(struct gpu_taking *, struct cn_bytes,
                                  struct cn_error *) = {
        [CN_GPU_IS_NAME] = take_name,     [CN_GPU_IS_STACK] = take_stack,
        [CN_GPU_IS_CALL] = take_call,     [CN_GPU_IS_OP] = take_op,
        [CN_GPU_IS_DEVICE] = take_device, [CN_GPU_IS_CLOCK] = take_clock,
        [CN_GPU_IS_NOTE] = take_note,     [CN_GPU_IS_NODE] = take_node,
        [CN_GPU_IS_RANGE] = take_range,   [CN_GPU_IS_CAPTURE] = take_capture,
    };

    if (type >= sizeof(takers) / sizeof(takers[0]) || !takers[type])
        return cn_fail(err, CN_ERR_FORMAT, "no record has type %u", type);
    if (!t->r->to.thread && type != CN_GPU_IS_STACK)
        return true;
    t->r->has_work =
        t->r->has_work || (type != CN_GPU_IS_NAME && type != CN_GPU_IS_RANGE);
    return takers[type](t, bytes, err);
}

bool cn_gpu_records_take(struct cn_gpu_records *r, struct cn_gpu_writer_id by,
                         struct cn_bytes records, struct cn_error *err)
{
    struct gpu_taking t = {.r = r, .by = by, .process = process_at(r, by)};
    const uint8_t *begin = records.ptr;

    while (records.len > 0) {
        size_t off = (size_t)(records.ptr - begin);
        struct cn_gpu_record head;
        struct cn_bytes bytes;

        if (!cn_gpu_record_decode(records, &head) || head.len < cn_gpu_record_size ||
            head.len % 8 != 0 || !cn_bytes_take(&records, head.len, &bytes))
            return cn_fail(err, CN_ERR_FORMAT,
                           "the record at 0x%zx does not fit its block", off);
        t.flags = head.flags;
        if (!take_record(&t, head.type, bytes, err))
            return cn_fail_in(err, "record at 0x%zx", off);
    }
    return true;
}

static bool take_block(struct cn_gpu_records *r, struct cn_bytes bytes,
                       struct cn_error *err)
{
    struct cn_gpu_block block;
    struct cn_bytes records;

    if (!cn_gpu_block_decode(bytes, &block))
        return cn_fail(err, CN_ERR_FORMAT, "the block is cut off after %zu bytes",
                       bytes.len);
    if (block.magic == 0)
        return true; /* its thread had no time to write */
    if (block.magic != CN_GPU_BLOCK_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT, "a block begins with 0x%08" PRIx32,
                       block.magic);
    if (block.used < cn_gpu_block_size || block.used > CN_GPU_BLOCK_LEN)
        return cn_fail(err, CN_ERR_FORMAT, "%" PRIu32 " bytes of a block are used",
                       block.used);
    bool is_cut = !cn_bytes_slice(bytes, cn_gpu_block_size,
                                  block.used - cn_gpu_block_size, &records);
    if (is_cut)
        (void)cn_bytes_from(bytes, cn_gpu_block_size, &records);
    struct cn_gpu_writer_id by = {block.pid, block.tid, block.image};
    if (!cn_gpu_records_take(r, by, records, err))
        return false;
    return !is_cut ||
           cn_fail(err, CN_ERR_FORMAT, "the block is cut off after %zu bytes", bytes.len);
}

bool cn_gpu_records_take_file(struct cn_gpu_records *r, struct cn_bytes file,
                              struct cn_error *err)
{
    struct cn_gpu_file_head head;
    struct cn_error damage = {0};

    if (!cn_gpu_file_head_decode(file, &head) || head.magic != CN_GPU_FILE_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT, "no file of GPU work");
    if (head.version != CN_GPU_FILE_VERSION || head.block_len != CN_GPU_BLOCK_LEN)
        return cn_fail(err, CN_ERR_FORMAT, "version %" PRIu32 " is not known",
                       head.version);
    if (head.blocks_off < cn_gpu_file_head_size || head.blocks_off > file.len)
        return cn_fail(err, CN_ERR_FORMAT, "blocks begin at 0x%" PRIx64, head.blocks_off);
    r->lost_count += head.lost_count;
    r->ranges_are_contexts = head.flags & CN_GPU_BEGINS_WITH_RANGES;
    for (uint64_t off = head.blocks_off; off < file.len; off += CN_GPU_BLOCK_LEN) {
        struct cn_bytes block;
        struct cn_error problem = {0};

        if (!cn_bytes_slice(file, off, CN_GPU_BLOCK_LEN, &block))
            (void)cn_bytes_from(file, off, &block);
        if (take_block(r, block, &problem))
            continue;
        if (problem.kind != CN_ERR_FORMAT) {
            *err = problem;
            return false;
        }
        if (damage.kind == CN_ERR_NONE) {
            (void)cn_fail_in(&problem, "block at 0x%" PRIx64, off);
            damage = problem;
        }
    }
    if (damage.kind == CN_ERR_NONE)
        return true;
    *err = damage;
    return false;
}

struct cn_gpu_builder *cn_gpu_records_builder(struct cn_gpu_records *r)
{
    return r->builder;
}

struct cn_gpu_work *cn_gpu_records_finish(struct cn_gpu_records *r)
{
    struct cn_gpu_builder *builder = r->builder;

    r->builder = NULL;
    return cn_gpu_builder_finish(builder);
}

const char *cn_gpu_records_name(const struct cn_gpu_records *r, uint32_t number)
{
    const char *name = number < r->name_count ? r->names[number] : NULL;

    return name ? name : "";
}

uint32_t cn_gpu_records_name_count(const struct cn_gpu_records *r)
{
    return (uint32_t)r->name_count;
}

struct cn_gpu_path cn_gpu_records_path(const struct cn_gpu_records *r, uint32_t number)
{
    struct gpu_pair none = {CN_NONE, CN_NONE, CN_NONE, 0};
    struct gpu_pair pair = number < r->path_count ? r->paths[number] : none;

    return (struct cn_gpu_path){
        .stack = pair.stack < r->stack_count ? r->stacks[pair.stack] : CN_NONE,
        .call = cn_gpu_records_name(r, pair.name),
        .thread = pair.thread,
        .time_ns = pair.time_ns,
    };
}

struct cn_gpu_ranges *cn_gpu_records_ranges(struct cn_gpu_records *r)
{
    return cn_gpu_ranges_new(r->events, r->event_count);
}

bool cn_gpu_records_ranges_are_contexts(const struct cn_gpu_records *r)
{
    return r->ranges_are_contexts;
}

void cn_gpu_records_notes(const struct cn_gpu_records *r,
                          void (*visit)(void *arg, const char *text, uint64_t count),
                          void *arg)
{
    for (size_t i = 0; i < r->note_count; i++)
        visit(arg, r->notes[i].text, r->notes[i].count);
}

uint64_t cn_gpu_records_clock_error(const struct cn_gpu_records *r)
{
    return r->clock_error_ns;
}

uint64_t cn_gpu_records_lost(const struct cn_gpu_records *r)
{
    return r->lost_count;
}

bool cn_gpu_records_has_work(const struct cn_gpu_records *r)
{
    return r->has_work;
}

uint64_t cn_gpu_records_range_count(const struct cn_gpu_records *r)
{
    uint64_t count = 0;

    for (size_t i = 0; i < r->event_count; i++)
        count += r->events[i].kind == CN_GPU_RANGE_PUSH ||
                 r->events[i].kind == CN_GPU_RANGE_START ||
                 r->events[i].kind == CN_GPU_RANGE_MARK;
    return count;
}
