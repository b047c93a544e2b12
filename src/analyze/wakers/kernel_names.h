/* What the names of the kernel's functions say about a wake-up or a wait.
 *
 * Marks of a frame are those of its function and of the functions above it, up to the entry of an
 * interrupt: what that has stopped is no part of it.
 * Threads: any.
 */
#ifndef CN_ANALYZE_WAKERS_KERNEL_NAMES_H
#define CN_ANALYZE_WAKERS_KERNEL_NAMES_H

#include <stdint.h>

struct cn_frames;

enum cn_kernel_mark {
    CN_KERNEL_INTERRUPT = 1 << 0, /* the entry of an interrupt */
    CN_KERNEL_TIMER = 1 << 1,
    CN_KERNEL_NETWORK = 1 << 2,
    CN_KERNEL_DISK = 1 << 3,
    CN_KERNEL_EXIT = 1 << 4,   /* of a thread or process */
    CN_KERNEL_CHILD = 1 << 5,  /* waits for the end of a child */
    CN_KERNEL_THREAD = 1 << 6, /* a thread of the kernel */
    CN_KERNEL_CALL = 1 << 7,   /* a system call */
    CN_KERNEL_SLEEP = 1 << 8,  /* waits for a timer and nothing else */
};

/* The marks of a name alone. */
unsigned cn_kernel_marks_of(const char *name);

/* The marks of all frames, to be released with free(). */
uint16_t *cn_kernel_marks(const struct cn_frames *frames);

#endif
