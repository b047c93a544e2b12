#include "formats/exchange/read/traces/spans.h"

#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "model/traces/trace.h"

const char *const cn_span_kinds[CN_SPAN_KIND_COUNT] = {"",       "internal", "server",
                                                       "client", "producer", "consumer"};

bool cn_word_is(const struct cn_words *words, uint32_t word, const char *text)
{
    struct cn_bytes bytes = cn_word_bytes(words, word);

    return bytes.len == strlen(text) &&
           (bytes.len == 0 || memcmp(bytes.ptr, text, bytes.len) == 0);
}

bool cn_trace_is_text_of(const struct cn_trace *trace,
                         const struct cn_trace_attribute *attribute, const char *key)
{
    return attribute->value.kind == CN_VALUE_WORD &&
           cn_word_is(trace->words, attribute->key, key);
}

uint64_t cn_trace_call_id(const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];
    uint64_t key[4] = {trace->id_high, trace->id_low,
                       trace->span_count > 0 ? trace->spans[0].id : 0, node};

    if (call->span != CN_NONE && trace->spans[call->span].id != 0)
        return trace->spans[call->span].id;
    return XXH3_64bits(key, sizeof(key)) | 1;
}

uint64_t cn_trace_call_parent_id(const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];

    if (call->span != CN_NONE && trace->spans[call->span].parent_id != 0)
        return trace->spans[call->span].parent_id;
    return call->parent != CN_NONE ? cn_trace_call_id(trace, call->parent) : 0;
}

/* 0: it is none. */
static unsigned kind_of(const struct cn_trace *trace, uint32_t type)
{
    for (unsigned i = CN_SPAN_INTERNAL; type != 0 && i < CN_SPAN_KIND_COUNT; i++)
        if (cn_word_is(trace->words, type, cn_span_kinds[i]))
            return i;
    return 0;
}

unsigned cn_trace_call_kind(const struct cn_trace *trace, uint32_t node)
{
    uint32_t span = trace->nodes[node].span;
    unsigned kind = span != CN_NONE ? kind_of(trace, trace->spans[span].type) : 0;

    return kind > 0 || (span != CN_NONE && trace->spans[span].has_no_kind)
               ? kind
               : CN_SPAN_INTERNAL;
}

uint64_t cn_trace_other_types(const struct cn_trace *trace)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < trace->span_count; i++)
        count += trace->spans[i].type != 0 && kind_of(trace, trace->spans[i].type) == 0;
    return count;
}

uint32_t *cn_trace_call_services(const struct cn_trace *trace)
{
    uint32_t *services = cn_alloc(trace->node_count, sizeof(*services));

    for (uint32_t i = 0; i < trace->node_count; i++) {
        uint32_t span = trace->nodes[i].span, parent = trace->nodes[i].parent;

        if (span != CN_NONE && trace->spans[span].service != 0)
            services[i] = trace->spans[span].service;
        else if (parent != CN_NONE)
            services[i] = services[parent];
    }
    return services;
}
