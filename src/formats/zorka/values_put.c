#include "formats/zorka/format.h"
#include "formats/zorka/values.h"

static void put_word(struct cn_cbor_out *out, uint32_t word)
{
    cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_STRING_REF);
    cn_cbor_put(out, CN_CBOR_UINT, word);
}

/* A value without elements; the head of one with. */
static void put_head(struct cn_cbor_out *out, const struct cn_trace_value *value)
{
    switch (value->kind) {
    case CN_VALUE_BOOL:
        cn_cbor_put(out, CN_CBOR_SIMPLE, value->boolean ? CN_CBOR_TRUE : CN_CBOR_FALSE);
        break;
    case CN_VALUE_INT:
        cn_cbor_put_int(out, value->integer);
        break;
    case CN_VALUE_FLOAT:
        cn_cbor_put_real(out, value->real);
        break;
    case CN_VALUE_WORD:
        put_word(out, value->word);
        break;
    case CN_VALUE_LIST:
        cn_cbor_put(out, CN_CBOR_ARRAY, value->list.count);
        break;
    case CN_VALUE_MAP:
        cn_cbor_put(out, CN_CBOR_MAP, value->list.count);
        break;
    case CN_VALUE_NULL:
    default:
        cn_cbor_put(out, CN_CBOR_SIMPLE, CN_CBOR_NULL);
        break;
    }
}

struct level {
    uint32_t at, end; /* in trace->values */
};

static bool enter(struct level levels[], unsigned *depth,
                  const struct cn_trace_value *value)
{
    uint32_t per_element = value->kind == CN_VALUE_MAP ? 2 : 1;

    if (value->kind != CN_VALUE_LIST && value->kind != CN_VALUE_MAP)
        return false;
    levels[(*depth)++] = (struct level){
        value->list.first, value->list.first + value->list.count * per_element};
    return true;
}

static void put_value(struct cn_cbor_out *out, const struct cn_trace *trace,
                      const struct cn_trace_value *value)
{
    struct level levels[CN_TRACE_VALUE_DEPTH_MAX + 1];
    unsigned depth = 0;

    put_head(out, value);
    (void)enter(levels, &depth, value);
    while (depth > 0) {
        struct level *top = &levels[depth - 1];

        if (top->at == top->end) {
            depth--;
            continue;
        }
        value = &trace->values[top->at++];
        put_head(out, value);
        if (depth <= CN_TRACE_VALUE_DEPTH_MAX)
            (void)enter(levels, &depth, value);
    }
}

void cn_zorka_put_attributes(struct cn_cbor_out *out, const struct cn_trace *trace,
                             const struct cn_trace_node *node, unsigned tag)
{
    uint64_t count = 0;

    for (uint32_t i = node->first_attribute; i != CN_NONE; i = trace->attributes[i].next)
        count++;
    if (count == 0)
        return;
    cn_cbor_put(out, CN_CBOR_TAG, tag);
    cn_cbor_put(out, CN_CBOR_MAP, count);
    for (uint32_t i = node->first_attribute; i != CN_NONE;
         i = trace->attributes[i].next) {
        put_word(out, trace->attributes[i].key);
        put_value(out, trace, &trace->attributes[i].value);
    }
}
