/* The functions of a kernel, from a compressed copy of its symbol table.
 *
 * A function gets its number when it is first looked up. A zeroed table is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_KERNEL_SYMBOLS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_KERNEL_SYMBOLS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/meas/code/tables.h"
#include "symbols/kernel.h"

struct cn_hpc_kernel_symbols {
    struct cn_kernel_symbols symbols;
    uint32_t *functions; /* by index of the symbol: number + 1; 0: none yet */
};

CN_CHECK bool cn_hpc_kernel_symbols_read(struct cn_hpc_kernel_symbols *kernel,
                                         struct cn_bytes file, struct cn_error *err);

/* The function with the largest address at or below this one; CN_NONE below the first. */
uint32_t cn_hpc_kernel_symbols_find(struct cn_hpc_kernel_symbols *kernel,
                                    uint64_t address, uint32_t module,
                                    struct cn_hpc_tables *tables);

void cn_hpc_kernel_symbols_done(struct cn_hpc_kernel_symbols *kernel);

#endif
