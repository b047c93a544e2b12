/* A table that translates metric ids between a file and the model.
 *
 * A zeroed table leaves ids unchanged. Translation must preserve the order of ids, so that
 * sorted values stay sorted.
 * Threads: immutable; borrows the list.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_METRIC_IDS_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_METRIC_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_hpc_metric_ids {
    const int32_t *list; /* by id; CN_NO_ID: drop the value */
    size_t count;        /* ids from here on are dropped */
};

/* The translated id. False if the value is dropped. */
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

/* True if translated ids preserve the order and fit 16 bits. */
bool cn_hpc_metric_ids_are_ordered(const struct cn_hpc_metric_ids *ids);

#endif
