/* The path of calls that leads to a launch, taken in the thread that launches.
 *
 * Unwinding a stack takes as long as launching a kernel. But programs launch from the same paths
 * again and again: a path is unwound once, with the slots of the stack that were read for it. When
 * the stack pointer and all these slots are the same, unwinding would find the same, and is left
 * out. Where inner frames differ, only those are unwound.
 *
 * A path that was met before has a number, so that a launch writes that alone.
 * Threads: a struct cn_gpu_paths belongs to one.
 */
#ifndef CN_GPU_PATH_H
#define CN_GPU_PATH_H

#include <stdbool.h>
#include <stdint.h>

struct cn_gpu_paths;
struct cn_gpu_thread;

void cn_gpu_paths_free(struct cn_gpu_paths *paths); /* NULL is fine */

/* Leave innermost frames out that are in the module of an address: this library, CUPTI, the
 * driver. Called before paths are taken. */
void cn_gpu_path_hide(const void *address);

/* The number of the stack of the caller, whose record was written; 0 if it cannot be taken.
 * `*has_call`: its innermost frame is the function of the GPU's run-time that was called. */
uint32_t cn_gpu_path_take(struct cn_gpu_thread *thread, bool *has_call);

#endif
