/* A file of GPU work as libcairn-gpu.so writes it: a device, two kernels of one stream, a copy and a
 * wait, with their calls, names and stacks.
 * Threads: any thread.
 */
#ifndef CN_TEST_GPU_INPUTS_H
#define CN_TEST_GPU_INPUTS_H

#include <stddef.h>
#include <stdint.h>

enum {
    CN_TEST_GPU_PID = 100,
    CN_TEST_GPU_TID = 101,
    CN_TEST_GPU_BLOCKS_OFF = 0x40, /* of the file */
    CN_TEST_GPU_SHIFT = 1000000,   /* of the GPU's clock, before that of the host */
};

/* The file, which ends after the last record; the caller frees it. */
uint8_t *cn_test_gpu_file(size_t *len);

/* Of it the records alone. */
size_t cn_test_gpu_records_off(void);

#endif
