#include "server/compat/common/spans.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "formats/exchange/read/traces/spans.h"
#include "store/trace/distributed.h"

static void describe(struct cn_compat_span *out, uint64_t begin_ns)
{
    const struct cn_trace *trace = out->trace;
    const struct cn_trace_node *call = &trace->nodes[out->node];

    out->span = call->span != CN_NONE ? &trace->spans[call->span] : NULL;
    out->resource = out->span ? cn_trace_span_resource(trace, out->span) : NULL;
    out->id = cn_trace_call_id(trace, out->node);
    out->parent_id = cn_trace_call_parent_id(trace, out->node);
    out->time_ns = out->span ? out->span->time_ns : begin_ns + call->start_ns;
    out->end_ns = out->span ? cn_trace_span_end_ns(trace, out->span)
                            : out->time_ns + call->duration_ns;
    if (out->end_ns < out->time_ns)
        out->end_ns = out->time_ns;
    out->kind = cn_trace_call_kind(trace, out->node);
    out->status = out->span                      ? (enum cn_trace_status)out->span->status
                  : call->flags & CN_TRACE_ERROR ? CN_STATUS_ERROR
                                                 : CN_STATUS_UNSET;
    out->attributes = (struct cn_trace_list){call->first_attribute, call->last_attribute};
}

void cn_compat_each_span(const struct cn_trace_set *set, cn_compat_span_visit *visit,
                         void *arg)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace_branch *branch = &set->branches[i];
        uint32_t *services;

        if (branch->is_copy)
            continue;
        services = cn_trace_call_services(&branch->trace);
        for (uint32_t node = 0; node < branch->trace.node_count; node++) {
            struct cn_compat_span span = {
                .trace = &branch->trace, .node = node, .service = services[node]};

            describe(&span, cn_trace_branch_begin_ns(branch, 0));
            visit(arg, &span);
        }
        free(services);
    }
}

uint32_t cn_compat_span_exception(const struct cn_compat_span *span)
{
    const struct cn_trace *trace = span->trace;
    uint32_t exception = trace->nodes[span->node].exception;

    for (uint32_t i = 0; exception != 0 && span->span && i < span->span->event_count; i++)
        if (cn_trace_event_is_exception(trace,
                                        &cn_trace_span_events(trace, span->span)[i]))
            return 0;
    return cn_word_kind(trace->words, exception) == CN_WORD_EXCEPTION ? exception : 0;
}

void cn_compat_print_trace_id(struct cn_text *out, uint64_t high, uint64_t low)
{
    if (high != 0)
        cn_text_printf(out, "%016" PRIx64, high);
    cn_text_printf(out, "%016" PRIx64, low);
}

void cn_compat_add_trace_id(struct cn_json *json, const char *key, uint64_t high,
                            uint64_t low)
{
    struct cn_text digits = {0};

    cn_compat_print_trace_id(&digits, high, low);
    cn_json_add_str(json, key, cn_text_str(&digits));
    cn_text_done(&digits);
}
