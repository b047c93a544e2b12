/* What a node of the call tree is, where that depends on the node it lies below: GPU work
 * that was measured in ranges has nodes that are no code.
 *
 *     kernel's entry > GPU context > range            launches in a range
 *     root > range root > GPU context > range > code  samples of a range
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_KINDS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* The kind (enum cn_node_kind) of a node of this load module below one of `parent_kind`;
 * `is_at_top`: below nothing or the root. False when it cannot lie there. */
bool cn_hpc_node_kind(uint16_t module, uint8_t parent_kind, bool is_at_top, uint8_t *out);

#endif
