/* Damage to the files of a store, sealed or not: whatever byte is changed or cut off, a search says
 * so or finds what it found before; and a writer cuts nothing off that was acknowledged. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "store/maintenance/maintenance.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/index.h"
#include "store/segment/reader.h"
#include "store/write/writer.h"
#include "support/scratch.h"

enum { TRACES = 60 };

static const char *const queries[] = {
    "",
    "user = u7",
    "user contains u1",
    "method = Dao.get",
    "method contains put3",
    "u5",
    "Dao",
    "user exists",
    "errors",
    "type = http",
    "calls>1",
};
enum { QUERIES = sizeof(queries) / sizeof(queries[0]) };

static uint64_t expected[QUERIES];

static void fill_trace(struct cn_trace *trace, struct cn_words *words, uint32_t number)
{
    struct cn_error err = {0};
    char text[20];
    uint32_t parts[3];
    struct cn_trace_span *span;

    cn_trace_clear(trace);
    trace->words = words;
    trace->id_high = 1;
    trace->id_low = number + 1;
    (void)snprintf(text, sizeof(text), "put%u", number % 7);
    parts[0] = cn_words_add_str(words, CN_WORD_CLASS, "com.Dao");
    parts[1] = cn_words_add_str(words, CN_WORD_METHOD_NAME, number % 3 ? text : "get");
    parts[2] = cn_words_add_str(words, CN_WORD_SIGNATURE, "()V");
    assert_true(cn_trace_enter(trace, cn_words_add_parts(words, CN_WORD_METHOD, parts, 3),
                               0, &err));
    span = cn_trace_add_span(trace, 1000000000 + number);
    span->type = cn_words_add_str(words, CN_WORD_KEYWORD, number % 4 ? "http" : "db");
    (void)snprintf(text, sizeof(text), "u%u", number % 13);
    cn_trace_add_attribute(
        trace, cn_words_add_str(words, CN_WORD_KEYWORD, "user"),
        (struct cn_trace_value){.kind = CN_VALUE_WORD,
                                .word = cn_words_add_str(words, CN_WORD_TEXT, text)});
    if (number % 5 == 0)
        cn_trace_mark(trace, CN_TRACE_ERROR);
    cn_trace_leave(trace, 1000 + number, 1 + number % 3);
}

static void make_store(bool is_sealed)
{
    struct cn_store_writer *writer;
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;
    uint32_t count;

    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    for (uint32_t i = 0; i < TRACES; i++) {
        assert_true(cn_store_writer_begin(writer, &words, &err));
        fill_trace(&trace, words, i);
        assert_true(cn_store_writer_add(writer, &trace, NULL, &err));
        if (i % 25 == 24)
            assert_true(cn_store_writer_commit(writer, &err));
    }
    assert_true(cn_store_writer_close(writer, &err));
    if (is_sealed)
        assert_true(cn_store_seal("store", &count, &err));
    cn_trace_done(&trace);
}

/* How many rows a query finds; false when the store says that it is damaged. */
static bool ask(const char *text, uint64_t *count)
{
    struct cn_store *store = NULL;
    struct cn_search *search = NULL;
    struct cn_query *query = NULL;
    struct cn_search_hits hits = {0};
    struct cn_search_order order = {.limit = UINT64_MAX};
    struct cn_error err = {0};
    bool ok;

    assert_true(cn_query_parse(&query, text, 0, &err));
    ok = cn_store_open(&store, "store", &err) && cn_search_open(&search, store, &err) &&
         cn_search_rows(search, query, &order, &hits, &err);
    *count = hits.count;
    for (size_t i = 0; ok && i < hits.count; i++) {
        struct cn_store_row row;
        struct cn_text name = {0};

        ok = cn_search_hit_row(search, &hits.list[i], &row, &err) &&
             cn_search_hit_word(search, &hits.list[i], row.method, &name, &err);
        if (ok && cn_search_check(search, &err)) {
            assert_int_equal(strncmp(cn_text_str(&name), "com.Dao.", 8), 0);
            assert_int_equal(row.trace_high, 1);
        }
        cn_text_done(&name);
    }
    ok = ok && cn_search_check(search, &err);
    if (!ok)
        assert_true(err.text[0] != '\0');
    cn_search_hits_done(&hits);
    cn_search_close(search);
    cn_store_close(store);
    cn_query_free(query);
    return ok;
}

static void ask_all(const char *what, size_t where)
{
    for (size_t i = where % 3; i < QUERIES; i += 3) {
        uint64_t count;

        if (ask(queries[i], &count) && count != expected[i])
            fail_msg("%s at %zu: '%s' finds %lu instead of %lu", what, where, queries[i],
                     (unsigned long)count, (unsigned long)expected[i]);
    }
}

/* All traces are listed. */
static void list_all(const char *path, size_t at)
{
    uint64_t count;

    (void)ask("", &count);
    if (count != TRACES)
        fail_msg("%s at %zu: %lu of %d traces are left", path, at, (unsigned long)count,
                 TRACES);
}

static void damage(const char *path, bool is_index)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    uint8_t *bytes;
    size_t len;

    assert_true(cn_file_open(&file, path, &err));
    len = file.bytes.len;
    bytes = cn_alloc(len, 1);
    memcpy(bytes, file.bytes.ptr, len);
    cn_file_close(&file);
    for (size_t at = 0; at < len; at += 1 + len / 150) {
        bytes[at] ^= (uint8_t)(1U << at % 8);
        cn_scratch_write(path, bytes, len);
        ask_all(path, at);
        if (is_index)
            list_all(path, at);
        bytes[at] ^= (uint8_t)(1U << at % 8);
    }
    for (size_t cut = 0; cut < len; cut += 1 + len / 30) {
        cn_scratch_write(path, bytes, cut);
        ask_all(path, cut);
    }
    assert_int_equal(remove(path), 0);
    ask_all(path, 0);
    cn_scratch_write(path, bytes, len);
    free(bytes);
}

/* A store, and the hits of all queries in it. */
static void make_expected(bool is_sealed)
{
    make_store(is_sealed);
    for (size_t i = 0; i < QUERIES; i++)
        assert_true(ask(queries[i], &expected[i]));
    assert_int_equal(expected[0], TRACES);
    assert_int_equal(expected[1], 5);
}

static void wrong_bytes_never_give_wrong_results(void **state)
{
    static const char *const files[] = {
        "store/000000/post.dat",
        "store/000000/text.idx",
        "store/000000/text.dat",
        "store/000000/meta.dat",
    };
    struct cn_scratch *scratch = cn_scratch_enter();

    (void)state;
    make_expected(true);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        damage(files[i], false);
    cn_scratch_leave(scratch);
}

static void nor_in_a_segment_that_is_not_sealed(void **state)
{
    static const char *const files[] = {
        "store/000000/text.log",
        "store/000000/meta.log",
        "store/000000/post.log",
        "store/000000/traces.dat",
    };
    struct cn_scratch *scratch = cn_scratch_enter();

    (void)state;
    make_expected(false);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        damage(files[i], i < 3);
    cn_scratch_leave(scratch);
}

static void note_error(void *arg, const struct cn_finding *finding)
{
    *(bool *)arg |= finding->is_error;
}

/* Change a bit of the byte at `at`; of the last byte if that is 0. */
static void flip(const char *path, size_t at)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    uint8_t *bytes;
    size_t len;

    assert_true(cn_file_open(&file, path, &err));
    len = file.bytes.len;
    bytes = cn_alloc(len, 1);
    memcpy(bytes, file.bytes.ptr, len);
    cn_file_close(&file);
    bytes[at > 0 ? at : len - 1] ^= 0x10;
    cn_scratch_write(path, bytes, len);
    free(bytes);
}

static void count_finding(void *arg, const struct cn_finding *finding)
{
    (void)finding;
    ++*(unsigned *)arg;
}

static unsigned count_findings(void)
{
    struct cn_error err = {0};
    unsigned count = 0;

    assert_true(cn_store_verify("store", NULL, count_finding, &count, &err));
    return count;
}

static void verify_notices_any_wrong_byte(void **state)
{
    static const char *const sealed[] = {
        "store/000000/post.dat",
        "store/000000/text.idx",
        "store/000000/text.dat",
        "store/000000/meta.dat",
    };
    static const char *const open[] = {
        "store/000000/post.log",
        "store/000000/text.log",
    };

    (void)state;
    for (int is_sealed = 0; is_sealed < 2; is_sealed++) {
        struct cn_scratch *scratch = cn_scratch_enter();

        make_store(is_sealed);
        assert_int_equal(count_findings(), 0);
        for (size_t i = 0; i < (is_sealed ? 4 : 2); i++) {
            const char *path = is_sealed ? sealed[i] : open[i];

            for (size_t at = 1; at < 140; at += 3) {
                flip(path, at);
                if (count_findings() == 0)
                    fail_msg("%s: no finding about byte %zu", path, at);
                flip(path, at);
            }
        }
        cn_scratch_leave(scratch);
    }
}

/* The last byte of a file is changed, the store is opened for writing, and the byte is changed back:
 * all is there, because nothing was cut off. */
static void a_writer_cuts_nothing_that_was_acknowledged(void **state)
{
    static const char *const files[] = {
        "store/000000/text.log", "store/000000/traces.dat", "store/000000/config.props"};
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct cn_scratch *scratch = cn_scratch_enter();
        struct cn_store_writer *writer;
        size_t at = i == 2 ? strlen("version = ") : 0;
        bool has_errors = false;
        uint64_t count;

        make_store(false);
        for (size_t k = 0; k < QUERIES; k++)
            assert_true(ask(queries[k], &expected[k]));
        flip(files[i], at);
        if (cn_store_writer_open(&writer, "store", NULL, &err))
            assert_true(cn_store_writer_close(writer, &err));
        assert_true(cn_store_verify("store", NULL, note_error, &has_errors, &err));
        assert_true(has_errors);
        flip(files[i], at);
        for (size_t k = 0; k < QUERIES; k++) {
            (void)ask(queries[k], &count);
            assert_int_equal(count, expected[k]);
        }
        cn_scratch_leave(scratch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_bytes_never_give_wrong_results),
        cmocka_unit_test(nor_in_a_segment_that_is_not_sealed),
        cmocka_unit_test(verify_notices_any_wrong_byte),
        cmocka_unit_test(a_writer_cuts_nothing_that_was_acknowledged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
