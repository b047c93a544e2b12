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

static void visit_exception(struct facts_visit *v, uint32_t node)
{
    uint32_t exception = v->trace->nodes[node].exception;

    if (exception != 0 && cn_word_kind(v->trace->words, exception) == CN_WORD_EXCEPTION)
        visit_word(v, "exception", cn_word_part(v->trace->words, exception, 0));
}

static void done(struct facts_visit *v)
{
    cn_text_done(&v->key);
    cn_text_done(&v->value);
}

void cn_trace_facts_visit(const struct cn_trace *trace, uint32_t node,
                          cn_trace_fact_fn visit, void *arg)
{
    const struct cn_trace_node *at = &trace->nodes[node];
    struct facts_visit v = {.trace = trace, .visit = visit, .arg = arg};

    if (trace->span_count > 0) {
        visit_word(&v, "service", trace->spans[0].service);
        visit_word(&v, "type", trace->spans[0].type);
    }
    visit(arg, "error", at->errors > 0 ? "yes" : "no", NULL);
    visit_exception(&v, node);
    if (node > 0)
        visit_attributes(&v, 0);
    visit_attributes(&v, node);
    done(&v);
}

void cn_trace_facts_visit_all(const struct cn_trace *trace, cn_trace_fact_fn visit,
                              void *arg)
{
    struct facts_visit v = {.trace = trace, .visit = visit, .arg = arg};

    for (uint32_t i = 0; i < trace->span_count; i++) {
        const struct cn_trace_span *span = &trace->spans[i];

        if (i == 0 || span->service != span[-1].service)
            visit_word(&v, "service", span->service);
        if (i == 0 || span->type != span[-1].type)
            visit_word(&v, "type", span->type);
    }
    for (uint32_t node = 0; node < trace->node_count; node++) {
        visit_exception(&v, node);
        visit_attributes(&v, node);
    }
    done(&v);
}
