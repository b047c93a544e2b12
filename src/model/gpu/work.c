#include "model/gpu/work.h"

const char *cn_gpu_place_name(enum cn_gpu_place place)
{
    static const char *const names[CN_GPU_PLACE_COUNT] = {
        [CN_GPU_PLACE_KERNEL] = "<gpu kernel>",
        [CN_GPU_PLACE_COPY] = "<gpu copy>",
        [CN_GPU_PLACE_COPY_IN] = "<gpu copyin>",
        [CN_GPU_PLACE_COPY_OUT] = "<gpu copyout>",
        [CN_GPU_PLACE_SET] = "<gpu memset>",
        [CN_GPU_PLACE_SYNC] = "<gpu sync>",
        [CN_GPU_PLACE_ALLOC] = "<gpu alloc>",
        [CN_GPU_PLACE_FREE] = "<gpu delete>",
        [CN_GPU_PLACE_NO_LAUNCH] = CN_GPU_NO_LAUNCH,
        [CN_GPU_PLACE_MANAGED] = "<managed memory>",
        [CN_GPU_PLACE_CAPTURED] = "<captured in>",
    };

    return names[place];
}

enum cn_gpu_place cn_gpu_op_place(const struct cn_gpu_op *op)
{
    static const uint8_t places[CN_GPU_KIND_COUNT] = {
        [CN_GPU_KERNEL] = CN_GPU_PLACE_KERNEL,  [CN_GPU_COPY] = CN_GPU_PLACE_COPY,
        [CN_GPU_SET] = CN_GPU_PLACE_SET,        [CN_GPU_SYNC] = CN_GPU_PLACE_SYNC,
        [CN_GPU_ALLOC] = CN_GPU_PLACE_ALLOC,    [CN_GPU_FREE] = CN_GPU_PLACE_FREE,
        [CN_GPU_MIGRATION] = CN_GPU_PLACE_COPY,
    };

    if (op->kind == CN_GPU_COPY && op->detail == CN_GPU_HOST_TO_DEVICE)
        return CN_GPU_PLACE_COPY_IN;
    if (op->kind == CN_GPU_COPY && op->detail == CN_GPU_DEVICE_TO_HOST)
        return CN_GPU_PLACE_COPY_OUT;
    return (enum cn_gpu_place)places[op->kind];
}

uint32_t cn_gpu_work_launches(const struct cn_gpu_work *work, uint32_t thread,
                              uint64_t from_ns)
{
    uint32_t low = 0, high = work->launch_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct cn_gpu_op *op = &work->ops[work->by_launch[middle]];

        if (op->thread < thread || (op->thread == thread && op->launch_ns < from_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
