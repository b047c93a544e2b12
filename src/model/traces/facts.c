#include "model/traces/facts.h"

#include "base/text.h"
#include "model/traces/span.h"

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

/* Attributes, with `prefix` before their names. */
static void visit_list(struct facts_visit *v, const char *prefix, uint32_t first)
{
    const struct cn_trace *trace = v->trace;

    for (uint32_t a = first; a != CN_NONE; a = trace->attributes[a].next) {
        const struct cn_trace_value *value = &trace->attributes[a].value;
        double number =
            value->kind == CN_VALUE_INT ? (double)value->integer : value->real;
        bool is_number = value->kind == CN_VALUE_INT || value->kind == CN_VALUE_FLOAT;

        cn_text_clear(&v->key);
        cn_text_clear(&v->value);
        cn_text_str_add(&v->key, prefix);
        cn_words_print(trace->words, trace->attributes[a].key, &v->key);
        cn_trace_value_print(trace, value, &v->value);
        v->visit(v->arg, cn_text_str(&v->key), cn_text_str(&v->value),
                 is_number ? &number : NULL);
    }
}

/* The exception of a span is a fact of its own. */
static void visit_events(struct facts_visit *v, const struct cn_trace_span *span)
{
    for (uint32_t i = 0; i < span->event_count; i++) {
        const struct cn_trace_event *event = &cn_trace_span_events(v->trace, span)[i];

        visit_word(v, event->is_annotation ? "annotation" : "event", event->name);
        if (!cn_trace_event_is_exception(v->trace, event))
            visit_list(v, "event.", event->attributes.first);
    }
}

static void visit_span(struct facts_visit *v, const struct cn_trace_span *span)
{
    const struct cn_trace_resource *resource = cn_trace_span_resource(v->trace, span);
    const struct cn_trace_scope *scope = cn_trace_span_scope(v->trace, span);

    if (resource)
        visit_list(v, "", resource->attributes.first);
    if (scope)
        visit_word(v, "scope.name", scope->name);
    visit_word(v, "status.message", span->status_message);
    visit_events(v, span);
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
    visit_list(&v, "", at->first_attribute);
    if (at->span != CN_NONE)
        visit_span(&v, &trace->spans[at->span]);
    cn_text_done(&v.key);
    cn_text_done(&v.value);
}
