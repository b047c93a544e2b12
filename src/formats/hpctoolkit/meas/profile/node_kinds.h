/* Nodes of a call tree that are no code.
 *
 * A placeholder belongs to load module 0 and has eight characters in place of an address. GPU
 * work that was measured in ranges has nodes of reserved load modules:
 *
 *     kernel's entry > GPU context > range            launches in a range
 *     root > range root > GPU context > range > code  samples of a range
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_KINDS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The code of these eight characters. */
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

/* Append the name of a placeholder: "<gpu kernel>". An unknown code is its own name, with
 * \xHH for characters that cannot be printed. */
void cn_hpc_placeholder_print(uint64_t code, struct cn_text *text);

/* The kind (enum cn_node_kind) of a node of `module` below a node of `parent_kind`;
 * `is_at_top`: below nothing or the root. False if the node cannot be there. */
bool cn_hpc_node_kind(uint16_t module, uint8_t parent_kind, bool is_at_top, uint8_t *out);

#endif
