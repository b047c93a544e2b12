#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "model/contexts/context.h"
#include "model/gpu/builder.h"
#include "model/gpu/memory.h"
#include "model/gpu/metrics.h"
#include "model/gpu/timelines.h"
#include "model/heap_history.h"

enum { PID = 7, THREAD = 3 };

static struct cn_gpu_op op_of(uint8_t kind, uint64_t begin_ns, uint64_t end_ns,
                              uint32_t stream)
{
    return (struct cn_gpu_op){.begin_ns = begin_ns,
                              .end_ns = end_ns,
                              .thread = CN_NONE,
                              .device = 0,
                              .stream = stream,
                              .place = 1,
                              .path = CN_NONE,
                              .shape = CN_NONE,
                              .kind = kind};
}

static void add_op(struct cn_gpu_builder *b, uint64_t correlation, struct cn_gpu_op op)
{
    cn_gpu_builder_op(b, PID, correlation, &op);
}

static void add_launch(struct cn_gpu_builder *b, uint64_t correlation, uint64_t time_ns,
                       uint32_t pid)
{
    cn_gpu_builder_launch(b, &(struct cn_gpu_launch){.correlation = correlation,
                                                     .launch_ns = time_ns,
                                                     .pid = pid,
                                                     .thread = THREAD,
                                                     .path = CN_NONE});
}

/* The amount of a metric that an operation counts for; 0 if it does not. */
static uint64_t amount_of(const struct cn_gpu_work *work, const struct cn_gpu_op *op,
                          unsigned metric)
{
    struct cn_gpu_amount amounts[CN_GPU_AMOUNT_MAX];
    size_t count = cn_gpu_amounts(work, op, amounts);

    for (size_t i = 0; i < count; i++)
        if (amounts[i].metric == metric)
            return amounts[i].amount;
    return 0;
}

static void operations_find_the_outermost_launch_of_their_process(void **state)
{
    struct cn_gpu_builder *b = cn_gpu_builder_new();
    uint32_t stream = cn_gpu_builder_stream(b, PID, 0, 1, 7);

    (void)state;
    assert_int_equal(cn_gpu_builder_stream(b, PID, 0, 1, 7), stream);
    add_op(b, 5, op_of(CN_GPU_KERNEL, 100, 150, stream));
    add_op(b, 5, op_of(CN_GPU_KERNEL, 150, 170, stream)); /* one launch of a graph */
    add_op(b, 6, op_of(CN_GPU_KERNEL, 200, 210, stream)); /* before its launch */
    add_op(b, 8, op_of(CN_GPU_COPY, 300, 310, stream));   /* of another process */
    add_launch(b, 5, 60, PID);
    add_launch(b, 5, 50, PID);
    add_launch(b, 6, 225, PID);
    add_launch(b, 8, 250, PID + 1);
    struct cn_gpu_work *work = cn_gpu_builder_finish(b);

    assert_int_equal(work->op_count, 4);
    assert_int_equal(work->ops[0].launch_ns, 50);
    assert_int_equal(work->ops[0].thread, THREAD);
    assert_int_equal(cn_gpu_op_delay_ns(&work->ops[0]), 50);
    assert_int_equal(cn_gpu_op_delay_ns(&work->ops[1]), 100);
    assert_int_equal(work->early_count, 1);
    assert_int_equal(work->early_ns, 25);
    assert_int_equal(cn_gpu_op_delay_ns(&work->ops[2]), 0);
    assert_int_equal(work->lonely_count, 1);
    assert_int_equal(work->ops[3].thread, CN_NONE);
    assert_int_equal(work->launch_count, 3);
    assert_int_equal(cn_gpu_work_launches(work, THREAD, 0), 0);
    assert_int_equal(cn_gpu_work_launches(work, THREAD, 51), 2);
    assert_int_equal(cn_gpu_work_launches(work, THREAD + 1, 0), 3);
    cn_gpu_work_free(work);
}

/* A thread waits from 100 to 200. A kernel runs from 110 to 150 and shares the device with a copy from
 * 130 on; from 150 to 180 the device has no work. */
static void waiting_is_blamed_on_what_ran_meanwhile(void **state)
{
    struct cn_gpu_builder *b = cn_gpu_builder_new();
    uint32_t one = cn_gpu_builder_stream(b, PID, 0, 1, 7);
    uint32_t two = cn_gpu_builder_stream(b, PID, 0, 1, 8);

    (void)state;
    add_op(b, 0, op_of(CN_GPU_SYNC, 100, 200, CN_NONE));
    add_op(b, 0, op_of(CN_GPU_KERNEL, 110, 150, one));
    add_op(b, 0, op_of(CN_GPU_COPY, 130, 150, two));
    add_op(b, 0, op_of(CN_GPU_KERNEL, 180, 260, one));
    struct cn_gpu_work *work = cn_gpu_builder_finish(b);

    assert_int_equal(work->ops[0].kind, CN_GPU_SYNC);
    assert_int_equal(work->ops[0].idle_ns, 30);
    assert_int_equal(work->ops[1].wait_ns, 20 + 10);
    assert_int_equal(work->ops[2].wait_ns, 10);
    assert_int_equal(work->ops[2].idle_ns, 0);
    assert_int_equal(work->ops[3].wait_ns, 20);
    assert_int_equal(work->ops[3].idle_ns, 30);
    assert_int_equal(amount_of(work, &work->ops[1], CN_GPU_CPU_IDLE_CAUSE), 30);
    assert_int_equal(amount_of(work, &work->ops[3], CN_GPU_IDLE_CAUSE), 30);
    assert_int_equal(amount_of(work, &work->ops[0], CN_GPU_SYNC_IDLE), 30);
    cn_gpu_work_free(work);
}

/* 64 warps a multiprocessor: blocks of 8 warps with 128 registers a thread use 32,768 registers each,
 * so that two of them fit into 65,536. */
static void occupancy_is_limited_by_registers(void **state)
{
    struct cn_gpu_builder *b = cn_gpu_builder_new();
    uint32_t stream = cn_gpu_builder_stream(b, PID, 0, 1, 7);
    struct cn_gpu_op op = op_of(CN_GPU_KERNEL, 1, 2, stream);

    (void)state;
    assert_true(cn_gpu_builder_device(
        b, &(struct cn_gpu_device){
               .name = "test", .warps = 64, .warp_threads = 32, .registers = 65536}));
    op.shape = cn_gpu_builder_shape(b, &(struct cn_gpu_shape){.grid = {4, 1, 1},
                                                              .block = {256, 1, 1},
                                                              .registers = 128});
    add_op(b, 0, op);
    struct cn_gpu_work *work = cn_gpu_builder_finish(b);

    assert_int_equal(amount_of(work, &work->ops[0], CN_GPU_MAX_WARPS), 64);
    assert_int_equal(amount_of(work, &work->ops[0], CN_GPU_ACTIVE_WARPS), 16);
    assert_int_equal(amount_of(work, &work->ops[0], CN_GPU_BLOCKS), 4);
    assert_int_equal(amount_of(work, &work->ops[0], CN_GPU_BLOCK_THREADS), 256);
    cn_gpu_work_free(work);
}

struct samples {
    uint64_t times_ns[16];
    uint32_t places[16];
    size_t count;
};

static bool take_sample(void *arg, uint32_t stream, uint64_t time_ns, uint32_t place,
                        struct cn_error *err)
{
    struct samples *samples = arg;

    (void)stream;
    (void)err;
    assert_true(samples->count < 16);
    samples->times_ns[samples->count] = time_ns;
    samples->places[samples->count++] = place;
    return true;
}

/* Kernels of one stream may overlap: the one that began last is shown, then the other again. */
static void timelines_show_what_began_last(void **state)
{
    static const uint64_t times_ns[] = {10, 20, 30, 40, 50, 60};
    static const uint32_t places[] = {1, 2, 1, 0, 3, 0};
    struct cn_gpu_builder *b = cn_gpu_builder_new();
    uint32_t stream = cn_gpu_builder_stream(b, PID, 0, 1, 7);
    struct cn_gpu_op ops[] = {op_of(CN_GPU_KERNEL, 10, 40, stream),
                              op_of(CN_GPU_KERNEL, 20, 30, stream),
                              op_of(CN_GPU_KERNEL, 50, 60, stream)};
    struct samples samples = {0};
    struct cn_error err = {0};

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        ops[i].place = i + 1;
        add_op(b, 0, ops[i]);
    }
    struct cn_gpu_work *work = cn_gpu_builder_finish(b);

    assert_true(cn_gpu_timelines(work, take_sample, &samples, &err));
    assert_int_equal(samples.count, 6);
    assert_memory_equal(samples.times_ns, times_ns, sizeof(times_ns));
    assert_memory_equal(samples.places, places, sizeof(places));
    cn_gpu_work_free(work);
}

static void recordings_are_nodes_of_one_work(void **state)
{
    struct cn_gpu_work *works[3] = {0};

    (void)state;
    for (uint32_t i = 0; i < 3; i += 2) {
        struct cn_gpu_builder *b = cn_gpu_builder_new();
        uint32_t stream = cn_gpu_builder_stream(b, PID, 0, 1, 7);

        add_op(b, 0, op_of(CN_GPU_KERNEL, 10 - i, 20, stream));
        works[i] = cn_gpu_builder_finish(b);
    }
    struct cn_gpu_work *both =
        cn_gpu_work_concat((const struct cn_gpu_work *const *)works, 3);

    cn_gpu_work_arrange(both);
    assert_int_equal(both->op_count, 2);
    assert_int_equal(both->ops[0].begin_ns, 8);
    assert_int_equal(both->streams[both->ops[0].stream].node, 2);
    assert_int_equal(both->streams[both->ops[1].stream].node, 0);
    assert_null(cn_gpu_work_concat((const struct cn_gpu_work *const *)works + 1, 1));
    for (size_t i = 0; i < 3; i++)
        cn_gpu_work_free(works[i]);
    cn_gpu_work_free(both);
}

/* Allocate, or free, at an address. */
static void add_memory(struct cn_gpu_builder *b, uint8_t kind, uint64_t time_ns,
                       uint64_t address, uint64_t bytes)
{
    struct cn_gpu_op op = op_of(kind, time_ns, time_ns, CN_NONE);

    op.bytes = bytes;
    op.detail = CN_GPU_DEVICE;
    op.thread = THREAD;
    op.launch_ns = time_ns;
    add_op(b, 0, op);
    cn_gpu_builder_memory(b, PID, address);
}

static uint64_t sum_of(const struct cn_gpu_work *work, unsigned metric)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < work->op_count; i++)
        sum += amount_of(work, &work->ops[i], metric);
    return sum;
}

/* The peak, 899, is at 70. The block of 400 takes the place of that of 100, whose release is
 * missing; the block of 50 has no address, and that of host memory is none of a GPU. */
static void memory_is_live_until_it_is_freed(void **state)
{
    struct cn_gpu_builder *b = cn_gpu_builder_new();
    struct cn_gpu_op host = op_of(CN_GPU_ALLOC, 5, 5, CN_NONE), unknown = host;

    (void)state;
    host.bytes = 10000;
    host.detail = CN_GPU_PINNED;
    unknown.bytes = 50;
    unknown.detail = CN_GPU_DEVICE;
    add_memory(b, CN_GPU_FREE, 40, 2, 0); /* in any order */
    add_memory(b, CN_GPU_ALLOC, 10, 1, 100);
    add_memory(b, CN_GPU_ALLOC, 20, 2, 300);
    add_memory(b, CN_GPU_ALLOC, 30, 1, 400);
    add_memory(b, CN_GPU_ALLOC, 50, 2, 299);
    add_memory(b, CN_GPU_FREE, 60, 99, 0); /* its allocation is missing */
    add_memory(b, CN_GPU_ALLOC, 70, 3, 200);
    add_memory(b, CN_GPU_FREE, 70, 3, 0); /* at once */
    add_op(b, 0, host);
    cn_gpu_builder_memory(b, PID, 4);
    add_op(b, 0, unknown);
    struct cn_gpu_work *work = cn_gpu_builder_finish(b);
    struct cn_arena arena = {0};
    struct cn_heap_history *history = cn_gpu_memory_history(work, &arena);

    assert_int_equal(sum_of(work, CN_GPU_ALLOCATED), 100 + 300 + 400 + 299 + 200 + 50);
    assert_int_equal(sum_of(work, CN_GPU_ALLOCATIONS), 6);
    assert_int_equal(sum_of(work, CN_GPU_LIVE_END), 400 + 299);
    assert_int_equal(sum_of(work, CN_GPU_LIVE_PEAK), 400 + 299 + 200);
    assert_int_equal(history->process_count, 1);
    assert_true(history->processes[0].peak_bytes == 899);
    assert_int_equal(history->processes[0].peak_ns, 70);
    assert_int_equal(history->change_count, 7); /* two at 30 are one */
    cn_arena_done(&arena);
    cn_gpu_work_free(work);
}

static void no_operations_are_no_work(void **state)
{
    (void)state;
    assert_null(cn_gpu_builder_finish(cn_gpu_builder_new()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_find_the_outermost_launch_of_their_process),
        cmocka_unit_test(waiting_is_blamed_on_what_ran_meanwhile),
        cmocka_unit_test(occupancy_is_limited_by_registers),
        cmocka_unit_test(timelines_show_what_began_last),
        cmocka_unit_test(recordings_are_nodes_of_one_work),
        cmocka_unit_test(memory_is_live_until_it_is_freed),
        cmocka_unit_test(no_operations_are_no_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
