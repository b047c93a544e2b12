/* A .hpcrun file and its trace as a profile of model/contexts/samples.h.
 *
 * Threads: each with a profile of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_PROFILE_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_PROFILE_H

#include "formats/hpctoolkit/meas/profile/node_ids.h"
#include "model/contexts/samples.h"

/* Read `path` and, unless `without_trace`, the trace beside it. Messages do not name the
 * file. If the trace is damaged, its readable samples are used and profile->damage and
 * damage_file name the problem. */
CN_CHECK bool cn_hpc_profile_read(const char *path, bool without_trace,
                                  struct cn_sampled_profile *profile,
                                  struct cn_error *err);

/* The same from bytes; an empty `trace` means that there is none. */
CN_CHECK bool cn_hpc_profile_decode(struct cn_bytes run, struct cn_bytes trace,
                                    struct cn_sampled_profile *profile,
                                    struct cn_error *err);

void cn_hpc_profile_done(struct cn_sampled_profile *profile);

/* The samples of a .hpctrace file, sorted by time.
 *
 * hpcrun writes them nearly sorted. Samples of the same time keep the order of the file.
 * A zeroed struct is empty. */

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
