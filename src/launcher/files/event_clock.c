#include "launcher/files/event_clock.h"

#include <string.h>

#include "formats/uftrace/format.h"

/* The shortest distance of two pairs: a reading is exact to about 20 ns. */
#define APART_NS 10000000u

void cn_event_clock_add(struct cn_event_clock *clock, struct cn_clock_pair pair)
{
    if (clock->count > 0 && pair.kernel_ns < clock->last.kernel_ns + APART_NS)
        return;
    clock->first = clock->last;
    clock->last = pair;
    clock->count += clock->count < 2;
}

uint64_t cn_event_clock_convert(const struct cn_event_clock *clock, uint64_t kernel_ns)
{
    struct cn_clock_pair first = clock->first, last = clock->last;
    int64_t since_ns = (int64_t)(kernel_ns - last.kernel_ns), gained_ns;

    if (clock->count == 0)
        return kernel_ns;
    if (clock->count == 1)
        return last.recorded_ns + (uint64_t)since_ns;
    gained_ns = (int64_t)(last.recorded_ns - first.recorded_ns) -
                (int64_t)(last.kernel_ns - first.kernel_ns);
    double gain = (double)gained_ns / (double)(last.kernel_ns - first.kernel_ns);
    return last.recorded_ns + (uint64_t)(since_ns + (int64_t)((double)since_ns * gain));
}

static void convert_at(const struct cn_event_clock *clock, uint8_t *at)
{
    uint64_t time_ns;

    memcpy(&time_ns, at, sizeof(time_ns));
    time_ns = cn_event_clock_convert(clock, time_ns);
    memcpy(at, &time_ns, sizeof(time_ns));
}

void cn_event_clock_convert_records(const struct cn_event_clock *clock, uint8_t *records,
                                    uint64_t len)
{
    uint64_t least_len = cn_uft_perf_header_size + cn_uft_perf_sample_size;
    struct cn_uft_perf_header head;

    for (uint64_t at = 0; len - at >= cn_uft_perf_header_size; at += head.size) {
        uint8_t *record = records + at;

        (void)cn_uft_perf_header_decode((struct cn_bytes){record, len - at}, &head);
        if (head.size < cn_uft_perf_header_size || head.size > len - at)
            return;
        if (head.size >= least_len)
            convert_at(clock, record + head.size - sizeof(uint64_t));
        if ((head.type == CN_UFT_PERF_FORK || head.type == CN_UFT_PERF_EXIT) &&
            head.size >= least_len + cn_uft_perf_task_size)
            convert_at(clock, record + cn_uft_perf_header_size + cn_uft_perf_task_size -
                                  sizeof(uint64_t));
    }
}
