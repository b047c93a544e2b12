/* Metric ids on both sides of a border: those of a file and those of the model.
 *
 * A zeroed table keeps ids as they are. Ids that are kept must keep their order:
 * values that are sorted before are sorted after.
 * Threads: immutable; borrows the list.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_METRIC_IDS_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_METRIC_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_hpc_metric_ids {
    const int32_t *list; /* indexed by the id on this side; CN_NO_ID: drop the value */
    size_t count;        /* ids from here on are dropped */
};

/* The id on the other side. False when the value is to be dropped. */
static inline bool cn_hpc_metric_ids_find(const struct cn_hpc_metric_ids *ids,
                                          uint16_t id, uint16_t *out)
{
    if (!ids->list) {
        *out = id;
        return true;
    }
    if (id >= ids->count || ids->list[id] < 0)
        return false;
    *out = (uint16_t)ids->list[id];
    return true;
}

/* Whether kept ids keep their order and are 16 bits wide. */
bool cn_hpc_metric_ids_are_ordered(const struct cn_hpc_metric_ids *ids);

#endif
