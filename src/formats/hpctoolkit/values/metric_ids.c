#include "formats/hpctoolkit/values/metric_ids.h"

bool cn_hpc_metric_ids_are_ordered(const struct cn_hpc_metric_ids *ids)
{
    int32_t last = -1;

    for (size_t i = 0; i < ids->count; i++) {
        if (ids->list[i] < 0)
            continue;
        if (ids->list[i] <= last || ids->list[i] > UINT16_MAX)
            return false;
        last = ids->list[i];
    }
    return true;
}
