#include "analyze/cct/readings.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

static const double NS_PER_SECOND = 1e9;

void cn_cct_readings_done(struct cn_cct_readings *readings)
{
    cn_map_done(&readings->numbers);
    free(readings->list);
    for (size_t i = 0; i < CN_COUNTER_SOURCES; i++)
        free(readings->open[i].list);
    *readings = (struct cn_cct_readings){0};
}

static uint64_t *values_at(struct cn_cct_readings *readings, cn_cct_id node)
{
    uint32_t number = *cn_map_at(&readings->numbers, node, (uint32_t)readings->count);

    if (number == readings->count) {
        CN_PUSH(readings->list, readings->count, readings->capacity,
                (struct cn_cct_reading){0});
    }
    return readings->list[number].values;
}

/* Drop calls at least `frames` deep: they ended without a second reading. The readings inside
 * them count as inside the call around them. */
static void drop(struct cn_cct_open_readings *open, uint32_t frames)
{
    while (open->count > 0 && open->list[open->count - 1].frames >= frames) {
        const struct cn_cct_open_reading *ended = &open->list[--open->count];

        for (unsigned i = 0; open->count > 0 && i < CN_COUNTERS_OF_SOURCE_MAX; i++)
            open->list[open->count - 1].inner[i] += ended->inner[i];
    }
}

void cn_cct_readings_add(struct cn_cct_readings *readings,
                         const struct cn_counters *counters, uint32_t frames,
                         cn_cct_id node)
{
    struct cn_cct_open_readings *open = &readings->open[counters->source];
    struct cn_cct_open_reading own = {0};

    if (!counters->is_difference) {
        drop(open, frames);
        CN_PUSH(open->list, open->count, open->capacity,
                (struct cn_cct_open_reading){.frames = frames});
        return;
    }
    drop(open, frames + 1);
    if (open->count > 0 && open->list[open->count - 1].frames == frames)
        own = open->list[--open->count];
    uint64_t *values = values_at(readings, node);
    for (unsigned i = 0; i < counters->count; i++) {
        readings->has_counter[counters->first + i] = true;
        values[counters->first + i] += counters->values[i] - own.inner[i];
        if (open->count > 0)
            open->list[open->count - 1].inner[i] += counters->values[i];
    }
}

void cn_cct_readings_add_amount(struct cn_cct_readings *readings,
                                const struct cn_gpu_amount *amount, cn_cct_id node)
{
    unsigned counter = CN_COUNTER_COUNT + (unsigned)amount->metric;

    readings->has_counter[counter] = true;
    values_at(readings, node)[counter] += amount->amount;
}

void cn_cct_readings_add_heap(struct cn_cct_readings *readings,
                              enum cn_heap_metric metric, double value, cn_cct_id node)
{
    unsigned counter = CN_CCT_HEAP_COUNTER + (unsigned)metric;

    readings->has_counter[counter] = true;
    values_at(readings, node)[counter] +=
        (uint64_t)(metric == CN_HEAP_LIFETIME ? round(value * NS_PER_SECOND) : value);
}

void cn_cct_readings_add_io(struct cn_cct_readings *readings,
                            const struct cn_io_call *call, cn_cct_id node)
{
    for (unsigned i = 0; i < CN_IO_METRIC_COUNT; i++) {
        double value = cn_io_metric_of(call, (enum cn_io_metric)i);

        if (cn_io_call_class(call) != cn_io_metrics[i].class)
            continue;
        readings->has_counter[CN_CCT_IO_COUNTER + i] = true;
        values_at(readings, node)[CN_CCT_IO_COUNTER + i] +=
            (uint64_t)(i == CN_IO_TIME || i == CN_IO_DISK_TIME
                           ? round(value * NS_PER_SECOND)
                           : value);
    }
}

double cn_cct_reading_value(unsigned counter, uint64_t sum)
{
    if (counter == CN_CCT_HEAP_COUNTER + CN_HEAP_LIFETIME ||
        counter == CN_CCT_IO_COUNTER + CN_IO_TIME ||
        counter == CN_CCT_IO_COUNTER + CN_IO_DISK_TIME)
        return (double)sum / NS_PER_SECOND;
    return counter < CN_COUNTER_COUNT || counter >= CN_CCT_HEAP_COUNTER
               ? (double)(int64_t)sum
               : cn_gpu_amount_value((enum cn_gpu_metric)(counter - CN_COUNTER_COUNT),
                                     sum);
}

const uint64_t *cn_cct_readings_find(const struct cn_cct_readings *readings,
                                     cn_cct_id node)
{
    uint32_t number = cn_map_find(&readings->numbers, node, CN_NONE);

    return number == CN_NONE ? NULL : readings->list[number].values;
}

unsigned cn_cct_readings_used(const struct cn_cct_readings *readings,
                              unsigned used[CN_CCT_COUNTERS])
{
    unsigned count = 0;

    for (unsigned i = 0; i < CN_CCT_COUNTERS; i++)
        if (readings->has_counter[i])
            used[count++] = i;
    return count;
}
