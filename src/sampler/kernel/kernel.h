/* The program in the kernel that unwinds stacks at the moment of the sample (unwind.bpf.c).
 *
 *     kernel = cn_kernel_new(&err);
 *     cn_kernel_attach(kernel, fd, &err);                for each open event
 *     cn_kernel_put_process(kernel, pid, epoch, space);  when its code is known
 *     cn_kernel_read(kernel, take, arg);
 *
 * A process that is not put, and code without a table, is sampled as without the program. The
 * tables of modules are copied to the kernel when a process that uses them is put.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_KERNEL_KERNEL_H
#define CN_SAMPLER_KERNEL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_kernel;
struct cn_unwind_space;
struct cn_frame_table;

/* Load the program. NULL if this build has none or the kernel refuses it. */
struct cn_kernel *cn_kernel_new(struct cn_error *err);
void cn_kernel_free(struct cn_kernel *kernel); /* NULL is fine */

/* Run the program for the samples of an open event. All are of one kind: the program does not
 * know which one it runs for, since threads that inherit an event have no cookie. */
CN_CHECK bool cn_kernel_attach(struct cn_kernel *kernel, int fd, struct cn_error *err);

/* The same for an event of page faults, whose samples have addresses. */
CN_CHECK bool cn_kernel_attach_faults(struct cn_kernel *kernel, int fd,
                                      struct cn_error *err);

/* Run it at an event of the tracepoint raw_syscalls:sys_enter, for these numbers of system calls. */
CN_CHECK bool cn_kernel_attach_calls(struct cn_kernel *kernel, int fd,
                                     const int16_t *numbers, size_t count,
                                     struct cn_error *err);

/* A map of the programs, by its name. */
int cn_kernel_map(const struct cn_kernel *kernel, const char *name);

/* Run it at an event of the tracepoint sched:sched_waking. False if the kernel does not allow it: then such
 * samples are the kernel's. */
bool cn_kernel_attach_waking(struct cn_kernel *kernel, int fd);

/* A file that is readable when the ring is half full. */
int cn_kernel_fd(const struct cn_kernel *kernel);

/* Deliver all records of the ring: shared.h has their layout. */
void cn_kernel_read(struct cn_kernel *kernel,
                    void (*take)(void *arg, const uint8_t *record, size_t len),
                    void *arg);

/* Describe the code of a process; modules whose tables are not yet built are left out. */
void cn_kernel_put_process(struct cn_kernel *kernel, uint32_t pid, uint64_t epoch,
                           const struct cn_unwind_space *space);
void cn_kernel_remove_process(struct cn_kernel *kernel, uint32_t pid);

/* Read the frames of an interpreter at each sample of a process. */
void cn_kernel_put_interpreter(struct cn_kernel *kernel, uint32_t pid,
                               const struct cn_frame_table *table);
void cn_kernel_remove_interpreter(struct cn_kernel *kernel, uint32_t pid);

#endif
