/* What cairn and libcairn-gpu.so inside the program agree on: the environment, and the head of the
 * file of formats/gpu/format.h as memory that both map.
 *
 * cairn creates the file and moves limit_off on; threads of the program take blocks by adding to
 * next_off. After the head, and before the blocks, are tables that describe the frames of
 * interpreters, by process; there are none in a recording of calls.
 * Threads: fields that change are atomic; any thread and process.
 */
#ifndef CN_GPU_SHARED_H
#define CN_GPU_SHARED_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/gpu/format.h"
#include "sampler/languages/frame_walk.h"

#define CN_GPU_LIBRARY    "libcairn-gpu.so"
#define CN_GPU_ENV        "CAIRN_GPU" /* path of the file */
#define CN_GPU_INJECT_ENV "CUDA_INJECTION64_PATH"
#define CN_GPU_NVTX_ENV   "NVTX_INJECTION64_PATH"

enum {
    CN_GPU_TABLES = 64,
    CN_GPU_ROOM_LEN = 64 << 20, /* blocks that cairn has not read yet, at most */
};

struct cn_gpu_table {
    _Atomic uint32_t pid; /* 0: unused */
    struct cn_frame_table table;
};

struct cn_gpu_head {
    uint64_t magic;
    uint32_t version, block_len;
    uint64_t blocks_off;
    _Atomic uint64_t next_off, limit_off, lost_count;
    uint32_t flags;
};
static_assert(offsetof(struct cn_gpu_head, blocks_off) == 0x10 &&
                  offsetof(struct cn_gpu_head, next_off) == 0x18 &&
                  offsetof(struct cn_gpu_head, limit_off) == 0x20 &&
                  offsetof(struct cn_gpu_head, lost_count) == 0x28 &&
                  offsetof(struct cn_gpu_head, flags) == 0x30,
              "the head is that of the file");

struct cn_gpu_block_head {
    uint32_t magic, pid, tid;
    _Atomic uint32_t used, is_full;
    uint32_t image;
};
static_assert(sizeof(struct cn_gpu_block_head) == cn_gpu_block_size &&
                  offsetof(struct cn_gpu_block_head, used) == 0x0c &&
                  offsetof(struct cn_gpu_block_head, is_full) == 0x10,
              "the head is that of the file");

/* Where tables begin, and where blocks do if there are any. */
enum {
    CN_GPU_TABLES_OFF = CN_GPU_FILE_HEAD_LEN,
    CN_GPU_BLOCKS_OFF =
        (CN_GPU_TABLES_OFF + CN_GPU_TABLES * (int)sizeof(struct cn_gpu_table) +
         CN_GPU_FILE_HEAD_LEN - 1) /
        CN_GPU_FILE_HEAD_LEN * CN_GPU_FILE_HEAD_LEN,
};

#endif
