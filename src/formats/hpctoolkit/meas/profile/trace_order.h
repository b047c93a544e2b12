/* The samples of a .hpctrace file, sorted by time.
 *
 * hpcrun writes them nearly sorted. Samples of the same time keep the order of the file.
 * A zeroed struct is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_TRACE_ORDER_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_TRACE_ORDER_H

#include "formats/hpctoolkit/meas/profile/node_ids.h"
#include "model/contexts/samples.h"

struct cn_hpc_trace_order {
    struct cn_node_sample *samples;
    struct cn_node_sample *spare; /* for sorting */
    size_t count, capacity, spare_capacity;
};

/* `records` are whole records. */
void cn_hpc_trace_order_read(struct cn_hpc_trace_order *order, struct cn_bytes records,
                             const struct cn_hpc_node_ids *ids);
void cn_hpc_trace_order_done(struct cn_hpc_trace_order *order);

#endif
