#include "support/trace_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/traces/trace.h"

static char *print_word(const struct cn_words *words, uint32_t word)
{
    struct cn_text text = {0};
    char *copy;

    cn_words_print(words, word, &text);
    copy = cn_strdup(cn_text_str(&text));
    cn_text_done(&text);
    return copy;
}

static void note_attribute(struct cn_trace_facts *f, const char *name, const char *value,
                           bool is_root)
{
    assert_true(f->attribute_count < CN_TRACE_TEXTS_MAX);
    f->attributes[f->attribute_count].name = cn_strdup(name);
    f->attributes[f->attribute_count].value = cn_strdup(value);
    f->attributes[f->attribute_count++].is_root = is_root;
}

static void note_value(struct cn_trace_facts *f, const struct cn_trace *trace,
                       const char *name, const struct cn_trace_value *value, bool is_root)
{
    const struct cn_trace_value *items = trace->values + value->list.first;
    struct cn_text text = {0};

    if (value->kind == CN_VALUE_LIST) {
        note_value(f, trace, name, &items[0], is_root);
        note_value(f, trace, name, &items[1], is_root);
    } else if (value->kind == CN_VALUE_MAP) {
        char *key = print_word(trace->words, items[0].word);
        char joined[100];

        (void)snprintf(joined, sizeof(joined), "%s.%s", name, key);
        note_value(f, trace, joined, &items[1], is_root);
        free(key);
    } else {
        cn_trace_value_print(trace, value, &text);
        note_attribute(f, name, cn_text_str(&text), is_root);
    }
    cn_text_done(&text);
}

static void note_call(struct cn_trace_facts *f, const struct cn_trace *trace,
                      uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];
    const struct cn_words *words = trace->words;
    struct cn_text name = {0};

    cn_words_print_method_name(words, call->method, &name);
    f->methods[f->method_count] = cn_strdup(cn_text_str(&name));
    f->classes[f->method_count++] =
        print_word(words, cn_word_part(words, call->method, 0));
    cn_text_done(&name);
    for (uint32_t a = call->first_attribute; a != CN_NONE;
         a = trace->attributes[a].next) {
        char *key = print_word(words, trace->attributes[a].key);

        note_value(f, trace, key, &trace->attributes[a].value, node == 0);
        free(key);
    }
    for (uint32_t e = call->exception; e != 0; e = cn_word_part(words, e, 3)) {
        uint32_t message = cn_word_part(words, e, 1);

        f->exception_classes[f->exception_count] =
            print_word(words, cn_word_part(words, e, 0));
        f->exception_messages[f->exception_count++] =
            message ? print_word(words, message) : NULL;
    }
}

void cn_trace_facts_read(struct cn_trace_facts *facts, const struct cn_store *store,
                         struct cn_segment_loader *loader, uint32_t segment, uint32_t row)
{
    const struct cn_segment *from = cn_store_segment(store, segment);
    const struct cn_words *words = cn_segment_words(from);
    struct cn_trace trace = {0};
    struct cn_error err = {0};

    facts->segment = segment;
    facts->row = row;
    assert_true(cn_segment_row(from, row, &facts->data, &err));
    if (!cn_segment_load(loader, from, row, &trace, &err))
        fail_msg("%s", err.text);
    facts->type = facts->data.type ? print_word(words, facts->data.type) : NULL;
    facts->service = facts->data.service ? print_word(words, facts->data.service) : NULL;
    for (uint32_t node = 0; node < trace.node_count; node++)
        note_call(facts, &trace, node);
    facts->root = facts->methods[0];
    cn_trace_done(&trace);
}

void cn_trace_facts_done(struct cn_trace_facts *facts)
{
    free(facts->type);
    free(facts->service);
    for (size_t i = 0; i < facts->method_count; i++) {
        free(facts->methods[i]);
        free(facts->classes[i]);
    }
    for (size_t i = 0; i < facts->attribute_count; i++) {
        free(facts->attributes[i].name);
        free(facts->attributes[i].value);
    }
    for (size_t i = 0; i < facts->exception_count; i++) {
        free(facts->exception_classes[i]);
        free(facts->exception_messages[i]);
    }
}
