/* Where the functions of the running kernel are that interrupts begin with, by /proc/kallsyms.
 *
 * Threads: any.
 */
#ifndef CN_SAMPLER_KERNEL_INTERRUPTS_H
#define CN_SAMPLER_KERNEL_INTERRUPTS_H

#include <stdbool.h>
#include <stdio.h>

struct cn_kernel_interrupts;

/* False if the kernel does not say. */
bool cn_kernel_interrupts_read(struct cn_kernel_interrupts *out);

/* The same of a file like /proc/kallsyms. */
bool cn_kernel_interrupts_parse(struct cn_kernel_interrupts *out, FILE *symbols);

#endif
