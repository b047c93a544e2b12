#include "store/segment/segment_rows.h"

static uint32_t flags_of(const struct cn_trace *trace, uint32_t at)
{
    const struct cn_trace_node *node = &trace->nodes[at];
    uint32_t flags = 0;

    if (node->flags & (CN_TRACE_ERROR | CN_TRACE_FAILED))
        flags |= CN_ROW_ERROR;
    if (node->flags & CN_TRACE_LOSSY)
        flags |= CN_ROW_LOSSY;
    if (at != 0)
        flags |= CN_ROW_EMBEDDED;
    if (!(node->flags & CN_TRACE_CARRIED))
        flags |= CN_ROW_FIRST;
    if (!(node->flags & CN_TRACE_OPEN))
        flags |= CN_ROW_LAST;
    return flags;
}

struct cn_store_row cn_segment_row_of(const struct cn_trace *trace, uint32_t at,
                                      const struct cn_zorka_part *part)
{
    static const struct cn_trace_span no_span = {0};
    const struct cn_trace_node *node = &trace->nodes[at];
    const struct cn_trace_span *span =
        node->span == CN_NONE ? &no_span : &trace->spans[node->span];

    return (struct cn_store_row){
        .trace_high = trace->id_high,
        .trace_low = trace->id_low,
        .span_id = span->id,
        .parent_id = span->parent_id,
        .time_ns = span->time_ns,
        .duration_ns = node->duration_ns,
        .calls = node->calls,
        .in_chunk_off = node->data_off,
        .in_chunk_len = at == 0 ? (uint32_t)part->record_len : 0,
        .records = node->end - at,
        .errors = node->errors,
        .flags = flags_of(trace, at),
        .method = node->method,
        .type = span->type,
        .service = span->service,
        .part = part->number,
        .part_off = part->part_off,
        .part_len = part->part_len,
    };
}
