/* Any bytes as a file of GPU work: they are read or refused, and what was read can be used. */

#include <stdlib.h>

#include "formats/gpu/ranges.h"
#include "formats/gpu/records.h"
#include "model/gpu/builder.h"
#include "support/fuzz.h"
#include "support/gpu_inputs.h"

static bool thread_of(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                      struct cn_error *err)
{
    (void)arg;
    (void)pid;
    (void)err;
    *out = tid % 16;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_gpu_records_to to = {.thread = thread_of};
    struct cn_gpu_records *r = cn_gpu_records_new(&to);
    struct cn_error err = {0};
    volatile bool ok = cn_gpu_records_take_file(r, (struct cn_bytes){data, len}, &err);
    struct cn_gpu_work *work = cn_gpu_records_finish(r);

    (void)ok;
    for (uint32_t i = 0; work && i < work->op_count; i++) {
        (void)cn_gpu_records_name(r, work->ops[i].place);
        (void)cn_gpu_records_path(r, work->ops[i].path);
    }
    struct cn_gpu_ranges *ranges = cn_gpu_records_ranges(r);
    for (size_t i = 0; ranges && i < ranges->node_count; i++) {
        (void)cn_gpu_records_name(r, ranges->nodes[i].name);
        (void)cn_gpu_ranges_at(ranges, CN_TEST_GPU_PID, CN_TEST_GPU_TID, i << 20);
    }
    cn_gpu_ranges_free(ranges);
    cn_gpu_work_free(work);
    cn_gpu_records_free(r);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    size_t len;
    uint8_t *file = cn_test_gpu_file(&len);

    emit(file, len);
    free(file);
}
