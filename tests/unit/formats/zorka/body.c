#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes/cbor.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/zorka/body.h"
#include "formats/zorka/format.h"
#include "formats/zorka/record.h"
#include "store/maintenance/maintenance.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/ingest.h"
#include "support/data.h"
#include "support/made_traces.h"
#include "support/scratch.h"

/* Bytes with several traces: all bodies of a folder one after the other. */
static struct cn_bytes load_bodies(const char *folder)
{
    char *path = cn_test_data(folder);
    struct dirent **names;
    struct cn_text all = {0};
    int count;

    count = scandir(path, &names, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        struct cn_file file = {0};
        struct cn_error err;

        if (strstr(names[i]->d_name, "agent_submit") &&
            strstr(names[i]->d_name, ".bin")) {
            assert_true(cn_file_open_at(&file, path, names[i]->d_name, &err));
            cn_text_add(&all, (const char *)file.bytes.ptr, file.bytes.len);
            cn_file_close(&file);
        }
        free(names[i]);
    }
    free(names);
    free(path);
    return (struct cn_bytes){(const uint8_t *)all.chars, all.len};
}

/* Count the traces and calls in bytes; false if they are invalid. */
static bool read_all(struct cn_bytes bytes, uint32_t *traces, uint32_t *calls,
                     struct cn_error *err)
{
    struct cn_zorka_session *session = cn_zorka_session_new();
    struct cn_words words = {0};
    struct cn_trace trace = {0};
    struct cn_zorka_body body;
    enum cn_step step;

    *traces = *calls = 0;
    cn_zorka_body_begin(&body, session, bytes);
    while ((step = cn_zorka_body_next(&body, &words, &trace, err)) == CN_ITEM) {
        ++*traces;
        *calls += trace.node_count;
    }
    cn_zorka_body_done(&body);
    cn_zorka_session_free(session);
    cn_trace_done(&trace);
    cn_words_done(&words);
    return step == CN_END;
}

/* Traces and calls of real data; those of generated data are known. */
static void check_bodies(const char *name, uint64_t expected_traces,
                         uint64_t expected_calls)
{
    uint64_t expected[] = {expected_traces, expected_calls};
    struct cn_text folder = {0};
    struct cn_error err = {0};
    struct cn_bytes bytes;
    uint32_t traces, calls;

    cn_text_printf(&folder, "zorka/%s", name);
    bytes = load_bodies(cn_text_str(&folder));
    if (!cn_test_data_is_real())
        cn_test_facts("zorka", name, expected, 2);
    if (!read_all(bytes, &traces, &calls, &err))
        fail_msg("%s", err.text);
    assert_int_equal(traces, expected[0]);
    assert_int_equal(calls, expected[1]);
    free((void *)(uintptr_t)bytes.ptr);
    cn_text_done(&folder);
}

static void reads_todays_agents(void **state)
{
    (void)state;
    check_bodies("wire/ltracer", 24, 209);
}

static void reads_the_agents_of_2019(void **state)
{
    (void)state;
    check_bodies("wire/v1907-local", 16, 144);
}

/* No bytes are read outside of the input. */
static void survives_damage(const char *folder)
{
    struct cn_bytes bytes = load_bodies(folder);
    uint8_t *copy = cn_alloc(bytes.len, 1);
    struct cn_error err;
    uint32_t traces, calls;

    memcpy(copy, bytes.ptr, bytes.len);
    for (size_t len = 0; len < bytes.len; len += 1 + len / 100) {
        uint8_t *cut = cn_alloc(len, 1);

        if (len)
            memcpy(cut, bytes.ptr, len);
        (void)read_all((struct cn_bytes){cut, len}, &traces, &calls, &err);
        free(cut);
    }
    for (size_t bit = 0; bit < bytes.len * 8; bit += 1 + bit / 200) {
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        (void)read_all((struct cn_bytes){copy, bytes.len}, &traces, &calls, &err);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(copy);
    free((void *)(uintptr_t)bytes.ptr);
}

static void survives_truncation_and_flipped_bits(void **state)
{
    (void)state;
    survives_damage("zorka/wire/ltracer");
    survives_damage("zorka/wire/v1907-local");
}

static void expect_refusal(const char *bytes, size_t len, const char *message)
{
    struct cn_error err = {0};
    uint32_t traces, calls;

    assert_false(
        read_all((struct cn_bytes){(const uint8_t *)bytes, len}, &traces, &calls, &err));
    assert_string_equal(err.text, message);
}

static void names_offset_and_reason(void **state)
{
    (void)state;
    expect_refusal("\xc3\x9f\x01\x07", 4, "offset 4: method 7 was never sent");
    expect_refusal("\xd9\xff\xff\x00", 4,
                   "offset 0: expected a symbol or a trace, found byte 0xd9");
    expect_refusal("\xc1\x82\x01\x78\xff"
                   "a",
                   6, "offset 3: expected the text of a symbol, found byte 0x78");
    expect_refusal("\xc1\x9a\xff\xff\xff\xff\x01", 7,
                   "offset 1: an array of 4294967295 elements, 2 to 3 are allowed");
    expect_refusal("\xc2\x84\x01\x02\x03\x04", 6,
                   "offset 6: method 1 uses a string that was never sent");
}

/* c1 [1, "x"], c2 [1, 1, 1, 1], then a start of method 1 again and again. */
static void refuses_deep_nesting(void **state)
{
    struct cn_cbor_out out = {0};
    struct cn_error err = {0};
    uint32_t traces, calls;

    (void)state;
    for (const char *p = "\xc1\x82\x01\x61x\xc2\x84\x01\x01\x01\x01"; *p; p++)
        cn_cbor_put_byte(&out, (uint8_t)*p);
    for (int i = 0; i < 100000; i++)
        for (const char *p = "\xc3\x9f\x05\x01"; *p; p++)
            cn_cbor_put_byte(&out, (uint8_t)*p);
    assert_false(read_all((struct cn_bytes){out.bytes, out.len}, &traces, &calls, &err));
    assert_non_null(strstr(err.text, "calls nest more than 4096 deep"));
    cn_cbor_out_done(&out);
}

static void records_give_back_traces(void **state)
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_trace trace = {0}, again = {0};
    struct cn_cbor_out out = {0};
    struct cn_words words = {0};
    struct cn_zorka_part part;
    struct cn_error err = {0};

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        cn_made_trace(&trace, &words, i);
        out.len = 0;
        cn_zorka_record_encode(&encoder, &trace, 0, &out, &part);
        again.words = &words;
        if (!cn_zorka_record_decode((struct cn_bytes){out.bytes, out.len}, &again, NULL,
                                    &err) ||
            !cn_same_trace(&trace, &again, &err))
            fail_msg("trace %u: %s", i, err.text);
        assert_int_equal(part.record_len, out.len);
        for (size_t len = 0; len < out.len; len++) {
            uint8_t *cut = cn_alloc(len, 1);

            if (len)
                memcpy(cut, out.bytes, len);
            assert_false(
                cn_zorka_record_decode((struct cn_bytes){cut, len}, &again, NULL, &err));
            free(cut);
        }
    }
    cn_zorka_encoder_done(&encoder);
    cn_cbor_out_done(&out);
    cn_trace_done(&trace);
    cn_trace_done(&again);
    cn_words_done(&words);
}

/* SKIP leads to the end of a large call. */
static void skip_leads_to_the_end_of_a_call(void **state)
{
    enum { CALLS = 3000 };
    struct cn_zorka_encoder encoder = {0};
    struct cn_trace trace = {0};
    struct cn_cbor_out out = {0};
    struct cn_zorka_part part;
    struct cn_error err = {0};
    struct cn_cbor in;
    uint64_t count, skip = 0;

    (void)state;
    cn_trace_clear(&trace);
    assert_true(cn_trace_enter(&trace, 1, 0, &err));
    for (unsigned i = 0; i < CALLS; i++) {
        assert_true(cn_trace_enter(&trace, 2 + i % 7, 10 * i, &err));
        cn_trace_leave(&trace, 10 * i + 5, 1);
    }
    cn_trace_leave(&trace, 10 * CALLS, CALLS);
    cn_zorka_record_encode(&encoder, &trace, 0, &out, &part);
    in = (struct cn_cbor){.bytes = {out.bytes, out.len}};
    assert_true(cn_cbor_byte(&in, 0xc8));
    assert_true(cn_cbor_take(&in, CN_CBOR_ARRAY, &count));
    assert_int_equal(count, 1 + CALLS);
    assert_true(cn_cbor_byte(&in, 0xc2));
    assert_true(cn_cbor_take(&in, CN_CBOR_MAP, &count));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key;

        assert_true(cn_cbor_uint(&in, &key));
        if (key == CN_ZTS_SKIP)
            assert_true(cn_cbor_uint(&in, &skip));
        else
            assert_true(cn_cbor_skip(&in, &err));
    }
    assert_int_equal(in.off + skip, out.len);
    cn_zorka_encoder_done(&encoder);
    cn_cbor_out_done(&out);
    cn_trace_done(&trace);
}

static void expect_hits(const struct cn_store *store, const char *text, uint64_t expected)
{
    struct cn_search *search = NULL;
    struct cn_query *query = NULL;
    struct cn_error err = {0};
    uint64_t count = 0;

    if (!cn_search_open(&search, store, &err) || !cn_query_parse(&query, text, 0, &err) ||
        !cn_search_count(search, query, &count, &err))
        fail_msg("%s: %s", text, err.text);
    if (count != expected)
        fail_msg("%s: %llu hits", text, (unsigned long long)count);
    cn_query_free(query);
    cn_search_close(search);
}

/* Check the trace below after part `last` has arrived. */
static void expect_pieces_found(struct cn_store *store, int last)
{
    expect_hits(store, "", 1);
    expect_hits(store, "method contains x", 1);
    expect_hits(store, "method contains x span = 7 x = y", last > 0);
    expect_hits(store, "x != y", 0);
    expect_hits(store, "not x = y", last == 0);
    expect_hits(store, "duration > 10ns", last == 2);
}

/* A trace in three parts, as a streaming agent sends it. */
static void parts_become_one_trace(void **state)
{
    static const char symbols[] = "\xc1\x82\x01\x61x\xc2\x84\x01\x01\x01\x01";
    static const char *const parts[] = {
        ("\xc3\x9f\x0a\x01\xc5\x83\x01\x01\x07\xc3\x9f\x0b\x01\xc4\x82\x0d\x01\xff"
         "\xc3\x9f\x0e\x01"),
        "\xc3\x9f\x0f\x01\xc6\x82\x01\x61y\xc4\x82\x10\x01\xff",
        "\xc4\x82\x12\x02\xff\xc3\x9f\x13\x01\xc4\x82\x14\x01\xff\xc4\x82\x15\x05\xff",
    };
    static const uint32_t calls[] = {3, 4, 5};
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_zorka_request request = {.has_trace_id = true, .id_high = 1, .id_low = 2};
    struct cn_store_writer *writer;
    struct cn_store_ingest *ingest;
    struct cn_trace trace = {0};
    uint32_t sealed;
    struct cn_store *store;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    ingest = cn_store_ingest_new(writer);
    request.body = (struct cn_bytes){(const uint8_t *)symbols, strlen(symbols)};
    assert_true(cn_store_ingest_request(ingest, &request, &err));
    for (int i = 0; i < 3; i++) {
        request.body = (struct cn_bytes){(const uint8_t *)parts[i], strlen(parts[i])};
        if (!cn_store_ingest_request(ingest, &request, &err))
            fail_msg("%s", err.text);
        assert_true(cn_store_writer_commit(writer, &err));
        assert_true(cn_store_open(&store, "store", &err));
        if (!cn_segment_load(loader, cn_store_segment(store, 0), 0, &trace, &err))
            fail_msg("%s", err.text);
        assert_int_equal(trace.node_count, calls[i]);
        assert_int_equal(!!(trace.nodes[0].flags & CN_TRACE_OPEN), i < 2);
        expect_pieces_found(store, i);
        cn_store_close(store);
    }
    assert_int_equal(trace.nodes[0].duration_ns, 11);
    assert_int_equal(trace.nodes[2].start_ns, 4);
    assert_int_equal(trace.nodes[2].duration_ns, 4);
    assert_int_equal(trace.nodes[3].start_ns, 5);
    assert_int_equal(trace.nodes[4].start_ns, 9);
    assert_int_equal(trace.nodes[4].parent, 0);
    cn_store_ingest_free(ingest);
    assert_true(cn_store_writer_close(writer, &err));
    assert_true(cn_store_seal("store", &sealed, &err));
    assert_true(cn_store_open(&store, "store", &err));
    expect_hits(store, "method contains x span = 7 x = y duration > 10ns", 1);
    for (uint32_t row = 0; row < 3; row++) {
        if (!cn_segment_load(loader, cn_store_segment(store, 0), row, &trace, &err))
            fail_msg("%s", err.text);
        assert_int_equal(trace.node_count, 5);
    }
    cn_store_close(store);
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
}

/* A session outlives the segment that its symbols were first used in. */
static void symbols_are_known_in_the_next_segment(void **state)
{
    static const char symbols[] = "\xc1\x82\x01\x61x\xc1\x82\x02\x61y"
                                  "\xc2\x84\x01\x01\x02\x01\xc2\x84\x02\x02\x01\x02";
    static const char part[] = "\xc3\x9f\x0a\x02\xc4\x82\x0d\x01\xff";
    struct cn_store_options options = {.rotate_len = 1};
    struct cn_zorka_request request = {.has_trace_id = true, .id_high = 1};
    struct cn_store_writer *writer;
    struct cn_store_ingest *ingest;
    struct cn_store *store;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_store_init("store", &options, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    ingest = cn_store_ingest_new(writer);
    request.body = (struct cn_bytes){(const uint8_t *)symbols, strlen(symbols)};
    assert_true(cn_store_ingest_request(ingest, &request, &err));
    request.body = (struct cn_bytes){(const uint8_t *)part, strlen(part)};
    for (request.id_low = 1; request.id_low <= 5; request.id_low++)
        if (!cn_store_ingest_request(ingest, &request, &err))
            fail_msg("%s", err.text);
    cn_store_ingest_free(ingest);
    assert_true(cn_store_writer_close(writer, &err));
    assert_true(cn_store_open(&store, "store", &err));
    assert_true(cn_store_segment_count(store) >= 5);
    expect_hits(store, "method = y.x", 5);
    cn_store_close(store);
}

/* Refused bodies leave no words. */
static void a_refused_request_leaves_no_trace(void **state)
{
    static const char good[] = "\xc1\x82\x01\x61x\xc2\x84\x01\x01\x01\x01"
                               "\xc3\x9f\x0a\x01\xc4\x82\x0d\x01\xff";
    static const char bad[] = "\xc3\x9f\x0a\x01\xc6\x82\x01\x65other\xff\x01";
    struct cn_zorka_request request = {0};
    struct cn_store_writer *writer;
    struct cn_store_ingest *ingest;
    struct cn_words *words;
    struct cn_error err = {0};
    uint32_t count;

    (void)state;
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    ingest = cn_store_ingest_new(writer);
    request.body = (struct cn_bytes){(const uint8_t *)good, strlen(good)};
    assert_true(cn_store_ingest_request(ingest, &request, &err));
    assert_true(cn_store_writer_begin(writer, &words, &err));
    count = words->count;
    request.body = (struct cn_bytes){(const uint8_t *)bad, strlen(bad) - 2};
    assert_true(cn_store_ingest_request(ingest, &request, &err));
    request.body =
        (struct cn_bytes){(const uint8_t *)"\xc3\x9f\x0a\x01\xc6\x82\x01\x65OTHERx", 14};
    assert_false(cn_store_ingest_request(ingest, &request, &err));
    assert_true(cn_store_writer_begin(writer, &words, &err));
    assert_true(words->count >= count);
    assert_int_equal(cn_words_find(words, CN_WORD_TEXT,
                                   (struct cn_bytes){(const uint8_t *)"OTHER", 5}),
                     0);
    cn_store_ingest_free(ingest);
    assert_true(cn_store_writer_close(writer, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_offset_and_reason),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(records_give_back_traces),
        cmocka_unit_test(skip_leads_to_the_end_of_a_call),
        CN_SCRATCH_TEST(parts_become_one_trace),
        CN_SCRATCH_TEST(symbols_are_known_in_the_next_segment),
        CN_SCRATCH_TEST(a_refused_request_leaves_no_trace),
    };
    const struct CMUnitTest on_data[] = {
        cmocka_unit_test(reads_todays_agents),
        cmocka_unit_test(reads_the_agents_of_2019),
        cmocka_unit_test(survives_truncation_and_flipped_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
