#include "model/contexts/thinner.h"

#include <inttypes.h>

#include "base/alloc.h"

/* The last nanosecond of the cell of a time. */
static uint64_t last_of_cell(const struct cn_thinner *thinner, uint64_t time_ns)
{
    uint64_t last = thinner->resolution_ns - 1, since_ns = time_ns - thinner->origin_ns;
    bool is_power_of_two = (thinner->resolution_ns & last) == 0;
    uint64_t left_ns =
        last - (is_power_of_two ? since_ns & last : since_ns % thinner->resolution_ns);

    return time_ns > UINT64_MAX - left_ns ? UINT64_MAX : time_ns + left_ns;
}

void cn_thinner_open_cell(struct cn_thinner *thinner, struct cn_sample sample)
{
    /* Not each time: then all work together is linear. */
    if (thinner->sample_max > 0 && thinner->count / 2 > thinner->sample_max) {
        cn_thinner_end(thinner);
        cn_thinner_put(thinner, sample);
        return;
    }
    CN_PUSH(thinner->list, thinner->count, thinner->capacity, sample);
    thinner->cell_last_ns = last_of_cell(thinner, sample.time_ns);
}

bool cn_thinner_add(struct cn_thinner *thinner, const struct cn_sample *samples,
                    size_t count, struct cn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (thinner->count > 0 &&
            samples[i].time_ns < thinner->list[thinner->count - 1].time_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64,
                           samples[i].time_ns, thinner->list[thinner->count - 1].time_ns);
        cn_thinner_put(thinner, samples[i]);
    }
    return true;
}

void cn_thinner_coarsen(struct cn_thinner *thinner, uint64_t resolution_ns)
{
    size_t count = thinner->count;

    if (resolution_ns <= thinner->resolution_ns)
        return;
    thinner->resolution_ns = resolution_ns;
    thinner->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct cn_sample sample = thinner->list[i];

        if (thinner->count > 0 && sample.time_ns <= thinner->cell_last_ns) {
            thinner->list[thinner->count - 1] = sample;
            continue;
        }
        thinner->list[thinner->count++] = sample;
        thinner->cell_last_ns = last_of_cell(thinner, sample.time_ns);
    }
}

void cn_thinner_end(struct cn_thinner *thinner)
{
    while (thinner->sample_max > 0 && thinner->count > thinner->sample_max &&
           thinner->resolution_ns <= UINT64_MAX / 4)
        cn_thinner_coarsen(thinner, thinner->resolution_ns * 2);
}

void cn_thinner_reset(struct cn_thinner *thinner, uint64_t resolution_ns,
                      uint64_t origin_ns)
{
    thinner->resolution_ns = resolution_ns;
    thinner->origin_ns = origin_ns;
    thinner->count = 0;
}
