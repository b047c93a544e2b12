/* Address ranges that do not overlap: of those that are added, each one that
 * overlaps an earlier one is dropped, whole.
 *
 * Add all, then cn_hpc_ranges_settle(), then find. A zeroed one is ready for use.
 * Threads: one thread at a time; immutable once settled.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_RANGES_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_hpc_range {
    uint64_t begin, end; /* begin < end */
    uint32_t value;
};

struct cn_hpc_ranges {
    struct cn_hpc_range *list;
    size_t count, capacity;
};

void cn_hpc_ranges_add(struct cn_hpc_ranges *ranges, struct cn_hpc_range range);
void cn_hpc_ranges_settle(struct cn_hpc_ranges *ranges);

/* The range around an address; NULL when there is none. */
const struct cn_hpc_range *cn_hpc_ranges_find(const struct cn_hpc_ranges *ranges,
                                              uint64_t address);
void cn_hpc_ranges_done(struct cn_hpc_ranges *ranges);

#endif
