#include "formats/hpctoolkit/meas/profile/profile.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/meas/format.h"

static void merge(const struct cn_node_sample *from, size_t begin, size_t middle,
                  size_t end, struct cn_node_sample *to)
{
    size_t left = begin, right = middle;

    for (size_t i = begin; i < end; i++) {
        bool takes_left =
            left < middle && (right == end || from[left].time_ns <= from[right].time_ns);

        to[i] = takes_left ? from[left++] : from[right++];
    }
}

/* Merge sort from the bottom up: stable, and n log n for any input. */
static void sort(struct cn_hpc_trace_order *order)
{
    size_t count = order->count;

    CN_GROW_TO(order->spare, count, order->spare_capacity);
    for (size_t width = 1; width < count; width *= 2) {
        struct cn_node_sample *samples = order->samples;
        size_t capacity = order->capacity;

        for (size_t at = 0; at < count; at += 2 * width) {
            size_t middle = at + width < count ? at + width : count;
            size_t end = middle + width < count ? middle + width : count;

            merge(samples, at, middle, end, order->spare);
        }
        order->samples = order->spare;
        order->capacity = order->spare_capacity;
        order->spare = samples;
        order->spare_capacity = capacity;
    }
}

void cn_hpc_trace_order_read(struct cn_hpc_trace_order *order, struct cn_bytes records,
                             const struct cn_hpc_node_ids *ids)
{
    size_t count = records.len / cn_hpc_trace_record_size;
    bool is_sorted = true;

    CN_GROW_TO(order->samples, count, order->capacity);
    for (size_t i = 0; i < count; i++) {
        struct cn_hpc_trace_record record;

        (void)cn_hpc_trace_record_decode(
            cn_bytes_element(records, i, cn_hpc_trace_record_size), &record);
        order->samples[i] = (struct cn_node_sample){
            record.time_ns, cn_hpc_node_ids_find(ids, record.node)};
        is_sorted =
            is_sorted && (i == 0 || order->samples[i - 1].time_ns <= record.time_ns);
    }
    order->count = count;
    if (!is_sorted)
        sort(order);
}

void cn_hpc_trace_order_done(struct cn_hpc_trace_order *order)
{
    free(order->samples);
    free(order->spare);
    *order = (struct cn_hpc_trace_order){0};
}
