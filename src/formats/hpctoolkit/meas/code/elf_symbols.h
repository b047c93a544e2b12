/* The functions of an ELF file, from its symbol table: .symtab, or .dynsym where
 * that is missing.
 *
 * A zeroed one is ready for reading.
 * Threads: one thread at a time; immutable once read.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_ELF_SYMBOLS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_ELF_SYMBOLS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/meas/code/ranges.h"
#include "formats/hpctoolkit/meas/code/tables.h"

struct cn_hpc_elf_symbols {
    struct cn_hpc_ranges ranges; /* their value is a function of the tables */
};

/* 64-bit little-endian files; others fail with CN_ERR_VERSION. */
CN_CHECK bool cn_hpc_elf_symbols_read(struct cn_hpc_elf_symbols *symbols,
                                      struct cn_bytes file, uint32_t module,
                                      struct cn_hpc_tables *tables, struct cn_error *err);

void cn_hpc_elf_symbols_done(struct cn_hpc_elf_symbols *symbols);

#endif
