#include "model/traces/facts.h"

#include "base/text.h"

struct facts_visit {
    const struct cn_trace *trace;
    cn_trace_fact_fn visit;
    void *arg;
    struct cn_text key, value;
};

static void visit_word(struct facts_visit *v, const char *key, uint32_t word)
{
    if (word == 0)
        return;
    cn_text_clear(&v->value);
    cn_words_print(v->trace->words, word, &v->value);
    v->visit(v->arg, key, cn_text_str(&v->value), NULL);
}

static void visit_attributes(struct facts_visit *v, uint32_t node)
{
    const struct cn_trace *trace = v->trace;

    for (uint32_t a = trace->nodes[node].first_attribute; a != CN_NONE;
         a = trace->attributes[a].next) {
        const struct cn_trace_value *value = &trace->attributes[a].value;
        double number =
            value->kind == CN_VALUE_INT ? (double)value->integer : value->real;
        bool is_number = value->kind == CN_VALUE_INT || value->kind == CN_VALUE_FLOAT;

        cn_text_clear(&v->key);
        cn_text_clear(&v->value);
        cn_words_print(trace->words, trace->attributes[a].key, &v->key);
        cn_trace_value_print(trace, value, &v->value);
        v->visit(v->arg, cn_text_str(&v->key), cn_text_str(&v->value),
                 is_number ? &number : NULL);
    }
}

void cn_trace_facts_visit(const struct cn_trace *trace, uint32_t node,
                          cn_trace_fact_fn visit, void *arg)
{
    const struct cn_trace_node *at = &trace->nodes[node];
    struct facts_visit v = {.trace = trace, .visit = visit, .arg = arg};

    if (at->span != CN_NONE) {
        visit_word(&v, "service", trace->spans[at->span].service);
        visit_word(&v, "type", trace->spans[at->span].type);
    }
    if (at->exception != 0 &&
        cn_word_kind(trace->words, at->exception) == CN_WORD_EXCEPTION)
        visit_word(&v, "exception", cn_word_part(trace->words, at->exception, 0));
    visit_attributes(&v, node);
    cn_text_done(&v.key);
    cn_text_done(&v.value);
}
