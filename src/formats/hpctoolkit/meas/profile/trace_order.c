#include "formats/hpctoolkit/meas/profile/trace_order.h"

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

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Merge sort from the bottom up: stable, and no worse for hostile input. */
static void sort(struct cn_hpc_trace_order *order)
{
    if (order->spare_capacity < order->capacity) {
        free(order->spare);
        order->spare_capacity = order->capacity;
        order->spare = cn_alloc(order->spare_capacity, sizeof(*order->spare));
    }
    for (size_t width = 1; width < order->count; width *= 2) {
        struct cn_node_sample *swap = order->samples;
        size_t capacity = order->capacity;

        for (size_t at = 0; at < order->count; at += 2 * width)
            merge(order->samples, at, least(at + width, order->count),
                  least(at + 2 * width, order->count), order->spare);
        order->samples = order->spare;
        order->capacity = order->spare_capacity;
        order->spare = swap;
        order->spare_capacity = capacity;
    }
}

void cn_hpc_trace_order_read(struct cn_hpc_trace_order *order, struct cn_bytes records,
                             const struct cn_hpc_node_ids *ids)
{
    size_t count = records.len / cn_hpc_trace_record_size;
    bool is_sorted = true;

    if (order->capacity < count) {
        free(order->samples);
        order->capacity = count * 2;
        order->samples = cn_alloc(order->capacity, sizeof(*order->samples));
    }
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
