#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/zorka/record.h"
#include "model/traces/links.h"
#include "model/traces/shared.h"
#include "model/traces/span.h"

static uint32_t text(struct cn_words *words, const char *str)
{
    return cn_words_add_str(words, CN_WORD_TEXT, str);
}

static struct cn_trace_value word_value(uint32_t word)
{
    return (struct cn_trace_value){.kind = CN_VALUE_WORD, .word = word};
}

/* A list with a value of each kind, a map among them. */
static struct cn_trace_value every_kind(struct cn_trace *trace, struct cn_words *words)
{
    const struct cn_trace_value pair[] = {
        word_value(text(words, "key")),
        {.kind = CN_VALUE_NULL},
    };
    const struct cn_trace_value items[] = {
        {.kind = CN_VALUE_MAP, .list = {cn_trace_add_values(trace, pair, 2), 1}},
        {.kind = CN_VALUE_BOOL, .boolean = true},
        {.kind = CN_VALUE_INT, .integer = INT64_MIN},
        {.kind = CN_VALUE_FLOAT, .real = -0.5},
        word_value(cn_words_add(words, CN_WORD_BYTES, (struct cn_bytes){NULL, 0})),
        word_value(0),
    };

    return (struct cn_trace_value){.kind = CN_VALUE_LIST,
                                   .list = {cn_trace_add_values(trace, items, 6), 6}};
}

static void check_every_kind(const struct cn_trace *trace,
                             const struct cn_trace_value *list)
{
    static const enum cn_trace_value_type types[] = {
        CN_VALUE_IS_MAP,    CN_VALUE_IS_BOOL,  CN_VALUE_IS_INT,
        CN_VALUE_IS_DOUBLE, CN_VALUE_IS_BYTES, CN_VALUE_IS_TEXT,
    };
    const struct cn_trace_value *items = trace->values + list->list.first;

    assert_int_equal(cn_trace_value_type(trace, list), CN_VALUE_IS_LIST);
    assert_int_equal(list->list.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(cn_trace_value_type(trace, &items[i]), types[i]);
    assert_true(items[2].integer == INT64_MIN);
    assert_true(items[3].real == -0.5);
    assert_int_equal(items[0].list.count, 1);
    assert_int_equal(trace->values[items[0].list.first + 1].kind, CN_VALUE_NULL);
}

/* A span with all that one can have. */
static void make_span(struct cn_trace *trace, struct cn_words *words)
{
    struct cn_trace_shared resource = {.schema_url = text(words, "url"),
                                       .dropped_attributes = UINT32_MAX,
                                       .attributes = CN_TRACE_EMPTY_LIST};
    struct cn_trace_shared scope = {.name = text(words, "lib"),
                                    .attributes = CN_TRACE_EMPTY_LIST};
    uint32_t key = cn_words_add_str(words, CN_WORD_KEYWORD, "all");
    struct cn_trace_value all;
    struct cn_error err;

    cn_trace_clear(trace);
    trace->words = words;
    all = every_kind(trace, words);
    cn_trace_list_add(trace, &resource.attributes, key, all);
    assert_true(cn_trace_enter(trace, text(words, "name"), 0, &err));
    struct cn_trace_span *span = cn_trace_add_span(trace, 1000);
    span->id = 7;
    span->is_whole = span->has_end = true;
    span->end_ns = 999;
    span->status = CN_STATUS_OK;
    span->trace_state = text(words, "a=1");
    span->flags = 257;
    span->dropped_events = 3;
    span->resource = cn_trace_resource_add(words, trace, &resource);
    span->scope = cn_trace_scope_add(words, trace, &scope);
    struct cn_trace_event *event = cn_trace_add_event(trace);
    event->time_ns = 900;
    event->name = text(words, "woken");
    cn_trace_list_add(trace, &event->attributes, key, all);
    struct cn_trace_link *link = cn_trace_add_link(trace);
    link->trace_low = 5;
    link->span_id = 6;
    link->flags = 1;
    cn_trace_leave(trace, 50, 1);
}

static void check_span(const struct cn_trace *trace)
{
    const struct cn_trace_span *span = &trace->spans[0];
    const struct cn_trace_resource *resource = cn_trace_span_resource(trace, span);
    const struct cn_trace_scope *scope = cn_trace_span_scope(trace, span);

    assert_int_equal(cn_trace_span_end_ns(trace, span), 999);
    assert_int_equal(span->status, CN_STATUS_OK);
    assert_int_equal(span->flags, 257);
    assert_int_equal(span->dropped_events, 3);
    assert_true(cn_bytes_equal(cn_word_bytes(trace->words, span->trace_state), "a=1"));
    assert_non_null(resource);
    assert_int_equal(resource->dropped_attributes, UINT32_MAX);
    check_every_kind(trace,
                     cn_trace_list_find(trace, resource->attributes, cn_bytes_of("all")));
    assert_true(cn_bytes_equal(cn_word_bytes(trace->words, scope->name), "lib"));
    assert_int_equal(span->event_count, 1);
    assert_int_equal(cn_trace_span_events(trace, span)->time_ns, 900);
    check_every_kind(
        trace, cn_trace_list_find(trace, cn_trace_span_events(trace, span)->attributes,
                                  cn_bytes_of("all")));
    assert_int_equal(span->link_count, 1);
    assert_int_equal(cn_trace_span_links(trace, span)->span_id, 6);
    assert_int_equal(cn_trace_span_links(trace, span)->flags, 1);
}

static void a_record_has_all_of_a_span(void **state)
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_zorka_part part;
    struct cn_cbor_out out = {0};
    struct cn_trace trace = {0}, back = {0};
    struct cn_words words = {0};
    struct cn_error err;

    (void)state;
    make_span(&trace, &words);
    cn_zorka_record_encode(&encoder, &trace, 0, &out, &part);
    assert_true(
        cn_zorka_record_decode((struct cn_bytes){out.bytes, out.len}, &back, NULL, &err));
    back.words = &words;
    cn_trace_complete(&back);
    check_span(&back);
    cn_trace_complete(&back); /* no effect */
    assert_int_equal(back.resource_count, 1);
    check_span(&back);
    cn_cbor_out_done(&out);
    cn_zorka_encoder_done(&encoder);
    cn_trace_done(&trace);
    cn_trace_done(&back);
    cn_words_done(&words);
}

/* Whatever is in the file, what comes out can be read. */
static void damaged_records_and_words_are_harmless(void **state)
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_zorka_part part;
    struct cn_cbor_out out = {0};
    struct cn_trace trace = {0}, back = {0};
    struct cn_words words = {0};
    struct cn_error err;

    (void)state;
    make_span(&trace, &words);
    cn_zorka_record_encode(&encoder, &trace, 0, &out, &part);
    for (size_t bit = 0; bit < out.len * 8; bit++) {
        struct cn_text note = {0};

        out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (cn_zorka_record_decode((struct cn_bytes){out.bytes, out.len}, &back, NULL,
                                   &err)) {
            back.words = &words;
            cn_trace_complete(&back);
            for (uint32_t i = 0; i < back.event_count; i++)
                cn_trace_event_print(&back, &back.events[i], &note);
        }
        out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cn_text_done(&note);
    }
    for (size_t bit = 0; bit < words.arena_len * 8; bit++) {
        words.arena[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cn_trace_clear(&back);
        for (uint32_t word = 0; word <= words.count + 1; word++)
            (void)cn_trace_shared_read(&back, &words, word);
        words.arena[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    cn_cbor_out_done(&out);
    cn_zorka_encoder_done(&encoder);
    cn_trace_done(&trace);
    cn_trace_done(&back);
    cn_words_done(&words);
}

/* A word that is copied to another dictionary, as when segments are joined. */
static void resources_are_copied_with_all_they_have(void **state)
{
    struct cn_words words = {0}, others = {0};
    struct cn_trace trace = {0}, copy = {0};

    (void)state;
    make_span(&trace, &words);
    (void)text(&others, "other");
    copy.words = &others;
    uint32_t word = cn_words_copy(&others, &words, trace.spans[0].resource);
    struct cn_trace_shared read = cn_trace_shared_read(&copy, &others, word);
    check_every_kind(&copy,
                     cn_trace_list_find(&copy, read.attributes, cn_bytes_of("all")));
    cn_trace_done(&trace);
    cn_trace_done(&copy);
    cn_words_done(&words);
    cn_words_done(&others);
}

/* Version 0.9 had events, links and the message of the status among the attributes. */
static void attributes_of_earlier_versions_are_understood(void **state)
{
    static const char trace_id[] = "0102030405060708090a0b0c0d0e0f10";
    struct cn_words words = {0};
    struct cn_trace trace = {.words = &words, .current = CN_NONE};
    struct cn_error err;

    (void)state;
    const struct cn_trace_value map[] = {
        word_value(text(&words, "trace")), word_value(text(&words, trace_id)),
        word_value(text(&words, "span")),  word_value(text(&words, "0203040506070809")),
        word_value(text(&words, "via")),   word_value(text(&words, "queue")),
    };
    assert_true(cn_trace_enter(&trace, text(&words, "name"), 0, &err));
    cn_trace_add_span(&trace, 1000)->id = 7;
    struct cn_trace_value link = {.kind = CN_VALUE_MAP,
                                  .list = {cn_trace_add_values(&trace, map, 6), 3}};
    struct cn_trace_value links = {.kind = CN_VALUE_LIST,
                                   .list = {cn_trace_add_values(&trace, &link, 1), 1}};
    cn_trace_add_attribute(&trace, text(&words, "event"),
                           word_value(text(&words, "woken")));
    cn_trace_add_attribute(&trace, text(&words, "uri"), word_value(text(&words, "/")));
    cn_trace_add_attribute(&trace, text(&words, "links"), links);
    cn_trace_add_attribute(&trace, text(&words, "status.message"),
                           word_value(text(&words, "gave up")));
    cn_trace_mark(&trace, CN_TRACE_ERROR);
    cn_trace_leave(&trace, 50, 1);
    cn_trace_complete(&trace);

    const struct cn_trace_span *span = &trace.spans[0];
    struct cn_trace_list left = cn_trace_span_attributes(&trace, span);
    assert_non_null(cn_trace_list_find(&trace, left, cn_bytes_of("uri")));
    assert_int_equal(left.first, left.last);
    assert_int_equal(span->status, CN_STATUS_ERROR);
    assert_true(cn_bytes_equal(cn_word_bytes(&words, span->status_message), "gave up"));
    assert_int_equal(span->event_count, 1);
    assert_int_equal(cn_trace_span_events(&trace, span)->time_ns, 1000);
    assert_int_equal(span->link_count, 1);
    assert_int_equal(cn_trace_span_links(&trace, span)->span_id, 0x0203040506070809);
    assert_non_null(cn_trace_list_find(
        &trace, cn_trace_span_links(&trace, span)->attributes, cn_bytes_of("via")));
    cn_trace_done(&trace);
    cn_words_done(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_has_all_of_a_span),
        cmocka_unit_test(damaged_records_and_words_are_harmless),
        cmocka_unit_test(resources_are_copied_with_all_they_have),
        cmocka_unit_test(attributes_of_earlier_versions_are_understood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
