/* The functions of a kernel, from a compressed copy of its symbol table ("ffff... T
 * name").
 *
 * Functions are numbered when they are first asked for. A zeroed one is ready for
 * reading.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_KERNEL_SYMBOLS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_KERNEL_SYMBOLS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/meas/code/tables.h"

struct cn_hpc_kernel_symbol {
    uint64_t address;
    size_t name_off; /* in the text, up to a blank or the end of the line */
    uint32_t function;
};

struct cn_hpc_kernel_symbols {
    char *text;
    size_t text_len;
    struct cn_hpc_kernel_symbol *list; /* by address, none twice */
    size_t count, capacity;
};

CN_CHECK bool cn_hpc_kernel_symbols_read(struct cn_hpc_kernel_symbols *symbols,
                                         struct cn_bytes file, struct cn_error *err);

/* The function whose address is the largest at or below this one; CN_NONE below
 * the first. */
uint32_t cn_hpc_kernel_symbols_find(struct cn_hpc_kernel_symbols *symbols,
                                    uint64_t address, uint32_t module,
                                    struct cn_hpc_tables *tables);

void cn_hpc_kernel_symbols_done(struct cn_hpc_kernel_symbols *symbols);

#endif
