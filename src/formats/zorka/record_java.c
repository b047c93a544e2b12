/* Traces become records as the original collector writes them: every fact a map of its own. */

#include "formats/zorka/format.h"
#include "formats/zorka/record.h"
#include "formats/zorka/values.h"

static void put_fact(struct cn_cbor_out *out, unsigned key, int64_t value)
{
    cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_TRACE_INFO);
    cn_cbor_put(out, CN_CBOR_MAP, 1);
    cn_cbor_put(out, CN_CBOR_UINT, key);
    cn_cbor_put_int(out, value);
}

static int64_t ticks_of(const struct cn_trace *trace, uint64_t time_ns)
{
    return (int64_t)((trace->clock_ns + time_ns) >> CN_ZORKA_TICK_BITS);
}

static void put_span(struct cn_cbor_out *out, const struct cn_trace_span *span)
{
    put_fact(out, CN_ZTS_TSTAMP, (int64_t)(span->time_ns / 1000000));
    if (span->type != 0)
        put_fact(out, CN_ZTS_TYPE, span->type);
    if (span->id != 0)
        put_fact(out, CN_ZTS_SPAN, (int64_t)span->id);
    if (span->parent_id != 0)
        put_fact(out, CN_ZTS_PARENT, (int64_t)span->parent_id);
}

static void put_start(struct cn_cbor_out *out, const struct cn_trace *trace,
                      const struct cn_trace_node *node)
{
    cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_TRACE_START);
    cn_cbor_put_byte(out, CN_CBOR_ARRAY << 5 | CN_CBOR_OPEN);
    put_fact(out, CN_ZTS_TSTART, ticks_of(trace, node->start_ns));
    put_fact(out, CN_ZTS_METHOD, node->method);
    if (node->span != CN_NONE)
        put_span(out, &trace->spans[node->span]);
    if (node->flags & CN_TRACE_ERROR)
        put_fact(out, CN_ZTS_FLAGS, CN_ZORKA_FLAG_ERROR);
    cn_zorka_put_attributes(out, trace, node, CN_ZORKA_TRACE_ATTR);
}

static void put_stop(struct cn_cbor_out *out, const struct cn_trace *trace,
                     const struct cn_trace_node *node)
{
    if (node->exception != 0) {
        cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_EXCEPTION_REF);
        cn_cbor_put(out, CN_CBOR_UINT, node->exception);
    }
    put_fact(out, CN_ZTS_TSTOP, ticks_of(trace, node->start_ns + node->duration_ns));
    put_fact(out, CN_ZTS_CALLS, (int64_t)node->calls);
    cn_cbor_put_byte(out, CN_CBOR_BREAK);
}

void cn_zorka_record_encode_java(struct cn_trace *trace, struct cn_cbor_out *out)
{
    size_t begin_off = out->len;
    uint32_t open = CN_NONE;

    for (uint32_t i = 0; i < trace->node_count; i++) {
        while (open != trace->nodes[i].parent) {
            put_stop(out, trace, &trace->nodes[open]);
            open = trace->nodes[open].parent;
        }
        trace->nodes[i].data_off = (uint32_t)(out->len - begin_off);
        put_start(out, trace, &trace->nodes[i]);
        open = i;
    }
    for (; open != CN_NONE; open = trace->nodes[open].parent)
        put_stop(out, trace, &trace->nodes[open]);
}
