/* Reports of backends: calls of the program that launch operations, and names.
 * Threads: any thread.
 */
#ifndef CN_GPU_LAUNCH_H
#define CN_GPU_LAUNCH_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t cn_gpu_now_ns(void);

/* The caller's thread calls a function that may launch operations, with its path. `name` is the
 * number of the function's name. */
void cn_gpu_launch(uint32_t correlation, uint32_t name);

/* The call of this thread that was reported last made a node of a graph; or the node is a copy of another
 * one, not 0. */
void cn_gpu_node_made(uint64_t node, uint64_t copied_from);

/* The call of this thread that was reported last has returned: it waited for the GPU. `detail` is that of
 * a synchronization in model/gpu/work.h. */
void cn_gpu_waited(uint32_t correlation, uint32_t detail, uint32_t context);

/* Write an operation; `flags` are those of the record. */
struct cn_gpu_op_record;
struct cn_gpu_thread;
void cn_gpu_write_op(struct cn_gpu_thread *thread, const struct cn_gpu_op_record *op,
                     uint16_t flags);

/* The number of a name, whose record is written when it is new. 0: there is no room. */
uint32_t cn_gpu_name_of(const char *text);

/* After a fork, once the file is abandoned: names have no records in the child. */
void cn_gpu_names_forget(void);

/* Something is missing. */
void cn_gpu_note(uint64_t count, const char *text);

#endif
