/* Names of functions of the running kernel, as /proc/kallsyms gives them to those who may
 * see addresses.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_KERNEL_SYMBOLS_H
#define CN_SYMBOLS_KERNEL_SYMBOLS_H

#include <stdint.h>

struct cn_kernel_symbols;

/* Of the kernel with this build-id, in hexadecimal: another one than that which runs
 * has no names, nor has one without an id. */
struct cn_kernel_symbols *cn_kernel_symbols_new(const char *build_id);
void cn_kernel_symbols_free(struct cn_kernel_symbols *symbols); /* NULL is fine */

/* NULL when nobody knows. */
const char *cn_kernel_symbols_find(const struct cn_kernel_symbols *symbols,
                                   uint64_t address);

#endif
