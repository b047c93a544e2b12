#include "sampler/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/host/library.h"
#include "base/run/clock.h"
#include "formats/exchange/perf/writer.h"
#include "gpu/shared.h"
#include "sampler/collect.h"
#include "sampler/synthesis.h"

enum {
    RECORD_LEN = CN_PERF_WRITER_RECORD_MAX - 64, /* of perf.data, at most */
    LOOK_NS = 10000000,
    LOOKS_MAX = 200, /* for mappings: code that was made at run time has none */
};

struct cn_gpu_open_block {
    uint64_t off;
    uint32_t used; /* bytes that were read */
};

bool cn_sample_gpu_open(struct cn_sample_gpu *gpu, uint32_t flags, struct cn_error *err)
{
    void *at = MAP_FAILED;

    *gpu = (struct cn_sample_gpu){.fd = -1};
    if (!cn_own_library_find(CN_GPU_LIBRARY, &gpu->library, err))
        return false;
    gpu->fd = memfd_create("cairn-gpu", MFD_CLOEXEC);
    if (gpu->fd >= 0 && ftruncate(gpu->fd, CN_GPU_BLOCKS_OFF) == 0)
        at =
            mmap(NULL, CN_GPU_BLOCKS_OFF, PROT_READ | PROT_WRITE, MAP_SHARED, gpu->fd, 0);
    if (at == MAP_FAILED) {
        (void)cn_fail_errno(err, "no memory for GPU work");
        cn_sample_gpu_close(gpu);
        return false;
    }
    gpu->head = at;
    gpu->head->version = CN_GPU_FILE_VERSION;
    gpu->head->block_len = CN_GPU_BLOCK_LEN;
    gpu->head->flags = flags;
    gpu->head->blocks_off = gpu->known_off = CN_GPU_BLOCKS_OFF;
    atomic_store(&gpu->head->next_off, CN_GPU_BLOCKS_OFF);
    atomic_store(&gpu->head->limit_off, (uint64_t)CN_GPU_BLOCKS_OFF + CN_GPU_ROOM_LEN);
    gpu->head->magic = CN_GPU_FILE_MAGIC;
    (void)snprintf(gpu->path, sizeof(gpu->path), "/proc/%d/fd/%d", (int)getpid(),
                   gpu->fd);
    return true;
}

void cn_sample_gpu_close(struct cn_sample_gpu *gpu)
{
    if (gpu->head)
        (void)munmap(gpu->head, CN_GPU_BLOCKS_OFF);
    if (gpu->fd >= 0)
        (void)close(gpu->fd);
    free(gpu->library);
    free(gpu->blocks);
    cn_text_done(&gpu->bytes);
    cn_text_done(&gpu->record);
    cn_text_done(&gpu->notes);
    *gpu = (struct cn_sample_gpu){.fd = -1};
}

uint64_t cn_sample_gpu_lost(const struct cn_sample_gpu *gpu)
{
    return gpu->head ? atomic_load(&gpu->head->lost_count) : 0;
}

void cn_sample_gpu_put_table(struct cn_sample_gpu *gpu, uint32_t pid,
                             const struct cn_frame_table *table)
{
    struct cn_gpu_table *tables =
        (struct cn_gpu_table *)(void *)((uint8_t *)gpu->head + CN_GPU_TABLES_OFF);
    struct cn_gpu_table *to = NULL;

    for (size_t i = 0; i < CN_GPU_TABLES; i++) {
        uint32_t used_by = atomic_load_explicit(&tables[i].pid, memory_order_relaxed);

        if (used_by == pid || (used_by == 0 && !to))
            to = &tables[i];
        if (used_by == pid)
            break;
    }
    if (!to)
        return;
    atomic_store_explicit(&to->pid, 0, memory_order_release);
    if (!table)
        return;
    to->table = *table;
    atomic_store_explicit(&to->pid, pid, memory_order_release);
}

/* Records of one thread that are being written to perf.data. */
struct gpu_output {
    struct cn_sample_gpu *gpu;
    struct cn_sample_collector *collector;
    uint64_t time_ns;
    uint32_t pid, tid, image;
};

static bool end_record(struct gpu_output *o, struct cn_error *err)
{
    struct cn_text *record = &o->gpu->record;
    struct cn_perf_head head = {.type = CN_PERF_HEADER_EVENT_TYPE,
                                .size = (uint16_t)record->len};
    struct cn_perf_gpu body = {.magic = CN_PERF_GPU_MAGIC,
                               .time_ns = o->time_ns,
                               .pid = o->pid,
                               .tid = o->tid,
                               .image = o->image};

    if (record->len <= cn_perf_head_size + cn_perf_gpu_size)
        return true;
    (void)cn_perf_head_encode(&head, (uint8_t *)record->chars);
    (void)cn_perf_gpu_encode(&body, (uint8_t *)record->chars + cn_perf_head_size);
    bool ok = cn_perf_writer_add(o->collector->writer, cn_wire_view(record), err);
    cn_text_clear(record);
    return ok;
}

static bool add_record(struct gpu_output *o, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_text *record = &o->gpu->record;

    if (bytes.len > RECORD_LEN)
        return true;
    if (record->len + bytes.len > RECORD_LEN && !end_record(o, err))
        return false;
    if (record->len == 0)
        cn_text_fill(record, '\0', cn_perf_head_size + cn_perf_gpu_size);
    cn_text_add(record, (const char *)bytes.ptr, bytes.len);
    return true;
}

/* Look up the mappings of the process where code is unknown. */
static bool look_up(struct gpu_output *o, const uint64_t *chain, size_t count,
                    struct cn_error *err)
{
    const struct cn_unwind_space *space = cn_unwound_space(&o->collector->stacks, o->pid);
    struct cn_synthesis to = {cn_collector_take, o->collector, o->time_ns, false};
    size_t known = 0;

    while (space && known < count && cn_unwind_space_find(space, chain[known]))
        known++;
    if (known == count || o->gpu->look_count == LOOKS_MAX ||
        o->time_ns - o->gpu->looked_ns < LOOK_NS)
        return true;
    o->gpu->looked_ns = o->time_ns;
    o->gpu->look_count++;
    return cn_synthesize_process(&to, (pid_t)o->pid, err);
}

/* A stack with the functions of its interpreter as addresses. */
static bool add_stack(struct gpu_output *o, struct cn_bytes bytes, struct cn_error *err)
{
    uint64_t chain[CN_GPU_STACK_MAX], words[CN_GPU_STACK_WORDS_MAX];
    uint8_t encoded[cn_gpu_stack_size + 8 * CN_GPU_STACK_MAX];
    struct cn_unwound_task task = {o->pid, o->tid, o->time_ns};
    struct cn_bytes addresses, rest;
    struct cn_gpu_stack stack;

    if (!cn_gpu_stack_decode(bytes, &stack) || stack.count > CN_GPU_STACK_MAX ||
        stack.word_count > CN_GPU_STACK_WORDS_MAX || stack.head_len > stack.word_count ||
        !cn_bytes_array(bytes, cn_gpu_stack_size, stack.count, 8, &addresses) ||
        !cn_bytes_array(bytes, cn_gpu_stack_size + addresses.len, stack.word_count, 8,
                        &rest))
        return true;
    memcpy(chain, addresses.ptr, addresses.len);
    memcpy(words, rest.ptr, rest.len);
    if (!look_up(o, chain, stack.count, err))
        return false;
    struct cn_frames_found found = {
        .language = stack.language,
        .head_len = stack.head_len,
        .row_len = stack.row_len,
        .is_cut = stack.is_cut,
        .word_count = stack.word_count,
    };
    size_t count = stack.count;
    if (stack.word_count > 0)
        count = cn_unwound_name(&o->collector->stacks, &task, &found, words, chain, count,
                                CN_GPU_STACK_MAX);
    if (!cn_collector_write_names(o->collector, &task, chain, count, err))
        return false;
    stack = (struct cn_gpu_stack){.id = stack.id, .count = (uint32_t)count};
    (void)cn_gpu_stack_encode(&stack, encoded);
    struct cn_gpu_record head = {.type = CN_GPU_IS_STACK,
                                 .len = (uint32_t)(cn_gpu_stack_size + 8 * count)};
    (void)cn_gpu_record_encode(&head, encoded);
    for (size_t i = 0; i < count; i++)
        cn_u64_put(encoded + cn_gpu_stack_size + 8 * i, chain[i]);
    return add_record(o, (struct cn_bytes){encoded, head.len}, err);
}

static void keep_note(struct cn_sample_gpu *gpu, struct cn_bytes bytes)
{
    const char *text = cn_bytes_string(bytes, cn_gpu_note_size);
    struct cn_gpu_note note;

    if (!text || !cn_gpu_note_decode(bytes, &note) || note.count > 0 ||
        (gpu->notes.len > 0 && strstr(cn_text_str(&gpu->notes), text)))
        return;
    cn_text_printf(&gpu->notes, "%s\n", text);
}

static bool begins_range(struct cn_bytes bytes)
{
    struct cn_gpu_range range;

    return cn_gpu_range_decode(bytes, &range) &&
           (range.kind == CN_GPU_RANGE_PUSH || range.kind == CN_GPU_RANGE_START ||
            range.kind == CN_GPU_RANGE_MARK);
}

static bool take_records(struct gpu_output *o, struct cn_bytes rest, struct cn_error *err)
{
    struct cn_gpu_record head;
    struct cn_bytes bytes;

    /* The program may have changed them: what does not fit ends the block. */
    while (cn_gpu_record_decode(rest, &head) && head.len >= cn_gpu_record_size &&
           cn_bytes_take(&rest, head.len, &bytes)) {
        o->gpu->op_count += head.type == CN_GPU_IS_OP;
        if (head.type == CN_GPU_IS_RANGE)
            o->gpu->range_count += begins_range(bytes);
        else if (head.type != CN_GPU_IS_NAME)
            o->gpu->has_started = true;
        if (head.type == CN_GPU_IS_NOTE)
            keep_note(o->gpu, bytes);
        if (!(head.type == CN_GPU_IS_STACK ? add_stack(o, bytes, err)
                                           : add_record(o, bytes, err)))
            return false;
    }
    return end_record(o, err);
}

bool cn_sample_gpu_ask_ranges(struct cn_sample_gpu *gpu,
                              struct cn_sample_collector *collector, struct cn_error *err)
{
    struct gpu_output o = {.gpu = gpu, .collector = collector, .time_ns = cn_clock_ns()};
    struct cn_gpu_record head = {.type = CN_GPU_IS_RANGE, .len = cn_gpu_range_size};
    struct cn_gpu_range range = {.kind = CN_GPU_RANGES_ARE_CONTEXTS};
    uint8_t bytes[cn_gpu_range_size];

    (void)cn_gpu_range_encode(&range, bytes);
    (void)cn_gpu_record_encode(&head, bytes);
    return add_record(&o, (struct cn_bytes){bytes, sizeof(bytes)}, err) &&
           end_record(&o, err);
}

static bool read_head(const struct cn_sample_gpu *gpu, uint64_t off,
                      struct cn_gpu_block *head)
{
    uint8_t bytes[cn_gpu_block_size];

    return pread(gpu->fd, bytes, sizeof(bytes), (off_t)off) == (ssize_t)sizeof(bytes) &&
           cn_gpu_block_decode((struct cn_bytes){bytes, sizeof(bytes)}, head) &&
           head->magic == CN_GPU_BLOCK_MAGIC;
}

/* Read what a thread has added to a block. `*is_done`: it adds no more. */
static bool read_block(struct cn_sample_gpu *gpu, struct cn_sample_collector *collector,
                       struct cn_gpu_open_block *block, bool *is_done,
                       struct cn_error *err)
{
    struct gpu_output o = {.gpu = gpu, .collector = collector, .time_ns = cn_clock_ns()};
    struct cn_gpu_block head;

    *is_done = false;
    if (!read_head(gpu, block->off, &head))
        return true;
    *is_done = head.is_full || (kill((pid_t)head.pid, 0) != 0 && errno == ESRCH);
    /* It may have added something before it ended. */
    if (*is_done && !read_head(gpu, block->off, &head))
        return true;
    if (head.used > CN_GPU_BLOCK_LEN || head.used <= block->used)
        return true;
    size_t len = head.used - block->used;
    cn_text_clear(&gpu->bytes);
    char *to = cn_text_room(&gpu->bytes, len);
    if (pread(gpu->fd, to, len, (off_t)(block->off + block->used)) != (ssize_t)len)
        return true;
    block->used = head.used;
    o.pid = head.pid;
    o.tid = head.tid;
    o.image = head.image;
    return take_records(&o, (struct cn_bytes){(const uint8_t *)to, len}, err);
}

bool cn_sample_gpu_read(struct cn_sample_gpu *gpu, struct cn_sample_collector *collector,
                        struct cn_error *err)
{
    size_t left = 0;
    bool ok = true;

    if (!gpu->head)
        return true;
    uint64_t next_off = atomic_load(&gpu->head->next_off);
    for (; gpu->known_off < next_off; gpu->known_off += CN_GPU_BLOCK_LEN)
        CN_PUSH(gpu->blocks, gpu->count, gpu->capacity,
                (struct cn_gpu_open_block){gpu->known_off, cn_gpu_block_size});
    for (size_t i = 0; i < gpu->count; i++) {
        struct cn_gpu_open_block block = gpu->blocks[i];
        bool is_done = false;

        ok = ok && read_block(gpu, collector, &block, &is_done, err);
        if (is_done)
            (void)fallocate(gpu->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            (off_t)block.off, CN_GPU_BLOCK_LEN);
        else
            gpu->blocks[left++] = block;
    }
    gpu->count = left;
    atomic_store(&gpu->head->limit_off,
                 next_off + CN_GPU_ROOM_LEN - (uint64_t)left * CN_GPU_BLOCK_LEN);
    return ok;
}
