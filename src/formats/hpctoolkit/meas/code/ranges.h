/* Address ranges that do not overlap: a range that overlaps one added earlier is dropped.
 *
 * Add all ranges, then call cn_hpc_ranges_settle(), then look addresses up. A zeroed list is
 * empty.
 * Threads: one thread at a time; immutable once settled.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_RANGES_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct cn_hpc_range {
    uint64_t begin, end; /* begin < end */
    uint32_t value;
};

struct cn_hpc_ranges {
    struct cn_hpc_range *list; /* once settled, sorted by address */
    size_t count, capacity;
};

void cn_hpc_ranges_add(struct cn_hpc_ranges *ranges, struct cn_hpc_range range);
void cn_hpc_ranges_settle(struct cn_hpc_ranges *ranges);

/* The range that contains an address, or NULL. */
const struct cn_hpc_range *cn_hpc_ranges_find(const struct cn_hpc_ranges *ranges,
                                              uint64_t address);
void cn_hpc_ranges_done(struct cn_hpc_ranges *ranges);

#endif
