#include "model/gpu/builder.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "model/contexts/context.h"
#include "model/gpu/memory.h"

/* An operation that waits for its launch. */
struct pending {
    uint64_t correlation;
    uint32_t pid, op;
};

struct owned_work {
    struct cn_gpu_work work; /* first */
    struct cn_names names;
};

struct cn_gpu_builder {
    struct owned_work *owned;
    size_t device_capacity, stream_capacity, shape_capacity, op_capacity;
    struct cn_map stream_of, shape_of; /* by hash */
    struct pending *pending;
    struct cn_gpu_launch *launches;
    size_t pending_count, pending_capacity, launch_count, launch_capacity;
    struct cn_gpu_memory_event *memory;
    size_t memory_count, memory_capacity;
};

struct cn_gpu_builder *cn_gpu_builder_new(void)
{
    struct cn_gpu_builder *b = cn_alloc(1, sizeof(*b));

    b->owned = cn_alloc(1, sizeof(*b->owned));
    return b;
}

static void release(struct cn_gpu_builder *b)
{
    cn_map_done(&b->stream_of);
    cn_map_done(&b->shape_of);
    free(b->pending);
    free(b->launches);
    free(b->memory);
    free(b);
}

void cn_gpu_builder_free(struct cn_gpu_builder *b)
{
    if (!b)
        return;
    cn_gpu_work_free(&b->owned->work);
    release(b);
}

void cn_gpu_work_free(struct cn_gpu_work *work)
{
    struct owned_work *owned = (struct owned_work *)work;

    if (!work)
        return;
    free(work->devices);
    free(work->streams);
    free(work->shapes);
    free(work->ops);
    free(work->by_launch);
    cn_names_done(&owned->names);
    free(owned);
}

static const char *keep(struct owned_work *owned, const char *name)
{
    return cn_names_keep(&owned->names, name ? name : "");
}

bool cn_gpu_builder_device(struct cn_gpu_builder *b, const struct cn_gpu_device *device)
{
    struct cn_gpu_work *work = &b->owned->work;
    size_t count = work->device_count, i = 0;

    while (i < count && work->devices[i].number != device->number)
        i++;
    if (i == CN_GPU_DEVICE_MAX)
        return false;
    if (i == count) {
        CN_GROW(work->devices, count, b->device_capacity);
        work->device_count++;
    }
    work->devices[i] = *device;
    work->devices[i].name = keep(b->owned, device->name);
    return true;
}

uint32_t cn_gpu_builder_stream(struct cn_gpu_builder *b, uint32_t pid, uint32_t device,
                               uint32_t context, uint64_t number)
{
    struct cn_gpu_work *work = &b->owned->work;
    uint64_t key[] = {pid, device, context, number};
    size_t count = work->stream_count;
    uint64_t hash = XXH3_64bits(key, sizeof(key));
    uint32_t known = cn_map_find(&b->stream_of, hash, CN_NONE);

    if (known != CN_NONE || count == CN_GPU_STREAM_MAX)
        return known;
    CN_GROW(work->streams, count, b->stream_capacity);
    work->streams[count] = (struct cn_gpu_stream){.pid = pid,
                                                  .device = device,
                                                  .context = context,
                                                  .number = number,
                                                  .thread = CN_NONE};
    work->stream_count++;
    return *cn_map_at(&b->stream_of, hash, (uint32_t)count);
}

struct cn_gpu_stream *cn_gpu_builder_stream_at(struct cn_gpu_builder *b, uint32_t stream)
{
    return &b->owned->work.streams[stream];
}

uint32_t cn_gpu_builder_stream_count(const struct cn_gpu_builder *b)
{
    return b->owned->work.stream_count;
}

uint32_t cn_gpu_builder_shape(struct cn_gpu_builder *b, const struct cn_gpu_shape *shape)
{
    struct cn_gpu_work *work = &b->owned->work;
    size_t count = work->shape_count;
    uint32_t *known =
        cn_map_at(&b->shape_of, XXH3_64bits(shape, sizeof(*shape)), (uint32_t)count);

    if (*known == count) {
        CN_GROW(work->shapes, count, b->shape_capacity);
        work->shapes[count] = *shape;
        work->shape_count++;
    }
    return *known;
}

void cn_gpu_builder_op(struct cn_gpu_builder *b, uint32_t pid, uint64_t correlation,
                       const struct cn_gpu_op *op)
{
    struct cn_gpu_work *work = &b->owned->work;
    size_t count = work->op_count;

    if (count == UINT32_MAX - 1)
        return;
    if (correlation != 0) {
        CN_PUSH(b->pending, b->pending_count, b->pending_capacity,
                (struct pending){correlation, pid, (uint32_t)count});
    }
    CN_GROW(work->ops, count, b->op_capacity);
    work->ops[count] = *op;
    if (op->end_ns < op->begin_ns)
        work->ops[count].end_ns = op->begin_ns;
    work->op_count++;
}

void cn_gpu_builder_memory(struct cn_gpu_builder *b, uint32_t pid, uint64_t address)
{
    uint32_t count = b->owned->work.op_count;

    if (count > 0) {
        CN_PUSH(b->memory, b->memory_count, b->memory_capacity,
                (struct cn_gpu_memory_event){
                    .address = address, .pid = pid, .op = count - 1});
    }
}

void cn_gpu_builder_launch(struct cn_gpu_builder *b, const struct cn_gpu_launch *launch)
{
    if (launch->correlation != 0) {
        CN_PUSH(b->launches, b->launch_count, b->launch_capacity, *launch);
    }
}

void cn_gpu_builder_move(struct cn_gpu_builder *b, const uint32_t *threads,
                         uint64_t base_ns)
{
    struct cn_gpu_work *work = &b->owned->work;

    for (uint32_t i = 0; i < work->stream_count; i++)
        if (work->streams[i].thread != CN_NONE)
            work->streams[i].thread = threads[work->streams[i].thread];
    for (uint32_t i = 0; i < work->op_count; i++) {
        struct cn_gpu_op *op = &work->ops[i];

        op->begin_ns += base_ns;
        op->end_ns += base_ns;
        if (op->thread != CN_NONE) {
            op->thread = threads[op->thread];
            op->launch_ns += base_ns;
        }
    }
    for (size_t i = 0; i < b->launch_count; i++) {
        b->launches[i].thread = threads[b->launches[i].thread];
        b->launches[i].launch_ns += base_ns;
    }
}

/* Give operations the launches with their correlation ids. */
static void join(struct cn_gpu_builder *b)
{
    struct cn_gpu_work *work = &b->owned->work;
    size_t at = 0;

    CN_SORT(b->launches, b->launch_count, CN_UP(struct cn_gpu_launch, pid),
            CN_UP(struct cn_gpu_launch, correlation),
            CN_UP(struct cn_gpu_launch, launch_ns), CN_UP(struct cn_gpu_launch, thread));
    CN_SORT(b->pending, b->pending_count, CN_UP(struct pending, pid),
            CN_UP(struct pending, correlation), CN_UP(struct pending, op));
    for (size_t i = 0; i < b->pending_count; i++) {
        const struct pending *pending = &b->pending[i];
        const struct cn_gpu_launch *launch;

        while (at < b->launch_count &&
               (b->launches[at].pid < pending->pid ||
                (b->launches[at].pid == pending->pid &&
                 b->launches[at].correlation < pending->correlation)))
            at++;
        launch = &b->launches[at];
        if (at == b->launch_count || launch->pid != pending->pid ||
            launch->correlation != pending->correlation)
            continue;
        work->ops[pending->op].thread = launch->thread;
        work->ops[pending->op].launch_ns = launch->launch_ns;
        work->ops[pending->op].path = launch->path;
    }
}

/* The end of an operation. */
struct op_end {
    uint64_t time_ns;
    uint32_t op;
};

/* What has added up over time: of operations that share a device, at any moment each has an equal
 * share of the threads that wait. */
struct gpu_sweep {
    uint64_t at_ns;
    double waited_ns; /* by an operation */
    uint64_t idle_ns; /* of the device */
    uint32_t busy, waiting;
    uint64_t free_ns; /* when the last operation ended; 0: none has begun */
    bool has_begun;
};

static void advance(struct gpu_sweep *s, uint64_t time_ns)
{
    uint64_t passed_ns = time_ns - s->at_ns;

    if (s->busy > 0)
        s->waited_ns += (double)passed_ns * s->waiting / s->busy;
    else if (s->free_ns > 0)
        s->idle_ns += passed_ns;
    s->at_ns = time_ns;
}

/* One operation begins or ends; `*since_ns` is what had added up when it began. */
static void take_edge(struct gpu_sweep *s, struct cn_gpu_op *op, bool is_end,
                      double *since_ns)
{
    if (cn_gpu_op_is_busy(op)) {
        if (is_end) {
            op->wait_ns = (uint64_t)(s->waited_ns - *since_ns + 0.5);
            s->busy--;
        } else {
            op->idle_ns = s->busy == 0 && s->free_ns > 0 ? s->at_ns - s->free_ns : 0;
            *since_ns = s->waited_ns;
            s->busy++;
        }
        s->free_ns = s->at_ns;
    } else if (is_end) {
        op->idle_ns = s->idle_ns - (uint64_t)*since_ns;
        s->waiting--;
    } else {
        *since_ns = (double)s->idle_ns;
        s->waiting++;
    }
}

static bool has_edges(const struct cn_gpu_op *op)
{
    return (cn_gpu_op_is_busy(op) || cn_gpu_op_is_wait(op)) && op->device != CN_NONE;
}

static void sweep_to(struct gpu_sweep *sweeps, struct cn_gpu_op *op, bool is_end,
                     double *since_ns)
{
    struct gpu_sweep *sweep = &sweeps[op->device];
    uint64_t time_ns = is_end ? op->end_ns : op->begin_ns;

    if (!sweep->has_begun)
        *sweep = (struct gpu_sweep){.at_ns = time_ns, .has_begun = true};
    advance(sweep, time_ns);
    take_edge(sweep, op, is_end, since_ns);
}

/* Fill in idle_ns and wait_ns. Operations are in the order of their begins. */
static void derive(struct cn_gpu_work *work)
{
    struct op_end *ends = cn_alloc(work->op_count, sizeof(*ends));
    double *since_ns = cn_alloc(work->op_count, sizeof(*since_ns));
    struct gpu_sweep *sweeps = cn_alloc(work->device_count, sizeof(*sweeps));
    size_t count = 0, next = 0;

    for (uint32_t i = 0; i < work->op_count; i++)
        if (has_edges(&work->ops[i]))
            ends[count++] = (struct op_end){work->ops[i].end_ns, i};
    CN_SORT(ends, count, CN_UP(struct op_end, time_ns), CN_UP(struct op_end, op));
    /* What begins when another ends leaves no gap; an empty operation begins before it ends. */
    for (uint32_t i = 0; next < count; i++) {
        while (next < count &&
               (i == work->op_count || ends[next].time_ns < work->ops[i].begin_ns)) {
            uint32_t at = ends[next++].op;

            sweep_to(sweeps, &work->ops[at], true, &since_ns[at]);
        }
        if (i < work->op_count && has_edges(&work->ops[i]))
            sweep_to(sweeps, &work->ops[i], false, &since_ns[i]);
    }
    free(ends);
    free(since_ns);
    free(sweeps);
}

/* Replace the numbers of devices by indices, and add those that only operations have. */
static void index_devices(struct cn_gpu_builder *b)
{
    struct cn_gpu_work *work = &b->owned->work;
    struct cn_map known = {0};

    for (uint32_t i = 0; i < work->device_count; i++)
        *cn_map_at(&known, work->devices[i].number, 0) = 1;
    for (uint32_t i = 0; i < work->op_count; i++) {
        struct cn_gpu_op *op = &work->ops[i];

        if (op->stream != CN_NONE)
            op->device = work->streams[op->stream].device;
        if (op->device == CN_NONE || cn_map_find(&known, op->device, 0))
            continue;
        if (cn_gpu_builder_device(b, &(struct cn_gpu_device){.number = op->device}))
            *cn_map_at(&known, op->device, 0) = 1;
        else
            op->device = CN_NONE;
    }
    CN_SORT(work->devices, work->device_count, CN_UP(struct cn_gpu_device, number));
    for (uint32_t i = 0; i < work->device_count; i++)
        *cn_map_at(&known, work->devices[i].number, 0) = i;
    for (uint32_t i = 0; i < work->op_count; i++)
        if (work->ops[i].device != CN_NONE)
            work->ops[i].device = cn_map_find(&known, work->ops[i].device, CN_NONE);
    cn_map_done(&known);
}

/* Sort the streams; operations follow. */
static void sort_streams(struct cn_gpu_work *work)
{
    struct numbered {
        struct cn_gpu_stream stream;
        uint32_t before;
    } *list = cn_alloc(work->stream_count, sizeof(*list));
    uint32_t *after = cn_alloc(work->stream_count, sizeof(*after));

    for (uint32_t i = 0; i < work->stream_count; i++)
        list[i] = (struct numbered){work->streams[i], i};
    CN_SORT(list, work->stream_count, CN_UP(struct numbered, stream.node),
            CN_UP(struct numbered, stream.device), CN_UP(struct numbered, stream.pid),
            CN_UP(struct numbered, stream.context),
            CN_UP(struct numbered, stream.number));
    for (uint32_t i = 0; i < work->stream_count; i++) {
        work->streams[i] = list[i].stream;
        after[list[i].before] = i;
    }
    for (uint32_t i = 0; i < work->op_count; i++)
        if (work->ops[i].stream != CN_NONE)
            work->ops[i].stream = after[work->ops[i].stream];
    free(list);
    free(after);
}

/* The launch of an operation, for sorting. */
struct launched {
    uint64_t launch_ns;
    uint32_t thread, op;
};

static void list_launches(struct cn_gpu_work *work)
{
    struct launched *list = cn_alloc(work->op_count, sizeof(*list));
    uint32_t count = 0;

    work->lonely_count = work->early_count = 0;
    work->early_ns = 0;
    for (uint32_t i = 0; i < work->op_count; i++) {
        const struct cn_gpu_op *op = &work->ops[i];

        if (op->thread == CN_NONE) {
            work->lonely_count += op->kind != CN_GPU_MIGRATION; /* no call asks for it */
            continue;
        }
        list[count++] = (struct launched){op->launch_ns, op->thread, i};
        if (op->begin_ns < op->launch_ns) {
            work->early_count++;
            if (op->launch_ns - op->begin_ns > work->early_ns)
                work->early_ns = op->launch_ns - op->begin_ns;
        }
    }
    CN_SORT(list, count, CN_UP(struct launched, thread),
            CN_UP(struct launched, launch_ns), CN_UP(struct launched, op));
    free(work->by_launch);
    work->by_launch = cn_alloc(count, sizeof(*work->by_launch));
    work->launch_count = count;
    for (uint32_t i = 0; i < count; i++)
        work->by_launch[i] = list[i].op;
    free(list);
}

void cn_gpu_work_arrange(struct cn_gpu_work *work)
{
    CN_SORT(work->ops, work->op_count, CN_UP(struct cn_gpu_op, begin_ns),
            CN_UP(struct cn_gpu_op, end_ns), CN_UP(struct cn_gpu_op, stream),
            CN_UP(struct cn_gpu_op, thread), CN_UP(struct cn_gpu_op, launch_ns));
    list_launches(work);
}

/* How many units of `len` fit, rounded up to `grain`; `most` if nothing is known. */
static uint32_t fits(uint32_t limit, uint64_t len, uint32_t grain, uint32_t most)
{
    uint64_t unit = (len + grain - 1) / grain * grain;

    return limit == 0 || unit == 0 || limit / unit > most ? most
                                                          : (uint32_t)(limit / unit);
}

/* Fill in the theoretical occupancy of a shape on a device, where its limits are known. */
static void occupy(struct cn_gpu_shape *shape, const struct cn_gpu_device *device)
{
    enum { REGISTER_GRAIN = 256, SHARED_GRAIN = 128 }; /* of a warp, of a block */
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    uint64_t shared_len = (uint64_t)shape->static_shared_len + shape->dynamic_shared_len;
    uint32_t warp_threads = device->warp_threads;

    if (device->warps == 0 || warp_threads == 0 || threads == 0 || threads > UINT16_MAX)
        return;
    uint32_t warps = (uint32_t)((threads + warp_threads - 1) / warp_threads);
    uint32_t blocks = fits(device->warps, warps, 1, UINT16_MAX);
    uint32_t by_registers =
        fits(device->registers, (uint64_t)shape->registers * warp_threads, REGISTER_GRAIN,
             UINT16_MAX) /
        warps;
    uint32_t by_shared = fits(device->shared_len, shared_len, SHARED_GRAIN, UINT16_MAX);

    if (device->blocks > 0 && blocks > device->blocks)
        blocks = device->blocks;
    if (blocks > by_registers)
        blocks = by_registers;
    if (blocks > by_shared)
        blocks = by_shared;
    shape->max_warps = device->warps;
    shape->active_warps = blocks * warps;
}

static void occupy_all(struct cn_gpu_work *work)
{
    for (uint32_t i = 0; i < work->op_count; i++) {
        const struct cn_gpu_op *op = &work->ops[i];

        if (op->shape != CN_NONE && op->device != CN_NONE &&
            work->shapes[op->shape].max_warps == 0)
            occupy(&work->shapes[op->shape], &work->devices[op->device]);
    }
}

struct cn_gpu_work *cn_gpu_builder_finish(struct cn_gpu_builder *b)
{
    struct cn_gpu_work *work = &b->owned->work;

    if (work->op_count == 0) {
        cn_gpu_builder_free(b);
        return NULL;
    }
    join(b);
    /* What follows needs as much memory. */
    free(b->pending);
    free(b->launches);
    b->pending = NULL;
    b->launches = NULL;
    index_devices(b);
    sort_streams(work);
    cn_gpu_memory_join(work, b->memory, b->memory_count);
    cn_gpu_work_arrange(work);
    derive(work);
    cn_gpu_memory_peaks(work);
    occupy_all(work);
    release(b);
    return work;
}

static void append(struct cn_gpu_work *to, struct owned_work *owned,
                   const struct cn_gpu_work *from, uint32_t node)
{
    uint32_t first_stream = to->stream_count, first_shape = to->shape_count;
    uint32_t first_device = to->device_count;

    for (uint32_t i = 0; i < from->device_count; i++) {
        to->devices[to->device_count] = from->devices[i];
        to->devices[to->device_count].node = node;
        to->devices[to->device_count++].name = keep(owned, from->devices[i].name);
    }
    for (uint32_t i = 0; i < from->stream_count; i++) {
        to->streams[to->stream_count] = from->streams[i];
        to->streams[to->stream_count++].node = node;
    }
    if (from->shape_count > 0)
        memcpy(to->shapes + first_shape, from->shapes,
               from->shape_count * sizeof(*to->shapes));
    to->shape_count += from->shape_count;
    for (uint32_t i = 0; i < from->op_count; i++) {
        struct cn_gpu_op *op = &to->ops[to->op_count++];

        *op = from->ops[i];
        op->device += op->device != CN_NONE ? first_device : 0;
        op->stream += op->stream != CN_NONE ? first_stream : 0;
        op->shape += op->shape != CN_NONE ? first_shape : 0;
    }
}

struct cn_gpu_work *cn_gpu_work_concat(const struct cn_gpu_work *const *list,
                                       size_t count)
{
    struct owned_work *owned = cn_alloc(1, sizeof(*owned));
    struct cn_gpu_work *work = &owned->work;
    size_t devices = 0, streams = 0, shapes = 0, ops = 0;

    for (size_t i = 0; i < count; i++)
        if (list[i]) {
            devices += list[i]->device_count;
            streams += list[i]->stream_count;
            shapes += list[i]->shape_count;
            ops += list[i]->op_count;
        }
    if (ops == 0 || ops > UINT32_MAX - 1) {
        cn_gpu_work_free(work);
        return NULL;
    }
    work->devices = cn_alloc(devices, sizeof(*work->devices));
    work->streams = cn_alloc(streams, sizeof(*work->streams));
    work->shapes = cn_alloc(shapes, sizeof(*work->shapes));
    work->ops = cn_alloc(ops, sizeof(*work->ops));
    for (size_t i = 0; i < count; i++)
        if (list[i])
            append(work, owned, list[i], (uint32_t)i);
    return work;
}
