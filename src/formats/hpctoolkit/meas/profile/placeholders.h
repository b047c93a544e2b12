/* Nodes of a call tree that are no code: eight characters in place of an address.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_PLACEHOLDERS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_PLACEHOLDERS_H

#include <stdint.h>

#include "base/text.h"

/* The code that these eight characters make. */
#define CN_HPC_CODE(a, b, c, d, e, f, g, h)                            \
    ((uint64_t)(a) << 56 | (uint64_t)(b) << 48 | (uint64_t)(c) << 40 | \
     (uint64_t)(d) << 32 | (uint64_t)(e) << 24 | (uint64_t)(f) << 16 | \
     (uint64_t)(g) << 8 | (uint64_t)(h))

#define CN_HPC_CODE_ROOT    CN_HPC_CODE('^', 'P', 'r', 'i', 'm', 'a', 'r', 'y')
#define CN_HPC_CODE_PARTIAL CN_HPC_CODE('^', 'P', 'a', 'r', 't', 'i', 'a', 'l')
#define CN_HPC_CODE_MAIN    CN_HPC_CODE('|', ' ', 'M', 'a', 'i', 'n', ' ', ' ')
#define CN_HPC_CODE_THREAD  CN_HPC_CODE('|', ' ', 'T', 'h', 'r', 'e', 'a', 'd')
#define CN_HPC_CODE_IDLE    CN_HPC_CODE('N', 'o', 'A', 'c', 't', 'v', 't', 'y')
#define CN_HPC_CODE_UNKNOWN CN_HPC_CODE('*', 'U', 'n', 'n', 'o', 'r', 'm', ' ')

/* Append what users see: "<gpu kernel>"; the characters themselves when the code
 * is not known, with \xHH for those that cannot be printed. */
void cn_hpc_placeholder_print(uint64_t code, struct cn_text *text);

#endif
