#include "formats/exchange/perf/read.h"

#include <stdlib.h>

#include "base/alloc.h"

/* One counter: its value, times unless it is in a group, id, number of lost samples. */
static bool take_counter(struct cn_bytes *rest, uint64_t format, uint64_t *value,
                         uint64_t *id)
{
    uint64_t times = CN_PERF_READ_ENABLED | CN_PERF_READ_RUNNING;
    size_t id_off = 8, len;
    struct cn_bytes counter;

    if (!(format & CN_PERF_READ_GROUP))
        id_off += 8 * (size_t)cn_perf_count(format, times);
    len = id_off + 8 + (format & CN_PERF_READ_LOST ? 8 : 0);
    if (!(format & CN_PERF_READ_ID) || !cn_bytes_take(rest, len, &counter))
        return false;
    *value = cn_u64_get(counter.ptr);
    *id = cn_u64_get(counter.ptr + id_off);
    return true;
}

bool cn_perf_read_next(struct cn_perf_counters *counters, const struct cn_perf_file *file,
                       struct cn_perf_sample *sample, struct cn_perf_counted *out)
{
    uint64_t value, id, *last;

    do {
        if (!take_counter(&sample->reads, file->events[sample->event].attr.read_format,
                          &value, &id))
            return false;
        out->event = cn_map_find(&file->event_of, id, UINT32_MAX);
    } while (out->event >= file->event_count);
    uint32_t slot = *cn_map_at(&counters->slot_of, id, (uint32_t)counters->count);
    if (slot == counters->count) {
        CN_PUSH(counters->last, counters->count, counters->capacity, 0);
    }
    last = &counters->last[slot];
    out->value = value >= *last ? value - *last : 0;
    *last = value;
    return true;
}

void cn_perf_counters_done(struct cn_perf_counters *counters)
{
    cn_map_done(&counters->slot_of);
    free(counters->last);
    *counters = (struct cn_perf_counters){0};
}
