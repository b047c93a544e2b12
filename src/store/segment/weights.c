#include "store/segment/weights.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "store/segment/reader.h"
#include "store/segment/segment.h"

/* Offsets of chunks ascend with rows. */
static uint32_t first_row_from(const struct cn_store_column *offs, uint32_t count,
                               uint64_t from_off)
{
    uint32_t begin = 0, end = count;

    while (begin < end) {
        uint32_t mid = begin + (end - begin) / 2;

        if (cn_store_column_at(offs, mid) < from_off)
            begin = mid + 1;
        else
            end = mid;
    }
    return begin;
}

struct cn_row_weights cn_segment_weights(const struct cn_segment *segment)
{
    const struct cn_store_sampled *sampled = &segment->config.sampled;
    struct cn_row_weights weights = {0};
    const struct cn_columns *columns;
    struct cn_store_column offs;
    struct cn_error ignored;

    if (sampled->rate_count == 0)
        return weights;
    columns = cn_segment_columns(segment);
    if (!cn_columns_field(columns, CN_STORE_FIELD_data_off, &offs, &ignored))
        return weights;
    weights.count = sampled->rate_count;
    for (size_t i = 0; i < weights.count; i++) {
        weights.list[i].first_row =
            first_row_from(&offs, columns->row_count, sampled->rates[i].from_off);
        weights.list[i].rate = sampled->rates[i].rate;
    }
    return weights;
}

double cn_rows_weight(const struct cn_row_weights *weights, const struct cn_rows *rows)
{
    double sum = 0;

    if (weights->count == 0)
        return (double)cn_rows_size(rows);
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1))
        sum += cn_row_weight(weights, row);
    return sum;
}

struct cn_row_weights *cn_store_weights(const struct cn_store *store)
{
    size_t count = cn_store_segment_count(store);
    struct cn_row_weights *list = cn_alloc(count, sizeof(*list));

    for (size_t i = 0; i < count; i++)
        list[i] = cn_segment_weights(cn_store_segment(store, i));
    return list;
}

const struct cn_store_sampled *cn_segment_sampled(const struct cn_segment *segment)
{
    return &segment->config.sampled;
}

struct cn_store_sampling cn_store_sampling(const struct cn_store *store)
{
    struct cn_store_sampling sampling = {0};

    for (size_t i = 0; i < cn_store_segment_count(store); i++) {
        const struct cn_store_sampled *of =
            cn_segment_sampled(cn_store_segment(store, i));

        sampling.segments += of->is_sampled;
        sampling.dropped_traces += of->dropped_traces;
        sampling.dropped_spans += of->dropped_spans;
        for (size_t k = 0; k < of->rate_count; k++)
            sampling.has_rates |= of->rates[k].rate < CN_RATE_ALL;
    }
    return sampling;
}

void cn_store_sampling_print(struct cn_text *out,
                             const struct cn_store_sampling *sampling)
{
    cn_text_printf(
        out, "sampled: %" PRIu64 " trace%s with %" PRIu64 " span%s dropped by rules",
        sampling->dropped_traces, cn_plural(sampling->dropped_traces, "", "s"),
        sampling->dropped_spans, cn_plural(sampling->dropped_spans, "", "s"));
}
