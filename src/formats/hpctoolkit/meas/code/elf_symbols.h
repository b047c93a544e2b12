/* The functions of an ELF file, from its symbol table: .symtab, or .dynsym if there is none.
 * Threads: any thread, each with tables of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_ELF_SYMBOLS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_ELF_SYMBOLS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/hpctoolkit/meas/code/ranges.h"
#include "formats/hpctoolkit/meas/code/tables.h"

/* Fill `functions`, whose values are functions of the tables, and settle it. Files that are
 * not 64-bit little-endian fail with CN_ERR_VERSION. */
CN_CHECK bool cn_hpc_elf_symbols_read(struct cn_hpc_ranges *functions,
                                      struct cn_bytes file, uint32_t module,
                                      struct cn_hpc_tables *tables, struct cn_error *err);

#endif
