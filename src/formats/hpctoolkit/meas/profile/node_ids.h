/* From the ids of nodes, which are neither dense nor sorted, to their numbers.
 *
 * Zero-initialised means empty.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_IDS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_hpc_node_slot {
    uint32_t id; /* 0: free */
    uint32_t number;
};

struct cn_hpc_node_ids {
    struct cn_hpc_node_slot *slots;
    size_t mask;     /* of the part in use */
    size_t capacity; /* of what was allocated */
};

/* Empty, with room for `count` ids. */
void cn_hpc_node_ids_begin(struct cn_hpc_node_ids *ids, size_t count);

/* `id` is not 0. False when it is there already. */
bool cn_hpc_node_ids_add(struct cn_hpc_node_ids *ids, uint32_t id, uint32_t number);

/* CN_NONE when it is not there. */
uint32_t cn_hpc_node_ids_find(const struct cn_hpc_node_ids *ids, uint32_t id);

void cn_hpc_node_ids_done(struct cn_hpc_node_ids *ids);

#endif
