#include "gpu/cupti/activities.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/cupti/format.h"
#include "gpu/launch.h"
#include "gpu/shared.h"
#include "gpu/thread.h"

/* As in model/gpu/work.h, which belongs to the readers. */
enum { KERNEL, COPY, SET, ALLOC = 4, FREE, MIGRATION };
enum { COPY_KINDS = 11, MEMORY_KINDS = 8 };
enum { CLOCK_TRIES = 5 };

static const struct cn_cupti *cupti;
static uint8_t *buffers;
static _Atomic bool is_used[CN_CUPTI_BUFFERS];
static _Atomic uint32_t last_buffer; /* where the search for an unused one begins */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_over;

static void request(uint8_t **buffer, size_t *len, size_t *record_max)
{
    uint32_t first = atomic_fetch_add_explicit(&last_buffer, 1, memory_order_relaxed);

    *buffer = NULL;
    *len = *record_max = 0;
    for (uint32_t i = 0; i < CN_CUPTI_BUFFERS && !atomic_load(&is_over); i++) {
        uint32_t at = (first + i) % CN_CUPTI_BUFFERS;
        bool expected = false;

        if (atomic_compare_exchange_strong(&is_used[at], &expected, true)) {
            *buffer = buffers + (size_t)at * CN_CUPTI_BUFFER_LEN;
            *len = CN_CUPTI_BUFFER_LEN;
            return;
        }
    }
}

static void take_kernel(struct cn_gpu_thread *thread, struct cn_bytes bytes)
{
    struct cn_cupti_kernel k;

    if (!cn_cupti_kernel_decode(bytes, &k))
        return;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .kind = KERNEL,
                        .begin = k.start,
                        .end = k.end,
                        .correlation = k.correlation,
                        .registers = k.registers,
                        .device = k.device,
                        .context = k.context,
                        .stream = k.stream,
                        .name = cn_gpu_name_of((const char *)(uintptr_t)k.name),
                        .grid_x = k.grid_x,
                        .grid_y = k.grid_y,
                        .grid_z = k.grid_z,
                        .block_x = k.block_x,
                        .block_y = k.block_y,
                        .block_z = k.block_z,
                        .static_shared_len = k.static_shared,
                        .dynamic_shared_len = k.dynamic_shared,
                        .local_len = k.local_total,
                        .object = k.node,
                    },
                    0);
}

static void take_copy(struct cn_gpu_thread *thread, struct cn_bytes bytes)
{
    struct cn_cupti_copy c;

    if (!cn_cupti_copy_decode(bytes, &c))
        return;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .kind = COPY,
                        .detail = c.direction < COPY_KINDS ? c.direction : 0,
                        .begin = c.start,
                        .end = c.end,
                        .correlation = c.correlation,
                        .bytes = c.bytes,
                        .device = c.device,
                        .context = c.context,
                        .stream = c.stream,
                    },
                    0);
}

static void take_peer_copy(struct cn_gpu_thread *thread, struct cn_bytes bytes)
{
    enum { PEER_TO_PEER = COPY_KINDS - 1 };
    struct cn_cupti_peer_copy c;

    if (!cn_cupti_peer_copy_decode(bytes, &c))
        return;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .kind = COPY,
                        .detail = PEER_TO_PEER,
                        .begin = c.start,
                        .end = c.end,
                        .correlation = c.correlation,
                        .bytes = c.bytes,
                        .device = c.device,
                        .context = c.context,
                        .stream = c.stream,
                    },
                    0);
}

static void take_set(struct cn_gpu_thread *thread, struct cn_bytes bytes)
{
    struct cn_cupti_set s;

    if (!cn_cupti_set_decode(bytes, &s))
        return;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .kind = SET,
                        .detail = (uint8_t)(s.memory < MEMORY_KINDS ? s.memory : 0),
                        .begin = s.start,
                        .end = s.end,
                        .correlation = s.correlation,
                        .bytes = s.bytes,
                        .device = s.device,
                        .context = s.context,
                        .stream = s.stream,
                    },
                    0);
}

static void take_memory(struct cn_gpu_thread *thread, struct cn_bytes bytes)
{
    enum { ALLOCATED = 1, RELEASED = 2 };
    struct cn_cupti_memory m;

    if (!cn_cupti_memory_decode(bytes, &m) ||
        (m.operation != ALLOCATED && m.operation != RELEASED))
        return;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .kind = m.operation == ALLOCATED ? ALLOC : FREE,
                        .detail = (uint8_t)(m.memory < MEMORY_KINDS ? m.memory : 0),
                        .begin = m.time,
                        .end = m.time,
                        .correlation = m.correlation,
                        .bytes = m.bytes,
                        .device = m.device,
                        .context = m.context,
                        .stream = UINT32_MAX, /* none */
                        .object = m.address,
                    },
                    0);
}

static void take_unified(struct cn_gpu_thread *thread, struct cn_bytes bytes)
{
    enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 8 };
    struct cn_cupti_unified u;

    if (!cn_cupti_unified_decode(bytes, &u) ||
        (u.counter != CN_CUPTI_TO_DEVICE && u.counter != CN_CUPTI_TO_HOST &&
         u.counter != CN_CUPTI_PEER))
        return;
    cn_gpu_write_op(thread,
                    &(struct cn_gpu_op_record){
                        .kind = MIGRATION,
                        .detail = u.counter == CN_CUPTI_TO_DEVICE ? HOST_TO_DEVICE
                                  : u.counter == CN_CUPTI_TO_HOST ? DEVICE_TO_HOST
                                                                  : DEVICE_TO_DEVICE,
                        .begin = u.start,
                        .end = u.end,
                        .bytes = u.value,
                        .device = u.counter == CN_CUPTI_TO_HOST ? u.from : u.to,
                        .stream = u.stream,
                    },
                    0);
}

static void take_device(struct cn_gpu_thread *thread, struct cn_bytes bytes)
{
    struct cn_cupti_device d;

    if (!cn_cupti_device_decode(bytes, &d))
        return;
    const char *name = d.name ? (const char *)(uintptr_t)d.name : "";
    size_t len = strnlen(name, CN_GPU_NAME_LEN_MAX);
    struct cn_gpu_device_record device = {
        .number = d.id,
        .warps = d.warps,
        .warp_threads = d.warp_threads,
        .blocks = d.blocks,
        .registers = d.registers,
        .shared_len = d.shared,
        .processors = d.processors,
    };
    uint8_t *at = cn_gpu_writer_begin(&thread->writer, CN_GPU_IS_DEVICE,
                                      cn_gpu_device_record_size + len + 1);
    if (!at)
        return;
    at = cn_gpu_device_record_encode(&device, at);
    memcpy(at + cn_gpu_device_record_size, name, len);
    cn_gpu_writer_end(&thread->writer);
}

static const struct {
    uint32_t kind;
    void (*take)(struct cn_gpu_thread *thread, struct cn_bytes bytes);
} takers[] = {
    {CN_CUPTI_IS_CONCURRENT_KERNEL, take_kernel},
    {CN_CUPTI_IS_KERNEL, take_kernel},
    {CN_CUPTI_IS_COPY, take_copy},
    {CN_CUPTI_IS_PEER_COPY, take_peer_copy},
    {CN_CUPTI_IS_SET, take_set},

    {CN_CUPTI_IS_MEMORY, take_memory},
    {CN_CUPTI_IS_UNIFIED, take_unified},
    {CN_CUPTI_IS_DEVICE, take_device},

};

static void take_buffer(struct cn_gpu_thread *thread, uint8_t *buffer, size_t used)
{
    uint8_t *record = NULL;

    while (cupti->activity_next(buffer, used, &record) == CN_CUPTI_OK && record) {
        struct cn_bytes bytes = {record, (size_t)(buffer + used - record)};
        struct cn_cupti_record head;

        if (!cn_cupti_record_decode(bytes, &head))
            return;
        for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
            if (takers[i].kind == head.kind)
                takers[i].take(thread, bytes);
    }
}

void cn_cupti_write_dropped(void *context, uint32_t stream)
{
    size_t count = 0;

    if (cupti->activity_dropped(context, stream, &count) == CN_CUPTI_OK && count > 0)
        cn_gpu_note(count, "operations that CUPTI had no memory for");
}

/* CUPTI fills no other buffer of the thread until this returns. */
static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t len,
                     size_t used)
{
    struct cn_gpu_thread *thread = atomic_load(&is_over) ? NULL : cn_gpu_thread();

    (void)len;
    if (thread) {
        (void)pthread_mutex_lock(&lock);
        take_buffer(thread, buffer, used);
        cn_cupti_write_dropped(context, stream);
        cn_cupti_write_clocks();
        (void)pthread_mutex_unlock(&lock);
    }
    if (buffer >= buffers &&
        buffer < buffers + (size_t)CN_CUPTI_BUFFERS * CN_CUPTI_BUFFER_LEN)
        atomic_store(&is_used[(size_t)(buffer - buffers) / CN_CUPTI_BUFFER_LEN], false);
}

/* Of several tries, the one in which the two clocks were read at once best. */
void cn_cupti_write_clocks(void)
{
    struct cn_gpu_thread *thread = cn_gpu_thread();
    struct cn_gpu_clock best = {.error_ns = UINT64_MAX};

    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t before_ns = cn_gpu_now_ns(), gpu = 0;

        if (cupti->get_timestamp(&gpu) != CN_CUPTI_OK)
            return;
        uint64_t after_ns = cn_gpu_now_ns();
        if (after_ns - before_ns < best.error_ns)
            best = (struct cn_gpu_clock){gpu, before_ns + (after_ns - before_ns) / 2,
                                         after_ns - before_ns};
    }
    uint8_t *at =
        thread ? cn_gpu_writer_begin(&thread->writer, CN_GPU_IS_CLOCK, cn_gpu_clock_size)
               : NULL;
    if (!at)
        return;
    (void)cn_gpu_clock_encode(&best, at);
    cn_gpu_writer_end(&thread->writer);
}

bool cn_cupti_activities_start(const struct cn_cupti *library, int *result)
{
    void *at =
        mmap(NULL, (size_t)CN_CUPTI_BUFFERS * CN_CUPTI_BUFFER_LEN, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *result = CN_CUPTI_OK;
    if (at == MAP_FAILED)
        return false;
    cupti = library;
    buffers = at;
    *result = cupti->activity_register(request, complete);
    return *result == CN_CUPTI_OK;
}

void cn_cupti_activities_abandon(void)
{
    atomic_store(&is_over, true);
}
