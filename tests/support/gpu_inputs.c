#include "support/gpu_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/gpu/format.h"
#include "model/gpu/work.h"

enum { ROOM = 4096 };

/* A file that is being written. */
struct gpu_writing {
    uint8_t *bytes;
    size_t len;
};

/* End a record of `len` bytes, which was encoded at the end. */
static void end_record(struct gpu_writing *w, unsigned type, size_t len)
{
    struct cn_gpu_record head = {.type = (uint16_t)type,
                                 .len = (uint32_t)((len + 7) / 8 * 8)};

    (void)cn_gpu_record_encode(&head, w->bytes + w->len);
    w->len += head.len;
}

static void add_text(struct gpu_writing *w, size_t off, const char *text)
{
    memcpy(w->bytes + w->len + off, text, strlen(text) + 1);
}

static void add_name(struct gpu_writing *w, uint32_t id, const char *text)
{
    (void)cn_gpu_name_encode(&(struct cn_gpu_name){.id = id}, w->bytes + w->len);
    add_text(w, cn_gpu_name_size, text);
    end_record(w, CN_GPU_IS_NAME, cn_gpu_name_size + strlen(text) + 1);
}

static void add_stack(struct gpu_writing *w, uint32_t id, uint64_t innermost)
{
    const uint64_t addresses[] = {innermost, 0x402000, 0x403000};

    (void)cn_gpu_stack_encode(&(struct cn_gpu_stack){.id = id, .count = 3},
                              w->bytes + w->len);
    for (size_t i = 0; i < 3; i++)
        cn_u64_put(w->bytes + w->len + cn_gpu_stack_size + 8 * i, addresses[i]);
    end_record(w, CN_GPU_IS_STACK, cn_gpu_stack_size + sizeof(addresses));
}

static void add_call(struct gpu_writing *w, uint64_t time_ns, uint32_t correlation,
                     uint32_t stack)
{
    struct cn_gpu_call call = {
        .time_ns = time_ns, .correlation = correlation, .stack = stack, .name = 2};

    (void)cn_gpu_call_encode(&call, w->bytes + w->len);
    end_record(w, CN_GPU_IS_CALL, cn_gpu_call_size);
}

static void add_op(struct gpu_writing *w, struct cn_gpu_op_record op)
{
    op.begin -= CN_TEST_GPU_SHIFT;
    op.end -= CN_TEST_GPU_SHIFT;
    (void)cn_gpu_op_record_encode(&op, w->bytes + w->len);
    end_record(w, CN_GPU_IS_OP, cn_gpu_op_record_size);
}

static void add_device(struct gpu_writing *w)
{
    struct cn_gpu_device_record device = {
        .number = 0, .warps = 64, .warp_threads = 32, .blocks = 32, .registers = 65536};

    (void)cn_gpu_device_record_encode(&device, w->bytes + w->len);
    add_text(w, cn_gpu_device_record_size, "GPU");
    end_record(w, CN_GPU_IS_DEVICE, cn_gpu_device_record_size + 4);
}

static void add_clock(struct gpu_writing *w)
{
    struct cn_gpu_clock clock = {
        .gpu = 5000000, .host_ns = 5000000 + CN_TEST_GPU_SHIFT, .error_ns = 40};

    (void)cn_gpu_clock_encode(&clock, w->bytes + w->len);
    end_record(w, CN_GPU_IS_CLOCK, cn_gpu_clock_size);
}

static void add_note(struct gpu_writing *w)
{
    (void)cn_gpu_note_encode(&(struct cn_gpu_note){.count = 3}, w->bytes + w->len);
    add_text(w, cn_gpu_note_size, "operations were dropped");
    end_record(w, CN_GPU_IS_NOTE, cn_gpu_note_size + 24);
}

static void add_range(struct gpu_writing *w, uint64_t time_ns,
                      enum cn_gpu_range_kind kind, uint32_t name, uint64_t id)
{
    struct cn_gpu_range range = {
        .time_ns = time_ns, .id = id, .name = name, .kind = (uint16_t)kind};

    (void)cn_gpu_range_encode(&range, w->bytes + w->len);
    end_record(w, CN_GPU_IS_RANGE, cn_gpu_range_size);
}

static void add_ranges(struct gpu_writing *w)
{
    add_range(w, 0, CN_GPU_RANGES_ARE_CONTEXTS, 0, 0);
    add_range(w, 9000000, CN_GPU_RANGE_START, 3, 1);
    add_range(w, 9500000, CN_GPU_RANGE_PUSH, 4, 0);
    add_range(w, 10010500, CN_GPU_RANGE_MARK, 3, 0);
    add_range(w, 10013000, CN_GPU_RANGE_POP, 0, 0);
    add_range(w, 10020000, CN_GPU_RANGE_END, 0, 1);
    add_name(w, 3, "epoch");
    add_name(w, 4, "step");
}

static void add_records(struct gpu_writing *w)
{
    const struct cn_gpu_op_record kernel = {.begin = 10002000,
                                            .end = 10007000,
                                            .correlation = 1,
                                            .kind = CN_GPU_KERNEL,
                                            .registers = 32,
                                            .context = 1,
                                            .stream = 7,
                                            .name = 1,
                                            .grid_x = 2,
                                            .grid_y = 1,
                                            .grid_z = 1,
                                            .block_x = 64,
                                            .block_y = 1,
                                            .block_z = 1};
    struct cn_gpu_op_record second = kernel;

    add_clock(w);
    add_device(w);
    add_call(w, 10000000, 1, 1);
    add_stack(w, 1, 0x401000);
    add_name(w, 2, "cuLaunchKernel");
    add_op(w, kernel);
    add_name(w, 1, "_Z5scalePfi");
    second.begin = 10008000;
    second.end = 10010000;
    second.correlation = 2;
    add_op(w, second); /* its launch is missing */
    add_call(w, 10011000, 3, 1);
    add_op(w, (struct cn_gpu_op_record){.begin = 10012000,
                                        .end = 10013000,
                                        .correlation = 3,
                                        .kind = CN_GPU_COPY,
                                        .detail = CN_GPU_HOST_TO_DEVICE,
                                        .bytes = 4096,
                                        .context = 1,
                                        .stream = 7});
    add_call(w, 10014000, 4, 0);
    add_op(w, (struct cn_gpu_op_record){.begin = 10014500,
                                        .end = 10015000,
                                        .correlation = 4,
                                        .kind = CN_GPU_SYNC,
                                        .detail = CN_GPU_SYNC_STREAM,
                                        .device = UINT32_MAX,
                                        .context = 1,
                                        .stream = UINT32_MAX});
    add_note(w);
    add_ranges(w);
}

uint8_t *cn_test_gpu_file(size_t *len)
{
    struct gpu_writing w = {cn_alloc(1, ROOM), cn_test_gpu_records_off()};
    struct cn_gpu_file_head head = {
        .magic = CN_GPU_FILE_MAGIC,
        .version = CN_GPU_FILE_VERSION,
        .block_len = CN_GPU_BLOCK_LEN,
        .blocks_off = CN_TEST_GPU_BLOCKS_OFF,
    };

    (void)cn_gpu_file_head_encode(&head, w.bytes);
    add_records(&w);
    struct cn_gpu_block block = {
        .magic = CN_GPU_BLOCK_MAGIC,
        .pid = CN_TEST_GPU_PID,
        .tid = CN_TEST_GPU_TID,
        .used = (uint32_t)(w.len - CN_TEST_GPU_BLOCKS_OFF),
    };
    (void)cn_gpu_block_encode(&block, w.bytes + CN_TEST_GPU_BLOCKS_OFF);
    *len = w.len;
    return w.bytes;
}

size_t cn_test_gpu_records_off(void)
{
    return CN_TEST_GPU_BLOCKS_OFF + cn_gpu_block_size;
}
