#include "support/random_traces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/traces/trace.h"

const uint64_t cn_random_begin_ns = UINT64_C(1767225600000000000);

const char *const cn_random_classes[CN_RANDOM_CLASSES] = {"com.shop.Dao", "com.shop.Cart",
                                                          "org.Dao", "Main"};
const char *const cn_random_methods[CN_RANDOM_METHODS] = {"get", "getAll", "put", "run"};
const char *const cn_random_attributes[CN_RANDOM_ATTRIBUTES] = {"user", "status", "url",
                                                                "note"};
const char *const cn_random_texts[CN_RANDOM_TEXTS] = {
    "alice", "bob", "200", "500", "Dao", "/a?b=c", "x y", "7", "-3", "", "com.shop"};
static const char *const types[] = {"http", "db"};
static const char *const services[] = {"shop", "mail", NULL};
static const char *const messages[] = {"locked", "not found", "user alice failed", NULL};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define PICK(a)  ((a)[cn_random_below(COUNT(a))])

static uint64_t random_state = 42;

size_t cn_random_below(size_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)(random_state >> 33) % limit;
}

static uint32_t random_method(struct cn_words *words)
{
    uint32_t parts[3] = {
        cn_words_add_str(words, CN_WORD_CLASS, PICK(cn_random_classes)),
        cn_words_add_str(words, CN_WORD_METHOD_NAME, PICK(cn_random_methods)),
        cn_words_add_str(words, CN_WORD_SIGNATURE, "()V"),
    };

    return cn_words_add_parts(words, CN_WORD_METHOD, parts, 3);
}

static uint32_t random_exception(struct cn_words *words, uint32_t cause)
{
    const char *message = PICK(messages);
    uint32_t parts[4] = {
        cn_words_add_str(words, CN_WORD_CLASS, PICK(cn_random_classes)),
        message ? cn_words_add_str(words, CN_WORD_TEXT, message) : 0,
        0,
        cause,
    };

    return cn_words_add_parts(words, CN_WORD_EXCEPTION, parts, 4);
}

static struct cn_trace_value random_scalar(struct cn_words *words)
{
    switch (cn_random_below(6)) {
    case 0:
        return (struct cn_trace_value){.kind = CN_VALUE_INT, .integer = 7};
    case 1:
        return (struct cn_trace_value){.kind = CN_VALUE_BOOL, .boolean = true};
    default:
        return (struct cn_trace_value){
            .kind = CN_VALUE_WORD,
            .word = cn_words_add_str(words, CN_WORD_TEXT, PICK(cn_random_texts))};
    }
}

static void add_attribute(struct cn_trace *trace, struct cn_words *words)
{
    uint32_t key = cn_words_add_str(words, CN_WORD_KEYWORD, PICK(cn_random_attributes));
    struct cn_trace_value items[2] = {random_scalar(words), random_scalar(words)};
    struct cn_trace_value value = items[0];

    if (cn_random_below(10) == 0) {
        value.kind = CN_VALUE_LIST;
        value.list.first = cn_trace_add_values(trace, items, 2);
        value.list.count = 2;
    } else if (cn_random_below(10) == 0) {
        items[0] = (struct cn_trace_value){
            .kind = CN_VALUE_WORD,
            .word = cn_words_add_str(words, CN_WORD_KEYWORD, "inner")};
        value.kind = CN_VALUE_MAP;
        value.list.first = cn_trace_add_values(trace, items, 2);
        value.list.count = 1;
    }
    cn_trace_add_attribute(trace, key, value);
}

static void fill_call(struct cn_trace *trace, struct cn_words *words)
{
    struct cn_error err = {0};

    assert_true(cn_trace_enter(trace, random_method(words), cn_random_below(1000), &err));
    for (size_t i = cn_random_below(3); i > 0; i--)
        add_attribute(trace, words);
    if (cn_random_below(12) == 0) {
        uint32_t cause = cn_random_below(2) ? random_exception(words, 0) : 0;

        cn_trace_throw(trace, random_exception(words, cause));
    }
}

void cn_random_trace(struct cn_trace *trace, struct cn_words *words, size_t number)
{
    size_t calls = 1 + cn_random_below(5);
    const char *service = PICK(services);
    struct cn_trace_span *span;

    cn_trace_clear(trace);
    trace->words = words;
    trace->id_high = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    trace->id_low = number + 1;
    fill_call(trace, words);
    span = cn_trace_add_span(trace, cn_random_begin_ns + number * 1000000000 +
                                        cn_random_below(5) * 2000000000);
    span->id = number + 1;
    span->type = cn_words_add_str(words, CN_WORD_KEYWORD, PICK(types));
    span->service = service ? cn_words_add_str(words, CN_WORD_KEYWORD, service) : 0;
    while (calls-- > 0) {
        fill_call(trace, words);
        cn_trace_leave(trace, 1000 + cn_random_below(100000), 1 + cn_random_below(3));
    }
    cn_trace_leave(trace, 200000 + cn_random_below(200000000), 2 + cn_random_below(20));
}
