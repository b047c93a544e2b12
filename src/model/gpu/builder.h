/* Builds the work of GPUs from records in any order.
 *
 *     b = cn_gpu_builder_new();
 *     cn_gpu_builder_launch(b, ...);   calls of the program that may have launched something
 *     cn_gpu_builder_op(b, ...);       operations, joined to calls by their correlation ids
 *     work = cn_gpu_builder_finish(b);
 *
 * Strings are copied.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_GPU_BUILDER_H
#define CN_MODEL_GPU_BUILDER_H

#include "model/gpu/work.h"

struct cn_gpu_builder;

enum {
    CN_GPU_STREAM_MAX = 1 << 16,
    CN_GPU_DEVICE_MAX = 1 << 12,
};

struct cn_gpu_builder *cn_gpu_builder_new(void);
void cn_gpu_builder_free(struct cn_gpu_builder *b); /* NULL is fine */

/* Describe a device; a later description replaces it. False after CN_GPU_DEVICE_MAX. */
bool cn_gpu_builder_device(struct cn_gpu_builder *b, const struct cn_gpu_device *device);

/* The stream with these numbers, added if it is new, with thread CN_NONE; CN_NONE after
 * CN_GPU_STREAM_MAX. */
uint32_t cn_gpu_builder_stream(struct cn_gpu_builder *b, uint32_t pid, uint32_t device,
                               uint32_t context, uint64_t number);

/* Valid until the next stream is added. */
struct cn_gpu_stream *cn_gpu_builder_stream_at(struct cn_gpu_builder *b, uint32_t stream);
uint32_t cn_gpu_builder_stream_count(const struct cn_gpu_builder *b);

uint32_t cn_gpu_builder_shape(struct cn_gpu_builder *b, const struct cn_gpu_shape *shape);

/* An operation of a process; its device is that of its stream, if it has one. `correlation` 0: none; then `thread` and `launch_ns` of the
 * operation say where it was launched. The end of an operation is not before its begin. */
void cn_gpu_builder_op(struct cn_gpu_builder *b, uint32_t pid, uint64_t correlation,
                       const struct cn_gpu_op *op);

/* The operation that was added last allocated or freed memory at this address of the process. */
void cn_gpu_builder_memory(struct cn_gpu_builder *b, uint32_t pid, uint64_t address);

/* A call that may have launched operations. Of several with the same correlation id, the outermost
 * counts: the earliest. */
struct cn_gpu_launch {
    uint64_t correlation, launch_ns;
    uint32_t pid, thread, path; /* CN_NONE: no path */
};
void cn_gpu_builder_launch(struct cn_gpu_builder *b, const struct cn_gpu_launch *launch);

/* When all is added: replace the threads of streams and launches by `threads[thread]`, and add
 * `base_ns` to all times. */
void cn_gpu_builder_move(struct cn_gpu_builder *b, const uint32_t *threads,
                         uint64_t base_ns);

/* Return the work and release the builder. NULL: there are no operations. */
struct cn_gpu_work *cn_gpu_builder_finish(struct cn_gpu_builder *b);

/* The work of several recordings in a row, each as a node of its own; those without work are NULL.
 * Operations have the order of the recordings until cn_gpu_work_arrange(): meanwhile the caller
 * replaces threads and places. NULL if no recording has any. */
struct cn_gpu_work *cn_gpu_work_concat(const struct cn_gpu_work *const *list,
                                       size_t count);
void cn_gpu_work_arrange(struct cn_gpu_work *work);

#endif
