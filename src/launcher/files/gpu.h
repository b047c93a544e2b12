/* gpu.dat of a recording, the work of GPUs and the ranges that a program names (NVTX): made before the program starts, filled by libcairn-gpu.so inside it.
 *
 *     cn_gpu_file_create(dir, has_work, begins_with_ranges, err)
 *     cn_gpu_file_count(dir, &counts, err)    when the program has ended
 * Threads: one thread at a time; the first one changes the environment.
 */
#ifndef CN_LAUNCHER_FILES_GPU_H
#define CN_LAUNCHER_FILES_GPU_H

#include "base/error.h"
#include "base/text.h"

/* Create the file, and name it and the library in the environment of programs that are started: for
 * GPUs, or for ranges alone. Call paths may begin with ranges. */
CN_CHECK bool cn_gpu_file_create(const char *dir, bool has_work, bool begins_with_ranges,
                                 struct cn_error *err);

struct cn_gpu_file_counts {
    bool is_used;         /* a program used a GPU */
    uint64_t op_count;    /* operations */
    uint64_t range_count; /* and marks */
    struct cn_text notes; /* what is missing, a line each; the caller releases it */
};

/* What is in the file; one without work is removed. */
CN_CHECK bool cn_gpu_file_count(const char *dir, struct cn_gpu_file_counts *out,
                                struct cn_error *err);

#endif
