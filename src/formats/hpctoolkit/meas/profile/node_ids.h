/* A hash table from the ids of nodes, which are neither dense nor sorted, to their indexes.
 *
 * A zeroed table is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_IDS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_NODE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_hpc_node_slot {
    uint32_t id; /* 0: free */
    uint32_t index;
};

struct cn_hpc_node_ids {
    struct cn_hpc_node_slot *slots;
    size_t mask;     /* slots in use - 1 */
    size_t capacity; /* slots allocated */
};

/* Empty the table and make room for `count` ids. */
void cn_hpc_node_ids_begin(struct cn_hpc_node_ids *ids, size_t count);

/* `id` is not 0. False if it is in the table already. */
bool cn_hpc_node_ids_add(struct cn_hpc_node_ids *ids, uint32_t id, uint32_t index);

/* The index of an id, or CN_NONE. */
uint32_t cn_hpc_node_ids_find(const struct cn_hpc_node_ids *ids, uint32_t id);

void cn_hpc_node_ids_done(struct cn_hpc_node_ids *ids);

#endif
