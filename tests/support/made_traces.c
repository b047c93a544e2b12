#include "support/made_traces.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static uint32_t method(struct cn_words *words, uint32_t n)
{
    char name[40];
    uint32_t parts[3];

    (void)snprintf(name, sizeof(name), "com.example.Class%u", n % 5);
    parts[0] = cn_words_add_str(words, CN_WORD_CLASS, name);
    (void)snprintf(name, sizeof(name), "method%u", n);
    parts[1] = cn_words_add_str(words, CN_WORD_METHOD_NAME, name);
    parts[2] = cn_words_add_str(words, CN_WORD_SIGNATURE, "(I)V");
    return cn_words_add_parts(words, CN_WORD_METHOD, parts, 3);
}

static uint32_t exception(struct cn_words *words, uint32_t i)
{
    uint32_t frame[4] = {0}, parts[4] = {0};
    char message[40];

    (void)snprintf(message, sizeof(message), "no item %u", i);
    frame[0] = cn_words_add_str(words, CN_WORD_CLASS, "com.example.Class1");
    frame[1] = cn_words_add_str(words, CN_WORD_METHOD_NAME, "method1");
    frame[2] = cn_words_add_str(words, CN_WORD_TEXT, "Class1.java");
    frame[3] = 17;
    parts[0] = cn_words_add_str(words, CN_WORD_CLASS, "java.lang.RuntimeException");
    parts[1] = cn_words_add_str(words, CN_WORD_TEXT, message);
    frame[0] = cn_words_add_parts(words, CN_WORD_FRAME, frame, 4);
    parts[2] = cn_words_add_parts(words, CN_WORD_STACK, frame, 1);
    return cn_words_add_parts(words, CN_WORD_EXCEPTION, parts, 4);
}

static void enter(struct cn_trace *trace, struct cn_words *words, uint32_t n,
                  uint64_t start_ns)
{
    struct cn_error err;

    (void)!cn_trace_enter(trace, method(words, n), start_ns, &err);
}

static void add_attributes(struct cn_trace *trace, struct cn_words *words, uint32_t i)
{
    struct cn_trace_value values[2] = {{.kind = CN_VALUE_BOOL, .boolean = true},
                                       {.kind = CN_VALUE_FLOAT, .real = 0.5}};
    struct cn_trace_value value = {.kind = CN_VALUE_WORD};
    char text[40];

    (void)snprintf(text, sizeof(text), "r%u", i);
    value.word = cn_words_add_str(words, CN_WORD_TEXT, text);
    cn_trace_add_attribute(trace, cn_words_add_str(words, CN_WORD_KEYWORD, "request.id"),
                           value);
    value = (struct cn_trace_value){.kind = CN_VALUE_INT,
                                    .integer = i % 2 ? 200 : -(int64_t)i};
    cn_trace_add_attribute(trace, cn_words_add_str(words, CN_WORD_KEYWORD, "status"),
                           value);
    value = (struct cn_trace_value){.kind = CN_VALUE_LIST};
    value.list.first = cn_trace_add_values(trace, values, 2);
    value.list.count = 2;
    cn_trace_add_attribute(trace, cn_words_add_str(words, CN_WORD_KEYWORD, "list"),
                           value);
}

static void add_calls(struct cn_trace *trace, struct cn_words *words, uint32_t i)
{
    uint64_t now_ns = 100;

    for (uint32_t k = 0; k < 1 + i % 13; k++) {
        enter(trace, words, (i + k) % 23, now_ns += 7);
        if (k == 0 && i % 3 == 0) {
            struct cn_trace_span *span =
                cn_trace_add_span(trace, UINT64_C(1700000000000000000));

            span->id = ((uint64_t)1 << 40) + i;
            span->parent_id = i + 1;
        }
        if (k % 2) {
            enter(trace, words, (i * 7 + k) % 23, now_ns += 3);
            if (k == 3 && i % 5 == 0)
                cn_trace_throw(trace, exception(words, i));
            cn_trace_leave(trace, now_ns += 11, 5);
        }
        cn_trace_leave(trace, now_ns += 300 * i, k % 2 ? 2 : 1);
    }
}

void cn_made_trace(struct cn_trace *trace, struct cn_words *words, uint32_t i)
{
    struct cn_trace_span *span;

    cn_trace_clear(trace);
    trace->words = words;
    trace->id_high = UINT64_C(0xabcdef0000000000) + i;
    trace->id_low = ~(uint64_t)i;
    trace->clock_ns = 5000 + i;
    enter(trace, words, i % 23, 0);
    span =
        cn_trace_add_span(trace, UINT64_C(1700000000123456789) + i * UINT64_C(1000000));
    span->id = i + 1;
    span->type = cn_words_add_str(words, CN_WORD_KEYWORD, "http");
    span->service = cn_words_add_str(words, CN_WORD_KEYWORD, "shop");
    add_attributes(trace, words, i);
    add_calls(trace, words, i);
    cn_trace_leave(trace, 1000000 + i, 99);
}

/* Everything of a trace as a text. */
static void print_span(const struct cn_trace *trace, const struct cn_trace_span *span,
                       struct cn_text *out)
{
    cn_text_printf(out, " span %llx of %llx at %llu type ", (unsigned long long)span->id,
                   (unsigned long long)span->parent_id,
                   (unsigned long long)span->time_ns);
    cn_words_print(trace->words, span->type, out);
    cn_text_char(out, ' ');
    cn_words_print(trace->words, span->service, out);
}

static void print_node(const struct cn_trace *trace, uint32_t i, struct cn_text *out)
{
    const struct cn_trace_node *node = &trace->nodes[i];

    cn_text_printf(out, "%u in %u: ", i, node->parent);
    cn_words_print(trace->words, node->method, out);
    cn_text_printf(out, " %llu+%llu calls %llu errors %u flags %u end %u",
                   (unsigned long long)node->start_ns,
                   (unsigned long long)node->duration_ns, (unsigned long long)node->calls,
                   node->errors, node->flags & ~(uint32_t)CN_TRACE_CARRIED, node->end);
    if (node->exception) {
        cn_text_str_add(out, " threw ");
        cn_words_print(trace->words, node->exception, out);
        cn_words_print(trace->words, cn_word_part(trace->words, node->exception, 2), out);
    }
    if (node->span != CN_NONE)
        print_span(trace, &trace->spans[node->span], out);
    for (uint32_t a = node->first_attribute; a != CN_NONE;
         a = trace->attributes[a].next) {
        cn_text_char(out, ' ');
        cn_words_print(trace->words, trace->attributes[a].key, out);
        cn_text_char(out, '=');
        cn_trace_value_print(trace, &trace->attributes[a].value, out);
    }
}

bool cn_same_trace(const struct cn_trace *a, const struct cn_trace *b,
                   struct cn_error *err)
{
    struct cn_text x = {0}, y = {0};
    bool ok = true;

    if (a->id_high != b->id_high || a->id_low != b->id_low)
        return cn_fail(err, CN_ERR_FORMAT, "other ids");
    if (a->node_count != b->node_count)
        return cn_fail(err, CN_ERR_FORMAT, "%u calls and %u", a->node_count,
                       b->node_count);
    for (uint32_t i = 0; ok && i < a->node_count; i++) {
        cn_text_clear(&x);
        cn_text_clear(&y);
        print_node(a, i, &x);
        print_node(b, i, &y);
        ok = strcmp(cn_text_str(&x), cn_text_str(&y)) == 0 ||
             cn_fail(err, CN_ERR_FORMAT, "%.200s | %.200s", cn_text_str(&x),
                     cn_text_str(&y));
    }
    cn_text_done(&x);
    cn_text_done(&y);
    return ok;
}
